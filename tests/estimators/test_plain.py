"""Plain models and their scikit-learn face: the same parameters, fits, files and answers."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, ParameterGrid
from sklearn.utils import check_random_state

from sparsedensity import datasets, load, models
from sparsedensity.errors import ParameterError, SparseDensityError
from sparsedensity.estimators import ESTIMATORS
from sparsedensity.evaluation import ChowLiuTree, CrossValidation, IndependentColumns, Method, evaluate
from sparsedensity.models import MODELS, forest
from sparsedensity.models.folds import folds_of
from sparsedensity.models.parameters import generator
from sparsedensity.models.plain import parameter_names, parameters_of, unfitted

PAIRS = [(MODELS[name], ESTIMATORS[name]) for name in MODELS]
PEERS = [(forest.IndependentColumns, IndependentColumns), (forest.ChowLiuTree, ChowLiuTree)]
both = pytest.mark.parametrize(("plain", "estimator"), [*PAIRS, *PEERS], ids=lambda kind: kind.__name__)
TITANIC = datasets.load("titanic")


@both
def test_they_have_the_same_name_parameters_and_words(plain, estimator):
    assert plain.__name__ == estimator.__name__
    assert plain.__doc__ == estimator.__doc__
    assert parameters_of(plain()) == estimator().get_params(deep=False)
    assert not hasattr(plain, "get_params")


@both
def test_a_model_that_is_not_fitted_says_so(plain, estimator):
    with pytest.raises(SparseDensityError, match=f"^This {plain.__name__} is not fitted yet"):
        plain().score_samples(TITANIC)
    with pytest.raises(NotFittedError):
        estimator().score_samples(TITANIC)


@pytest.mark.parametrize(("plain", "estimator"), PAIRS, ids=lambda kind: kind.__name__)
def test_they_fit_and_save_the_same(plain, estimator, tmp_path):
    texts = []
    for kind in (plain, estimator):
        kind().fit(TITANIC).save(tmp_path / "m.json")
        document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
        document["search"].pop("seconds")
        texts.append(json.dumps(document))
    assert texts[0] == texts[1]
    assert type(load(tmp_path / "m.json")) is estimator
    assert type(models.load(tmp_path / "m.json")) is plain


def test_an_unfitted_copy_shares_nothing_with_the_model():
    model = models.GreedyTree(kinds={"age": ["child", "adult"]}).fit(TITANIC)
    copy = unfitted(model, max_leaves=2)
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert copy.kinds == model.kinds
    assert copy.kinds is not model.kinds
    assert (copy.max_leaves, model.max_leaves) == (2, 100)


def test_what_is_no_parameter_is_not_listed():
    assert "rows_" not in parameter_names(models.GreedyTree)


def test_a_plain_model_is_evaluated_as_its_estimator_is():
    grid = {"expected_leaves": (5, 8)}
    kinds = {"plain": models.GreedyTree(), "estimator": ESTIMATORS["GreedyTree"]()}
    methods = {name: Method(model, grid) for name, model in kinds.items()}
    found = evaluate(TITANIC, methods, CrossValidation(2, inner=2))
    plain, estimator = ([fold.log_likelihood for fold in found.of(name)] for name in methods)
    assert plain == estimator


def test_folds_are_those_of_scikit_learn():
    splits = KFold(3, shuffle=True, random_state=7).split(np.arange(10))
    for ours, (_, theirs) in zip(folds_of(np.ones(10), 3, seed=7), splits, strict=True):
        assert np.flatnonzero(ours.test).tolist() == theirs.tolist()


@pytest.mark.parametrize("seed", [0, 3, np.int64(5), True, 2**32 - 1, np.random.RandomState(1), np.random])
def test_a_random_state_is_what_scikit_learn_takes_it_for(seed):
    state = seed.get_state() if hasattr(seed, "get_state") else None
    ours = generator(seed).random()
    if state is not None:
        seed.set_state(state)
    theirs = np.random.default_rng(check_random_state(seed).randint(0, 2**31 - 1, size=4)).random()
    assert ours == theirs


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "0", [1], object()])
def test_no_other_random_state_is_taken(seed):
    with pytest.raises(ParameterError, match=r"^random_state must be a whole number from 0 to 4,294,967,295, a NumPy"):
        generator(seed)


def test_a_grid_is_worked_through_in_the_order_of_scikit_learn():
    grid = {"b": [1, 2], "a": np.array([3, 4])}
    assert Method(None, grid).choices(1.0) == list(ParameterGrid(grid))
    assert Method(None).choices(1.0) == [{}]


@pytest.mark.parametrize("values", ["word", [], 5, None])
def test_a_grid_that_offers_no_choice_is_refused(values):
    with pytest.raises(ParameterError, match=r"^The grid of 'a' must be a list of values to choose from, not"):
        Method(None, {"a": values})
