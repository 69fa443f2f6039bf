"""The estimators are scikit-learn estimators: its own checks, and its tools around them."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.parallel import Parallel, delayed

from sparsedensity import Domain, Histogram
from sparsedensity.datasets import titanic
from sparsedensity.estimators import ESTIMATORS, DensityEstimator

KINDS: dict[str, Callable[..., DensityEstimator]] = {**ESTIMATORS}
KINDS |= {
    f"{name} with profiles": partial(KINDS[name], leaf="profile", search="greedy")
    for name in ("LeafSparseTree", "BranchSparseTree")
}
every_estimator = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rows = titanic()
    return pd.DataFrame(rows.to_dict(as_series=False)).sample(frac=1, random_state=0).reset_index(drop=True)


SHORT: dict[str, dict[str, Any]] = {
    "LeafSparseTree": {"search": "anneal", "iterations": 200},
    "BranchSparseTree": {"search": "anneal", "iterations": 200},
    "SparseRuleList": {"search": "anneal", "iterations": 500},
}
"""A short search for the checks: they are about the face, not about what is found."""


@parametrize_with_checks([kind(**SHORT.get(name, {})) for name, kind in KINDS.items()])
def test_scikit_learn_has_no_complaint(estimator, check):
    check(estimator)


def test_no_check_is_exempted_by_the_estimators_themselves():
    for kind in ESTIMATORS.values():
        tags = get_tags(kind())
        assert not tags.no_validation
        assert not tags.non_deterministic
        assert tags.input_tags.string
        assert tags.input_tags.categorical
        assert tags.input_tags.allow_nan
        assert tags.estimator_type == "density_estimator"


@every_estimator
def test_the_parameters_are_stored_as_given_and_nothing_else(kind):
    estimator = kind()
    given = {name: object() for name in estimator.get_params()}
    built = kind(**given)
    assert {name: getattr(built, name) for name in given} == given
    assert vars(built) == given


@every_estimator
def test_parameters_can_be_read_set_and_cloned(kind, people):
    domain = Domain.infer(people)
    estimator = kind(pseudocount=0.5, domain=domain, kinds={"age": ["child", "adult"]})
    twin = clone(estimator.fit(people))
    assert twin.get_params() == estimator.get_params()
    assert twin.domain == domain
    with pytest.raises(NotFittedError):
        twin.score_samples(people)
    estimator.set_params(pseudocount=3.0).fit(people)
    assert estimator.log_posterior_ == kind(pseudocount=3.0, domain=domain).fit(people).log_posterior_
    with pytest.raises(ValueError, match="no_such_parameter"):
        estimator.set_params(no_such_parameter=1)


@every_estimator
@pytest.mark.parametrize("method", ["score_samples", "score", "apply", "unusualness", "explain", "probability"])
def test_an_unfitted_model_says_so(kind, method, people):
    with pytest.raises(NotFittedError, match=type(kind()).__name__):
        getattr(kind(), method)(people)


@every_estimator
@pytest.mark.parametrize("ask", ["leaves_", "search_", "log_posterior_", "structure_", "n_leaves_"])
def test_an_unfitted_model_has_no_fitted_attributes(kind, ask):
    with pytest.raises(NotFittedError):
        getattr(kind(), ask)


@every_estimator
def test_fitting_again_forgets_the_first_table(kind, people):
    estimator = kind().fit(people[["sex"]])
    assert len(estimator.leaves_) >= 1
    estimator.fit(people)
    fresh = kind().fit(people)
    assert estimator.leaves_ == fresh.leaves_
    assert_array_equal(estimator.feature_names_in_, ["class", "sex", "age"])
    estimator.fit(people.to_numpy())
    assert not hasattr(estimator, "feature_names_in_")


@every_estimator
def test_a_failed_fit_leaves_the_fitted_model_usable(kind, people):
    estimator = kind().fit(people)
    before = estimator.score(people)
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit(pd.DataFrame({"other": [1.0, np.inf]}))
    assert estimator.score(people) == before


@every_estimator
def test_a_pipeline_ends_in_a_density(kind, people):
    def drop_age(table):
        return table.drop(columns="age")

    pipeline = make_pipeline(FunctionTransformer(drop_age), kind()).fit(people)
    alone = kind().fit(drop_age(people))
    assert_array_equal(pipeline.score_samples(people), alone.score_samples(drop_age(people)))
    assert pipeline.score(people) == alone.score(drop_age(people))


@every_estimator
def test_weights_reach_the_model_through_a_pipeline(kind, people):
    weights = np.arange(len(people)) % 3
    pipeline = Pipeline([("model", kind())]).fit(people, model__sample_weight=weights)
    assert pipeline[-1].log_posterior_ == kind().fit(people, sample_weight=weights).log_posterior_


@every_estimator
def test_grid_search_picks_the_pseudocount_with_the_best_held_out_score(kind, people):
    some = people.head(400)
    name = "profile_pseudocount" if isinstance(kind, partial) else "pseudocount"
    grid = {name: [0.5, 1000.0]}
    search = GridSearchCV(kind(domain=Domain.infer(people)), grid, cv=3, error_score="raise").fit(some)
    assert search.best_params_ == {name: 0.5}
    assert np.diff(search.cv_results_["mean_test_score"]) < 0
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.domain_ == Domain.infer(people)


@every_estimator
def test_cross_validation_scores_are_those_of_the_folds_done_by_hand(kind, people):
    some, folds = people.head(300), KFold(3)
    model = kind(domain=Domain.infer(people))
    scores = cross_val_score(model, some, cv=folds, error_score="raise")
    by_hand = [clone(model).fit(some.iloc[a]).score(some.iloc[b]) for a, b in folds.split(some)]
    assert_allclose(scores, by_hand, rtol=0, atol=1e-9)


@every_estimator
def test_a_pickled_model_is_the_same_model(kind, people):
    model = kind().fit(people)
    twin = pickle.loads(pickle.dumps(model))
    assert_array_equal(twin.score_samples(people), model.score_samples(people))
    assert twin.leaves_ == model.leaves_
    assert twin.log_posterior_ == model.log_posterior_
    assert twin.to_text() == model.to_text()
    assert pickle.loads(pickle.dumps(twin)).domain_ == model.domain_


def _score(model: DensityEstimator, table: pd.DataFrame) -> np.ndarray:
    return np.asarray(model.score_samples(table))


def _fit_and_score(model: DensityEstimator, table: pd.DataFrame) -> float:
    return float(clone(model).fit(table).score(table))


def test_models_travel_to_other_processes_and_back(people):
    models = [kind().fit(people) for kind in ESTIMATORS.values()]
    here = [model.score_samples(people) for model in models]
    there = Parallel(n_jobs=2, backend="loky")(delayed(_score)(model, people) for model in models)
    assert_array_equal(there, here)
    fitted = Parallel(n_jobs=2, backend="loky")(delayed(_fit_and_score)(model, people) for model in models)
    assert fitted == [scores.sum() for scores in here]


def test_an_error_survives_the_way_back_from_another_process(people):
    with pytest.raises(ValueError, match="pseudocount must be a number greater than 0"):
        Parallel(n_jobs=2, backend="loky")(delayed(_fit_and_score)(Histogram(pseudocount=-1), people) for _ in range(2))


def _mixed_table(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "size": rng.gamma(2, size=rows).round(2),
            "visits": rng.integers(0, 200, rows),
            "group": rng.choice(["a", "b", "c"], rows, p=[0.7, 0.2, 0.1]),
            "level": rng.integers(0, 4, rows),
        }
    )


@every_estimator
@pytest.mark.parametrize("bins", [4, "quantile:4"])
def test_a_weight_is_that_many_rows(kind, bins):
    table = _mixed_table()
    weights = np.random.default_rng(1).integers(1, 5, len(table))
    repeated = table.loc[table.index.repeat(weights)]
    short = SHORT["SparseRuleList"] if kind is ESTIMATORS["SparseRuleList"] else {}
    one = kind(bins=bins, **short).fit(table, sample_weight=weights)
    other = kind(bins=bins, **short).fit(repeated)
    assert one.domain_ == other.domain_
    assert one.log_posterior_ == pytest.approx(other.log_posterior_, abs=1e-9)
    assert [str(leaf) for leaf in one.leaves_] == [str(leaf) for leaf in other.leaves_]
    assert_allclose(one.score_samples(table), other.score_samples(table), atol=1e-12)
    assert one.score(table, sample_weight=weights) == pytest.approx(other.score(repeated), abs=1e-9)


@every_estimator
@pytest.mark.parametrize("bins", [4, "quantile:4"])
@pytest.mark.parametrize("as_frame", [True, False], ids=["frame", "integers"])
def test_rows_of_weight_zero_are_dropped_before_anything_is_inferred(kind, bins, as_frame):
    table = _mixed_table()
    strange = pd.DataFrame({"size": [1e6, np.nan], "visits": [-5000, 9999], "group": ["zzz", None], "level": [17, 99]})
    longer = pd.concat([strange, table, strange], ignore_index=True)
    weights = np.r_[0, 0, np.ones(len(table)), 0, 0]
    given, bare = (longer, table) if as_frame else (t[["visits", "level"]].to_numpy() for t in (longer, table))
    short = {} if isinstance(kind, partial) else SHORT.get(kind.__name__, {})
    with_zeros = kind(bins=bins, **short).fit(given, sample_weight=weights)
    without = kind(bins=bins, **short).fit(bare)
    assert with_zeros.domain_ == without.domain_
    assert with_zeros.log_posterior_ == without.log_posterior_
    assert Domain.infer(given, bins=bins, sample_weight=weights) == without.domain_
    assert with_zeros.leaves_ == without.leaves_


@every_estimator
def test_the_type_of_a_column_is_not_read_off_rows_of_weight_zero(kind):
    with_text = [{"x": 1}, {"x": 2}, {"x": "two"}]
    model = kind().fit(with_text, sample_weight=[1, 1, 0])
    assert model.domain_ == Domain.infer([{"x": 1}, {"x": 2}])
    assert model.domain_ == Domain.infer(with_text, sample_weight=[1, 1, 0])


@every_estimator
def test_infinity_in_a_row_of_weight_zero_is_no_error(kind):
    table = np.array([[1.0], [2.0], [np.inf]])
    model = kind().fit(table, sample_weight=[1, 1, 0])
    assert model.domain_ == Domain.infer(table[:2])


@every_estimator
def test_the_score_is_the_sum_of_the_log_densities(kind, people):
    model = kind().fit(people)
    assert model.score(people) == pytest.approx(model.score_samples(people).sum())
    doubled = model.score(people, sample_weight=np.full(len(people), 2.0))
    assert doubled == pytest.approx(2 * model.score(people))


@every_estimator
def test_a_row_of_weight_zero_outside_the_domain_does_not_spoil_the_score(kind, people):
    model = kind().fit(people)
    some = pd.concat([people.head(3), pd.DataFrame({"class": ["4th"], "sex": ["male"], "age": ["adult"]})])
    with pytest.warns(UserWarning, match="4th"):
        scored = model.score(some, sample_weight=[1, 1, 1, 0])
    assert scored == pytest.approx(model.score(people.head(3)))


@every_estimator
def test_the_order_of_the_rows_does_not_matter(kind, people):
    model, other = kind().fit(people), kind().fit(people.iloc[::-1])
    assert model.log_posterior_ == pytest.approx(other.log_posterior_, abs=1e-9)
    assert {str(leaf) for leaf in model.leaves_} == {str(leaf) for leaf in other.leaves_}
