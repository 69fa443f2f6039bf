"""The profile leaf: inside it features are independent, and each follows the table or has a profile of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import FAR_UP, Space, leaf_model, log_gamma, log_rising
from sparsedensity.kernels.logarithms import log_gammas, log_gammas_far_up
from sparsedensity.kernels.row_bits import NOBODY

FEW, MOST_LOOKED_UP = 128, 2_000_000
"""Fewer rows than this at a value are the rule in small regions, and need no log gamma; with very many values it is
fewer still, so that the table has room."""


class Profile(NamedTuple):
    """What a profile leaf is compared with, and how readily a feature has a profile of its own."""

    background: np.ndarray
    """The share of every value among those of its feature in the whole table."""
    pseudocount: float
    probability: float
    """That a feature has a profile of its own."""


class Room(NamedTuple):
    """What is known of the allowed values of a region, and room to work in, by value unless it says otherwise."""

    held: np.ndarray
    """The name of the region that this is about, and a feature that is about a part of it instead."""
    several: np.ndarray
    """(features) Whether more than one value is allowed."""
    pseudocounts: np.ndarray
    """S b, where b is the share of the value among those that are allowed;"""
    log_gammas: np.ndarray
    """its log gamma;"""
    log_shares: np.ndarray
    """ln b;"""
    told: np.ndarray
    """ln b - ln m;"""
    few: np.ndarray
    """and how many rows are too many to be looked up: all but none unless every value is allowed. A feature with a
    single value asks for nothing."""
    follows: np.ndarray
    """What the value adds if its feature follows the table,"""
    differs: np.ndarray
    """and how much more if it has a profile of its own."""
    waiting: np.ndarray
    """The values whose log gammas are asked for, of what numbers, and what they are."""
    arguments: np.ndarray
    taken: np.ndarray

    @classmethod
    def of(cls, values: int) -> Room:
        """Room for so many values, and no more features."""
        whole = {"held": 2, "several": values, "few": values, "waiting": values}
        return cls(*(np.full(whole[name], NOBODY) if name in whole else np.zeros(values) for name in cls._fields))


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
    room: Room

    @classmethod
    def of(cls, profile: Profile, space: Space) -> ProfileTables:
        """The tables of a profile."""
        background, s, r = profile.background, profile.pseudocount, profile.probability
        starts = space.features["start"]
        whole = np.repeat(np.add.reduceat(background, starts), space.features["stop"] - starts)
        shares = background / whole
        few = np.zeros((len(shares), max(1, min(FEW, MOST_LOOKED_UP // len(shares)))))
        few[:, 1:] = np.log(s * shares[:, None] + np.arange(few.shape[1] - 1)).cumsum(axis=1)
        return cls(
            shares,
            np.log(shares),
            np.log(space.values["measure"]),
            np.array([math.lgamma(x) for x in (s * shares).tolist()]),
            few,
            s,
            math.log1p(-r),
            math.log(r) if r > 0 else -math.inf,
            Room.of(len(shares)),
        )


SURE = 40.0
"""So many nats apart, the lesser of two evidences adds nothing that a number could hold."""
MUCH = 1.0e200
"""A product of numbers below 2 that is as large is taken the log of before there are more."""


@bare
def ready_region(model, allowed, space, name, f):
    """Know the allowed values of a region that is divided along a feature, until another one is."""
    held, features = model.room.held, space.features
    if name == NOBODY or held[0] != name:
        for other in range(features.size):
            ready_feature(model, allowed, features[other], other)
    else:
        ready_feature(model, allowed, features[held[1]], held[1])
    held[0], held[1] = name, f


@bare
def ready_feature(model, allowed, feature, f):
    """Know the allowed values of one feature."""
    room, whole, values = model.room, 0.0, 0
    for value in range(feature.start, feature.stop):
        if allowed[value] > 0:
            values += 1
            whole += model.shares[value]
    free = values == feature.stop - feature.start
    scale, log_whole = model.pseudocount, 0.0
    if not free and values > 0:
        scale, log_whole = model.pseudocount / whole, math.log(whole)
    room.several[f] = values > 1
    for value in range(feature.start, feature.stop):
        pseudocount, room.few[value] = scale * model.shares[value], model.few.shape[1] if free else 1
        room.log_shares[value], room.log_gammas[value] = model.log_shares[value] - log_whole, model.log_gammas[value]
        if values < 2:
            room.few[value], room.log_shares[value] = NOBODY, 0.0
        elif not free and allowed[value] > 0:
            room.log_gammas[value] = log_gamma(pseudocount)
        room.pseudocounts[value] = pseudocount
        room.told[value] = room.log_shares[value] - model.log_measures[value]


@bare
def term_of_part(model, counts, allowed, space, f):
    """The term of a part of the region that was made ready: all its values are allowed but for some of a feature."""
    ready_feature(model, allowed, space.features[f], f)
    return readied_term(model, counts, space.features)


@leaf_model(Profile, bounded=True, prepared=ProfileTables, parts=(ready_region, term_of_part))
def profile_term(model, counts, allowed, space):
    """The sum over features of ln[ (1 - r) e^H0 + r e^H1 ] - sum over values of c ln m."""
    ready_region(model, allowed, space, NOBODY, NOBODY)
    return readied_term(model, counts, space.features)


@bare
def readied_term(model, counts, features):
    """The term of the region that was made ready, by its weights at all values."""
    weight, room = 0.0, model.room
    for value in range(features[0].start, features[0].stop):
        weight += counts[value]
    if weight <= 0.0:
        return 0.0
    weigh_values(room, model.few, counts)
    total, either = 0.0, 1.0
    head = model.log_own - model.log_follows - log_rising(model.pseudocount, weight)
    for f in range(features.size):
        follows, own = 0.0, head
        for value in range(features[f].start, features[f].stop):
            follows += room.follows[value]
            own += room.differs[value]
        total += follows
        if room.several[f] == 0:
            continue
        total += model.log_follows + max(own, 0.0)
        if abs(own) < SURE:
            either *= 1.0 + math.exp(-abs(own))
        if either > MUCH:
            total += math.log(either)
            either = 1.0
    return total + math.log(either)


@bare
def weigh_values(room, few, counts):
    """Note what every value adds if its feature follows the table, and how much more if it has a profile of its own.

    Few rows are looked up; the log gammas of all others are taken together.
    """
    near, far = 0, counts.size
    for value in range(counts.size):
        count = counts[value]
        rows, sought = np.int64(count), room.pseudocounts[value] + count
        is_known = rows < room.few[value] and rows == count
        room.follows[value] = count * room.told[value]
        room.differs[value] = few[value, rows if is_known else 0] - count * room.log_shares[value]
        is_asked, is_far = not is_known and room.few[value] >= 0, sought >= FAR_UP
        at = far - 1 if is_far else near
        room.waiting[at], room.arguments[at] = value, sought
        near += is_asked and not is_far
        far -= is_asked and is_far
    log_gammas(room.arguments[:near], room.taken[:near])
    log_gammas_far_up(room.arguments[far : counts.size], room.taken[far : counts.size])
    for i in range(near + counts.size - far):
        at = i if i < near else far + i - near
        value = room.waiting[at]
        if room.pseudocounts[value] < FAR_UP:
            room.differs[value] += room.taken[at] - room.log_gammas[value]
        else:
            room.differs[value] += log_rising(room.pseudocounts[value], counts[value])
