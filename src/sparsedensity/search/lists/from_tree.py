"""A tree as a rule list to start from: each leaf as the antecedent that covers it best."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sparsedensity.domain import Domain
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.structures import Condition, RuleList, Tree


def as_rules(tree: Tree, antecedents: Antecedents) -> RuleList:
    """One rule for each leaf that some antecedent covers, the best covered first.

    >>> from sparsedensity.datasets import titanic
    >>> from sparsedensity.estimators import GreedyTree
    >>> from sparsedensity.ingest import Reading, open_source, read_table
    >>> tree = GreedyTree(max_leaves=3).fit(titanic()).structure_
    >>> as_rules(tree, Antecedents(read_table(open_source(titanic()), Reading()))).n_rules
    3
    """
    covers = [best_cover(tree.domain, region.allowed, antecedents) for region in tree.regions]
    best = sorted(range(len(covers)), key=lambda leaf: -covers[leaf][0])
    rules = dict.fromkeys(covers[leaf][1] for leaf in best if covers[leaf][1])
    return RuleList.of(tree.domain, list(rules))


def best_cover(
    domain: Domain, allowed: Sequence[frozenset[int]], antecedents: Antecedents
) -> tuple[float, tuple[Condition, ...]]:
    """The share of the points of a region or an antecedent that lie in both, and the antecedent.

    Conditions are added one after another while the share grows.
    """
    best: tuple[float, tuple[Condition, ...]] = (_overlap(domain, allowed, ()), ())
    for _ in range(antecedents.max_conditions):
        used = {condition.feature for condition in best[1]}
        rules = [tuple(sorted((*best[1], c))) for c in antecedents.conditions if c.feature not in used]
        better = max(((_overlap(domain, allowed, rule), rule) for rule in rules), default=best)
        if better[0] <= best[0]:
            break
        best = better
    return best


def _overlap(domain: Domain, allowed: Sequence[frozenset[int]], rule: Sequence[Condition]) -> float:
    """The volume that a region and a rule share, over the volume of both together."""
    region, both, inside = 0.0, 0.0, 0.0
    runs = {condition.feature: range(condition.low, condition.high + 1) for condition in rule}
    for column, (feature, codes) in enumerate(zip(domain, allowed, strict=True)):
        run = runs.get(column, range(feature.size))
        shared = math.fsum(feature.measures[code] for code in codes if code in run)
        if shared == 0:
            return 0.0
        whole = math.fsum(feature.measures)
        region += math.log(math.fsum(feature.measures[code] for code in codes) / whole)
        inside += math.log(math.fsum(feature.measures[code] for code in run) / whole)
        both += math.log(shared / whole)
    return math.exp(both) / (math.exp(region) + math.exp(inside) - math.exp(both))
