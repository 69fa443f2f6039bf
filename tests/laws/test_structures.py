"""Laws of trees, rule lists and cells: they divide the domain, and rows go where a reader would send them."""

import itertools
import json
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import DataError
from sparsedensity.structures import Cells, Condition, RuleList, Tree, base, canonical, files
from sparsedensity.structures.tree import Split
from tests import naive
from tests.strategies import data_in, domains, rule_lists, table_of, trees


@st.composite
def structures(draw, domain):
    return draw(st.one_of(trees(domain), rule_lists(domain)))


def logs_of(volumes):
    return np.array([math.log(volume) if volume else -math.inf for volume in volumes])


@given(domains(), st.data())
def test_leaf_volumes_equal_enumeration_and_sum_to_the_whole(domain, data):
    structure = data.draw(structures(domain))
    assert structure.n_leaves == naive.n_leaves(structure) == len(structure.log_volumes)
    assert structure.log_volumes == pytest.approx(logs_of(naive.leaf_volumes(structure)), abs=1e-9)
    assert np.exp(structure.log_volumes).sum() == pytest.approx(naive.volume(domain, naive.points(domain)))


@given(domains(), st.data())
def test_branches_are_counted_as_a_walk_finds_them(domain, data):
    tree = data.draw(trees(domain))
    assert tree.branches.tolist() == [len(split[1]) for split in tree.splits() if split is not None]


@given(domains(), st.data())
def test_rows_go_to_the_leaf_that_a_walk_finds(domain, data):
    structure = data.draw(structures(domain))
    every = naive.points(domain)
    expected = list(map(naive.router(structure), every))
    codes = np.array(every, domain.code_type)
    assert structure.leaf_numbers(codes).tolist() == expected
    with patch.object(base, "ROWS_PER_BLOCK", 3):
        assert structure.leaf_numbers(codes, jobs=2).tolist() == expected
        assert structure.leaf_numbers(codes, jobs=-1).tolist() == expected


@pytest.mark.parametrize("jobs", [2, 3, -1])
def test_threads_route_many_rows_as_one_thread_does(jobs):
    rng = np.random.default_rng(1)
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(5)) for i in range(4)))
    codes = rng.integers(0, 5, (2 * base.ROWS_PER_BLOCK + 17, 4)).astype(np.uint8)
    tree = Tree.leaf(domain).split(0, 1, [{0, 3}, {1}, {2, 4}]).split(2, 0, [{0}, {1, 2, 3, 4}])
    rules = RuleList.of(domain, [[Condition(0, 1, 1)], [Condition(2, 0, 0), Condition(3, 4, 4)]])
    for structure in (tree, rules):
        single = structure.leaf_numbers(codes)
        assert (structure.leaf_numbers(codes, jobs=jobs) == single).all()
        some = rng.integers(0, len(codes), 200)
        assert single[some].tolist() == list(map(naive.router(structure), codes[some].tolist()))
    assert tree.leaf_numbers(codes[:0], jobs=jobs).tolist() == []


@given(domains(), st.data())
def test_every_box_of_a_list_is_disjoint_from_every_other(domain, data):
    rules = data.draw(rule_lists(domain))
    leaf_of = naive.router(rules)
    for point in naive.points(domain):
        places = [start + code for start, code in zip(domain.starts, point, strict=False)]
        holders = [leaf for leaf, boxes in enumerate(rules.boxes) for box in boxes if box[places].all()]
        assert holders == [leaf_of(point)]


@st.composite
def huge_lists(draw):
    """A rule list over 10^20 to 10^300 points, some of unequal measure; rules meet on the first few features."""
    sizes = draw(st.lists(st.integers(2, 12), min_size=25, max_size=60))
    columns = [Feature.nominal(f"x{i}", range(size)) for i, size in enumerate(sizes)]
    columns[0] = Feature.continuous("x0", [0, *itertools.accumulate(range(1, sizes[0] + 1))], missing=True)
    columns.append(Feature.continuous("wide", (0, 1e30, 3e80, 7e200)))
    domain = Domain(tuple(columns))
    rules = draw(
        st.lists(
            st.dictionaries(st.integers(0, 3), st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=3),
            max_size=6,
        )
    )
    runs = [{f: run if domain[f].ordered else run[:1] * 2 for f, run in rule.items()} for rule in rules]
    own = {tuple(Condition(f, *sorted(run)) for f, run in sorted(rule.items())) for rule in runs}
    return RuleList.of(domain, draw(st.permutations(sorted(own))))


