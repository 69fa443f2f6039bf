"""What a column is worth: the loss when its splits are merged, held against sums over every point."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity.density import merging
from sparsedensity.density.changes import Neighbours
from sparsedensity.density.importance import averaged, expected_losses, losses_on
from tests import naive
from tests.laws.test_densities import models
from tests.strategies import data_in


@given(models())
def test_the_loss_of_a_column_is_a_divergence_summed_over_points(model):
    density, expected = model
    domain = density.structure.domain
    found = expected_losses(density)
    assert found.exact
    for feature in range(len(domain)):
        assert found.by_feature[feature] == pytest.approx(naive.loss(domain, expected, feature), abs=1e-9)
        assert found.by_feature[feature] >= 0


@given(models(), st.data())
def test_the_loss_on_rows_is_a_mean_over_rows(model, data):
    density, expected = model
    domain = density.structure.domain
    rows = data.draw(data_in(domain))
    codes = np.array([row for row, _ in rows], domain.code_type).reshape(len(rows), len(domain))
    weights = np.array([weight for _, weight in rows])
    found = losses_on(density, codes, weights).by_feature
    for feature in range(len(domain)):
        assert found[feature] == pytest.approx(naive.loss_on(domain, expected, feature, rows), abs=1e-9)


@given(models(), st.data())
def test_the_averaged_density_has_the_same_mass_and_the_same_value_along_the_column(model, data):
    density, _ = model
    domain = density.structure.domain
    feature = data.draw(st.integers(0, len(domain) - 1))
    masses, logs = density.averaged(feature)
    assert masses.sum() == pytest.approx(1)
    assert np.isfinite(logs).all()
    every = naive.points(domain)
    merged = dict(zip(every, averaged(Neighbours(density, np.array(every, domain.code_type)), feature), strict=True))
    for point, log in merged.items():
        first = (*point[:feature], 0, *point[feature + 1 :])
        assert log == pytest.approx(merged[first])
    assert math.fsum(naive.measure(domain, p) * math.exp(log) for p, log in merged.items()) == pytest.approx(1)


@given(models(st.sampled_from(["leaf-sparse", "branch-sparse", "rules"])))
def test_a_loss_that_cannot_be_listed_is_estimated_and_says_so(model):
    density, expected = model
    domain = density.structure.domain
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "MOST_BYTES", 0)
        found = expected_losses(density)
    if len(density.used_features) > 1:
        assert not found.exact
    for feature in range(len(domain)):
        assert found.by_feature[feature] == pytest.approx(naive.loss(domain, expected, feature), abs=0.15)
