"""Trees with profile leaves answer all that trees with even leaves answer, in the words of their users."""

import itertools
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.model_selection import KFold

from sparsedensity import BranchSparseTree, LeafSparseTree, compare, datasets
from sparsedensity.cli.tables import read_rows
from sparsedensity.cli.top import most_unusual
from sparsedensity.density import Density
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataWarning, UnknownValueError
from sparsedensity.ingest import batches
from sparsedensity.posterior import Profiles
from sparsedensity.posterior.profiles import background_of
from sparsedensity.report.evidence import Evidence
from sparsedensity.table import Table

KINDS = [partial(kind, leaf="profile", search="greedy") for kind in (LeafSparseTree, BranchSparseTree)]
both = pytest.mark.parametrize("kind", KINDS, ids=["leaves", "branches"])
PEOPLE = datasets.load("titanic")


def mixed(rows=600, seed=3):
    """Text, an order, numbers and missing values, of two kinds."""
    rng = np.random.default_rng(seed)
    kind = rng.random(rows) < 0.4
    size = np.where(kind, rng.gamma(2, 2, rows), rng.gamma(9, 2, rows)).round(2)
    return pl.DataFrame(
        {
            "colour": np.where(
                kind, rng.choice(["red", "blue"], rows), rng.choice(["red", "green"], rows, p=[0.1, 0.9])
            ),
            "level": np.where(kind, rng.integers(0, 3, rows), rng.integers(1, 5, rows)),
            "size": [None if hidden else float(x) for hidden, x in zip(rng.random(rows) < 0.1, size, strict=True)],
            "flag": rng.random(rows) < np.where(kind, 0.9, 0.2),
        }
    )


def fitted(kind, rows, **more):
    return kind(bins=3, **more).fit(rows)


@both
def test_a_model_is_shown_without_drawing_records(kind, monkeypatch):
    monkeypatch.setattr("sparsedensity.density.expected_records", None)
    model = fitted(kind, mixed())
    assert model.leaves_[0].name in model.to_text(200)
    with pytest.raises(TypeError):
        model.leaves_[0].unusualness  # noqa: B018 (which does draw them)


def codes_of(model, rows):
    from sparsedensity.models.answers import place_rows

    return place_rows(model, rows).codes


def weighed(model, rows, weights=None):
    """The density of a model's tree with the weights and the profiles of some rows."""
    table = Table.of(model.domain_, codes_of(model, rows), np.ones(len(rows)) if weights is None else weights)
    by_value = MemoryEngine(table).leaf_value_weights(model.structure_)
    held = by_value[:, model.domain_.span(0)].sum(axis=1)
    logs = model.posterior_.log_probabilities(model.structure_, held)
    return Density(model.structure_, held, logs, Profiles.of(model.posterior_.leaf, model.structure_, by_value))


def logs_at(density, codes):
    return density.log_densities_at(codes, density.leaf_numbers(codes))


@both
def test_densities_sum_to_1_over_text_orders_bins_and_missing_values(kind):
    model = fitted(kind, mixed())
    points = np.array(list(itertools.product(*map(range, model.domain_.sizes))), np.uint8)
    volumes = np.prod([np.array(f.measures)[points[:, i]] for i, f in enumerate(model.domain_)], axis=0)
    assert (np.exp(logs_at(model.density_, points)) * volumes).sum() == pytest.approx(1)
    assert sum(model.marginal("size").values()) == pytest.approx(1)
    assert None in model.marginal("size")


@both
def test_scores_are_those_of_the_tree_weighed_by_hand(kind):
    rows = mixed()
    model = fitted(kind, rows)
    assert model.n_leaves_ > 1
    assert model.score_samples(rows) == pytest.approx(logs_at(weighed(model, rows), codes_of(model, rows)))
    assert len(np.unique(model.score_samples(rows).round(9))) > 5 * model.n_leaves_


@both
def test_rows_of_a_missing_value_can_be_dropped(kind):
    rows = mixed()
    model, without = fitted(kind, rows, missing="drop"), rows.drop_nulls()
    same = fitted(kind, without, domain=model.domain_)
    assert model.score_samples(without) == pytest.approx(same.score_samples(without))


@both
def test_weights_count_rows(kind):
    counts = PEOPLE.group_by(pl.all(), maintain_order=True).len("count")
    weighted = kind().fit(counts.drop("count"), sample_weight=counts["count"].to_numpy())
    plain = kind(domain=weighted.domain_).fit(PEOPLE)
    assert weighted.leaves_ == plain.leaves_
    assert weighted.score_samples(PEOPLE) == pytest.approx(plain.score_samples(PEOPLE), rel=1e-12)
    assert weighted.unusualness(PEOPLE) == pytest.approx(plain.unusualness(PEOPLE))


