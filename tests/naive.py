"""The slow truth: every formula of the paper term by term, in plain loops.

Nothing here comes from the rooms it judges. Structures are read as a person reads them (``tree.walk()``,
``rules.rules``), data are lists of (row of codes, weight), and a volume is a sum over points.
"""

import itertools
import math
from fractions import Fraction

from sparsedensity.structures import RuleList, Tree

TIE = 1e-9


# Domains and points ---------------------------------------------------------------------------------------------


def points(domain):
    """Every point of the domain: one code for every feature."""
    return list(itertools.product(*(range(feature.size) for feature in domain)))


def measure(domain, point):
    """The volume of one point."""
    product = 1.0
    for feature, code in zip(domain, point, strict=True):
        product *= feature.measures[code]
    return product


def volume(domain, some_points):
    """The volume of some points."""
    return math.fsum(measure(domain, point) for point in some_points)


# Structures -----------------------------------------------------------------------------------------------------


def read_tree(tree):
    """The nodes by index, as (feature, children, group, parent), and the leaves in reading order."""
    nodes = {node.index: [node.feature, [], node.group, node.parent] for node in tree.walk()}
    leaves = []
    for node in tree.walk():
        if node.parent is not None:
            nodes[node.parent][1].append(node.index)
        if node.feature is None:
            leaves.append(node.index)
    return nodes, leaves


def n_leaves(structure):
    return len(read_tree(structure)[1]) if isinstance(structure, Tree) else len(structure.rules) + 1


def router(structure):
    """A function from a point to the number of its leaf, by walking."""
    if isinstance(structure, RuleList):
        return lambda point: _first_rule(structure.rules, point)
    nodes, leaves = read_tree(structure)
    return lambda point: leaves.index(_path(nodes, point)[-1])


def _first_rule(rules, point):
    for number, rule in enumerate(rules):
        if all(low <= point[feature] <= high for feature, low, high in rule):
            return number
    return len(rules)


def _path(nodes, point):
    """The nodes from the root to the leaf of a point."""
    path = [next(index for index, node in nodes.items() if node[3] is None)]
    while nodes[path[-1]][0] is not None:
        feature, children, _, _ = nodes[path[-1]]
        (child,) = [child for child in children if point[feature] in nodes[child][2]]
        path.append(child)
    return path


def leaf_volumes(structure):
    """The volume of every leaf, by visiting every point of the domain."""
    leaf_of = router(structure)
    held: list[list[float]] = [[] for _ in range(n_leaves(structure))]
    for point in points(structure.domain):
        held[leaf_of(point)].append(measure(structure.domain, point))
    return [math.fsum(measures) for measures in held]


def leaf_rows(structure, data):
    """The rows in every leaf."""
    leaf_of = router(structure)
    held: list[list[tuple]] = [[] for _ in range(n_leaves(structure))]
    for row, weight in data:
        held[leaf_of(row)].append((row, weight))
    return held


def leaf_weights(structure, data):
    """The weight in every leaf."""
    return [math.fsum(weight for _, weight in rows) for rows in leaf_rows(structure, data)]


def leaf_regions(tree):
    """The codes that every leaf of a tree allows in each feature."""
    nodes, leaves = read_tree(tree)
    regions = []
    for leaf in leaves:
        allowed, index = [set(range(size)) for size in tree.domain.sizes], leaf
        while nodes[index][3] is not None:
            _, _, group, parent = nodes[index]
            allowed[nodes[parent][0]] &= set(group)
            index = parent
        regions.append(allowed)
    return regions


def rule_volumes_by_inclusion_exclusion(rules):
    """The exact volume of every leaf of a list, for domains too large to visit: the paper's approach 1, in fractions.

    V(a_i and none of a_1..a_i-1) is the sum over sets S of earlier rules of (-1)^|S| V(a_i and all of S).
    """
    domain, own = rules.domain, [*rules.rules, ()]
    volumes = []
    for i, rule in enumerate(own):
        total = Fraction(0)
        for count in range(i + 1):
            for others in itertools.combinations(own[:i], count):
                total += (-1) ** count * _conjunction(domain, [rule, *others])
        volumes.append(total)
    return volumes


def _conjunction(domain, rules):
    product = Fraction(1)
    for column, feature in enumerate(domain):
        low = max([c.low for rule in rules for c in rule if c.feature == column], default=0)
        high = min([c.high for rule in rules for c in rule if c.feature == column], default=feature.size - 1)
        product *= sum((Fraction(feature.measures[code]) for code in range(low, high + 1)), Fraction(0))
    return product


