"""What the kernels of exact search read and change: cells, priors by what is used up, and layers of states."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsedensity.engines import whole_table
from sparsedensity.kernels import list_prefixes as kernels
from sparsedensity.posterior.rule_list import ListPosterior, ListTerms, log_available_sizes
from sparsedensity.problem import Problem
from sparsedensity.search.lists.antecedents import Antecedents, pack, records

MOST_BINS, MOST_GROUPS = 48, 16
"""For a bound, cells are put into so many bins at most, and these into so many groups at most."""


def cells_of(problem: Problem[ListPosterior], antecedents: Antecedents) -> kernels.ListCells:
    """Every point of the domain, together with those that obey the same antecedents; the densest last."""
    domain, table = problem.domain, whole_table(problem.engine)
    points = np.stack(np.unravel_index(np.arange(math.prod(domain.sizes)), domain.sizes), axis=1)
    obey = np.stack([(points[:, f] >= low) & (points[:, f] <= high) for f, low, high in antecedents.conditions])
    listed, begin = antecedents.listed
    member = np.array([obey[rule[rule >= 0]].all(axis=0) for rule in listed]).reshape(len(listed), len(points))
    _, first, cell = np.unique(pack(member.T), axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    logs = sum(np.log(domain.measures[domain.span(f)])[points[:, f]] for f in range(len(domain)))
    volume = np.bincount(cell, np.exp(logs - domain.log_volume))
    at = np.ravel_multi_index(tuple(table.codes.T.astype(np.int64)), domain.sizes)
    weight = np.bincount(cell[at], table.weights, minlength=len(volume))
    order = np.argsort(weight / volume, kind="stable")
    size = np.repeat(np.arange(len(begin) - 1) - 1, np.diff(begin))
    return kernels.ListCells(weight[order], volume[order], pack(member[:, first[order]]), size.astype(np.int64))


def all_cells(cells: kernels.ListCells) -> NDArray[np.uint64]:
    """All cells as bits."""
    bits: NDArray[np.uint64] = pack(np.ones((1, len(cells.weight)), bool))[0]
    return bits


def every_use(counts: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """The numbers of antecedents of each size that up to so many rules can use up, none used first.

    >>> every_use((1, 5), 2)
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    """
    if not counts:
        return [()]
    tops = range(min(counts[0], most) + 1)
    return list(itertools.chain.from_iterable(((k, *rest) for rest in every_use(counts[1:], most - k)) for k in tops))


def count_uses(counts: Sequence[int], most: int) -> list[int]:
    """How many uses there are of exactly 0, 1, .. most rules."""
    ways = [1] + [0] * most
    for count in counts:
        ways = [sum(ways[max(0, m - count) : m + 1]) for m in range(most + 1)]
    return ways


def uses_of(terms: ListTerms) -> kernels.Uses:
    """What may follow each use, in lists of as many rules as there are terms for."""
    counts, most = terms.of_size["antecedents"][1:].astype(np.int64), len(terms.of_length) - 1
    uses = every_use(counts.tolist(), most)
    number = {use: i for i, use in enumerate(uses)}
    used = np.array(uses, np.int64).reshape(len(uses), len(counts))
    after = [[number.get((*use[:c], use[c] + 1, *use[c + 1 :]), -1) for c in range(len(counts))] for use in uses]
    unused = counts - used
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = log_available_sizes(terms.of_size["log_rate"][1:], unused) - np.log(np.maximum(unused, 0))
    steps = np.where(unused > 0, steps, -np.inf)
    rules = records(kernels.NEXT_RULE, used, np.array(after, np.int64).reshape(used.shape), steps)
    future = np.full((len(uses), most + 1), -np.inf)
    future[:, 0] = 0.0
    for further in range(1, most + 1):
        paths = np.where(rules["after"] >= 0, rules["step"] + future[rules["after"], further - 1], -np.inf)
        future[:, further] = paths.max(axis=1, initial=-np.inf)
    return kernels.Uses(rules, future)


def scratch_for(cells: kernels.ListCells, sizes: int) -> kernels.CellScratch:
    """Scratch to weigh a set of these cells, with rules of so many sizes."""
    most = len(cells.weight) + 1
    return kernels.CellScratch(
        left=np.empty_like(all_cells(cells)),
        weight=np.empty(most),
        volume=np.empty(most),
        apart=np.empty(MOST_BINS),
        runs=np.empty((2, MOST_BINS + 1)),
        grouped=np.empty(MOST_GROUPS),
        idle=np.empty(sizes, np.int64),
    )


def layer_of(words: int, room: int) -> kernels.Layer:
    """A layer without states, with room for a power of two of them."""
    return kernels.Layer(
        left=np.empty((room, words), np.uint64),
        state=np.empty(room, kernels.PREFIX),
        slot=np.zeros(2 * room, np.int64),
        size=np.zeros(1, kernels.COUNT)[0],
    )


def first_layer(cells: kernels.ListCells) -> kernels.Layer:
    """The layer of the empty prefix."""
    everything = all_cells(cells)
    layer = layer_of(len(everything), 1)
    layer.left[0], layer.state["use"], layer.state["value"], layer.state["more"] = everything, 0, 0.0, np.inf
    layer.size["states"] = 1
    return layer


def larger(layer: kernels.Layer, room: int) -> kernels.Layer:
    """The same states with more room."""
    grown, n = layer_of(layer.left.shape[1], room), layer.size["states"]
    grown.left[:n], grown.state[:n], grown.size["states"] = layer.left[:n], layer.state[:n], n
    kernels.find_slots(grown)
    return grown