@given(huge_lists())
def test_list_volumes_are_exact_far_beyond_enumeration(rules):
    exact = naive.rule_volumes_by_inclusion_exclusion(rules)
    assert rules.domain.log_volume > math.log(1e15)
    for log_volume, volume in zip(rules.log_volumes, exact, strict=True):
        if volume == 0:
            assert log_volume == -math.inf
        else:
            assert log_volume == pytest.approx(math.log(volume.numerator) - math.log(volume.denominator), abs=1e-9)


@given(domains(), st.data())
def test_inclusion_exclusion_and_enumeration_agree(domain, data):
    rules = data.draw(rule_lists(domain, most_rules=4))
    exact = [float(volume) for volume in naive.rule_volumes_by_inclusion_exclusion(rules)]
    assert naive.leaf_volumes(rules) == pytest.approx(exact, abs=1e-9)


def test_a_tree_of_many_features_keeps_exact_volumes():
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(3)) for i in range(42)))
    tree = Tree.leaf(domain)
    for feature in range(42):
        tree = tree.split(len(tree.feature) - 1, feature, [{0, 2}, {1}])
    assert sorted(tree.log_volumes) == pytest.approx(
        sorted([math.log(2) + (41 - i) * math.log(3) for i in range(42)] + [0.0]), abs=1e-9
    )


@given(domains(), st.data())
def test_merging_keeps_the_leaves_and_leaves_no_chain(domain, data):
    tree = data.draw(trees(domain, most_splits=7))
    merged = tree.merged()
    assert sorted(map(repr, merged.regions)) == sorted(map(repr, tree.regions))
    above = {node.index: node.feature for node in merged.walk()}
    assert not any(
        node.parent is not None and node.feature is not None and node.feature == above[node.parent]
        for node in merged.walk()
    )
    assert merged.merged().splits() == merged.splits()
    assert len(list(merged.walk())) <= len(list(tree.walk()))


@st.composite
def redrawn(draw, tree):
    """Another tree with the same leaves."""
    regions, stack = tree.regions, [(0, list(range(tree.n_leaves)))]
    splits: list[Split] = [None]
    while stack:
        node, leaves = stack.pop()
        if len(leaves) == 1:
            continue
        ways = []
        for feature in range(len(tree.domain)):
            codes = sorted(set().union(*(regions[leaf].allowed[feature] for leaf in leaves)))
            for groups in naive.partitions(codes):
                below = [[leaf for leaf in leaves if regions[leaf].allowed[feature] <= set(group)] for group in groups]
                if len(groups) > 1 and sum(map(len, below)) == len(leaves):
                    ways.append((feature, groups, below))
        feature, groups, below = draw(st.sampled_from(ways))
        splits[node] = (feature, [(group, len(splits) + i) for i, group in enumerate(groups)])
        stack += [(len(splits) + i, own) for i, own in enumerate(below)]
        splits += [None] * len(groups)
    return Tree.of_splits(tree.domain, splits)


@given(domains(), st.data())
def test_trees_with_the_same_leaves_have_one_canonical_tree(domain, data):
    tree = data.draw(trees(domain, most_splits=4))
    shown = canonical(tree)
    assert sorted(map(repr, shown.regions)) == sorted(map(repr, tree.regions))
    assert canonical(shown).splits() == shown.splits()
    assert naive.spelled(canonical(data.draw(redrawn(tree))).root()) == naive.spelled(shown.root())


@given(domains(), st.data())
@settings(max_examples=50)
def test_no_tree_with_the_same_leaves_has_fewer_inner_nodes_than_the_canonical_one(domain, data):
    tree = data.draw(trees(domain, most_splits=4))
    shown = canonical(tree)
    assert sum(not node.is_leaf for node in shown.walk()) == naive.fewest_inner_nodes(tree.regions)
    above = {node.index: node.feature for node in shown.walk()}
    assert not any(n.parent is not None and not n.is_leaf and n.feature == above[n.parent] for n in shown.walk())


@given(domains(), st.data())
def test_a_readers_walk_tells_the_whole_tree(domain, data):
    tree = data.draw(trees(domain))
    nodes = list(tree.walk())
    assert sorted(node.index for node in nodes) == list(range(len(tree.feature)))
    assert [leaf.number for leaf in tree.leaves()] == list(range(tree.n_leaves))
    for node in nodes:
        groups = [child.group for child in node.children]
        if node.feature is not None:
            assert len(groups) >= 2
            assert set().union(*groups) == node.region.allowed[node.feature]
            assert sum(map(len, groups)) == len(node.region.allowed[node.feature])
            assert [min(group) for group in groups] == sorted(min(group) for group in groups)
        assert all(child.parent == node.index and child.depth == node.depth + 1 for child in node.children)
    assert Tree.of_splits(domain, tree.splits()).splits() == tree.splits()


