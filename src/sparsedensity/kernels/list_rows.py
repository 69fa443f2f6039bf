"""The rows that obey conditions: distinct rows as bits, 64 to a word."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare, kernel, record
from sparsedensity.kernels.bits import ones

ALIKE = record("begin end", "weight")
"""A run of words, and the weight of each of its rows."""


class RowBits(NamedTuple):
    """Distinct rows as bits."""

    obey: np.ndarray
    """(conditions, words) the rows that obey each condition."""
    everything: np.ndarray
    """(words) all rows."""
    weight: np.ndarray
    """(64 words) the weight of every row; 0 beyond the last."""
    alike: np.ndarray
    """The runs of words whose rows all weigh the same."""
    mixed: np.ndarray
    """The words whose rows differ in weight."""


@bare
def lowest(word):
    """The place of the lowest bit that is set."""
    return np.int64(ones((word & (~word + np.uint64(1))) - np.uint64(1)))


@bare
def copy_words(source, target):
    """Copy a set of rows."""
    for w in range(source.shape[0]):
        target[w] = source[w]


@bare
def count_common(bits, more):
    """How many bits two sets have in common."""
    count = np.int64(0)
    for w in range(bits.shape[0]):
        count += np.int64(ones(bits[w] & more[w]))
    return count


@bare
def weight_of_both(rows, bits, more):
    """The weight of the rows in two sets: by counting if rows weigh alike, one by one otherwise."""
    total = 0.0
    for r in range(rows.alike.shape[0]):
        run = rows.alike[r]
        total += run.weight * count_common(bits[run.begin : run.end], more[run.begin : run.end])
    for i in range(rows.mixed.shape[0]):
        w = rows.mixed[i]
        left = bits[w] & more[w]
        while left != 0:
            total += rows.weight[64 * w + lowest(left)]
            left &= left - np.uint64(1)
    return total


@bare
def weight_of(rows, bits):
    """The weight of a set of rows."""
    return weight_of_both(rows, bits, bits)


@bare
def take_rows(obey, before, rule, taken, after):
    """Divide rows into those a rule takes and those it leaves (into `after`, which may be `before`)."""
    first, last = obey[rule[0]], obey[rule[-1]]
    for w in range(before.shape[0]):
        here = before[w]
        both = here & first[w] & last[w]
        taken[w] = both
        after[w] = here & ~both
    for k in range(1, rule.shape[0] - 1):
        more = obey[rule[k]]
        for w in range(before.shape[0]):
            after[w] |= taken[w] & ~more[w]
            taken[w] &= more[w]


@bare
def weigh_antecedents(rows, antecedents, obey, out):
    """The weight of the rows that obey each of some antecedents of one size."""
    for i in range(antecedents.shape[0]):
        for w in range(obey.shape[0]):
            obey[w] = rows.obey[antecedents[i, 0], w]
            for k in range(1, antecedents.shape[1]):
                obey[w] &= rows.obey[antecedents[i, k], w]
        out[i] = weight_of(rows, obey)


@kernel
def supports(rows, antecedents, out):
    """Weigh some antecedents."""
    weigh_antecedents(rows, antecedents, np.empty_like(rows.everything), out)
