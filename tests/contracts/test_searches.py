"""The contract of every search: limits, budgets, Ctrl-C, seeds, and a reported score that is the plain one.

Whatever ``sparsedensity.search`` exports with ``init``, ``step`` and ``best`` is tested by itself, and so is a toy that
shows how little a search needs; once with rows in memory, and once with rows that an engine cannot bring home.
"""

import dataclasses
import inspect
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import sparsedensity.search
from reproduction.datasets.random_trees import random_tree
from sparsedensity import BranchSparseTree, GreedyTree, LeafSparseTree, SparseRuleList
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError
from sparsedensity.posterior import BranchSparse, LeafSparse, SparseRules, profile_leaf
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, run
from sparsedensity.search.base import Best
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.structures import RuleList, Tree
from sparsedensity.table import Table
from tests import naive, naive_profiles
from tests.far_rows import FarRows

MOST_LEAVES = 5
TRUTH = random_tree(rows=300, sizes=(3, 2, 4, 2), leaves=8, seed=1)
TABLE = Table.of(TRUTH.domain, TRUTH.codes)
ROWS = [(tuple(row), w) for row, w in zip(TABLE.codes.tolist(), TABLE.weights.tolist(), strict=True)]
PROFILE = profile_leaf(TABLE.domain, MemoryEngine(TABLE).value_weights(), 2, 0.5)
PLAIN_PROFILE = naive_profiles.model_of(TABLE.domain, ROWS, 2, 0.5)


@dataclass
class Blind:
    """The state of the toy: the tree it is at, and the best so far."""

    tree: Tree
    best: Tree
    log_posterior: float
    moves: int = 0
    finished: bool = False


@dataclass(frozen=True)
class BlindSplits:
    """A toy search: splits a drawn leaf in two at random, begins anew at the limit, and remembers the best tree."""

    trials: int = 200
    name: str = "blind"

    def init(self, problem, rng):
        """One leaf."""
        tree = Tree.leaf(problem.domain)
        return Blind(tree, tree, problem.score(tree))

    def step(self, problem, state, rng):
        """One split."""
        leaves = list(state.tree.leaves())
        leaf = leaves[rng.integers(len(leaves))]
        wide = [f for f, codes in enumerate(leaf.region.allowed) if len(codes) > 1 and not problem.domain[f].ordered]
        if not wide or len(leaves) >= problem.max_leaves:
            state.tree = Tree.leaf(problem.domain)
        else:
            feature = int(rng.choice(wide))
            codes = rng.permutation(sorted(leaf.region.allowed[feature])).tolist()
            cut = int(rng.integers(1, len(codes)))
            state.tree = state.tree.split(leaf.index, feature, [codes[:cut], codes[cut:]])
        if (score := problem.score(state.tree)) > state.log_posterior:
            state.best, state.log_posterior = state.tree, score
        state.moves += 1
        state.finished = state.moves >= self.trials
        return state

    def best(self, problem, state):
        """The best tree so far."""
        return Best(state.best)


def is_search(thing):
    return inspect.isclass(thing) and all(callable(getattr(thing, verb, None)) for verb in ("init", "step", "best"))


SHIPPED = [thing for name in sparsedensity.search.__all__ if is_search(thing := getattr(sparsedensity.search, name))]
SEARCHES = [search for search in SHIPPED if not getattr(search, "_is_protocol", False)] + [BlindSplits]
SHORT = {"iterations": 300, "restarts": 2}
TREES = {
    "leaf": LeafSparse(8, 2),
    "branch": BranchSparse(2, 2),
    "leaf-profile": LeafSparse(8, 2, leaf=PROFILE),
    "branch-profile": BranchSparse(2, 2, leaf=PROFILE),
}


def every_case(searches, where):
    """Every search with every posterior it can work for, where its rows are."""
    for search in searches:
        is_list = "antecedents" in inspect.signature(search).parameters
        for kind in ["list"] if is_list else TREES:
            yield pytest.param(search, kind + where, id=f"{search.__name__}-{kind}{where}")


FAR = " far"
PROOFS = [search for search in SEARCHES if search.__name__.startswith("Exact")]
FAR_CASES = list(every_case([search for search in SEARCHES if search not in PROOFS], FAR))
NEAR_CASES = list(every_case(SEARCHES, ""))
CASES = NEAR_CASES + FAR_CASES


def made(search, kind):
    """A search and its problem."""
    if kind.endswith(FAR):
        looked, problem = made(search, kind.removesuffix(FAR))
        return looked, dataclasses.replace(problem, engine=FarRows(problem.engine))
    fields = {field.name for field in dataclasses.fields(search)}
    settings = {name: value for name, value in SHORT.items() if name in fields}
    engine = MemoryEngine(TABLE)
    if kind == "list":
        antecedents = Antecedents(TABLE, 2, "value", 0)
        return search(antecedents, **settings), Problem(engine, SparseRules(antecedents.counts), MOST_LEAVES)
    return search(**settings), Problem(engine, TREES[kind], MOST_LEAVES)