@both
def test_honest_profiles_come_from_held_rows_and_the_search_from_the_others(kind):
    rows = mixed()
    model = fitted(kind, rows, honest=0.5)
    split = model.held_out_.divide(np.ones(len(rows)))
    searched, held = rows.filter(split.train > 0), rows.filter(split.test > 0)
    plain = fitted(kind, searched, domain=model.domain_)
    assert model.log_posterior_ == pytest.approx(plain.log_posterior_)
    assert model.posterior_.leaf.background == pytest.approx(plain.posterior_.leaf.background)
    by_value = MemoryEngine(Table.of(model.domain_, codes_of(model, held))).value_weights()
    assert model.density_.profiles.leaf.background == pytest.approx(background_of(model.domain_, by_value))
    assert model.score_samples(rows) == pytest.approx(logs_at(weighed(model, held), codes_of(model, rows)))


@both
def test_a_path_and_its_cuts_have_profiles_of_their_own(kind):
    model = kind().fit(PEOPLE)
    path = model.sparsity_path(PEOPLE, cv=3)
    for point in path.points[:4]:
        cut = model.cut(point.size)
        assert cut.n_leaves_ == point.size
        assert cut.log_posterior_ == pytest.approx(point.log_posterior)
        assert point.log_likelihood == pytest.approx(cut.score(PEOPLE) / PEOPLE.height)
        assert cut.score_samples(PEOPLE) == pytest.approx(logs_at(weighed(cut, PEOPLE), codes_of(cut, PEOPLE)))
    scores = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(PEOPLE):
        fold = kind(domain=model.domain_).fit(PEOPLE[train])
        scores.append(fold.cut(2).score(PEOPLE[test]) / len(test))
    assert path.at(2).held_out == pytest.approx(np.mean(scores))


@both
def test_near_optimal_trees_have_profiles_of_their_own(kind):
    near = kind(search="exact").fit(PEOPLE).near_optimal(within=3).trees
    assert len(near) > 1
    for tree in near[:5]:
        assert tree.score_samples(PEOPLE) == pytest.approx(logs_at(weighed(tree, PEOPLE), codes_of(tree, PEOPLE)))
        table = MemoryEngine(Table.of(tree.domain_, codes_of(tree, PEOPLE)))
        by_value = table.leaf_value_weights(tree.structure_)
        score = tree.posterior_.log_posterior(tree.structure_, tree.density_.weights, by_value)
        assert tree.log_posterior_ == pytest.approx(score)


