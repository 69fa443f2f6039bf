"""Prefixes of rule lists as the kernels read them: cells, priors by what is used up, and layers of states."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sparsedensity.kernels import prefixes as kernels
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.table import Floats


@dataclass(frozen=True, eq=False)
class Cells:
    """The points of a domain that no antecedent tells apart, and the cells of every antecedent."""

    held: kernels.Cells
    rules: kernels.Rules

    def __len__(self) -> int:
        return len(self.held.weight)

    @property
    def everything(self) -> NDArray[np.uint64]:
        """All cells as bits."""
        bits: NDArray[np.uint64] = pack(np.ones((1, len(self)), bool))[0]
        return bits


def cells_of(problem: Problem[SparseRules], antecedents: Antecedents) -> Cells:
    """Every point of the domain, together with those that obey the same antecedents; the densest last."""
    domain, table = problem.domain, problem.engine.table
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
    return Cells(
        kernels.Cells(weight[order], volume[order]), kernels.Rules(pack(member[:, first[order]]), size.astype(np.int64))
    )


def pack(truth: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of truth values as the bits of words, the first in the lowest."""
    words = max(1, -(-truth.shape[1] // 64))
    padded = np.zeros((len(truth), words * 64), bool)
    padded[:, : truth.shape[1]] = truth
    packed: NDArray[Any] = np.packbits(padded, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


def log_heads(problem: Problem[SparseRules], most: int) -> Floats:
    """What the number of rules alone adds to the log posterior, for 0..most rules."""
    posterior, n = problem.posterior, problem.engine.n
    rules: Floats = np.arange(most + 1.0)
    k, a = rules + 1, posterior.pseudocount
    length = rules * math.log(posterior.expected_rules) - gammaln(rules + 1) - posterior.log_norm
    constant = k * math.lgamma(a) if posterior.as_printed else gammaln(k * a)
    heads: Floats = length + constant - gammaln(n + k * a) - n * problem.domain.log_volume
    return heads


def log_surplus(weight: float, leaves: Floats, smooth: float) -> Floats:
    """The most by which so many leaves can exceed their sum of n ln (n / V): see the kernel of this name."""
    own = weight / leaves
    most: Floats = leaves * (gammaln(own + smooth) - math.lgamma(smooth) - own * np.log(own) + own) - weight
    return most


def smooth(pseudocount: float) -> float:
    """The least pseudocount that is no smaller and for which the bound on the surplus holds."""
    return max(pseudocount, 0.5)


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


def prior_of(problem: Problem[SparseRules], most: int) -> kernels.Prior:
    """The prior of lists of up to so many rules."""
    posterior = problem.posterior
    counts = np.array(posterior.antecedents, np.int64)
    uses = every_use(counts.tolist(), most)
    number = {use: i for i, use in enumerate(uses)}
    used = np.array(uses, np.int64).reshape(len(uses), len(counts))
    sizes = range(len(counts))
    after = np.array(
        [[number.get((*use[:c], use[c] + 1, *use[c + 1 :]), -1) for c in sizes] for use in uses], np.int64
    ).reshape(used.shape)
    step = _log_steps(posterior, counts - used)
    future = np.full((len(uses), most + 1), -np.inf)
    future[:, 0] = 0.0
    for further in range(1, most + 1):
        paths = np.where(after >= 0, step + future[after, further - 1], -np.inf)
        future[:, further] = paths.max(axis=1, initial=-np.inf)
    a = float(posterior.pseudocount)
    return kernels.Prior(used, after, step, future, log_heads(problem, most), a, smooth(a))


def _log_steps(posterior: SparseRules, unused: NDArray[np.int64]) -> Floats:
    """Ln P(c | sizes with an unused antecedent) - ln (unused of size c)."""
    sizes = np.arange(1, unused.shape[1] + 1)
    rate = sizes * math.log(posterior.expected_conditions) - gammaln(sizes + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(unused > 0, rate, -np.inf)
        total = np.logaddexp.reduce(logs, axis=1, keepdims=True)
        steps: Floats = np.where(unused > 0, logs - total - np.log(unused), -np.inf)
    return steps


def layer_of(words: int, room: int) -> kernels.Layer:
    """A layer without states, with room for a power of two of them."""
    return kernels.Layer(
        np.empty((room, words), np.uint64), np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room),
        np.empty(room, np.int64), np.empty(room, np.int64), np.full(2 * room, kernels.EMPTY, np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip


def first_layer(cells: Cells) -> kernels.Layer:
    """The layer of the empty prefix."""
    everything = cells.everything
    layer = layer_of(len(everything), 1)
    layer.left[0], layer.use[0], layer.value[0], layer.more[0], layer.n[0] = everything, 0, 0.0, np.inf, 1
    return layer


def larger(layer: kernels.Layer, room: int) -> kernels.Layer:
    """The same states with more room."""
    grown, n = layer_of(layer.left.shape[1], room), int(layer.n[0])
    for name in ("left", "use", "value", "more", "last", "parent", "rule"):
        getattr(grown, name)[:n] = getattr(layer, name)[:n]
    grown.n[0] = n
    kernels.find_places(grown)
    return grown
