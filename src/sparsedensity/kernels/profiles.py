"""The profile leaf: inside it features are independent, and each follows the table or has a profile of its own."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import leaf_model, log_rising


class Profile(NamedTuple):
    """What a profile leaf is compared with, and how readily a feature has a profile of its own."""

    background: np.ndarray
    """The share of every value among those of its feature in the whole table."""
    pseudocount: float
    probability: float
    """That a feature has a profile of its own."""


@leaf_model(Profile, bounded=True)
def profile_term(model, counts, allowed, space):
    """The sum over features of ln[ (1 - r) e^H0 + r e^H1 ] - sum over values of c ln m."""
    total = 0.0
    for f in range(space.features.size):
        total += feature_term(model, counts, allowed, space, f)
    return total


@bare
def feature_term(model, counts, allowed, space, f):
    """What one feature adds; one with a single allowed value adds its measure only."""
    weight, whole, values, measured = 0.0, 0.0, 0, 0.0
    for value in range(space.features[f].start, space.features[f].stop):
        if allowed[value] > 0:
            values += 1
            weight += counts[value]
            whole += model.background[value]
            if counts[value] > 0.0:
                measured += counts[value] * math.log(space.values[value].measure)
    if values < 2 or weight <= 0.0:
        return -measured
    follows, own = 0.0, -log_rising(model.pseudocount, weight)
    for value in range(space.features[f].start, space.features[f].stop):
        if allowed[value] > 0 and counts[value] > 0.0:
            share = model.background[value] / whole
            follows += counts[value] * math.log(share)
            own += log_rising(model.pseudocount * share, counts[value])
    return mixed(follows, own, model.probability) - measured


@bare
def mixed(follows, own, probability):
    """Ln[ (1 - r) e^H0 + r e^H1 ]."""
    if probability <= 0.0:
        return follows
    one, other = math.log1p(-probability) + follows, math.log(probability) + own
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))
