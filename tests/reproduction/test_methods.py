"""The paper's methods with its grids, and its way to make numbers of categories."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reproduction.methods import LEAF_SIZES, paper_methods
from reproduction.sampled_det import SampledMlpackTree
from sparsedensity import Domain, Feature, datasets
from sparsedensity.evaluation import CrossValidation, Method, MlpackTree, evaluate, reference_methods
from tests.strategies import domains, rows_of


def test_the_papers_methods_have_the_papers_grids():
    methods = paper_methods() | {"mlpack's DET": Method(MlpackTree(), LEAF_SIZES)} | reference_methods()
    sizes = {name: len(method.choices(1761)) for name, method in methods.items()}
    assert list(sizes.values()) == [3, 2, 6, 18, 1, 18, 1, 1]
    assert {choice["max_leaf"] for choice in methods["DET for categories"].choices(1761)} == {5, 10, 50, 100, 176, 352}
    assert methods["Leaf-sparse tree"].estimator.pseudocount == 2
    assert methods["Rule list"].estimator.pseudocount == 1


def test_the_papers_methods_can_be_evaluated():
    table = datasets.load("simulated").sample(200, seed=0, shuffle=True)
    done = evaluate(table, paper_methods(list_iterations=500) | reference_methods(), CrossValidation(2, inner=2))
    assert len(done.folds) == 14
    best = {summary.method: summary.per_row for summary in done.summaries()}
    assert best["Leaf-sparse tree"] > best["Independent columns"]


@given(st.data(), st.integers(0, 5))
def test_sampled_numbers_lie_in_the_interval_of_their_value(data, seed):
    domain = data.draw(domains(most_features=2))
    rows = data.draw(st.lists(rows_of(domain), min_size=2, max_size=30))
    codes = np.array(rows, domain.code_type)
    numbers, _ = SampledMlpackTree().as_numbers(codes, domain, np.random.default_rng(seed))
    for column, feature in enumerate(domain):
        shares = [sum(row[column] == code for row in rows) / len(rows) for code in range(feature.size)]
        order = sorted(range(feature.size), key=lambda code: 0 if feature.ordered else -shares[code])
        ends = dict(zip(order, np.cumsum([shares[code] for code in order]), strict=True))
        for row, number in zip(rows, numbers[:, column], strict=True):
            high = ends[row[column]]
            assert high - shares[row[column]] - 1e-9 <= number <= high + 1e-9


def test_a_threshold_within_an_interval_sends_the_value_where_its_middle_lies():
    domain = Domain((Feature.nominal("c", ("a", "b", "c")),))
    codes = np.array([[1]] * 6 + [[0]] * 3 + [[2]], np.uint8)  # intervals: b 0-.6, a .6-.9, c .9-1
    _, cut_of = SampledMlpackTree().as_numbers(codes, domain, np.random.default_rng(0))
    assert cut_of(0, 0.29) == (0, frozenset())
    assert cut_of(0, 0.31) == (0, frozenset({1}))
    assert cut_of(0, 0.8) == (0, frozenset({0, 1}))
