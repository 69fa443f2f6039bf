"""Connect-4: every position after eight discs that is still open.

UCI's set holds all 67,557 positions of eight discs, reached by legal play, in which nobody has won and neither player
could win with the next disc; of a position and its mirror image only one. It is small enough to be made: positions are
pairs of 64-bit boards, grown disc by disc, all of them at once.

A board has seven bits a column, the lowest square first; the seventh stays empty, so that a shift never runs from one
column into the next.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Boards = NDArray[np.uint64]

COLUMNS = 7
SQUARES = 6
DISCS = 8
TRIED = (3, 2, 4, 1, 5, 0, 6)
"""The order in which columns are tried, the middle first: it decides which of two mirror images is met first."""

ONE = np.uint64(1)
BITS = np.uint64(SQUARES + 1)
COLUMN = np.uint64((1 << (SQUARES + 1)) - 1)
BOTTOM = np.uint64(sum(1 << (7 * column) for column in range(COLUMNS)))
BOARD = np.uint64(int(BOTTOM) * ((1 << SQUARES) - 1))
DIRECTIONS = tuple(np.uint64(shift) for shift in (1, 6, 7, 8))
"""Up, and the neighbour in the next column that is one lower, level, one higher."""


def connect4() -> pl.DataFrame:
    """The positions of UCI Connect-4, one column per square (a1 to g6): x moved first, b is blank.

    >>> positions = connect4()
    >>> positions.shape, sorted(positions["d1"].unique())
    ((67557, 42), ['b', 'o', 'x'])
    """
    first, second = _positions()
    free = _playable(first | second)
    open_still = (_threats(first) | _threats(second)) & free == 0
    first, second = first[open_still], second[open_still]
    return pl.DataFrame(
        {
            f"{letter}{square + 1}": _marks(first, second, np.uint64(7 * column + square))
            for column, letter in enumerate("abcdefg")
            for square in range(SQUARES)
        }
    )


def _positions() -> tuple[Boards, Boards]:
    """All positions of eight discs without a winner up to mirror images, in the order of a depth-first search.

    A search in depth meets a position first by the smallest sequence of moves that leads to it. Positions that are
    grown from the sorted ones of one disc fewer come in the same order.
    """
    to_move, other = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    for _ in range(DISCS):
        moves = _playable(to_move | other)[:, None] & (COLUMN << (BITS * np.array(TRIED, np.uint64)))
        legal = moves != 0
        to_move, other = other.repeat(COLUMNS)[legal.ravel()], (to_move[:, None] | moves)[legal]
        to_move, other = _first_met(to_move, other)
        nobody_won = ~_has_four(other)
        to_move, other = to_move[nobody_won], other[nobody_won]
    return to_move, other


def _first_met(to_move: Boards, other: Boards) -> tuple[Boards, Boards]:
    """The first of all positions that are equal or mirror images."""
    mirrored = _key(_mirror(to_move), _mirror(other))
    _, first = np.unique(np.minimum(_key(to_move, other), mirrored), return_index=True)
    first.sort()
    return to_move[first], other[first]


def _key(to_move: Boards, other: Boards) -> Boards:
    """One number for two boards: the discs of one side, and a bit on top of every column."""
    return to_move + (to_move | other) + BOTTOM


def _mirror(boards: Boards) -> Boards:
    """Left and right exchanged."""
    mirrored = np.zeros_like(boards)
    for column in range(COLUMNS):
        mirrored |= (boards >> BITS * np.uint64(column) & COLUMN) << BITS * np.uint64(COLUMNS - 1 - column)
    return mirrored


def _playable(discs: Boards) -> Boards:
    """The lowest free square of every column."""
    return (discs + BOTTOM) & BOARD


def _has_four(boards: Boards) -> NDArray[np.bool_]:
    """Whether four discs stand in a row."""
    four = np.zeros_like(boards)
    for shift in DIRECTIONS:
        pairs = boards & boards >> shift
        four |= pairs & pairs >> shift + shift
    return np.not_equal(four, 0)


def _threats(boards: Boards) -> Boards:
    """Every square on which one more disc would make four, whoever may stand there."""
    squares = np.zeros_like(boards)
    for shift in DIRECTIONS:
        for missing in range(4):
            others = [shift * np.uint64(place) for place in range(4) if place != missing]
            lowest = (boards >> others[0]) & (boards >> others[1]) & (boards >> others[2])
            squares |= lowest << shift * np.uint64(missing)
    return squares


def _marks(first: Boards, second: Boards, bit: np.uint64) -> pl.Series:
    taken = (first >> bit & ONE) + np.uint64(2) * (second >> bit & ONE)
    return pl.Series(["b", "x", "o"]).gather(taken)
