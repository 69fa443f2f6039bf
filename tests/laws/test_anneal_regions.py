"""Laws of the regions that annealing remembers: their rows, their counts, and what splitting them gains at most."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search.trees.anneal_chain import AnnealChain
from sparsedensity.search.trees.looks import rows_in
from tests.strategies import data_in, domains, positive, real_weights, table_of


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive, st.sampled_from([LeafSparse, BranchSparse]), st.integers(0, 99))
def test_a_region_has_its_rows_and_counts_and_no_split_gains_more_than_its_weight_allows(
    domain, data, lam, a, posterior, seed
):
    table = table_of(domain, data.draw(data_in(domain, real_weights))).on_grid()
    chain = AnnealChain(Problem(MemoryEngine(table), posterior(lam, a)), table, np.random.default_rng(seed))
    chain.proposals = 60
    while not chain.done:
        chain.block(0.0)
    memory = chain.memory
    for number in range(int(memory.used["regions"][0])):
        region, allowed = memory.regions[number], memory.allowed[number] > 0
        inside = rows_in(table, allowed.astype(np.uint8))
        if region["length"] >= 0:
            listed = memory.rows[region["begin"] : region["begin"] + region["length"]]
            assert sorted(listed.tolist()) == inside.tolist()
        if region["slot"] >= 0:
            counts = MemoryEngine(type(table)(domain, table.codes[inside], table.weights[inside])).value_weights()
            assert memory.counts[region["slot"], : len(counts)] == pytest.approx(counts, rel=1e-12, abs=1e-9)
        most = most_gain(domain, allowed, table.weights[inside].sum(), memory.belief.most_added)
        if region["best"] >= 0:
            assert region["best_gain"] <= most + 1e-9 * (1 + abs(most))
        elif number > 0:
            assert region["best_gain"] == pytest.approx(most, rel=1e-9, abs=1e-9)


def most_gain(domain, allowed, weight, most_added):
    """The gain if all rows were in the value of least measure of some feature, of which the others then were empty."""
    sides = [domain.measures[span][allowed[span]] for span in map(domain.span, range(len(domain)))]
    return most_added + weight * math.log(max(side.sum() / side.min() for side in sides))
