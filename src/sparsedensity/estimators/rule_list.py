"""The sparse density rule list, method III of the paper."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from sklearn.utils.validation import check_is_fitted

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.choose_list_search import ListLearner
from sparsedensity.estimators.paths import held_rows
from sparsedensity.search import NearOptimalLists


@dataclass(eq=False, repr=False)
class SparseRuleList(DensityEstimator):
    """A list of rules: if this then one density, else if that then another, else the last.

    Shorter to read than a tree. If a proof takes seconds, the list is the best there is; if not, several Markov chains
    run side by side, and :attr:`search_` says how well they agree (``r_hat``, near 1 when they do).

    Parameters
    ----------
    expected_rules
        How many rules you would like to read (lambda). With many rows the data outweigh it: see ``max_rules``.
    expected_conditions
        How many conditions a rule should have (eta).
    max_conditions
        The most conditions of a rule.
    pseudocount
        Added to every leaf (alpha).
    min_support
        The least weight of the rows that obey a rule, wherever it stands: a weight, or a share below 1.
    max_rules
        The most rules, a hard limit; ``None`` for no limit.
    ordinal_conditions
        On ordered features a condition is one value (``"value"``) or any run of values (``"interval"``).
    search
        ``"anneal"`` runs several chains; ``"exact"`` runs them and then proves the best list, or with a ``time_limit``
        bounds how much better one could be; ``"auto"`` tries a proof for a moment and runs the chains if that fails.
    iterations
        The most proposals of each chain; chains that agree stop earlier.
    restarts
        The number of chains.
    r_hat
        The Gelman-Rubin statistic of the log posterior below which the chains agree.
    time_limit
        Seconds after which the search stops with the best list so far.
    warm_start_from
        A fitted tree or rule list, or the path of a saved one, from which the first chain starts.
    random_state
        A seed: the same seed finds the same list, whatever the number of jobs.
    n_jobs
        Threads for chains and scoring; -1 for all cores.
    density, kinds, bins, domain, missing, unknown, progress
        As in :class:`GreedyTree`.

    Examples
    --------
    >>> from sparsedensity import SparseRuleList, datasets
    >>> rules = SparseRuleList(max_rules=2).fit(datasets.load("titanic"))
    >>> rules.n_rules_
    2
    >>> [str(leaf) for leaf in rules.leaves_]
    ['age is child', 'class is crew and sex is male', 'everything else']
    """

    title: ClassVar[str] = "Sparse density rule list"
    unit = "rules"
    from_rows = ("antecedents",)

    expected_rules: float = 7
    _: KW_ONLY
    expected_conditions: float = 1
    max_conditions: int = 2
    pseudocount: float = 1
    min_support: float = 0
    max_rules: int | None = None
    ordinal_conditions: Literal["value", "interval"] = "value"
    search: Literal["auto", "anneal", "exact"] = "auto"
    iterations: int = 50_000
    restarts: int = 4
    r_hat: float = 1.05
    time_limit: float | None = None
    warm_start_from: Any = None
    random_state: Any = 0

    @property
    def n_rules_(self) -> int:
        """The number of rules; the else is not one."""
        return int(self.structure_.n_rules)

    @property
    def antecedents_(self) -> tuple[int, ...]:
        """How many antecedents of 1, 2, .. conditions the rules could choose from."""
        check_is_fitted(self)
        counts: tuple[int, ...] = self.posterior_.antecedents  # type: ignore[attr-defined]
        return counts

    def learner(self) -> ListLearner:
        """What is believed and how to search."""
        return ListLearner.of(self)

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearOptimalLists:
        """The lists whose log posterior is within some nats of the best: the set of good models.

        Lists whose rules take the same parts of the domain, with as many conditions, are one. Works only if the best
        list can be proven; beyond ``at_most`` the answer says that there are more.

        >>> from sparsedensity import SparseRuleList, datasets
        >>> print(SparseRuleList(max_conditions=1).fit(datasets.load("titanic")).near_optimal(within=3))
        3 within 3 nats of the optimum
        """
        return self.learner().near_optimal(held_rows(self), within, at_most)
