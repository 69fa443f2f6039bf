"""The rows of a region as bits, 64 to a word: how much of what has one value has another is counted by words.

A row stands in a line of bits for every power of two in its weight, so that counts of bits are weights: most rows weigh
one unit, and stand in one line. A word is read for all values side by side.
"""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import ZERO, bare
from sparsedensity.kernels.bits import ones
from sparsedensity.kernels.filling import fill

LINES = 63
"""More powers of two than a weight can have."""
NOBODY = np.int64(-1)


class Uncommon(NamedTuple):
    """Rows by their values, but for the commonest value of each feature, which most rows have."""

    first: np.ndarray
    """Where the values of each row begin; one more at the end. Places without a sign are found faster."""
    places: np.ndarray
    """The places of these values among all values."""
    commonest: np.ndarray
    """The place of the commonest value of each feature."""


class Rows(NamedTuple):
    """The rows of a region."""

    columns: np.ndarray
    """The codes of the table, one feature after the other."""
    units: np.ndarray
    """The weight of every row of the table, in units,"""
    unit: float
    """and the weight of a unit."""
    uncommon: Uncommon
    which: np.ndarray
    """The places of the region's rows."""
    name: int
    """What tells the region from others that are divided at the same desk, or ``NOBODY``."""


class Bits(NamedTuple):
    """Room to write rows as bits."""

    words: np.ndarray
    """(words, values) 64 rows each: which of them have the value."""
    chosen: np.ndarray
    """(words) which of them are counted."""
    ends: np.ndarray
    """Where the words of each line end."""
    counted: np.ndarray
    """(values) how many of the rows that are counted have the value."""
    holder: np.ndarray
    """The name of the region all rows of which are written, or ``NOBODY``;"""
    asked: np.ndarray
    """and that of the region that somebody asked for last."""


@bare
def add_commonest(commonest, features, counts, weight):
    """Let the commonest value of every feature have what the others leave of a weight."""
    for f in range(features.size):
        others = 0.0
        for value in range(features[f].start, features[f].stop):
            others += counts[value]
        counts[commonest[f]] = weight - others


@bare
def write_rows(bits, rows, line, at):
    """Write rows as bits from a place in a line on, while there is room: where to go on; line ``LINES`` after the last.

    Chosen are all of them.
    """
    words, uncommon, w, units = bits.words, rows.uncommon, np.int64(0), np.int64(0)
    bits.holder[0] = rows.name if line + at == 0 else NOBODY
    for i in range(rows.which.size):
        units |= rows.units[rows.which[i]]
    fill(bits.ends, ZERO, ZERO)
    while line < LINES:
        bit = np.uint64(0)
        for i in range(at, rows.which.size):
            row = rows.which[i]
            if (rows.units[row] >> line) & 1 == 0:
                continue
            if bit == 0:
                if w == words.shape[0]:
                    break
                fill(words[w], ZERO, np.uint64(0))
                bits.chosen[w] = 0
                bit = np.uint64(1)
                w += 1
            bits.chosen[w - 1] |= bit
            for j in range(uncommon.first[row], uncommon.first[row + np.uint64(1)]):
                words[w - 1, uncommon.places[j]] |= bit
            bit <<= np.uint64(1)
            at = i + 1
        fill(bits.ends, line, w)
        if at < rows.which.size and w == words.shape[0]:
            bits.holder[0] = NOBODY
            break
        line, at = line + 1, 0
        if units >> line == 0:
            line = LINES
    return line, at


@bare
def write_commonest(bits, commonest, features):
    """Let the commonest value of every feature have the rows that no other value has."""
    for w in range(bits.ends[LINES]):
        for f in range(features.size):
            others = np.uint64(0)
            for value in range(features[f].start, features[f].stop):
                others |= bits.words[w, value]
            bits.words[w, commonest[f]] = bits.chosen[w] & ~others


@bare
def choose(bits, cells, allowed, feature, atom):
    """Choose the rows with the values of an atom."""
    for w in range(bits.ends[LINES]):
        chosen = np.uint64(0)
        for value in range(feature.start, feature.stop):
            if allowed[value] > 0 and cells[value].atom == atom:
                chosen |= bits.words[w, value]
        bits.chosen[w] = chosen


@bare
def add_chosen(bits, unit, out):
    """Add what the chosen rows weigh at every value."""
    begin = np.int64(0)
    for line in range(LINES):
        if begin == bits.ends[LINES]:
            return
        count_bits(bits.words[begin : bits.ends[line]], bits.chosen[begin : bits.ends[line]], bits.counted)
        for value in range(out.size):
            out[value] += unit * bits.counted[value]
        begin, unit = bits.ends[line], 2.0 * unit


@bare
def count_bits(words, chosen, counted):
    """Count the chosen bits of every value."""
    fill(counted, ZERO, ZERO)
    for w in range(words.shape[0]):
        for value in range(counted.size):
            counted[value] += np.int64(ones(words[w, value] & chosen[w]))