def plain(problem, structure):
    """The score by the plain formulas."""
    if isinstance(structure, RuleList):
        counts = problem.posterior.antecedents
        return naive.rule_list(structure, ROWS, counts, 7.0, 1.0, 1.0)
    term = None if problem.posterior.even else partial(naive_profiles.leaf_term, PLAIN_PROFILE)
    if isinstance(problem.posterior, LeafSparse):
        return naive.leaf_sparse(structure, ROWS, 8, 2, term=term)
    return naive.branch_sparse(structure, ROWS, 2, 2, term=term)


def test_the_searches_that_are_shipped_are_found():
    assert {"Greedy", "Anneal", "Exact", "AnnealLists", "ExactLists"} <= {search.__name__ for search in SEARCHES}


@pytest.mark.parametrize(("search", "kind"), CASES)
def test_it_keeps_the_limit_and_reports_the_plain_score(search, kind):
    found = run(*made(search, kind), budget=Budget(moves=2000), rng=np.random.default_rng(0))
    assert found.structure.n_leaves <= MOST_LEAVES
    problem = made(search, kind)[1]
    assert found.log_posterior == pytest.approx(plain(problem, found.structure), rel=1e-9)
    assert found.upper_bound is None or found.upper_bound >= found.log_posterior
    for structure in found.archive.values():
        assert structure.n_leaves <= MOST_LEAVES


@pytest.mark.parametrize(("search", "kind"), CASES)
def test_a_time_limit_of_nothing_still_gives_a_whole_structure(search, kind):
    found = run(*made(search, kind), budget=Budget(seconds=0.0))
    assert found.reason in ("time limit", "finished")
    assert found.log_posterior == pytest.approx(made(search, kind)[1].score(found.structure))


@pytest.mark.parametrize(("search", "kind"), CASES)
def test_ctrl_c_hands_back_the_best_so_far(search, kind):
    def interrupt(state, seconds):
        raise KeyboardInterrupt

    found = run(*made(search, kind), watch=[interrupt])
    assert found.reason in ("interrupted", "finished")
    assert found.log_posterior == pytest.approx(made(search, kind)[1].score(found.structure))


@pytest.mark.parametrize(("search", "kind"), CASES)
def test_a_seed_decides_what_is_found(search, kind):
    first, second = (
        run(*made(search, kind), budget=Budget(moves=2000), rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert first.log_posterior == second.log_posterior
    assert (first.structure.leaf_numbers(TABLE.codes) == second.structure.leaf_numbers(TABLE.codes)).all()


@pytest.mark.parametrize(("search", "kind"), NEAR_CASES)  # far rows are counted last, and what a sample says may fall
def test_what_it_reports_while_it_looks_never_falls(search, kind):
    seen: list[float] = []
    run(*made(search, kind), budget=Budget(moves=2000), watch=[lambda state, _: seen.append(state.log_posterior)])
    assert seen == sorted(seen)


@pytest.mark.parametrize(("search", "kind"), list(every_case(PROOFS, FAR)))
def test_a_proof_says_that_it_needs_all_rows(search, kind):
    with pytest.raises(DataError, match="needs all distinct rows in memory"):
        run(*made(search, kind))


MODELS = [LeafSparseTree, BranchSparseTree, partial(LeafSparseTree, leaf="profile"), SparseRuleList, GreedyTree]
SETTINGS = {"iterations": 300, "restarts": 2, "max_leaves": MOST_LEAVES, "max_rules": 3, "min_support": 10}


def model_of(kind, search):
    """An estimator with a short search."""
    settings = {**SETTINGS, "search": search}
    known = getattr(kind, "func", kind)().get_params()
    return kind(**{name: value for name, value in settings.items() if name in known})


@pytest.mark.filterwarnings("ignore:The chains do not agree")
@pytest.mark.parametrize("kind", MODELS, ids=["leaf", "branch", "profile", "list", "greedy"])
def test_an_estimator_learns_from_far_rows_by_default(kind):
    engine = FarRows(MemoryEngine(TABLE))
    posterior, found = model_of(kind, "auto").learn(engine, [])
    assert found.log_posterior == pytest.approx(Problem(MemoryEngine(TABLE), posterior).score(found.structure))
    assert not found.proven
    assert found.upper_bound is None
    assert found.sampled > 0
    assert model_of(kind, "auto").learn(MemoryEngine(TABLE), [])[1].sampled is None


@pytest.mark.parametrize("limit", [None, 5.0])
@pytest.mark.parametrize("kind", MODELS[:4], ids=["leaf", "branch", "profile", "list"])
def test_an_estimator_that_is_told_to_prove_says_that_it_needs_all_rows(kind, limit):
    model = model_of(kind, "exact")
    model.time_limit = limit
    with pytest.raises(DataError, match="needs all distinct rows in memory"):
        model.learn(FarRows(MemoryEngine(TABLE)), [])
