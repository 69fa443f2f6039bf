"""Method I: the tree whose prior says how many leaves a person wants to read."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.choose_search import TreeLearner
from sparsedensity.estimators.paths import held_rows
from sparsedensity.posterior import LeafSparse
from sparsedensity.search import NearOptimal


@dataclass(eq=False, repr=False)
class LeafSparseTree(DensityEstimator):
    """A density tree with about as many leaves as you would like to read (method I of the paper).

    Parameters
    ----------
    expected_leaves
        How many leaves you would like to read (lambda). With many rows the data outweigh it: see ``max_leaves``.
    pseudocount
        Added to every leaf (alpha), any number above 0.
    max_leaves
        The most leaves, a limit the search optimises under; ``None`` for no limit.
    search
        ``"exact"`` proves the best tree, ``"anneal"`` searches by simulated annealing and rebuilding, ``"greedy"``
        grows and prunes. ``"auto"`` proves if an estimate says seconds, else it anneals; ``search_`` says which.
    depth
        The best tree of at most so many levels, proven; feasible on wide tables too.
    iterations
        Proposals of each restart; by default as many as the size of the table calls for.
    restarts
        How many searches run side by side, by different recipes, before the best tree is polished.
    cooling
        How the temperature falls: ``"geometric"`` or ``"linear"``.
    time_limit
        Seconds after which the search stops with the best so far.
    warm_start_from
        A fitted tree, or the path of a saved one, to start from instead of the greedy tree (``"greedy"``); every
        second restart starts from the root.
    random_state
        The same number gives the same tree, whatever ``n_jobs`` is.
    n_jobs
        Threads; -1 for all cores.
    density, kinds, bins, domain, missing, unknown, progress
        As in :class:`GreedyTree`.

    Examples
    --------
    >>> from sparsedensity import LeafSparseTree, datasets
    >>> tree = LeafSparseTree(expected_leaves=8).fit(datasets.load("titanic"))
    >>> tree.n_leaves_, round(tree.log_posterior_, 2)
    (9, -4144.58)
    """

    title: ClassVar[str] = "Leaf-sparse density tree"
    unit = "leaves"

    expected_leaves: float = 8
    _: KW_ONLY
    pseudocount: float = 2
    max_leaves: int | None = 100
    search: Literal["auto", "anneal", "exact", "greedy"] = "auto"
    depth: int | None = None
    iterations: int | None = None
    restarts: int = 4
    cooling: Literal["geometric", "linear"] = "geometric"
    time_limit: float | None = None
    warm_start_from: Any = None
    random_state: Any = 0

    def learner(self) -> TreeLearner:
        """What is believed and how to search."""
        return TreeLearner.of(self, belief=LeafSparse(self.expected_leaves, self.pseudocount))

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearOptimal:
        """The trees whose log posterior is within some nats of the best: the set of good models.

        Trees with the same leaves are one. Works only if the best tree can be proven; beyond ``at_most`` the answer
        says that there are more.

        >>> from sparsedensity import LeafSparseTree, datasets
        >>> print(LeafSparseTree().fit(datasets.load("titanic")).near_optimal(within=3))
        5 within 3 nats of the optimum
        """
        return self.learner().near_optimal(held_rows(self), within, at_most)
