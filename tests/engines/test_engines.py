"""Every engine is given the same table."""

import narwhals as nw
import numpy as np
import pytest

from sparsedensity.ingest import encode, open_source
from tests.engines.lazy import ENGINES
from tests.engines.nasty import DOMAIN, WEIGHTS, nasty


def coded(frame):
    """What a frame holds, whatever the order of its rows."""
    encoded = encode(open_source(frame.select(DOMAIN.names)), DOMAIN)
    rows = np.column_stack([encoded.codes, encoded.outside, frame.select(WEIGHTS)])
    return sorted(rows.tolist()), {unknown.feature.name: unknown.rows for unknown in encoded.unknown}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_comes_back_from_every_engine_as_it_was(engine, as_lazy):
    frame = nasty(strange=True)
    assert coded(nw.from_native(as_lazy(engine, frame)).collect("polars").to_native()) == coded(frame)


def test_the_table_holds_most_values_of_its_domain_repeated_rows_and_strange_values():
    codes = encode(open_source(nasty().select(DOMAIN.names)), DOMAIN, strict=True).codes
    occurring = [len(np.unique(column)) for column in codes.T]
    assert all(size > 0.3 * feature.size for size, feature in zip(occurring, DOMAIN, strict=True))
    assert len(np.unique(codes, axis=0)) < len(codes)
    strange = encode(open_source(nasty(strange=True).select(DOMAIN.names)), DOMAIN)
    assert {unknown.feature.name for unknown in strange.unknown} == {*DOMAIN.names} - {"flag"}
