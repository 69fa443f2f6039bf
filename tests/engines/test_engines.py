"""Every engine is given the same table, and counts the same."""

import narwhals as nw
import numpy as np
import pytest

from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import UnknownValueError
from sparsedensity.ingest import Reading, encode, open_source, read_table
from sparsedensity.structures import Condition, RuleList
from tests.engines.lazy import ENGINES
from tests.engines.nasty import DOMAIN, TREE, WEIGHTS, nasty

RULES = RuleList.of(DOMAIN, [(Condition(1, 0, 1), Condition(5, 0, 0)), (Condition(4, 4, 4),)])


def opened(engine, lazy, weight):
    """What counts the rows of a lazy table in the declared domain."""
    from sparsedensity.ingest.dask import open_dask
    from sparsedensity.ingest.parts import read_lazy
    from sparsedensity.ingest.queries import open_query

    how = Reading(domain=DOMAIN), weight, np.random.default_rng(0)
    if engine == "polars":
        return MemoryEngine(read_lazy(lazy, *how))
    return open_dask(lazy, *how) if engine == "dask" else open_query(nw.from_native(lazy), *how)


def coded(frame):
    """What a frame holds, whatever the order of its rows."""
    encoded = encode(open_source(frame.select(DOMAIN.names)), DOMAIN)
    rows = np.column_stack([encoded.codes, encoded.outside, frame.select(WEIGHTS)])
    return sorted(rows.tolist()), {unknown.feature.name: unknown.rows for unknown in encoded.unknown}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_comes_back_from_every_engine_as_it_was(engine, as_lazy):
    frame = nasty(strange=True)
    assert coded(nw.from_native(as_lazy(engine, frame)).collect("polars").to_native()) == coded(frame)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_as_memory_does(engine, as_lazy):
    frame = nasty().select(*DOMAIN.names, "quarter")
    ours = opened(engine, as_lazy(engine, frame), "quarter")
    rows = read_table(open_source(frame.select(DOMAIN.names)), Reading(domain=DOMAIN), frame["quarter"].to_numpy())
    for structure in (TREE, RULES):
        expected = MemoryEngine(rows).leaf_value_weights(structure)
        assert np.array_equal(ours.leaf_value_weights(structure), expected)
        assert np.array_equal(ours.leaf_weights(structure), expected[:, DOMAIN.span(0)].sum(axis=1))
    assert ours.n == rows.n == ours.value_weights()[DOMAIN.span(0)].sum()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_refuses_a_value_outside_the_domain(engine, as_lazy):
    frame = nasty(strange=True).select(DOMAIN.names)
    with pytest.raises(UnknownValueError, match="'name' has no value 'stranger'"):
        opened(engine, as_lazy(engine, frame), None).value_weights()


def test_the_table_holds_most_values_of_its_domain_repeated_rows_and_strange_values():
    codes = encode(open_source(nasty().select(DOMAIN.names)), DOMAIN, strict=True).codes
    occurring = [len(np.unique(column)) for column in codes.T]
    assert all(size > 0.3 * feature.size for size, feature in zip(occurring, DOMAIN, strict=True))
    assert len(np.unique(codes, axis=0)) < len(codes)
    strange = encode(open_source(nasty(strange=True).select(DOMAIN.names)), DOMAIN)
    assert {unknown.feature.name for unknown in strange.unknown} == {*DOMAIN.names} - {"flag"}
