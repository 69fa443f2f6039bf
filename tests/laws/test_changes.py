"""The best single change of a value, held against trying every change of every row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity import GreedyTree, Histogram, datasets
from sparsedensity.density import EQUALLY_DENSE, Density
from sparsedensity.density.changes import best_changes
from sparsedensity.errors import DataWarning
from sparsedensity.posterior import LeafSparse
from tests.draw_list import rules_on
from tests.strategies import domains, rows_of, rule_lists, trees


@st.composite
def densities(draw):
    domain = draw(domains())
    if draw(st.booleans()):
        structure, posterior = draw(trees(domain)), LeafSparse()
    else:
        structure, posterior = draw(rule_lists(domain)), rules_on(domain)
    weights = np.array(draw(st.lists(st.integers(0, 9), min_size=structure.n_leaves, max_size=structure.n_leaves)))
    weights = np.where(np.isfinite(structure.log_volumes), weights, 0.0) + 0.0
    return Density(structure, weights, posterior.log_probabilities(structure, weights))


def log_density(density, row):
    return density.log_densities[density.leaf_numbers(np.array([row], density.structure.domain.code_type))[0]]


@given(densities(), st.data())
def test_no_other_change_of_one_value_does_better(density, data):
    domain = density.structure.domain
    row = data.draw(rows_of(domain))
    codes = np.array([row], domain.code_type)
    own = log_density(density, row)
    (best,) = best_changes(density, codes, np.array([own]))
    tried = {
        (feature, code): log_density(density, (*row[:feature], code, *row[feature + 1 :]))
        for feature in range(len(domain))
        for code in range(domain.sizes[feature])
    }
    if best is None:
        assert max(tried.values()) <= own + EQUALLY_DENSE
        return
    assert max(tried.values()) <= tried[best.feature, best.codes[0]] + EQUALLY_DENSE * len(domain)
    equal = [code for code in range(domain.sizes[best.feature]) if code in best.codes]
    assert all(
        tried[best.feature, code] == pytest.approx(tried[best.feature, equal[0]], abs=2 * EQUALLY_DENSE)
        for code in equal
    )
    assert row[best.feature] not in best.codes


@pytest.mark.parametrize("kind", [GreedyTree, Histogram])
def test_the_change_is_said_in_the_users_words_and_does_what_it_says(kind):
    model = kind().fit(datasets.load("titanic"))
    girl = {"class": "1st", "sex": "female", "age": "child"}
    (explained,) = model.explain([girl])
    changed = {**girl, explained.change.column: explained.change.value.split(" or ")[0]}
    assert model.score_samples([changed])[0] == pytest.approx(explained.change.log_density)
    assert model.unusualness([changed])[0] == explained.change.unusualness
    assert explained.change.gain == pytest.approx(explained.change.log_density - explained.log_density)


def test_the_most_common_record_needs_no_change():
    model = GreedyTree().fit(datasets.load("titanic"))
    (explained,) = model.explain([{"class": "crew", "sex": "male", "age": "adult"}])
    assert explained.change is None
    assert explained.unusualness == 0


def test_one_unknown_value_can_be_changed_and_two_cannot():
    model = GreedyTree().fit(datasets.load("titanic"))
    rows = [
        {"class": "stowaway", "sex": "male", "age": "adult"},
        {"class": "stowaway", "sex": "male", "age": "old"},
        {"class": "crew", "sex": "male", "age": "adult"},
    ]
    with pytest.warns(DataWarning, match="2 rows lie outside"):
        one, two, none = model.explain(rows)
    assert (one.change.column, one.change.value) == ("class", "crew")
    assert "it would be possible" in str(one)
    assert two.change is None
    assert none.unknown is None
