"""Rows of codes as keys: an open-addressing hash table whose entries are row numbers."""

import numpy as np

from sparsedensity.kernels import inner, kernel

FREE = 0xFFFFFFFF
"""Marks a slot that holds no row; row numbers take 32 bits."""


@inner
def hash_row(codes, row):
    """Mix the codes of one row into 64 bits (FNV-1a, then a finaliser that spreads the high bits)."""
    mixed = np.uint64(14695981039346656037)
    for feature in range(codes.shape[1]):
        mixed = (mixed ^ np.uint64(codes[row, feature])) * np.uint64(1099511628211)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


@inner
def same_row(left, i, right, j):
    """Whether row i of one table equals row j of another."""
    for feature in range(left.shape[1]):
        if left[i, feature] != right[j, feature]:
            return False
    return True


@inner
def slot_of(slots, stored, codes, row):
    """The slot that holds this row, or the free slot where it belongs."""
    last = np.uint64(slots.shape[0] - 1)
    slot = hash_row(codes, row) & last
    while slots[slot] != FREE and not same_row(stored, slots[slot], codes, row):
        slot = (slot + np.uint64(1)) & last
    return slot


@kernel
def group_rows(codes, slots, group):
    """Number the distinct rows in order of appearance; returns how many, and the first row of each."""
    first = np.empty(codes.shape[0], np.uint32)
    found = 0
    for row in range(codes.shape[0]):
        slot = slot_of(slots, codes, codes, row)
        if slots[slot] == FREE:
            slots[slot] = row
            first[found] = row
            group[row] = found
            found += 1
        else:
            group[row] = group[slots[slot]]
    return first[:found].copy()


@kernel
def index_rows(codes, slots):
    """Fill a hash table with rows known to be distinct."""
    for row in range(codes.shape[0]):
        slots[slot_of(slots, codes, codes, row)] = row


@kernel
def find_rows(slots, stored, codes, found):
    """For every row, the number of the equal stored row, or -1."""
    for row in range(codes.shape[0]):
        place = slots[slot_of(slots, stored, codes, row)]
        found[row] = -1 if place == FREE else np.int64(place)
