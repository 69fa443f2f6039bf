"""A table in parts has the domain of the whole table."""

import datetime
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity import Domain
from sparsedensity.errors import DataError
from sparsedensity.ingest import Reading, open_source
from sparsedensity.ingest.infer import Asked
from sparsedensity.ingest.lazy import infer_domain
from sparsedensity.ingest.summaries import added_up, domain_of, summarise

DAY = datetime.datetime(2024, 3, 1)
COLUMNS = {
    "text": st.sampled_from(["a", "b", "", "ä", "zz"]),
    "truth": st.booleans(),
    "few": st.integers(-3, 3),
    "many": st.integers(-1000, 1000),
    "whole": st.integers(-50, 50).map(float),
    "real": st.one_of(st.floats(-1e6, 1e6), st.just(float("nan"))),
    "day": st.integers(0, 4000).map(lambda days: (DAY + datetime.timedelta(days=days)).date()),
    "moment": st.integers(0, 10**6).map(lambda minutes: DAY + datetime.timedelta(minutes=minutes)),
}
TYPES = {
    "text": pl.String,
    "truth": pl.Boolean,
    "few": pl.Int64,
    "many": pl.Int32,
    "whole": pl.Float64,
    "real": pl.Float64,
    "day": pl.Date,
    "moment": pl.Datetime,
}


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 60))
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, unique=True))
    data = {}
    for name in names:
        value = st.one_of(st.none(), COLUMNS[name]) if draw(st.booleans()) else COLUMNS[name]
        data[name] = pl.Series(name, draw(st.lists(value, min_size=rows, max_size=rows)), dtype=TYPES[name])
    return pl.DataFrame(data)


def in_parts(frame, size, **how):
    asked = Asked.of(tuple(frame.columns), how.get("kinds"), how.get("bins", 10))
    parts = [frame[begin : begin + size] for begin in range(0, len(frame), size)]
    some = (summarise(open_source(part), asked, np.arange(len(part)), np.ones(len(part))) for part in parts)
    return domain_of(added_up(some), asked)


@given(tables(), st.integers(1, 30), st.sampled_from([None, "nominal", "ordinal", "continuous"]), st.integers(1, 12))
def test_parts_tell_the_domain_of_the_whole(frame, size, kinds, bins):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = infer_domain(frame, Reading(kinds, bins))
        assert in_parts(frame, size, kinds=kinds, bins=bins) == whole


@given(tables(), st.integers(1, 30))
def test_quantiles_come_from_the_rows_that_were_drawn(frame, size):
    """Here all of them are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert in_parts(frame, size, bins="quantile:4") == infer_domain(frame, Reading(None, "quantile:4"))


@pytest.mark.parametrize("size", [7, 150, 1000])
def test_identifiers_are_left_out(size):
    frame = pl.DataFrame({"id": range(400), "name": [f"n{i}" for i in range(400)], "half": [0, 1] * 200})
    with pytest.warns(match="looks like an identifier"):
        domain = in_parts(frame, size)
    assert domain.names == ("half",)
    assert domain.left_out == ("id", "name")


def test_a_text_with_more_values_than_a_feature_can_have_is_left_out():
    frame = pl.DataFrame({"name": [f"n{i % 70_000}" for i in range(150_000)], "half": [0, 1] * 75_000})
    with pytest.warns(match="'name' looks like an identifier"):
        assert in_parts(frame, 20_000).names == ("half",)
    with pytest.raises(DataError, match="at most 65,535"):
        in_parts(frame, 20_000, kinds={"name": "nominal"})


def test_declared_categories_count_even_if_they_do_not_occur():
    sizes = pl.Enum(["small", "middle", "large"])
    frame = pl.DataFrame({"size": pl.Series(["large", "small", None], dtype=sizes)})
    assert in_parts(frame, 1) == Domain.infer(frame)
    assert in_parts(frame, 1)["size"].values == ("small", "middle", "large", None)
