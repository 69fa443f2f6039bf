"""Laws of the last stage of annealing: small subtrees are the best there are, given all other leaves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.posterior.profiles import profile_leaf
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Exact, run
from sparsedensity.search.trees import subtrees
from sparsedensity.search.trees.subtrees import can_prove, grafted, part_of, renamed, small_nodes, with_best_subtrees
from tests import naive
from tests.naive_search import best_branch_sparse, best_leaf_sparse
from tests.strategies import data_in, domains, positive, table_of, trees

limits = st.none() | st.integers(1, 12)
few_regions = st.sampled_from([1, 20, 200, 30_000])
posteriors = st.builds(LeafSparse, positive, positive) | st.builds(BranchSparse, positive, positive)


def always():
    return True


def never():
    return False


def naive_score(tree, rows, posterior):
    if isinstance(posterior, LeafSparse):
        return naive.leaf_sparse(tree, rows, posterior.expected_leaves, posterior.pseudocount)
    return naive.branch_sparse(tree, rows, posterior.expected_branches, posterior.pseudocount, None)


@settings(max_examples=60)
@given(domains(), st.data(), posteriors, limits, few_regions, few_regions)
def test_a_tree_with_the_best_subtrees_is_no_worse_and_keeps_the_limit(domain, data, posterior, most, few, more):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    problem = Problem(MemoryEngine(table_of(domain, rows)), posterior, most and max(most, tree.n_leaves))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subtrees, "FEW_REGIONS", few)
        patch.setattr(subtrees, "MOST_REGIONS", more)
        found = with_best_subtrees(problem, tree, always)
    before = naive_score(tree, rows, posterior)
    assert naive_score(found, rows, posterior) >= before - 1e-9 * abs(before)
    assert problem.max_leaves is None or found.n_leaves <= problem.max_leaves


@settings(max_examples=40)
@given(domains(), st.data(), posteriors)
def test_if_the_whole_domain_has_few_regions_the_tree_is_the_optimum(domain, data, posterior):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    found = with_best_subtrees(Problem(MemoryEngine(table_of(domain, rows)), posterior), tree, always)
    best = (
        best_leaf_sparse(domain, rows, posterior.expected_leaves, posterior.pseudocount)
        if isinstance(posterior, LeafSparse)
        else best_branch_sparse(domain, rows, posterior.expected_branches, posterior.pseudocount)
    )
    assert naive_score(found, rows, posterior) == pytest.approx(best, rel=1e-8, abs=1e-6)


@settings(max_examples=40)
@given(domains(), st.data(), posteriors)
def test_no_other_subtree_at_a_small_node_is_better(domain, data, posterior):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    with pytest.MonkeyPatch.context() as patch:
        for limit, value in (("FEW_REGIONS", 40), ("MOST_REGIONS", 40), ("MOST_SWEEPS", 50)):
            patch.setattr(subtrees, limit, value)
        found = with_best_subtrees(Problem(MemoryEngine(table_of(domain, rows)), posterior), tree, always)
        nodes = [node for node, _ in small_nodes(found) if any(is_in(row, node.region) for row, _ in rows)]
    if nodes:
        node = data.draw(st.sampled_from(nodes))
        scion = data.draw(trees(part_of(domain, node.region)))
        other = grafted(found, {node.index: renamed(scion, domain, list(map(sorted, node.region.allowed)))})
        best = naive_score(found, rows, posterior)
        assert naive_score(other, rows, posterior) <= best + 1e-8 * max(1, abs(best))


def is_in(row, region):
    return all(code in codes for code, codes in zip(row, region.allowed, strict=True))


@given(domains(), st.data(), posteriors)
def test_without_time_a_tree_stays_as_it_is(domain, data, posterior):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    assert with_best_subtrees(Problem(MemoryEngine(table_of(domain, rows)), posterior), tree, never) is tree


@settings(max_examples=25)
@given(domains(), st.data(), posteriors, limits)
def test_annealing_of_a_few_moves_ends_at_the_optimum_of_few_regions(domain, data, posterior, most):
    rows = data.draw(data_in(domain))
    problem = Problem(MemoryEngine(table_of(domain, rows)), posterior, most)
    proven = run(Exact(), problem)
    found = run(Anneal(restarts=1, iterations=1), problem)
    assert found.log_posterior == pytest.approx(proven.log_posterior, rel=1e-8, abs=1e-6)
    assert found.scores[found.structure.n_leaves] == pytest.approx(found.log_posterior, rel=1e-8, abs=1e-6)
    assert found.trace[-1][1] == pytest.approx(found.log_posterior, rel=1e-7, abs=1e-5)


def test_a_prior_on_features_and_leaves_with_profiles_are_left_alone():
    domain = Domain((Feature.nominal("class", ("1st", "2nd", "crew")), Feature.nominal("sex", ("f", "m"))))
    engine = MemoryEngine(table_of(domain, [((0, 1), 1.0)]))
    profile = profile_leaf(domain, engine.value_weights(), 2.0, 0.5)
    left_alone = BranchSparse(2.0, 2.0, 0.5), LeafSparse(leaf=profile), BranchSparse(leaf=profile)
    assert not any(can_prove(Problem(engine, posterior)) for posterior in left_alone)
    assert all(can_prove(Problem(engine, posterior)) for posterior in (LeafSparse(), BranchSparse()))
