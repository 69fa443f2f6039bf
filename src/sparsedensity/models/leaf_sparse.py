"""Method I: the tree whose prior says how many leaves a person wants to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparsedensity.models.sparse_tree import SparseTree
from sparsedensity.posterior import LeafSparse


@dataclass(eq=False, repr=False)
class LeafSparseTree(SparseTree):
    """A density tree with about as many leaves as you would like to read (method I of the paper).

    Parameters
    ----------
    expected_leaves
        How many leaves you would like to read (lambda). With many rows the data outweigh it: see ``max_leaves``.
    leaf
        ``"uniform"``: all records of a leaf are alike. ``"profile"``, for wide tables: a leaf is a kind of record, and
        its ``traits`` say which columns differ there from the whole table, and how.
    pseudocount, profile_pseudocount, profile_probability, prior, max_leaves, search, depth, iterations, restarts, \
cooling, time_limit, warm_start_from
        As in :class:`SparseTree`.
    honest, random_state
        As in :class:`SearchedModel`.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.

    Examples
    --------
    >>> from sparsedensity import LeafSparseTree, datasets
    >>> tree = LeafSparseTree(expected_leaves=8).fit(datasets.load("titanic"))
    >>> tree.n_leaves_, round(tree.log_posterior_, 2)
    (9, -4144.58)
    >>> kinds = LeafSparseTree(leaf="profile").fit(datasets.load("titanic"))
    >>> [leaf.name for leaf in kinds.leaves_]
    ['female, adult', 'not crew, male', 'child', 'crew']
    """

    title: ClassVar[str] = "Leaf-sparse density tree"

    expected_leaves: float = 8

    def belief(self) -> LeafSparse:
        """What is believed, on any domain, if the choice among splits is free."""
        return LeafSparse(self.expected_leaves, self.pseudocount)
