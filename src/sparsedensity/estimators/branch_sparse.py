"""Method II: the tree whose prior says how many branches a person wants at each split."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.choose_search import TreeLearner
from sparsedensity.estimators.paths import held_rows
from sparsedensity.posterior import BranchSparse
from sparsedensity.search import NearOptimal


@dataclass(eq=False, repr=False)
class BranchSparseTree(DensityEstimator):
    """A density tree with about as many branches at each split as you would like to read (method II of the paper).

    Parameters
    ----------
    expected_branches
        How many branches you would like at each split (lambda).
    pseudocount
        Added to every branch (alpha), any number above 0.
    feature_probability
        The chance that a column is used at all (gamma), between 0 and 1; ``None`` for no prior on that.
    max_leaves, search, depth, iterations, restarts, cooling, time_limit, warm_start_from, random_state, n_jobs
        As in :class:`LeafSparseTree`.
    density, kinds, bins, domain, missing, unknown, progress
        As in :class:`GreedyTree`.

    Examples
    --------
    >>> from sparsedensity import BranchSparseTree, datasets
    >>> tree = BranchSparseTree(expected_branches=2).fit(datasets.load("titanic"))
    >>> tree.n_leaves_
    9
    """

    title: ClassVar[str] = "Branch-sparse density tree"
    unit = "leaves"

    expected_branches: float = 2
    _: KW_ONLY
    pseudocount: float = 2
    feature_probability: float | None = None
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
        belief = BranchSparse(self.expected_branches, self.pseudocount, self.feature_probability)
        return TreeLearner.of(self, belief=belief)

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearOptimal:
        """The trees whose log posterior is within some nats of the best: the set of good models.

        Trees that differ in the order of children are one. Works only if the best tree can be proven; beyond
        ``at_most`` the answer says that there are more.
        """
        return self.learner().near_optimal(held_rows(self), within, at_most)
