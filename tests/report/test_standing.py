"""How a model stands against simpler ones, in words."""

import math

import pytest

from sparsedensity.report.standing import HISTOGRAM, INDEPENDENT, ONE_LEAF, Score, standing


def said(model, independent=-2.0, histogram=-2.0, one=-2.0):
    others = {INDEPENDENT: independent, HISTOGRAM: histogram, ONE_LEAF: one}
    return standing([Score("A tree", model, 0.1), *(Score(name, score, 0.1) for name, score in others.items())])


def test_a_model_that_is_better_than_all_says_how_much():
    assert said(-1.0, -1.0 - math.log(1.13), -1.0 - math.log(20), -1.001) == (
        "Held out, the model gives new records 1.13 times the density that independent columns do, 20 times the "
        "density that the full histogram does and about the density that one even leaf does."
    )


def test_a_model_that_is_worse_says_so_and_what_to_do():
    assert said(-2.0, -1.5, -3.0, -3.0).endswith(
        "Independent columns describe this table better: they give new records 1.65 times the density that the model "
        "does. Consider more leaves."
    )
    text = said(-2.0, -1.5, -1.5, -1.5)
    assert text.startswith("Held out, independent columns describe this table better")
    assert text.count("Consider more leaves") == 1
    assert text.endswith("There may be nothing to find here: consider fewer leaves.")


def test_a_density_of_zero_is_told():
    assert "some new records density 0" in said(-math.inf)


@pytest.mark.parametrize("scores", [[], [Score("A tree", -1.0, 0.0)]])
def test_without_anything_beside_it_nothing_is_said(scores):
    assert standing(scores) == ""
