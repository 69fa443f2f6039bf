"""Laws of logarithms in plain arithmetic: they are those of the C library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity.kernels.belief import FAR_UP
from sparsedensity.kernels.logarithms import log_gammas, log_gammas_far_up, natural_log
from tests.compiled import opened

natural_log_of, log_gammas_of, log_gammas_far_up_of = map(opened, (natural_log, log_gammas, log_gammas_far_up))


@given(st.floats(1e-300, 1e300))
def test_a_logarithm_is_that_of_the_library(x):
    assert natural_log_of(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-300)


@given(st.lists(st.floats(1e-9, 1e12), max_size=20))
def test_log_gammas_are_those_of_the_library(x):
    out = np.zeros(len(x))
    log_gammas_of(np.array(x, np.float64), out)
    assert out.tolist() == pytest.approx([math.lgamma(each) for each in x], rel=1e-13, abs=1e-13)


@given(st.lists(st.floats(FAR_UP, 1e12), max_size=20))
def test_far_up_they_are_so_without_a_shift(x):
    out = np.zeros(len(x))
    log_gammas_far_up_of(np.array(x, np.float64), out)
    assert out.tolist() == pytest.approx([math.lgamma(each) for each in x], rel=1e-13, abs=1e-13)
