"""The slow truth of searches: the best tree of a small problem, by dynamic programming over all regions.

A region is a tuple of frozensets of codes. Rows are (codes, weight) pairs. Nothing here is shared with the product
but the domain.
"""

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np


def partitions(codes):
    """Every division of some codes into one or more groups."""
    codes = sorted(codes)
    if not codes:
        yield []
        return
    first, rest = codes[0], codes[1:]
    for division in partitions(rest):
        yield [frozenset([first]), *division]
        for i, group in enumerate(division):
            yield [*division[:i], group | {first}, *division[i + 1 :]]


def is_run(codes, known):
    """Whether codes are neighbours among the allowed ones."""
    places = sorted(known.index(code) for code in codes)
    return places == list(range(places[0], places[0] + len(places)))


def divisions(feature, codes):
    """Every division of a feature's allowed codes that its kind permits, into two or more groups."""
    for division in partitions(codes):
        if len(division) < 2:
            continue
        if feature.ordered:
            known = sorted(code for code in codes if code != feature.missing)
            runs = [group - {feature.missing} for group in division]
            if not all(is_run(run, known) for run in runs if run):
                continue
        yield division


class Regions:
    """The weight and the log volume of every region of a problem."""

    def __init__(self, domain, data):
        self.domain, self.data = domain, data
        self.whole = tuple(frozenset(range(size)) for size in domain.sizes)
        self.n = math.fsum(weight for _, weight in data)
        self.divisions = functools.cache(lambda f, codes: list(divisions(domain[f], codes)))
        self.weight = functools.cache(self._weight)

    def _weight(self, region):
        inside = (w for row, w in self.data if all(c in codes for c, codes in zip(row, region, strict=True)))
        return math.fsum(inside)

    def log_volume(self, region):
        sides = (
            math.fsum(feature.measures[c] for c in codes) for feature, codes in zip(self.domain, region, strict=True)
        )
        return math.fsum(map(math.log, sides))

    def children(self, region, most_groups=None):
        """Every way to split a region: the feature and the regions it falls into."""
        for f, codes in enumerate(region):
            if len(codes) < 2:
                continue
            for division in self.divisions(f, codes):
                if most_groups is None or len(division) <= most_groups:
                    yield f, [(*region[:f], group, *region[f + 1 :]) for group in division]


def best_leaf_sparse(domain, data, lam, a, max_leaves=None):
    """The largest log posterior of method I: a table over the number of leaves for every region."""
    regions = Regions(domain, data)

    @functools.cache
    def table(region):
        """The largest sum of leaf terms with k leaves, at place k. Two groups at a time reach every set of leaves."""
        n, log_volume = regions.weight(region), regions.log_volume(region)
        points = math.prod(len(codes) for codes in region)
        if n == 0:
            return np.concatenate([[-np.inf], np.zeros(points)])
        sums = np.full(points + 1, -np.inf)
        sums[1] = math.lgamma(n + a) - math.lgamma(a) - n * log_volume
        for _, (one, other) in regions.children(region, most_groups=2):
            left, right = sorted((table(one), table(other)), key=len)
            for k in range(1, len(left)):
                np.maximum(sums[k : k + len(right)], left[k] + right, out=sums[k : k + len(right)])
        return sums

    sums = table(regions.whole)
    n = regions.n
    return max(
        -lam + k * math.log(lam) - math.lgamma(k + 1) + math.lgamma(k * a) - math.lgamma(n + k * a) + sums[k]
        for k in range(1, min(len(sums), (max_leaves or len(sums)) + 1))
    )


def best_branch_sparse(domain, data, lam, a, g=None):
    """The largest log posterior of method II, for every set of features that a tree may use."""
    regions = Regions(domain, data)

    def log_beta_ratio(weights):
        b = len(weights)
        return (
            sum(math.lgamma(a + n) for n in weights)
            - math.lgamma(b * a + sum(weights))
            - b * math.lgamma(a)
            + math.lgamma(b * a)
        )

    @functools.cache
    def best(region):
        """The best sum of node terms by the set of features used below."""
        n = regions.weight(region)
        found = {frozenset(): -lam - (n * regions.log_volume(region) if n else 0.0)}
        for f, children in regions.children(region):
            b = len(children)
            own = -lam + b * math.log(lam) - math.lgamma(b + 1)
            own += log_beta_ratio([regions.weight(child) for child in children])
            below = [best(child) if g is not None else {frozenset(): max(best(child).values())} for child in children]
            for choice in itertools.product(*(part.items() for part in below)):
                used = frozenset([f]).union(*(features for features, _ in choice)) if g is not None else frozenset([f])
                score = own + sum(value for _, value in choice)
                found[used] = max(found.get(used, -math.inf), score)
        return found

    p = len(domain)

    def prior(d):
        return 0.0 if g is None else math.log(math.comb(p, d)) + d * math.log(g) + (p - d) * math.log(1 - g)

    return max(score + prior(len(used)) for used, score in best(regions.whole).items())


class Grown(NamedTuple):
    """A tree of a tiny domain, with the sums that the posteriors are made of."""

    leaves: frozenset
    features: frozenset
    spelling: tuple
    """() for a leaf, else the feature and the set of (codes, spelling) of its branches."""
    levels: int
    leaf_terms: float
    node_terms: float
    splits: tuple = ()
    """The number of branches of every split."""


def even_term(regions, region):
    """The paper's leaf: -n ln V."""
    n = regions.weight(region)
    return -n * regions.log_volume(region) if n else 0.0


def every_tree(domain, data, lam, a, most=3000, term=even_term):
    """Every tree of a tiny domain; None if there are too many. lam is that of method II, term the leaf model's."""
    regions = Regions(domain, data)

    @functools.cache
    def count(region):
        return 1 + sum(math.prod(map(count, children)) for _, children in regions.children(region))

    @functools.cache
    def below(region):
        n, inside = regions.weight(region), term(regions, region)
        leaf = math.lgamma(n + a) - math.lgamma(a) + inside
        found = [Grown(frozenset([region]), frozenset(), (), 0, leaf, -lam + inside)]
        for f, children in regions.children(region):
            b = len(children)
            own = -lam + b * math.log(lam) - math.lgamma(b + 1) + math.lgamma(b * a) - math.lgamma(n + b * a)
            own += sum(math.lgamma(a + regions.weight(child)) - math.lgamma(a) for child in children)
            for parts in itertools.product(*map(below, children)):
                branches = frozenset((child[f], part.spelling) for child, part in zip(children, parts, strict=True))
                found.append(
                    Grown(
                        frozenset().union(*(part.leaves for part in parts)),
                        frozenset([f]).union(*(part.features for part in parts)),
                        (f, branches),
                        1 + max(part.levels for part in parts),
                        sum(part.leaf_terms for part in parts),
                        own + sum(part.node_terms for part in parts),
                        (b, *itertools.chain.from_iterable(part.splits for part in parts)),
                    )
                )
        return found

    return below(regions.whole) if count(regions.whole) <= most else None


def leaf_sparse_of(grown, n, lam, a):
    """Method I of a tree of a tiny domain."""
    k = len(grown.leaves)
    prior = -lam + k * math.log(lam) - math.lgamma(k + 1)
    return prior + math.lgamma(k * a) - math.lgamma(n + k * a) + grown.leaf_terms


def branch_sparse_of(grown, p, g=None):
    """Method II of a tree of a tiny domain of p features."""
    d = len(grown.features)
    prior = 0.0 if g is None else math.log(math.comb(p, d)) + d * math.log(g) + (p - d) * math.log(1 - g)
    return grown.node_terms + prior
