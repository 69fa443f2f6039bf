"""The slow truth of profile leaves: the leaf term, the background and the density of a record, term by term.

As in ``naive.py`` nothing comes from the rooms it judges: rows are (codes, weight) pairs, a region is a set of allowed
codes for every feature, and a model is a background with two numbers.
"""

import math
from typing import NamedTuple

from tests import naive


class Model(NamedTuple):
    """A profile leaf: the background shares by feature and code, s and r."""

    domain: object
    background: list
    s: float
    r: float


def model_of(domain, data, s, r):
    """The model of a table."""
    return Model(domain, background(domain, data), s, r)


def background(domain, data):
    """g_v = (w_v + m_v / M) / (n + 1)."""
    n = math.fsum(weight for _, weight in data)
    return [
        [(w + m / math.fsum(feature.measures)) / (n + 1) for w, m in zip(held, feature.measures, strict=True)]
        for feature, held in zip(domain, (weights_at(domain, data, f) for f in range(len(domain))), strict=True)
    ]


def weights_at(domain, rows, f):
    """The weight of some rows at every code of a feature."""
    return [math.fsum(w for row, w in rows if row[f] == code) for code in range(domain[f].size)]


def shares(model, f, allowed):
    """b_v = g_v / sum over the allowed values of g, by code; 0 for the others."""
    whole = math.fsum(model.background[f][code] for code in allowed)
    return [g / whole if code in allowed else 0.0 for code, g in enumerate(model.background[f])]


def evidences(model, f, allowed, rows):
    """H0, that the feature follows the background, and H1, that it has a profile of its own."""
    s, b, c = model.s, shares(model, f, allowed), weights_at(model.domain, rows, f)
    follows = math.fsum(c[v] * math.log(b[v]) for v in allowed if c[v] > 0)
    own = [math.lgamma(s), -math.lgamma(s + math.fsum(c))]
    for v in allowed:
        own += [math.lgamma(s * b[v] + c[v]), -math.lgamma(s * b[v])]
    return follows, math.fsum(own)


def weighed(model, f, allowed, rows):
    """Ln (1 - r) e^H0 and ln r e^H1: neither may be added up before the larger is taken out."""
    follows, own = evidences(model, f, allowed, rows)
    return math.log(1 - model.r) + follows, math.log(model.r) + own if model.r > 0 else -math.inf


def leaf_term(model, region, rows):
    """Sum over features of ln[ (1 - r) e^H0 + r e^H1 ] - sum_v c ln m; with one allowed value only the measures."""
    total = []
    for f, allowed in enumerate(region):
        if len(allowed) > 1:
            one, other = weighed(model, f, allowed, rows)
            top = max(one, other)
            total += [top, math.log(math.exp(one - top) + math.exp(other - top))]
        total += [-w * math.log(model.domain[f].measures[row[f]]) for row, w in rows]
    return math.fsum(total)


def own_probability(model, f, allowed, rows):
    """o_f = r e^H1 / ((1 - r) e^H0 + r e^H1); a feature with one allowed value has no profile."""
    if len(allowed) == 1:
        return 0.0
    one, other = weighed(model, f, allowed, rows)
    top = max(one, other)
    return math.exp(other - top) / (math.exp(one - top) + math.exp(other - top))


def inside(model, f, allowed, rows):
    """The share of every code of a feature in a leaf: (1 - o) b + o (c + s b) / (n + s)."""
    o, b, c = own_probability(model, f, allowed, rows), shares(model, f, allowed), weights_at(model.domain, rows, f)
    n = math.fsum(c)
    return [(1 - o) * b[v] + o * (c[v] + model.s * b[v]) / (n + model.s) for v in range(len(b))]


def density_of(tree, data, probabilities, model):
    """The density at every point: the probability of its leaf, and of each value its share over its measure."""
    regions, rows = naive.leaf_regions(tree), naive.leaf_rows(tree, data)
    within = [
        [inside(model, f, allowed, held) for f, allowed in enumerate(region)]
        for region, held in zip(regions, rows, strict=True)
    ]
    leaf_of, found = naive.router(tree), {}
    for point in naive.points(tree.domain):
        found[point] = probabilities[leaf_of(point)]
        for f, code in enumerate(point):
            found[point] *= within[leaf_of(point)][f][code] / tree.domain[f].measures[code]
    return found


def best_log_density(domain, rows):
    """The log of the largest density that any distribution gives some rows: every distinct one a bin of its own."""
    held = naive.collapse(rows)
    n = math.fsum(held.values())
    return math.fsum(w * (math.log(w / n) - math.log(naive.measure(domain, row))) for row, w in held.items())


def by_region(model):
    """The leaf term as ``naive_search.every_tree`` asks for it."""

    def term(regions, region):
        rows = [(row, w) for row, w in regions.data if all(c in codes for c, codes in zip(row, region, strict=True))]
        return leaf_term(model, region, rows)

    return term
