"""Whole numbers to codes by look-up tables, row after row."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel

UNKNOWN = -1


class LookUp(NamedTuple):
    """For every column: its lowest number, where its table begins, and whether to clamp; then all tables in one."""

    low: np.ndarray
    start: np.ndarray
    clamp: np.ndarray
    code: np.ndarray


@kernel
def encode_integers(numbers, look_up, used, codes, outside, unknown):
    """Fill in the code of every number; an unknown one is coded 0, and marks its row as outside in a column in use.

    `unknown` is filled in with how many each column has, and the row of the first.
    """
    for row in range(numbers.shape[0]):
        for column in range(numbers.shape[1]):
            begin, end = look_up.start[column], look_up.start[column + 1]
            number, low = np.int64(numbers[row, column]), look_up.low[column]
            code = UNKNOWN
            if number >= low and number < low + (end - begin):
                code = look_up.code[begin + number - low]
            elif look_up.clamp[column]:
                code = look_up.code[begin] if number < low else look_up.code[end - 1]
            if code == UNKNOWN:
                outside[row] |= used[column]
                code = 0
                if unknown[column, 0] == 0:
                    unknown[column, 1] = row
                unknown[column, 0] += 1
            codes[row, column] = code


@kernel
def integer_ranges(numbers, keep, low, high):
    """The lowest and the highest number of every column among the rows to keep."""
    for row in range(numbers.shape[0]):
        if keep[row]:
            for column in range(numbers.shape[1]):
                number = np.int64(numbers[row, column])
                low[column] = min(low[column], number)
                high[column] = max(high[column], number)


@kernel
def mark_present(numbers, keep, low, start, present):
    """Mark which numbers occur, in one table per column."""
    for row in range(numbers.shape[0]):
        if keep[row]:
            for column in range(numbers.shape[1]):
                present[start[column] + np.int64(numbers[row, column]) - low[column]] = True


@kernel
def encode_column(numbers, low, table, clamp, codes):
    """Fill in the code of every number of one column; -1 for a number that the table does not have."""
    last = table.shape[0] - 1
    for row in range(numbers.shape[0]):
        place = np.int64(numbers[row]) - low
        if clamp:
            place = min(max(place, 0), last)
        codes[row] = table[place] if place >= 0 and place <= last else UNKNOWN


@kernel
def mark_numbers(numbers, low, present):
    """Mark which numbers occur in one column."""
    for row in range(numbers.shape[0]):
        present[np.int64(numbers[row]) - low] = True