@given(domains(), st.data())
def test_cells_are_the_distinct_rows_and_one_remainder(domain, data):
    rows = data.draw(data_in(domain))
    table = table_of(domain, rows)
    cells = Cells(domain, table.codes)
    places = {tuple(row): place for place, row in enumerate(table.codes.tolist())}
    every = naive.points(domain)
    numbers = cells.leaf_numbers(np.array(every, domain.code_type))
    assert numbers.tolist() == [places.get(point, len(places)) for point in every]
    for leaf, log_volume in enumerate(cells.log_volumes):
        own = naive.volume(domain, [p for p, number in zip(every, numbers, strict=True) if number == leaf])
        assert log_volume == (pytest.approx(math.log(own), abs=1e-9) if own else -math.inf)


def test_the_remainder_keeps_its_volume_however_small():
    domain = Domain((Feature.continuous("x", (0.0, 1e-12, 1.0)), Feature.continuous("y", (0.0, 1e-12, 3.0, 1e9))))
    occupied = [(1, 1), (1, 2), (0, 2), (0, 0), (0, 1)]
    cells = Cells(domain, np.array(occupied, np.uint8))
    assert cells.log_volumes[-1] == pytest.approx(math.log(naive.measure(domain, (1, 0))), abs=1e-6)


def through_json(document):
    return json.loads(json.dumps(document, allow_nan=False))


@given(domains())
def test_a_domain_survives_its_file(domain):
    assert files.domain_from_json(through_json(files.domain_to_json(domain))) == domain


def test_labels_of_every_kind_survive_a_file():
    domain = Domain(
        (
            Feature.nominal("mixed", (True, False, 1, 0, "1", 2.5, "", "ä\n", -7), missing=True),
            Feature.ordinal("all missing", (), missing=True),
            Feature.continuous("one", (0.1,)),
            Feature.continuous("tiny", (0.1, 0.1 + 1e-16, 0.3, 1e300), integer=False, missing=True),
            Feature.continuous("whole", (3, 9), integer=True),
        )
    )
    back = files.domain_from_json(through_json(files.domain_to_json(domain)))
    assert back == domain
    assert [type(value) for value in back[0].values] == [type(value) for value in domain[0].values]
    tree = Tree.leaf(domain).split(0, 0, [{0, 2, 9}, {1, 3, 4}, {5, 6, 7, 8}]).split(1, 3, [{0, 3}, {1}, {2}])
    again = files.structure_from_json(through_json(files.structure_to_json(tree)), domain)
    assert isinstance(again, Tree)
    assert again.splits() == tree.splits()


@given(domains(), st.data())
def test_a_structure_survives_its_file(domain, data):
    structure = data.draw(structures(domain))
    back = files.structure_from_json(through_json(files.structure_to_json(structure)), domain)
    assert type(back) is type(structure)
    for name in ("feature", "offset", "child") if isinstance(structure, Tree) else ("start", "feature", "low", "high"):
        assert getattr(back, name).tolist() == getattr(structure, name).tolist()


@given(domains(), st.data())
def test_cells_survive_their_file(domain, data):
    cells = Cells(domain, table_of(domain, data.draw(data_in(domain))).codes)
    back = files.structure_from_json(through_json(files.structure_to_json(cells)), domain)
    assert isinstance(back, Cells)
    assert back.codes.tolist() == cells.codes.tolist()
    assert back.codes.dtype == cells.codes.dtype


def test_a_rule_that_could_never_apply_is_refused():
    domain = Domain((Feature.nominal("x", "abc"), Feature.ordinal("y", "abc")))
    for rules, match in (
        ([[]], "at least one"),
        ([[Condition(0, 1, 1)], [Condition(0, 1, 1)]], "twice"),
        ([[Condition(1, 0, 1), Condition(1, 1, 2)]], "two conditions"),
        ([[Condition(1, 2, 3)]], "no run"),
        ([[Condition(0, 0, 1)]], "no run"),
    ):
        with pytest.raises(DataError, match=match):
            RuleList.of(domain, rules)
