"""How it is usually done: an annealer in plain Python whose every proposal counts its rows again.

The stand-in for the authors' program: the same moves on the same objective, straight from the paper.
"""

import math
import random
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Node:
    """A region as sets of allowed codes, the rows in it, and the nodes below."""

    allowed: list[list[int]]
    rows: NDArray[np.int64]
    children: list["Node"] = field(default_factory=list)
    feature: int = -1

    def leaves(self) -> list["Node"]:
        return [self] if not self.children else [leaf for child in self.children for leaf in child.leaves()]

    def inner(self) -> list["Node"]:
        return [self, *(node for child in self.children for node in child.inner())] if self.children else []


class PlainAnnealer:
    """The paper's moves: shrink, expand, regroup, merge siblings, structural change."""

    def __init__(self, codes: NDArray[np.integer], sizes: list[int], lam: float = 8.0, a: float = 2.0, seed: int = 0):
        self.codes, self.lam, self.a, self.random = codes, lam, a, random.Random(seed)
        self.root = Node([list(range(size)) for size in sizes], np.arange(len(codes)))
        self.score = self.log_posterior()
        self.scored = 0

    def log_posterior(self) -> float:
        leaves, n, a = self.root.leaves(), len(self.codes), self.a
        k = len(leaves)
        head = -self.lam + k * math.log(self.lam) - math.lgamma(k + 1) + math.lgamma(k * a) - math.lgamma(n + k * a)
        return head + sum(
            math.lgamma(len(leaf.rows) + a)
            - math.lgamma(a)
            - len(leaf.rows) * sum(math.log(len(codes)) for codes in leaf.allowed)
            for leaf in leaves
        )

    def run(self, seconds: float, hot: float = 50.0) -> float:
        """Anneal for some seconds; how many proposals were scored in each."""
        begin = time.perf_counter()
        while (spent := time.perf_counter() - begin) < seconds:
            self.propose(hot * (0.01 / hot) ** (spent / seconds))
        return self.scored / seconds

    def propose(self, temperature: float) -> None:
        inner = self.root.inner()
        draw = self.random.random()
        if draw < 0.5 or not inner:
            node = self.random.choice(self.root.leaves())
            undo = self.expand(node)
        elif draw < 0.75:
            node = self.random.choice([node for node in inner if all(not c.children for c in node.children)])
            undo = self.replace(node, [], -1)
        else:
            node = self.random.choice(inner)
            undo = self.expand(node)
        if undo is None:
            return
        score = self.log_posterior()
        self.scored += 1
        if score >= self.score or self.random.random() < math.exp((score - self.score) / temperature):
            self.score = score
        else:
            node.children, node.feature = undo

    def expand(self, node: Node) -> tuple[list[Node], int] | None:
        """Split a node on a random feature into two random groups, counting its rows."""
        feature = self.random.randrange(len(node.allowed))
        codes = node.allowed[feature][:]
        if len(codes) < 2:
            return None
        self.random.shuffle(codes)
        cut = self.random.randrange(1, len(codes))
        return self.replace(node, [self.part(node, feature, group) for group in (codes[:cut], codes[cut:])], feature)

    def part(self, node: Node, feature: int, group: list[int]) -> Node:
        allowed = [group if f == feature else own for f, own in enumerate(node.allowed)]
        return Node(allowed, node.rows[np.isin(self.codes[node.rows, feature], group)])

    def replace(self, node: Node, children: list[Node], feature: int) -> tuple[list[Node], int]:
        old = node.children, node.feature
        node.children, node.feature = children, feature
        return old