def partitions(items):
    """Every division of some items into groups, the first item in the first group."""
    if not items:
        yield []
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for more in partitions(left):
                yield [(first, *others), *more]


def fewest_inner_nodes(regions):
    """The least number of inner nodes of any tree with these leaves, by trying every split that cuts no leaf."""
    if len(regions) == 1:
        return 0
    best = math.inf
    for feature in range(len(regions[0].allowed)):
        codes = sorted(set().union(*(region.allowed[feature] for region in regions)))
        for groups in partitions(codes):
            below = [[r for r in regions if r.allowed[feature] <= set(group)] for group in groups]
            if len(groups) > 1 and sum(map(len, below)) == len(regions):
                best = min(best, 1 + sum(map(fewest_inner_nodes, below)))
    return best


def spelled(node):
    """A tree as nested tuples: () for a leaf, else the feature and the (codes, tree) of each branch."""
    return () if node.is_leaf else (node.feature, tuple((tuple(sorted(c.group)), spelled(c)) for c in node.children))


# The three posteriors -------------------------------------------------------------------------------------------


def _volume_terms(weights, volumes):
    """- sum_l n_l ln V_l; a leaf of weight 0 adds nothing, even where its volume is 0."""
    return -math.fsum(n * math.log(v) for n, v in zip(weights, volumes, strict=True) if n > 0)


def _log_beta(numbers):
    return math.fsum(map(math.lgamma, numbers)) - math.lgamma(math.fsum(numbers))


def ways_to_split(domain, b):
    """W(b): the ways to split the whole domain on one feature into b groups, each counted by making it."""
    ways = 0
    for feature in domain:
        for groups in partitions(list(range(feature.size))):
            known = [sorted(code for code in group if code != feature.missing) for group in groups]
            runs = all(codes == list(range(codes[0], codes[-1] + 1)) for codes in known if codes)
            ways += len(groups) == b and (runs or feature.kind == "nominal")
    return ways


def leaf_terms(tree, data, term=None):
    """The sum over leaves of the leaf model's term, a function of a region and its rows; by default the paper's."""
    if term is None:
        return _volume_terms(leaf_weights(tree, data), leaf_volumes(tree))
    return math.fsum(map(term, leaf_regions(tree), leaf_rows(tree, data)))


def leaf_sparse(tree, data, lam, a, calibrated=False, term=None):
    """Method I."""
    weights = leaf_weights(tree, data)
    k, n = len(weights), math.fsum(weights)
    prior = -lam + k * math.log(lam) - math.log(math.factorial(k))
    if calibrated and k > 1:
        prior -= (k - 1) * math.log(ways_to_split(tree.domain, 2))
    dirichlet = math.lgamma(k * a) - math.lgamma(n + k * a)
    for held in weights:
        dirichlet += math.lgamma(held + a) - math.lgamma(a)
    return prior + dirichlet + leaf_terms(tree, data, term)


def node_weights(tree, data):
    """The weight at every node, by index."""
    nodes, _ = read_tree(tree)
    held: dict[int, list[float]] = {index: [] for index in nodes}
    for row, weight in data:
        for index in _path(nodes, row):
            held[index].append(weight)
    return {index: math.fsum(weights) for index, weights in held.items()}


def branch_sparse(tree, data, lam, a, g=None, calibrated=False, term=None):
    """Method II, with the feature prior if a probability g is given."""
    nodes, _ = read_tree(tree)
    held = node_weights(tree, data)
    total = -lam * len(nodes)
    for feature, children, _, _ in nodes.values():
        if feature is not None:
            b = len(children)
            total += b * math.log(lam) - math.log(math.factorial(b))
            total -= math.log(ways_to_split(tree.domain, b)) if calibrated else 0.0
            total += _log_beta([a + held[child] for child in children]) - _log_beta([a] * b)
    total += leaf_terms(tree, data, term)
    if g is not None:
        p, d = len(tree.domain), len({node[0] for node in nodes.values()} - {None})
        total += math.log(math.comb(p, d)) + d * math.log(g) + (p - d) * math.log(1 - g)
    return total


def conditions(feature, ordinal_conditions):
    """The conditions a feature offers, as (low, high).

    A value each; with intervals an ordered feature has every run of its known values, and missing alone, but not
    the run that allows everything.
    """
    if ordinal_conditions == "value" or feature.kind == "nominal":
        return [(code, code) for code in range(feature.size)]
    has_missing = feature.values[-1] is None
    known = feature.size - has_missing
    runs = [(low, high) for low in range(known) for high in range(low, known)]
    runs += [(known, known)] * has_missing
    return [run for run in runs if run != (0, feature.size - 1)]


