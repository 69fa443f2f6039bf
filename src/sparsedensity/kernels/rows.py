"""Rows of codes told apart by a hash table."""

import numpy as np

from sparsedensity.kernels import bare, kernel
from sparsedensity.kernels.slots import equal, slot_of


@bare
def hash_row(codes, row):
    """Mix the codes of one row into 64 bits (FNV-1a, then a finaliser that spreads the high bits)."""
    mixed = np.uint64(14695981039346656037)
    for feature in range(codes.shape[1]):
        mixed = (mixed ^ np.uint64(codes[row, feature])) * np.uint64(1099511628211)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


@bare
def same_row(codes, one, other):
    """Whether two rows are equal."""
    return equal(codes[one], codes[other])


@kernel
def group_rows(codes, slots, group):
    """Number the distinct rows in order of appearance; returns the first row of each."""
    first = np.empty(codes.shape[0], np.uint32)
    found = 0
    for row in range(codes.shape[0]):
        slot = slot_of(slots, hash_row(codes, row), same_row, codes, row)
        if slots[slot] == 0:
            slots[slot] = row + 1
            first[found] = row
            group[row] = found
            found += 1
        else:
            group[row] = group[slots[slot] - 1]
    return first[:found].copy()
