"""The memory of annealing chains: rows, posterior, regions and trees as the kernels read them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import anneal_regions as regions
from sparsedensity.kernels import anneal_trees as trees
from sparsedensity.kernels import divisions
from sparsedensity.kernels.anneal_lifts import SKETCH
from sparsedensity.kernels.belief import is_even
from sparsedensity.kernels.counted_parts import MOST_GROUPS, Parts
from sparsedensity.kernels.row_bits import LINES, NOBODY, Bits
from sparsedensity.posterior.trees import belief_of, prepared_terms, space_of
from sparsedensity.problem import AnyProblem
from sparsedensity.search.bounds import most_leaves
from sparsedensity.structures import Tree
from sparsedensity.table import Floats, Table

MOST_LEAVES = 20_000
"""How large a tree can get without a limit."""
FEW_ROWS, MOST_ROWS = 2_000, 1_000_000_000
"""Rows that every search can count, and none."""
FEW_GROUPS, MANY_VALUES = 6, 64
"""More than twelve values are divided into six groups at most, more than 64 into two."""
MOST_BYTES = 6_000_000
"""For the counts of each chain, and again for regions: only what is used is touched."""
MOST_LISTED = 2_000_000
"""How many rows lists of them have room for, in 8 megabytes for each chain."""
ROOM_OF_PROFILES = 2
"""Where a proposal takes longer, fewer chains share the room, and each has more of all that."""
MOST_PAIRS, FEWEST_ATOMS = 1 << 22, 16
"""At most so many pairs of values are counted at a time, 32 megabytes; but sixteen atoms have room in any case."""
MOST_BYTES_OF_BITS, FEWEST_WORDS = 8_000_000, 64
"""For the rows of a region as bits; what has no room is written again for every feature."""


def limit_of(problem: AnyProblem) -> int:
    """The most leaves a tree can have."""
    return int(min(most_leaves(problem), MOST_LEAVES))


def pairs_per_row(problem: AnyProblem) -> float:
    """How many pairs of values are counted per row to score every split of a region; none if leaves are even.

    Beside every value of a column those of all columns, but not beside its commonest: that is what the others leave.
    """
    if problem.posterior.even:
        return 0.0
    weights, starts = problem.engine.value_weights(), problem.domain.starts
    commonest = np.maximum.reduceat(weights, starts[:-1]) / problem.engine.n
    return len(problem.domain) * float((1 - commonest).sum())


def rows_within(problem: AnyProblem, pairs: float) -> int:
    """How many rows have at most so many pairs to count; always a few."""
    by_row = pairs_per_row(problem)
    return MOST_ROWS if by_row * MOST_ROWS <= pairs else max(int(pairs / by_row), FEW_ROWS)


def is_whole(weights: Floats) -> bool:
    """Whether all weights are whole numbers."""
    return np.array_equal(weights, np.rint(weights))


def planted_tree(problem: AnyProblem, nodes: int, score: float) -> trees.Growing:
    """A single leaf, with room for a tree of so many nodes."""
    labels, uses = np.zeros((nodes, max(problem.domain.sizes)), np.int16), np.zeros(len(problem.domain), np.int64)
    tree = trees.Growing(np.zeros(nodes, trees.NODE), labels, np.zeros(1, trees.STATE), uses)
    plant(tree, score)
    return tree


def plant(tree: trees.Growing, score: float) -> None:
    """Make a tree a single leaf: the root, node 0."""
    tree.state[0] = 0
    tree.uses[:] = 0
    for name, value in (("leaves", 1), ("high", 1), ("free", -1), ("score", score)):
        tree.state[name] = value
    tree.nodes[0] = 0
    for name, value in (("feature", -1), ("first", -1), ("next", -1), ("parent", -1), ("below", 1)):
        tree.nodes[name][0] = value


def copy_tree(tree: trees.Growing, to: trees.Growing) -> None:
    """Overwrite one tree with another."""
    for old, new in zip(to, tree, strict=True):
        old[:] = new


def written(tree: Tree) -> trees.Growing:
    """A finished tree, as far as a leaf needs to know it to grow into one that is like it."""
    nodes, labels = np.zeros(tree.n_nodes, trees.NODE), np.full((tree.n_nodes, max(tree.domain.sizes)), -1, np.int16)
    nodes["feature"], nodes["first"], nodes["next"] = tree.feature, -1, -1
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        begin, size = tree.offset[node], tree.domain.sizes[tree.feature[node]]
        below = tree.child[begin : begin + size]
        children = np.unique(below[below >= 0])
        nodes["first"][node], nodes["children"][node] = children[0], len(children)
        nodes["next"][children[:-1]] = children[1:]
        labels[node, :size] = np.where(below >= 0, np.searchsorted(children, below), -1)
    return trees.Growing(nodes, labels, np.zeros(1, trees.STATE), np.zeros(0, np.int64))


def room_for(limit: int) -> int:
    """The nodes that a tree with a limit of leaves can have on the way to its limit."""
    return 2 * (int(1.3 * limit) + 60) + 64


class Shared:
    """The regions that some chains count together. What each knows of the best subtrees is its own."""

    def __init__(self, problem: AnyProblem, table: Table, chains: int = 1) -> None:
        self.problem, self.table, self.chains = problem, table, chains
        self._memory: regions.Memory | None = None

    def of_one(self) -> regions.Memory:
        """The memory of one chain, which knows nothing yet."""
        if self._memory is None:
            self._memory = make_memory(self.problem, self.table, room_for(limit_of(self.problem)), self.chains)
        held, widest = len(self._memory.regions), max(self.table.domain.sizes)
        return self._memory._replace(
            places=np.zeros(held, np.int32),
            known=np.zeros(held + 1, regions.KNOWN),
            labels=np.zeros((held + 1, widest), np.uint8),
            learned=np.zeros(1, np.int64),
        )

    def is_of(self, memory: regions.Memory) -> bool:
        """Whether a chain counts the regions that are counted now."""
        return self._memory is not None and memory.regions is self._memory.regions

    def renew(self) -> None:
        """Begin with none anew: there was no room left. Chains notice when it is their turn."""
        self._memory = None


def make_memory(problem: AnyProblem, table: Table, nodes: int, chains: int) -> regions.Memory:
    """The memory of some chains: about 20 megabytes for each, or 40 with profiles; only what is used is touched."""
    values, columns = int(table.domain.starts[-1]), len(table.domain)
    even = is_even(problem.posterior.leaf)
    room = chains if even else chains * ROOM_OF_PROFILES
    noted = values + columns if even else values + 2 * columns
    slots = max(min(int(room * MOST_BYTES / (8 * noted)), chains * 65_000), 64)
    held = max(min(int(room * MOST_BYTES / (values + 104)), chains * 200_000), chains * 6 * nodes + 2000)
    units, unit = table.units
    lists = max(4 * len(table), min(room * MOST_LISTED, 1000 * chains * len(table)))
    memory = regions.Memory(
        columns=table.columns,
        uncommon=table.uncommon,
        weights=table.weights,
        units=units,
        unit=unit,
        space=space_of(table.domain),
        belief=belief_of(problem.posterior, table.domain, float(table.weights.sum()), nodes, MOST_GROUPS),
        regions=np.zeros(held, regions.REGION),
        allowed=np.zeros((held, values), np.uint8),
        counts=np.zeros((slots, noted)),
        rows=np.zeros(lists, np.uint32),
        table=np.zeros(1 << math.ceil(math.log2(2 * held + 2)), np.int32),
        used=np.zeros(1, regions.USED),
        desk=make_desk(values, max(table.domain.sizes), even),
        sketch=np.zeros(nodes, SKETCH),
        places=np.zeros(0, np.int32),
        known=np.zeros(0, regions.KNOWN),
        labels=np.zeros((0, 0), np.uint8),
        learned=np.zeros(1, np.int64),
    )
    open_root(memory, table, problem.posterior.leaf)
    return memory


def open_root(memory: regions.Memory, table: Table, leaf: Any) -> None:
    """The region of the whole domain."""
    n, values = len(table), memory.allowed.shape[1]
    memory.rows[:n] = np.arange(n)
    memory.allowed[0] = 1
    memory.counts[0, :values] = MemoryEngine(table).value_weights()
    key = int(np.bitwise_xor.reduce(memory.space.values["key"]))
    root = {"key": key, "origin": -1, "length": n, "best": -1, "best_gain": math.inf, "weight": table.weights.sum()}
    if not is_even(leaf):
        data, counts = memory.belief.leaf, memory.counts[:1, :values]
        root["term"] = prepared_terms(data, memory.space, counts, memory.allowed[:1])[0]
    for name, value in root.items():
        memory.regions[name][0] = value
    memory.table[(key ^ (key >> 29)) & (memory.table.size - 1)] = 1
    for name, used in (("regions", 1), ("slots", 1), ("rows", n)):
        memory.used[name] = used


def make_desk(values: int, widest: int, even: bool) -> divisions.Desk:
    """Room to divide the values of one feature."""
    return divisions.Desk(
        cells=np.zeros(max(values + 2, 16), divisions.CELL),
        runs=np.zeros((MOST_GROUPS + 1, 2 * widest + 4), divisions.RUN),
        parts=None if even else make_parts(values, widest),
        few_groups=FEW_GROUPS,
        many_values=MANY_VALUES,
    )


def make_parts(values: int, widest: int) -> Parts:
    """Room to count the children of a division."""
    atoms = min(widest, max(MOST_PAIRS // values, FEWEST_ATOMS))
    return Parts(
        pairs=np.zeros((atoms, values)),
        counts=np.zeros((MOST_GROUPS + 2, values)),
        allowed=np.zeros(values, np.uint8),
        bits=make_bits(values),
        work=np.zeros(1, np.int64),
    )


def make_bits(values: int) -> Bits:
    """Room to write rows as bits; only what is used is touched."""
    words = max(MOST_BYTES_OF_BITS // (8 * values), FEWEST_WORDS)
    return Bits(
        words=np.zeros((words, values), np.uint64),
        chosen=np.zeros(words, np.uint64),
        ends=np.zeros(LINES + 1, np.int64),
        counted=np.zeros(values, np.int64),
        holder=np.full(1, NOBODY),
        asked=np.full(1, NOBODY),
    )