@both
def test_a_value_outside_the_domain_of_any_column_has_density_0(kind):
    model = kind(max_leaves=1).fit(PEOPLE)
    row = {"class": "1st", "sex": "robot", "age": "adult"}
    with pytest.warns(DataWarning, match=r"1 row lies outside the domain, density 0: 'sex' has no value 'robot'"):
        assert model.score_samples([row]).tolist() == [-np.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.unusualness([row]).tolist() == [1.0]
        assert model.apply([row]).tolist() == [-1]
        (explained,) = model.explain([row])
    assert explained.unknown == ("sex", "robot")
    assert (explained.change.column, explained.change.value) == ("sex", "male")
    assert explained.factors == ()
    with pytest.raises(UnknownValueError, match="robot"):
        model.set_params(unknown="error").score_samples([row])


@both
def test_a_number_beyond_the_range_can_go_to_the_outermost_bin(kind):
    rows = mixed()
    model = fitted(kind, rows, unknown="nearest")
    row = {"colour": "red", "level": 1, "size": 1e6, "flag": True}
    assert model.score_samples([row])[0] == model.score_samples([{**row, "size": rows["size"].max()}])[0]


@both
def test_samples_follow_the_probabilities_of_pairs_of_values(kind):
    rows = mixed()
    model = fitted(kind, rows)
    drawn = model.sample(20_000, random_state=1)
    assert drawn.columns == rows.columns
    assert drawn["size"].null_count() > 0
    for names in (["colour", "level"], ["colour", "flag"], ["level", "flag"]):
        found = {key: len(part) for key, part in drawn.group_by(names)}
        expected = model.conditional(names)
        common = [key for key, share in expected.items() if share * len(drawn) >= 5]
        hopes = np.array([expected[key] for key in common])
        counts = np.array([found.get(key, 0) for key in common])
        assert stats.chisquare(counts, hopes / hopes.sum() * counts.sum()).pvalue > 1e-4


@both
def test_a_mean_of_unusualness_over_drawn_rows_is_near_one_half(kind):
    """The share of mass that is denser than a drawn row is even, ties apart."""
    model = fitted(kind, mixed())
    drawn = model.sample(5000, random_state=2)
    assert model.unusualness(drawn).mean() == pytest.approx(0.5, abs=0.03)
    leaves = model.apply(drawn)
    for leaf in model.leaves_:
        if (leaves == leaf.number).sum() > 500:
            assert model.unusualness(drawn)[leaves == leaf.number].mean() == pytest.approx(leaf.unusualness, abs=0.06)


@both
def test_kinds_and_declared_orders_are_heard(kind):
    order = ["small", "medium", "large"]
    rows = [{"size": order[i % 3], "x": i % 7} for i in range(300)]
    model = kind(kinds={"size": order, "x": "nominal"}).fit(rows)
    assert [feature.kind for feature in model.domain_] == ["ordinal", "nominal"]
    assert list(model.marginal("size")) == order


@both
def test_tables_are_compared_by_the_leaves(kind):
    women, men = (PEOPLE.filter(PEOPLE["sex"] == sex).drop("sex") for sex in ("female", "male"))
    assert compare(women, men, model=kind()).p_value < 0.001
    half = PEOPLE.sample(fraction=1, shuffle=True, seed=1)
    assert compare(half[:1100], half[1100:], model=kind()).p_value > 0.001
    assert kind(honest=0.5).fit(PEOPLE).compare(PEOPLE.filter(PEOPLE["class"] == "crew")).p_value < 0.001


@both
def test_an_explanation_tells_every_value_and_the_change_that_helps_most(kind):
    rows = mixed()
    model = fitted(kind, rows)
    for row, explained in zip(rows.to_dicts()[:20], model.explain(rows[:20]), strict=True):
        assert explained.log_density == model.score_samples([row])[0]
        assert explained.unusualness == model.unusualness([row])[0]
        assert sorted(factor.column for factor in explained.factors) == sorted(rows.columns)
        for factor in explained.factors:
            if factor.column in ("colour", "level"):
                others = {column: value for column, value in row.items() if column not in (factor.column, "size")}
                event = {**others, "size": None} if row["size"] is None else {**others, "size": (row["size"],) * 2}
                if row["size"] is None:
                    expected = model.conditional(factor.column, given=event)[row[factor.column]]
                    assert factor.share == pytest.approx(expected)
                overall = (rows[factor.column] == row[factor.column]).mean()
                assert factor.overall == pytest.approx(overall, abs=0.01)
            assert factor.times == pytest.approx(factor.overall / factor.share)
        plain = explained.as_dict()["factors"]
        assert [set(factor) for factor in plain] == [{"column", "value", "share", "overall", "usual", "times"}] * 4
        if explained.change is not None and explained.change.column == "colour":
            changed = {**row, "colour": explained.change.value}
            assert model.score_samples([changed])[0] == pytest.approx(explained.change.log_density)


def test_an_altered_value_is_named_first():
    """A value that its kind of record never has speaks most against the record."""
    rng = np.random.default_rng(0)
    kind = rng.random(2000) < 0.5
    columns = {f"x{i}": np.where(kind ^ (rng.random(2000) < 0.02), "a", "b") for i in range(6)}
    model = KINDS[0]().fit(pl.DataFrame(columns))
    for i in range(6):
        row = {f"x{j}": "a" if j != i else "b" for j in range(6)}
        (explained,) = model.explain([row])
        assert explained.factors[0].column == f"x{i}"
        assert (explained.change.column, explained.change.value) == (f"x{i}", "a")
        assert explained.factors[0].share < 0.1 < explained.factors[0].overall


@both
def test_the_top_rows_are_the_least_dense_of_a_table_of_any_size(kind, tmp_path, monkeypatch):
    rows = mixed(3000)
    model = fitted(kind, rows[:600])
    rows.write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(batches, "batches_of", partial(batches.batches_of, rows=400))
    read = read_rows([str(tmp_path / "t.csv")], model.domain_, engine="polars")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top, logs = most_unusual(model, read, 45), model.score_samples(rows)
    assert logs[top.numbers].tolist() == np.sort(logs)[:45].tolist()
    assert top.outside == np.isinf(logs).sum()
    tie = np.isclose(logs, logs[top.numbers[-1]], rtol=0, atol=1e-9)
    assert top.tied == (tie.sum() if tie.sum() > tie[top.numbers].sum() else 0)


@both
def test_the_records_of_a_report_are_the_least_dense(kind):
    from sparsedensity.models.evidence import gather

    rows = mixed()
    evidence = gather(fitted(kind, rows), rows, cv=None)
    assert isinstance(evidence, Evidence)
    logs = [record.explanation.log_density for record in evidence.records]
    assert logs == sorted(logs)
    assert logs[0] == fitted(kind, rows).score_samples(rows).min()