def antecedents(domain, most, ordinal_conditions):
    """Every antecedent of 1..most conditions on different features, by size."""
    offered = [conditions(feature, ordinal_conditions) for feature in domain]
    by_size = []
    for size in range(1, min(most, len(domain)) + 1):
        found = []
        for features in itertools.combinations(range(len(domain)), size):
            runs = itertools.product(*(offered[feature] for feature in features))
            found += [tuple((f, *run) for f, run in zip(features, own, strict=True)) for own in runs]
        by_size.append(found)
    return by_size


def _truncated_poisson(k, rate, allowed):
    """Ln of the Poisson probability of k among the allowed numbers only."""
    terms = [math.exp(j * math.log(rate) - math.lgamma(j + 1)) for j in allowed]
    return k * math.log(rate) - math.lgamma(k + 1) - math.log(math.fsum(terms))


def rule_list(rules, data, counts, lam, eta, a, as_printed=False):
    """Method III; counts says how many antecedents of 1, 2, .. conditions there are."""
    unused = dict(enumerate(counts, 1))
    total = _truncated_poisson(len(rules.rules), lam, range(sum(counts) + 1))
    for rule in rules.rules:
        c = len(rule)
        total += _truncated_poisson(c, eta, [size for size, left in unused.items() if left > 0])
        total -= math.log(unused[c])
        unused[c] -= 1
    weights, volumes = leaf_weights(rules, data), leaf_volumes(rules)
    n, k = math.fsum(weights), len(weights)
    if not as_printed:
        total += math.lgamma(k * a) - k * math.lgamma(a)
    for held in weights:
        total += math.lgamma(held + a)
    return total - math.lgamma(n + k * a) + _volume_terms(weights, volumes)


# Densities ------------------------------------------------------------------------------------------------------


def mean_probabilities(structure, data, a):
    """Posterior mean of methods I and III: K counts the leaves of positive volume, others have probability 0."""
    weights, volumes = leaf_weights(structure, data), leaf_volumes(structure)
    k, n = sum(v > 0 for v in volumes), math.fsum(weights)
    return [(held + a) / (n + k * a) if v > 0 else 0.0 for held, v in zip(weights, volumes, strict=True)]


def path_probabilities(tree, data, a):
    """Posterior mean of method II: the product along the path of (n_c + a) / (n_i + b_i a)."""
    nodes, leaves = read_tree(tree)
    held = node_weights(tree, data)
    found = []
    for leaf in leaves:
        product, index = 1.0, leaf
        while nodes[index][3] is not None:
            parent = nodes[index][3]
            product *= (held[index] + a) / (held[parent] + len(nodes[parent][1]) * a)
            index = parent
        found.append(product)
    return found


def empirical_probabilities(structure, data):
    """The paper's n_l / n."""
    weights = leaf_weights(structure, data)
    return [held / math.fsum(weights) for held in weights]


def density_of(structure, probabilities):
    """The density at every point: the probability of its leaf over the leaf's volume."""
    leaf_of, volumes = router(structure), leaf_volumes(structure)
    return {p: probabilities[leaf_of(p)] / volumes[leaf_of(p)] for p in points(structure.domain)}


def collapse(data):
    """The weight of every distinct row."""
    held: dict[tuple, float] = {}
    for row, weight in data:
        held[tuple(row)] = held.get(tuple(row), 0.0) + weight
    return held


def histogram(domain, data, a):
    """The density of the full histogram at every point; a = 0 is the empirical one.

    Every point has the pseudocount a; what the unoccupied points have together is spread evenly over their volume.
    """
    held, n = collapse(data), math.fsum(weight for _, weight in data)
    every = points(domain)
    empty = [point for point in every if point not in held]
    total = n + len(every) * a
    rest = len(empty) * a / total / volume(domain, empty) if empty else 0.0
    return {p: (held[p] + a) / total / measure(domain, p) if p in held else rest for p in every}


def histogram_evidence(domain, data, a):
    """Ln B(n + a) - ln B(a) - sum n_l ln V_l over all points."""
    held, every = collapse(data), points(domain)
    weights = [held.get(point, 0.0) for point in every]
    terms = _volume_terms(weights, [measure(domain, point) for point in every])
    return _log_beta([n + a for n in weights]) - _log_beta([a] * len(every)) + terms


