"""The profile leaf: what it is compared with, and what it says of the values inside.

Background share of value v of a feature: ``g_v = (w_v + m_v / M) / (n + 1)``, with w_v its weight in the whole table,
m_v its measure and M the measure of the feature: one imaginary row, spread evenly. In a leaf with allowed values A and
weights c_v, ``b_v = g_v / sum_A g``; a feature follows the background with evidence ``H0 = sum_v c_v ln b_v`` or has a
profile of its own with ``H1 = lnG(s) - lnG(s + n_l) + sum_v [ lnG(s b_v + c_v) - lnG(s b_v) ]``.

Why the bound that any table has holds (``search/bounds.py``): e^H0 is the likelihood of the leaf's values under the
shares b, and e^H1 the mean of their likelihoods under shares drawn from a Dirichlet with pseudocounts s b. So the leaf
term is the log of an average of likelihoods of the leaf's rows, each under a density of the leaf (a product over
features of shares over measures), and no average exceeds the largest likelihood that a density can give these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, xlogy

from sparsedensity.domain import Domain
from sparsedensity.errors import ParameterError
from sparsedensity.kernels.belief import log_risings
from sparsedensity.kernels.profiles import Profile
from sparsedensity.posterior.base import check_positive
from sparsedensity.scalars import is_number
from sparsedensity.structures import Tree
from sparsedensity.table import Floats


def check_profile(pseudocount: float, probability: float) -> None:
    """Refuse parameters that no profile can have."""
    check_positive("profile_pseudocount", pseudocount)
    if not (is_number(probability) and 0 <= probability < 1):
        raise ParameterError("profile_probability", probability, "a number from 0 to 1, 1 excluded")


def background_of(domain: Domain, weights: Floats) -> Floats:
    """The share of every value among those of its feature, given the weight at every value."""
    starts = domain.starts[:-1]
    measures = domain.measures / np.repeat(np.add.reduceat(domain.measures, starts), domain.sizes)
    totals = np.repeat(np.add.reduceat(weights, starts), domain.sizes)
    shares: Floats = (weights + measures) / (totals + 1)
    return shares


def profile_leaf(domain: Domain, weights: Floats | None, pseudocount: float, probability: float) -> Profile:
    """The leaf model for a table with so much weight at every value; before any row is seen there is none."""
    seen = np.zeros(len(domain.measures)) if weights is None else weights
    return Profile(background_of(domain, seen), float(pseudocount), float(probability))


@dataclass(frozen=True, eq=False)
class Profiles:
    """What the leaves of a tree hold: one row per leaf, over all values or all features of the domain."""

    domain: Domain
    leaf: Profile
    allowed: NDArray[np.bool_]
    weights: Floats
    """The weight in every leaf at every value."""

    @classmethod
    def of(cls, leaf: Profile, tree: Tree, weights: Floats) -> Profiles:
        """The profiles of a tree's leaves, against the background of the rows that give them their weights."""
        background = background_of(tree.domain, weights.sum(axis=0))
        return cls(tree.domain, leaf._replace(background=background), tree.masks, weights)

    @cached_property
    def background(self) -> Floats:
        """The share of every value if its feature follows the table: 0 where it is not allowed."""
        shares = np.where(self.allowed, self.leaf.background, 0.0)
        within: Floats = shares / self._spread(self._summed(shares))
        return within

    @cached_property
    def evidence(self) -> Floats:
        """H1 - H0 by leaf and feature: how much the rows speak for a profile of its own."""
        s, b, c = self.leaf.pseudocount, self.background, self.weights
        own = np.where(self.allowed, log_rising(s * b, c), 0.0)
        follows = xlogy(c, np.where(b > 0, b, 1.0))
        difference: Floats = self._summed(own - follows) - log_rising(np.full(self.totals.shape, s), self.totals)
        return np.where(self._free, difference, 0.0)

    @cached_property
    def own(self) -> Floats:
        """The probability of a profile of its own, by leaf and feature; 0 for a feature with one allowed value."""
        r = self.leaf.probability
        if r == 0:
            return np.zeros_like(self.evidence)
        return np.where(self._free, expit(logit(r) + self.evidence), 0.0)

    @cached_property
    def inside(self) -> Floats:
        """The share of every value in every leaf: those of a feature add up to 1."""
        s, b, own = self.leaf.pseudocount, self.background, self._spread(self.own)
        shares: Floats = (1 - own) * b + own * (self.weights + s * b) / (self._spread(self.totals) + s)
        return shares

    @cached_property
    def usual(self) -> Floats:
        """By feature, how common the values of the table's records are on average: low if all its values are rare."""
        usual: Floats = np.add.reduceat(self.leaf.background**2, self.domain.starts[:-1])
        return usual

    @cached_property
    def log_densities(self) -> Floats:
        """The log density of every value in every leaf, given the leaf; minus infinity where it is not allowed."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.inside) - np.log(self.domain.measures)
        return logs

    @cached_property
    def totals(self) -> Floats:
        """The weight of every leaf, once for every feature."""
        return self._summed(self.weights)

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        """Whether a leaf allows more than one value of a feature."""
        return self._summed(self.allowed.astype(np.float64)) > 1

    def _summed(self, by_value: NDArray[np.float64]) -> Floats:
        sums: Floats = np.add.reduceat(by_value, self.domain.starts[:-1], axis=1)
        return sums

    def _spread(self, by_feature: Floats) -> Floats:
        return np.repeat(by_feature, self.domain.sizes, axis=1)


def log_rising(x: Floats, by: Floats) -> Floats:
    """Ln G(x + by) - ln G(x)."""
    out = np.empty(x.size)
    log_risings(np.ascontiguousarray(x).reshape(-1), np.ascontiguousarray(by).reshape(-1), out)
    return out.reshape(x.shape)
