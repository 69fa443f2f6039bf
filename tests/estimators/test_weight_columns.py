"""A column of the table may hold the weights of its rows, wherever weights are asked for."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sparsedensity import Domain, GreedyTree, compare, datasets
from sparsedensity.errors import ColumnsError, DataError
from sparsedensity.evaluation import IndependentColumns
from sparsedensity.ingest import open_source

PEOPLE = datasets.load("titanic")
WEIGHTS = np.tile([0.5, 1.0, 3.0], 1000)[: PEOPLE.height]
FORMS = {"polars": lambda rows: rows, "pandas": pl.DataFrame.to_pandas, "pyarrow": pl.DataFrame.to_arrow}
ASKED = {
    "fit": lambda rows, weights: GreedyTree().fit(rows, sample_weight=weights).density_.weights.tolist(),
    "score": lambda rows, weights: GreedyTree().fit(PEOPLE).score(rows, sample_weight=weights),
    "compare": lambda rows, weights: GreedyTree().fit(PEOPLE).compare(rows, weights).distance,
    "compare two": lambda rows, weights: compare(rows, rows, weights_before=weights, weights_after=weights).distance,
    "importance": lambda rows, weights: dict(GreedyTree().fit(PEOPLE).importance(rows, weights)),
    "domain": lambda rows, weights: Domain.infer(rows, sample_weight=weights),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ask", ASKED)
def test_a_column_weighs_rows_as_an_array_does(ask, form):
    weighed = FORMS[form](PEOPLE.with_columns(w=WEIGHTS))
    assert ASKED[ask](weighed, "w") == ASKED[ask](FORMS[form](PEOPLE), WEIGHTS)


@pytest.mark.parametrize("ask", ASKED)
def test_a_column_that_is_not_there_or_holds_no_numbers_is_named(ask):
    with pytest.raises(ColumnsError, match="There is no column 'w' to weigh the rows"):
        ASKED[ask](PEOPLE, "w")
    with pytest.raises(DataError, match="must be real numbers"):
        ASKED[ask](PEOPLE.with_columns(w=pl.lit("heavy")), "w")


def test_a_table_without_names_has_no_column_of_weights():
    with pytest.raises(DataError, match="the column 'w', but the table is no data frame"):
        GreedyTree().fit(PEOPLE.to_numpy(), sample_weight="w")


def test_names_that_repeat_are_refused_before_weights_are_looked_for():
    with pytest.raises(ColumnsError, match="'a'"):
        GreedyTree().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), sample_weight="a")


def test_what_works_in_memory_only_says_so_of_rows_that_are_elsewhere():
    for ask in (open_source, IndependentColumns().fit):
        with pytest.raises(DataError, match="the rows of this table are elsewhere"):
            ask(PEOPLE.lazy())
