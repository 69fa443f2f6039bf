"""Open addressing: things by their numbers in an array of slots, found again by a hash.

A slot holds 0 if it is free, else 1 + the number of a thing. The number of slots is a power of two, and at most half of
them are taken.
"""

import numpy as np

from sparsedensity.kernels import bare


@bare
def equal(one, other):
    """Whether two arrays hold the same."""
    if one.shape[0] != other.shape[0]:
        return False
    for i in range(one.shape[0]):
        if one[i] != other[i]:
            return False
    return True


@bare
def slot_of(slots, code, same, things, sought):
    """The slot of what is sought, or the free one where it belongs; `same` says whether a thing by its number is it."""
    last = np.uint64(slots.size - 1)
    slot = np.uint64(code) & last
    while slots[slot] != 0 and not same(things, np.int64(slots[slot]) - 1, sought):
        slot = (slot + np.uint64(1)) & last
    return slot
