"""The profile leaf: inside it features are independent, and each follows the table or has a profile of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import FAR_UP, Space, leaf_model, log_gamma, log_rising


class Profile(NamedTuple):
    """What a profile leaf is compared with, and how readily a feature has a profile of its own."""

    background: np.ndarray
    """The share of every value among those of its feature in the whole table."""
    pseudocount: float
    probability: float
    """That a feature has a profile of its own."""


class ProfileTables(NamedTuple):
    """A profile with all logarithms that depend on no region."""

    shares: np.ndarray
    """The background, which adds up to 1 over the values of every feature,"""
    log_shares: np.ndarray
    """and its logs."""
    log_measures: np.ndarray
    log_gammas: np.ndarray
    """LnG(s b) of every value, if all values of its feature are allowed."""
    pseudocount: float
    log_follows: float
    """Ln(1 - r),"""
    log_own: float
    """and ln r."""

    @classmethod
    def of(cls, profile: Profile, space: Space) -> ProfileTables:
        """The tables of a profile."""
        background, s, r = profile.background, profile.pseudocount, profile.probability
        starts = space.features["start"]
        whole = np.repeat(np.add.reduceat(background, starts), space.features["stop"] - starts)
        shares = background / whole
        return cls(
            shares,
            np.log(shares),
            np.log(space.values["measure"]),
            np.array([math.lgamma(x) for x in (s * shares).tolist()]),
            s,
            math.log1p(-r),
            math.log(r) if r > 0 else -math.inf,
        )


SURE = 40.0
"""So many nats apart, the lesser of two evidences adds nothing that a number could hold."""


@leaf_model(Profile, bounded=True, prepared=ProfileTables)
def profile_term(model, counts, allowed, space):
    """The sum over features of ln[ (1 - r) e^H0 + r e^H1 ] - sum over values of c ln m."""
    total, weight = 0.0, 0.0
    for value in range(space.features[0].start, space.features[0].stop):
        weight += counts[value]
    if weight <= 0.0:
        return 0.0
    head = -log_rising(model.pseudocount, weight)
    for f in range(space.features.size):
        total += feature_term(model, counts, allowed, space.features[f], weight, head)
    return total


@bare
def feature_term(model, counts, allowed, feature, weight, head):
    """What one feature adds, given lnG(s) - lnG(s + n); one with a single allowed value adds its measure only."""
    whole, values, follows, measured = 0.0, 0, model.log_follows, 0.0
    for value in range(feature.start, feature.stop):
        if allowed[value] > 0:
            values += 1
            whole += model.shares[value]
            follows += counts[value] * model.log_shares[value]
            measured += counts[value] * model.log_measures[value]
    if values < 2:
        return -measured
    free, own, scale = values == feature.stop - feature.start, head + model.log_own, model.pseudocount / whole
    if not free:
        follows -= weight * math.log(whole)
    for value in range(feature.start, feature.stop):
        if counts[value] > 0.0:
            pseudocount = scale * model.shares[value]
            if free and pseudocount < FAR_UP:
                own += log_gamma(pseudocount + counts[value]) - model.log_gammas[value]
            else:
                own += log_rising(pseudocount, counts[value])
    high, low = max(follows, own), min(follows, own)
    if high - low > SURE:
        return high - measured
    return high + math.log1p(math.exp(low - high)) - measured
