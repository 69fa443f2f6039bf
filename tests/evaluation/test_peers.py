"""Independent columns and Chow and Liu's tree as estimators."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from reproduction.datasets.random_trees import random_tree
from sparsedensity import Domain, Feature
from sparsedensity.errors import ColumnsError, DataError, ParameterError, UnknownValueError
from sparsedensity.evaluation import ChowLiuTree, IndependentColumns

BOTH = pytest.mark.parametrize("kind", [IndependentColumns, ChowLiuTree])


@BOTH
def test_a_peer_is_cloned_with_its_parameters(kind):
    model = kind(pseudocount=0.5, bins=7)
    assert clone(model).get_params() == model.get_params()


@BOTH
def test_densities_of_every_record_add_up_to_one(kind, people):
    model = kind().fit(people)
    records = people.select(pl.col("class").unique()).join(people.select(pl.col("sex").unique()), how="cross")
    records = records.join(people.select(pl.col("age").unique()), how="cross").select(people.columns)
    assert records.height == 16
    assert np.exp(model.score_samples(records)).sum() == pytest.approx(1.0)


@BOTH
def test_counts_say_what_rows_say(kind, people):
    counted = people.group_by(people.columns).len("n")
    few, many = kind().fit(counted.drop("n"), sample_weight=counted["n"]), kind().fit(people)
    assert few.score(people) == pytest.approx(many.score(people))
    assert few.score(counted.drop("n"), sample_weight=counted["n"]) == pytest.approx(many.score(people))


@BOTH
def test_a_peer_reads_any_table(kind, people):
    expected = kind().fit(people).score(people)
    for table in (people.to_pandas(), people.to_arrow(), people.to_dicts(), people.to_numpy()):
        assert kind().fit(table).score(table) == pytest.approx(expected)


@BOTH
def test_a_row_outside_the_domain_has_density_0_or_is_refused(kind, people):
    strange = people.head(2).with_columns(pl.Series("class", ["1st", "4th"]))
    logs = kind().fit(people).score_samples(strange)
    assert np.isfinite(logs).tolist() == [True, False]
    with pytest.raises(UnknownValueError, match="'4th'"):
        kind(unknown="error").fit(people).score_samples(strange)
    with pytest.raises(ColumnsError):
        kind().fit(people).score_samples(people.rename({"class": "rank"}))


@BOTH
def test_bad_parameters_are_refused(kind, people):
    with pytest.raises(ParameterError, match="pseudocount"):
        kind(pseudocount=0).fit(people)
    with pytest.raises(DataError):
        kind().fit(people, sample_weight=np.zeros(people.height))


def test_widths_of_bins_count(people):
    domain = Domain((Feature.continuous("x", (0, 1, 10)),))
    model = IndependentColumns(domain=domain).fit(pl.DataFrame({"x": [0.5, 5.0]}))
    assert np.exp(model.score_samples(pl.DataFrame({"x": [0.5, 5.0]}))).tolist() == pytest.approx([0.5, 0.5 / 9])


def test_a_chain_of_columns_is_found_again():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 5000)]
    for _ in range(4):
        columns.append(np.where(rng.random(5000) < 0.8, columns[-1], rng.integers(0, 3, 5000)))
    names = [f"c{i}" for i in range(5)]
    model = ChowLiuTree().fit(pl.DataFrame(dict(zip(names, columns, strict=True))))
    assert model.links_ == (("c1", "c0"), ("c2", "c1"), ("c3", "c2"), ("c4", "c3"))


def test_wide_tables_are_linked_too():
    table = random_tree(rows=3000, sizes=(2,) * 60, leaves=8, seed=1).frame
    model = ChowLiuTree().fit(table)
    assert model.score(table) >= IndependentColumns().fit(table).score(table)
    assert model.n_leaves_ == 2 * (60 - len(model.links_)) + 4 * len(model.links_)
