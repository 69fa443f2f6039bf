"""The slow truth of rule lists: every list of a small problem, and the best of them."""

import itertools
import math

from sparsedensity.structures import Condition, RuleList
from tests import naive


def every_antecedent(domain, most, ordinal_conditions="value"):
    """Every antecedent, smallest first."""
    by_size = naive.antecedents(domain, most, ordinal_conditions)
    return [tuple(Condition(*c) for c in rule) for rules in by_size for rule in rules]


def supported(antecedents, data, least):
    """Those that rows of so much weight obey."""
    kept = []
    for rule in antecedents:
        weight = math.fsum(w for row, w in data if all(low <= row[f] <= high for f, low, high in rule))
        if weight >= least:
            kept.append(rule)
    return kept


def every_list(domain, antecedents, most_rules):
    """Every list of at most so many rules."""
    for n in range(most_rules + 1):
        for rules in itertools.permutations(antecedents, n):
            yield RuleList.of(domain, list(rules))


class Scorer:
    """The naive log posterior of many lists: points and rows are looked up once for every rule."""

    def __init__(self, domain, data, antecedents, lam, eta, a, as_printed=False):
        self.points = naive.points(domain)
        self.measures = [naive.measure(domain, point) for point in self.points]
        held = naive.collapse(data)
        self.weights = [held.get(point, 0.0) for point in self.points]
        self.obeying = {
            rule: frozenset(
                i for i, point in enumerate(self.points) if all(low <= point[f] <= high for f, low, high in rule)
            )
            for rule in antecedents
        }
        sizes = [len(rule) for rule in antecedents]
        self.counts = [sizes.count(c) for c in range(1, max(sizes, default=1) + 1)]
        self.total, self.prior = len(antecedents), (lam, eta, a, as_printed)

    def __call__(self, rules):
        lam, eta, a, as_printed = self.prior
        unused = dict(enumerate(self.counts, 1))
        total = naive._truncated_poisson(len(rules), lam, range(self.total + 1))
        left, leaves = set(range(len(self.points))), []
        for rule in rules:
            c = len(rule)
            total += naive._truncated_poisson(c, eta, [size for size, more in unused.items() if more > 0])
            total -= math.log(unused[c])
            unused[c] -= 1
            leaves.append(left & self.obeying[rule])
            left -= leaves[-1]
        leaves.append(left)
        k, n = len(leaves), math.fsum(self.weights)
        if not as_printed:
            total += math.lgamma(k * a) - k * math.lgamma(a)
        for leaf in leaves:
            weight = math.fsum(self.weights[i] for i in leaf)
            total += math.lgamma(weight + a)
            if weight > 0:
                total -= weight * math.log(math.fsum(self.measures[i] for i in leaf))
        return total - math.lgamma(n + k * a)


def best_list(scorer, antecedents, most_rules):
    """The largest log posterior of any list of at most so many rules."""
    lists = itertools.chain.from_iterable(itertools.permutations(antecedents, n) for n in range(most_rules + 1))
    return max(map(scorer, lists))
