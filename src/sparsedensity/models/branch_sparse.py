"""Method II: the tree whose prior says how many branches a person wants at each split."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from sparsedensity.models.sparse_tree import SparseTree
from sparsedensity.posterior import BranchSparse


@dataclass(eq=False, repr=False)
class BranchSparseTree(SparseTree):
    """A density tree with about as many branches at each split as you would like to read (method II of the paper).

    Parameters
    ----------
    expected_branches
        How many branches you would like at each split (lambda).
    feature_probability
        The chance that a column is used at all (gamma), between 0 and 1; ``None`` for no prior on that.
    pseudocount, leaf, profile_pseudocount, profile_probability, prior, max_leaves, search, depth, iterations, \
restarts, cooling, time_limit, warm_start_from
        As in :class:`SparseTree`.
    honest, random_state
        As in :class:`SearchedModel`.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.

    Examples
    --------
    >>> from sparsedensity import BranchSparseTree, datasets
    >>> tree = BranchSparseTree(expected_branches=2).fit(datasets.load("titanic"))
    >>> tree.n_leaves_
    9
    """

    title: ClassVar[str] = "Branch-sparse density tree"

    expected_branches: float = 2
    _: KW_ONLY
    feature_probability: float | None = None

    def belief(self) -> BranchSparse:
        """What is believed, on any domain, if the choice among splits is free."""
        return BranchSparse(self.expected_branches, self.pseudocount, self.feature_probability)
