"""Tables that are drawn from the truth they carry."""

import math

import numpy as np
import pytest
from scipy import stats

from reproduction.datasets.random_trees import random_tree
from sparsedensity import datasets
from sparsedensity.errors import DataError, ParameterError


@pytest.mark.parametrize("truth", [datasets.housebreaks(), random_tree()], ids=["homes", "random"])
def test_rows_of_known_truth_fall_into_its_leaves_as_often_as_it_says(truth):
    counts = np.bincount(truth.tree.leaf_numbers(truth.codes), minlength=truth.tree.n_leaves)
    assert math.fsum(truth.probabilities) == pytest.approx(1)
    assert stats.chisquare(counts, truth.probabilities * len(truth.codes)).pvalue > 1e-3


def test_the_same_seed_draws_the_same_rows_and_another_seed_others():
    for make in (datasets.housebreaks, random_tree):
        assert make(rows=500, seed=1).frame.equals(make(rows=500, seed=1).frame)
        assert not make(rows=500, seed=1).frame.equals(make(rows=500, seed=2).frame)


def test_housebreaks_tell_the_paper_s_story():
    truth = datasets.housebreaks()
    domain = truth.domain

    def density(**values):
        usual = {"location of entry": "door", "means of entry": "forceful", "resident inside": "no"}
        row = {**usual, "ransacked": "no", "day": "weekend", "premise": "residence"}
        row.update({name.replace("_", " "): value for name, value in values.items()})
        codes = np.array([[domain[name].code(row[name]) for name in domain.names]], np.uint8)
        return math.exp(truth.log_density(codes)[0])

    assert density() == pytest.approx(0.2, rel=1e-3)
    assert density(day="weekday") == pytest.approx(0.0046, rel=1e-3)
    assert density(means_of_entry="unlocked") == pytest.approx(0.0361, rel=1e-3)
    assert density(means_of_entry="picked lock") == pytest.approx(0.0011, rel=1e-3)
    assert density(means_of_entry="open area") == pytest.approx(0.0068, rel=1e-3)
    assert density(ransacked="yes") == pytest.approx(0.0042, rel=1e-3)
    assert density(ransacked="yes", location_of_entry="wall") == pytest.approx(4.72e-4, rel=1e-3)
    assert density(resident_inside="yes") < density()
    assert all(density(premise=place) < 2e-4 for place in domain["premise"].values if place != "residence")


def test_impossible_sizes_are_refused():
    for make in (datasets.housebreaks, random_tree):
        with pytest.raises(ParameterError, match="rows"):
            make(rows=0)


@pytest.mark.parametrize("make", [datasets.housebreaks, random_tree])
@pytest.mark.parametrize("seed", [-1, 0.5, True])
def test_impossible_seeds_are_refused(make, seed):
    with pytest.raises(ParameterError, match="seed must be a whole number of 0 or more"):
        make(seed=seed)


def test_a_name_that_is_not_known_says_which_are():
    with pytest.raises(DataError, match=r"no data set 'iris'. Known: titanic, "):
        datasets.load("iris")
