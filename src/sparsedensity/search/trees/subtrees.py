"""The best subtrees: where a node of a tree has few regions below it, the best tree of its region is put there.

What lies elsewhere stays as it is, so the best subtree is a proof of its own, over the rows and the values of a
region; the leaves elsewhere only decide what one more leaf costs. The topmost nodes whose proof takes a moment are
proven one after the other, again if the number of leaves has changed, until no subtree of theirs can be improved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine, whole_table
from sparsedensity.posterior.trees import Numbers, TreePosterior
from sparsedensity.problem import AnyProblem, Problem
from sparsedensity.region import Region
from sparsedensity.search.base import tie_of
from sparsedensity.search.trees.exact.proof import CaseSearch, TreeProof, cases
from sparsedensity.search.trees.exact.regions import count_regions
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Node, Split
from sparsedensity.table import Floats, Table

FEW_REGIONS = 30_000
"""The best subtree of nodes with so few regions is proven: that takes some tens of milliseconds."""
MOST_REGIONS, MOST_PARTINGS = 150_000, 1_500_000
"""With more it is the best one at the going price of a leaf, up to so many regions and ways to part them."""
MOST_CHOICES, MOST_STEPS = 20_000, 2e8
"""A proof that needs longer lists and a larger table than that, some tenths of a second, is left open."""
MOST_PROOFS, MOST_SWEEPS = 100, 5


def with_best_subtrees(problem: AnyProblem, tree: Tree, go_on: Callable[[], bool]) -> Tree:
    """The tree with the best subtrees at its topmost small nodes, as far as there is time; never a worse one."""
    known: set[tuple[Region, int, int]] = set()
    for _ in range(MOST_SWEEPS):
        scions: dict[int, Tree] = {}
        splits, leaves = tree.splits(), tree.n_leaves
        for node, regions in small_nodes(tree):
            below = Tree.grown(tree.domain, node.index, splits.__getitem__)
            elsewhere, prove = leaves - below.n_leaves, regions <= FEW_REGIONS
            sizes = node.region, elsewhere, 0 if prove else below.n_leaves
            if sizes in known or len(known) >= MOST_PROOFS or not go_on():
                continue
            known.add(sizes)
            best = Part.of(problem, node.region, elsewhere).better(below, prove, go_on)
            if best is not None:
                scions[node.index] = best
                leaves = elsewhere + best.n_leaves
        if not scions:
            break
        tree = grafted(tree, scions)
    return tree


def can_prove(problem: AnyProblem) -> bool:
    """Whether subtrees are problems of their own: unless the prior looks at the features used, or leaves at values."""
    columns = len(problem.domain)
    return problem.posterior.even and problem.posterior.by_features(np.arange(1), columns) is None


def small_nodes(tree: Tree) -> Iterator[tuple[Node, int]]:
    """The topmost nodes with few regions, and how many they have."""
    stack = [tree.root()]
    while stack:
        node = stack.pop()
        regions = regions_in(tree.domain, node.region)
        if regions is None:
            stack.extend(reversed(node.children))
        elif regions > 1:
            yield node, regions


def regions_in(domain: Domain, region: Region) -> int | None:
    """How many regions a region has within it; ``None`` if they are too many to look at all of them."""
    least = 1.0
    for codes in region.allowed:
        least *= len(codes) * (len(codes) + 1) / 2  # the sides of a feature are no fewer, whatever its kind
        if least > MOST_REGIONS:
            return None
    regions, partings = count_regions(part_of(domain, region))
    return regions if regions <= MOST_REGIONS and partings <= MOST_PARTINGS else None


def part_of(domain: Domain, region: Region) -> Domain:
    """The domain with only those values that a region allows."""
    pairs = zip(domain, region.allowed, strict=True)
    return Domain(tuple(feature if len(codes) == feature.size else only(feature, codes) for feature, codes in pairs))


def only(feature: Feature, codes: frozenset[int]) -> Feature:
    """A feature with some of its values."""
    kept = sorted(codes)
    measures = tuple(feature.measures[code] for code in kept)
    return replace(feature, values=tuple(feature.values[code] for code in kept), measures=measures)


@dataclass(frozen=True)
class Part:
    """What lies in a region, as a problem of its own."""

    domain: Domain
    """The whole domain."""
    codes: list[list[int]]
    """Which of its codes those of the problem are."""
    problem: AnyProblem

    @classmethod
    def of(cls, whole: AnyProblem, region: Region, elsewhere: int) -> Part:
        """The problem below a node, if so many leaves are elsewhere."""
        rows = rows_in(whole_table(whole.engine), region)
        posterior = beside(whole.posterior, elsewhere, whole.engine.n)
        limit = None if whole.max_leaves is None else whole.max_leaves - elsewhere
        codes = [sorted(allowed) for allowed in region.allowed]
        return cls(whole.domain, codes, Problem(MemoryEngine(rows), posterior, limit))

    def better(self, tree: Tree, prove: bool, go_on: Callable[[], bool]) -> Tree | None:
        """The best tree, or the best at the price of one more leaf; ``None`` if it is not better than a given one."""
        if not len(whole_table(self.problem.engine)):
            return None  # rows that are not there tell nothing
        numbers = [{code: number for number, code in enumerate(codes)} for codes in self.codes]
        given = renamed(tree, self.problem.domain, numbers)
        score = self.problem.score(given)
        proof = TreeProof(given, score, math.inf)
        search = CaseSearch(self.problem, proof, cases(self.problem, math.inf)[0])
        for _ in search.prove(MOST_CHOICES, MOST_STEPS) if prove else search.begin():
            if not go_on():
                break
        better = proof.log_posterior > score + tie_of(score)
        return renamed(proof.structure, self.domain, self.codes) if better else None


def rows_in(table: Table, region: Region) -> Table:
    """The rows of a region, in the domain of its values."""
    mask, starts = region.mask(table.domain), table.domain.starts
    numbers = np.concatenate([np.cumsum(mask[begin:end]) - 1 for begin, end in pairwise(starts)])
    places = table.codes + starts[:-1]
    inside = mask[places].all(axis=1)
    domain = part_of(table.domain, region)
    codes = np.ascontiguousarray(numbers[places[inside]], domain.code_type)
    return Table(domain, codes, table.weights[inside])


def beside(posterior: TreePosterior, elsewhere: int, n: float) -> TreePosterior:
    """What is believed of a subtree if the whole tree has so many leaves elsewhere, and the whole table weight n."""
    below = copy(posterior)

    def by_leaves(leaves: Numbers, _: float) -> Floats:
        return posterior.by_leaves(leaves + elsewhere, n)

    object.__setattr__(below, "by_leaves", by_leaves)  # posteriors are frozen
    return below


def renamed(tree: Tree, domain: Domain, names: Sequence[Sequence[int] | Mapping[int, int]]) -> Tree:
    """The same splits in another domain, whose codes have other names."""

    def rename(split: Split) -> Split:
        if split is None:
            return None
        feature, branches = split
        return feature, [([names[feature][code] for code in codes], child) for codes, child in branches]

    return Tree.of_splits(domain, list(map(rename, tree.splits())))


def grafted(tree: Tree, scions: Mapping[int, Tree]) -> Tree:
    """A tree with other subtrees at some of its nodes."""
    splits = tree.splits()
    for node, scion in scions.items():
        first = len(splits)
        splits += [
            None if split is None else (split[0], [(codes, first + child) for codes, child in split[1]])
            for split in scion.splits()
        ]
        splits[node] = splits[first]
    return Tree.grown(tree.domain, 0, splits.__getitem__)
