"""Trees drawn from the prior of method II come as often as the prior says."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import DataError
from sparsedensity.posterior import BranchSparse
from tests.draw_tree import draw_tree
from tests.naive_search import Regions

DOMAINS = [
    Domain((Feature.nominal("a", range(3)), Feature.nominal("b", range(2)))),
    Domain((Feature.ordinal("a", range(3), missing=True),)),
    Domain((Feature.nominal("a", range(4)),)),
]


def every_tree(regions, region, rate):
    """Every tree below a region as a nested set, with its prior."""
    yield region, math.exp(-rate)
    for f, children in regions.children(region):
        own = math.exp(-rate) * rate ** len(children) / math.factorial(len(children))
        combined = [((), own)]
        for child in children:
            combined = [
                ((*trees, tree), weight * more)
                for trees, weight in combined
                for tree, more in every_tree(regions, child, rate)
            ]
        for trees, weight in combined:
            yield (f, frozenset(trees)), weight


def shape(node):
    return node.region.allowed if node.is_leaf else (node.feature, frozenset(map(shape, node.children)))


@pytest.mark.parametrize("domain", DOMAINS, ids=["two features", "ordered with missing", "four values"])
def test_drawn_trees_come_as_often_as_the_prior_says(domain):
    rate, draws, rng = 1.3, 6000, np.random.default_rng(7)
    regions = Regions(domain, [((0,) * len(domain), 1.0)])
    priors = dict(every_tree(regions, regions.whole, rate))
    total = sum(priors.values())
    counts = Counter(shape(draw_tree(domain, BranchSparse(rate), rng).root()) for _ in range(draws))
    assert set(counts) <= set(priors)
    common = [tree for tree, prior in priors.items() if draws * prior / total >= 5]
    observed = [counts[tree] for tree in common]
    expected = [draws * priors[tree] / total for tree in common]
    rare = draws - sum(expected)
    if rare > 5:
        observed, expected = [*observed, draws - sum(observed)], [*expected, rare]
    scaled = np.array(expected) * sum(observed) / sum(expected)
    assert len(common) > 5
    assert chisquare(observed, scaled).pvalue > 1e-3


def test_the_same_seed_draws_the_same_tree():
    trees = [draw_tree(DOMAINS[0], BranchSparse(2.0), 3) for _ in range(2)]
    assert shape(trees[0].root()) == shape(trees[1].root())


def test_a_domain_too_large_to_table_is_refused():
    wide = Domain(tuple(Feature.nominal(f"x{i}", range(4)) for i in range(9)))
    with pytest.raises(DataError, match="262,144 points"):
        draw_tree(wide, BranchSparse())
