"""Tables of one source, drawn again and again: p-values and intervals hold. `benchmarks null` measures at length."""

import numpy as np
import pytest

from benchmarks.null import LEAVES, SIZES, Alarm, hits, shares_of_alarms
from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, compare

REPETITIONS = 120
MOST = 0.05 + 4 * np.sqrt(0.05 * 0.95 / REPETITIONS)


@pytest.fixture(scope="module")
def seen():
    """P-values of pooled and honest comparisons, and whether honest and other intervals hold the truth."""
    p_values, held = [], []
    for seed in range(REPETITIONS):
        truth = random_tree(rows=200, sizes=SIZES, leaves=LEAVES, seed=seed)
        first, second = truth.codes[:100], truth.codes[100:]
        plain, honest = (GreedyTree(max_leaves=12, domain=truth.domain, honest=half) for half in (None, 0.5))
        pooled = compare(first, second, model=plain, permutations=199, random_state=seed)
        p_values.append((pooled.p_value, honest.fit(first).compare(second).p_value))
        held.append((hits(truth, honest), hits(truth, plain.fit(first))))
    return np.array(p_values), [np.concatenate(side) for side in zip(*held, strict=True)]


@pytest.mark.parametrize("way", [0, 1])
def test_equal_tables_are_rarely_called_different(seen, way):
    p_values = seen[0][:, way]
    assert np.mean(p_values <= 0.05) < MOST
    assert 0.35 < np.mean(p_values <= 0.5) < 0.65


def test_honest_intervals_hold_the_truth_and_others_do_not(seen):
    honest, plain = (np.mean(side) for side in seen[1])
    assert plain < 0.9
    assert honest >= 0.94


def test_the_table_counts_alarms_of_large_trees_apart():
    assert shares_of_alarms([Alarm(0.01, 2), Alarm(0.6, 5), Alarm(0.04, 5)]) == "0.667 | 0.500 | 4.0"
    assert shares_of_alarms([Alarm(1.0, 1)]) == "0.000 | none | 1.0"
