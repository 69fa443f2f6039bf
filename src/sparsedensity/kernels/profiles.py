"""The profile leaf: inside it features are independent, and each follows the table or has a profile of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import FAR_UP, Space, leaf_model, log_gamma, log_rising

FEW = 16
"""Fewer rows than this at a value are the rule in small regions, and need no log gamma."""


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
    """LnG(s b) of every value, if all values of its feature are allowed,"""
    few: np.ndarray
    """(values, few) and lnG(s b + k) - lnG(s b) for few rows k."""
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
        few = np.zeros((len(shares), FEW))
        few[:, 1:] = np.log(s * shares[:, None] + np.arange(FEW - 1)).cumsum(axis=1)
        return cls(
            shares,
            np.log(shares),
            np.log(space.values["measure"]),
            np.array([math.lgamma(x) for x in (s * shares).tolist()]),
            few,
            s,
            math.log1p(-r),
            math.log(r) if r > 0 else -math.inf,
        )


SURE = 40.0
"""So many nats apart, the lesser of two evidences adds nothing that a number could hold."""
MUCH = 1.0e200
"""A product of numbers below 2 that is as large is taken the log of before there are more."""


@leaf_model(Profile, bounded=True, prepared=ProfileTables)
def profile_term(model, counts, allowed, space):
    """The sum over features of ln[ (1 - r) e^H0 + r e^H1 ] - sum over values of c ln m."""
    total, weight, either = 0.0, 0.0, 1.0
    for value in range(space.features[0].start, space.features[0].stop):
        weight += counts[value]
    if weight <= 0.0:
        return 0.0
    head = -log_rising(model.pseudocount, weight)
    for f in range(space.features.size):
        more, lesser = feature_term(model, counts, allowed, space.features[f], weight, head)
        total += more
        either *= 1.0 + lesser
        if either > MUCH:
            total += math.log(either)
            either = 1.0
    return total + math.log(either)


@bare
def feature_term(model, counts, allowed, feature, weight, head):
    """What one feature adds, given lnG(s) - lnG(s + n); one with a single allowed value adds its measure only.

    In two parts: the greater of both evidences, and how many times as large the lesser is, for one log of all features.
    """
    whole, values, follows, measured = 0.0, 0, model.log_follows, 0.0
    for value in range(feature.start, feature.stop):
        if allowed[value] > 0:
            values += 1
            whole += model.shares[value]
            follows += counts[value] * model.log_shares[value]
            measured += counts[value] * model.log_measures[value]
    if values < 2:
        return -measured, 0.0
    free, own, scale = values == feature.stop - feature.start, head + model.log_own, model.pseudocount / whole
    if not free:
        follows -= weight * math.log(whole)
    for value in range(feature.start, feature.stop):
        if counts[value] > 0.0:
            own += risen(model, value, free, scale * model.shares[value], counts[value])
    high, low = max(follows, own), min(follows, own)
    return high - measured, math.exp(low - high) if high - low < SURE else 0.0


@bare
def risen(model, value, free, pseudocount, count):
    """LnG(s b + c) - lnG(s b) of a value, where b is its share among the allowed ones: all of them, if it is free."""
    rows = np.int64(count)
    if free and rows == count and rows < FEW:
        return model.few[value, rows]
    if free and pseudocount < FAR_UP:
        return log_gamma(pseudocount + count) - model.log_gammas[value]
    return log_rising(pseudocount, count)
