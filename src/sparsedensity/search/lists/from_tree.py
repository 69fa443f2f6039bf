"""A tree as a rule list to start from: each leaf as the antecedent that covers it best."""

from __future__ import annotations

import math

from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.structures import Condition, RuleList, Tree

Rule = tuple[Condition, ...]


def as_rules(tree: Tree, antecedents: Antecedents) -> RuleList:
    """One rule for each leaf that some antecedent covers, the best covered first.

    >>> from sparsedensity.datasets import titanic
    >>> from sparsedensity.estimators import GreedyTree
    >>> from sparsedensity.ingest import Reading, open_source, read_table
    >>> tree = GreedyTree(max_leaves=3).fit(titanic()).structure_
    >>> as_rules(tree, Antecedents(read_table(open_source(titanic()), Reading()))).n_rules
    3
    """
    covers = [best_cover(tree, leaf, antecedents) for leaf in range(tree.n_leaves)]
    best = sorted(range(len(covers)), key=lambda leaf: -covers[leaf][0])
    rules = dict.fromkeys(covers[leaf][1] for leaf in best if covers[leaf][1])
    return RuleList.of(tree.domain, list(rules))


def best_cover(tree: Tree, leaf: int, antecedents: Antecedents) -> tuple[float, Rule]:
    """The share of the points of a leaf or an antecedent that lie in both, and the antecedent.

    Conditions are added one after another while the share grows.
    """
    best: tuple[float, Rule] = (_overlap(tree, leaf, ()), ())
    for _ in range(antecedents.max_conditions):
        used = {condition.feature for condition in best[1]}
        rules = [tuple(sorted((*best[1], c))) for c in antecedents.conditions if c.feature not in used]
        better = max(((_overlap(tree, leaf, rule), rule) for rule in rules), default=best)
        if better[0] <= best[0]:
            break
        best = better
    return best


def _overlap(tree: Tree, leaf: int, rule: Rule) -> float:
    """The volume that a leaf and a rule share, over the volume of both together."""
    domain, both, inside = tree.domain, tree.regions[leaf], tree.domain.everything()
    for feature, low, high in rule:
        both, inside = (region.only(feature, range(low, high + 1)) for region in (both, inside))
    shared, ruled = (math.exp(region.log_volume(domain) - domain.log_volume) for region in (both, inside))
    return shared / (math.exp(tree.log_volumes[leaf] - domain.log_volume) + ruled - shared)
