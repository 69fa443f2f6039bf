"""The greedy density tree: DET's search, made valid for categories."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Literal

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine
from sparsedensity.models.parameters import check_word
from sparsedensity.models.searched import SearchedModel
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem, check_amount, check_time
from sparsedensity.search import Budget, Found, Greedy, run
from sparsedensity.search.base import Watch


@dataclass(eq=False, repr=False)
class GreedyTree(SearchedModel):
    """A density tree grown top-down, best split first, then pruned.

    The baseline: fast, and usually good. The leaf-sparse and branch-sparse trees search for the best tree instead.

    Parameters
    ----------
    criterion
        ``"posterior"`` grows and prunes by the leaf-sparse log posterior; ``"ise"`` by the integrated squared error
        of density estimation trees (DET), pruned by its leave-one-out estimate.
    expected_leaves, pseudocount
        The prior (lambda and alpha) of the log posterior.
    min_leaf
        The least weight of a leaf that is not empty.
    max_leaf
        A leaf of at most this weight is not split; ``None`` splits whatever can be.
    max_leaves
        The most leaves; ``None`` for no limit.
    time_limit
        Seconds after which the search stops with the best tree so far.
    honest, random_state
        As in :class:`SearchedModel`.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.

    Examples
    --------
    >>> from sparsedensity import GreedyTree, datasets
    >>> tree = GreedyTree().fit(datasets.load("titanic"))
    >>> tree.n_leaves_
    9
    >>> round(tree.probability({"class": "3rd", "age": "child"}), 3)
    0.037
    """

    title: ClassVar[str] = "Greedy density tree"
    unit = "leaves"

    criterion: Literal["posterior", "ise"] = "posterior"
    _: KW_ONLY
    expected_leaves: float = 8
    pseudocount: float = 2
    min_leaf: float = 1
    max_leaf: float | None = None
    max_leaves: int | None = 100
    time_limit: float | None = None

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        super().check_parameters()
        check_word("criterion", self.criterion, ("posterior", "ise"))
        check_amount("min_leaf", self.min_leaf, "a weight of 0 or more")
        if self.max_leaf is not None:
            check_amount("max_leaf", self.max_leaf, "a weight of 0 or more, or None")
        check_time(self.time_limit)

    def posterior(self, domain: Domain) -> LeafSparse:
        """What is believed before any row is seen."""
        return LeafSparse(self.expected_leaves, self.pseudocount)

    def learn_beyond(self, engine: Engine, limit: int) -> Found | None:
        """The greedy tree under another limit."""
        return replace(self, max_leaves=limit).learn(engine, [])[1]

    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[LeafSparse, Found]:
        """Grow and prune until no step is left, or no time."""
        problem = Problem(engine, self.posterior(engine.domain), self.max_leaves)
        search, budget = Greedy(self.criterion, self.min_leaf, self.max_leaf), Budget(seconds=self.time_limit)
        return problem.posterior, run(search, problem, budget=budget, watch=watch)