# What is asked of a density -------------------------------------------------------------------------------------


def share_in(event, point):
    """How much of a point lies in an event, given for every feature the share of each value."""
    product = 1.0
    for shares, code in zip(event, point, strict=True):
        product *= shares[code]
    return product


def probability(domain, density, event):
    """The mass of an event: a sum over every point."""
    return math.fsum(d * measure(domain, p) * share_in(event, p) for p, d in density.items())


def joint(domain, density, features, event):
    """The mass of an event for every combination of values of some features."""
    masses: dict[tuple, list[float]] = {
        place: [] for place in itertools.product(*(range(domain.sizes[f]) for f in features))
    }
    for p, d in density.items():
        masses[tuple(p[f] for f in features)].append(d * measure(domain, p) * share_in(event, p))
    return {place: math.fsum(parts) for place, parts in masses.items()}


def averaged(domain, density, feature):
    """The density at every point, averaged over a feature by measure."""
    sizes = domain[feature].measures
    return {
        p: math.fsum(m * density[(*p[:feature], v, *p[feature + 1 :])] for v, m in enumerate(sizes)) / math.fsum(sizes)
        for p in density
    }


def _drop(before, after):
    return 0.0 if before == after else math.log(before / after) if before > 0 else -math.inf


def loss(domain, density, feature):
    """What the expected log density loses when a feature is averaged over."""
    merged = averaged(domain, density, feature)
    return math.fsum(measure(domain, p) * d * _drop(d, merged[p]) for p, d in density.items() if d > 0)


def loss_on(domain, density, feature, data):
    """What the mean log density of rows loses when a feature is averaged over."""
    merged = averaged(domain, density, feature)
    return sum(w * _drop(density[row], merged[row]) for row, w in data) / math.fsum(w for _, w in data)


def unusualness(domain, density):
    """For every point the mass of the points that are denser; log densities within 1e-9 are ties."""
    logs = {p: math.log(d) if d > 0 else -math.inf for p, d in density.items()}
    return {p: math.fsum(density[q] * measure(domain, q) for q in density if logs[q] > logs[p] + TIE) for p in density}


# Greedy search --------------------------------------------------------------------------------------------------


def posterior_leaf(weight, own_volume, a):
    """What a leaf adds to the posterior of method I."""
    return math.lgamma(weight + a) - math.lgamma(a) - (weight * math.log(own_volume) if weight else 0.0)


def ise_leaf(weight, own_volume, n, whole):
    """What a leaf takes off the integrated squared error, in units of the whole domain's volume."""
    return weight**2 / (n**2 * own_volume / whole)


def leave_one_out_leaf(weight, own_volume, n, whole):
    """What a leaf takes off the leave-one-out estimate of the integrated squared error (Ram & Gray)."""
    share = own_volume / whole
    kept = 2 * weight * max(weight - 1, 0.0) / (n * max(n - 1, 1.0) * share)
    return kept - weight**2 / (n**2 * share)


def groupings(codes, ordered, missing):
    """Every division of some codes in two: any for nominal values, cuts for ordered ones with missing on any side."""
    codes = sorted(codes)
    subsets = itertools.chain.from_iterable(itertools.combinations(codes, k) for k in range(1, len(codes)))
    for subset in subsets:
        first, rest = set(subset), set(codes) - set(subset)
        if not ordered or _is_cut(first - {missing}, rest - {missing}):
            yield first, rest


def _is_cut(first, rest):
    return not first or not rest or max(first) < min(rest) or max(rest) < min(first)


def best_grouping(weights, measures, divisions, side, score):
    """The largest gain of any division of one feature's values.

    side is the volume of all other features, score(weight, volume) what a leaf is worth.
    """
    best = -math.inf
    for first, rest in divisions:
        parts = [(sum(weights[c] for c in part), side * sum(measures[c] for c in part)) for part in (first, rest)]
        whole = (parts[0][0] + parts[1][0], parts[0][1] + parts[1][1])
        best = max(best, score(*parts[0]) + score(*parts[1]) - score(*whole))
    return best


def prunings(splits, node=0):
    """Every pruning of a grown binary tree, as the set of nodes that stay split."""
    yield frozenset()
    if splits[node] is not None:
        left, right = (child for _, child in splits[node][1])
        for some in prunings(splits, left):
            for others in prunings(splits, right):
                yield some | others | {node}
