"""Antecedents: the conditions of a domain as bits over distinct rows, and the conjunctions of them that rules may use.

>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("sex", ("f", "m")), Feature.nominal("age", ("child", "adult"))))
>>> table = Table.of(domain, np.array([[0, 0], [1, 1], [1, 1]], np.uint8))
>>> Antecedents(table).counts, Antecedents(table, min_support=2).counts
((4, 4), (2, 1))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.errors import DataError
from sparsedensity.kernels import list_boxes, list_rows
from sparsedensity.posterior.rule_list import OrdinalConditions, antecedents_by_size, conditions_in, conditions_of
from sparsedensity.problem import check_amount
from sparsedensity.structures import Condition
from sparsedensity.table import Floats, Table

MOST_LISTED = 1_000_000
"""Up to so many antecedents are listed one by one even if none is left out."""
MOST_MINED = 20_000_000
MOST_BYTES = 1 << 32
CHUNK = 1 << 12

Listed = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Antecedents:
    """All conjunctions of up to ``max_conditions`` conditions on different features with the least support.

    ``min_support`` is a weight, or a share of the total weight if it is below 1.
    """

    table: Table
    max_conditions: int = 2
    ordinal_conditions: OrdinalConditions = "value"
    min_support: float = 0.0
    sampled: int | None = None
    """How many rows were drawn for the table, if it does not hold all."""

    def __post_init__(self) -> None:
        check_amount("min_support", self.min_support, "a weight of 0 or more, or a share below 1")
        antecedents_by_size(self.table.domain, self.max_conditions, self.ordinal_conditions)

    @cached_property
    def conditions(self) -> list[Condition]:
        """Every condition, by feature."""
        domain, words = self.table.domain, -(-len(self.table) // 64)
        count = sum(conditions_of(feature, self.ordinal_conditions) for feature in domain)
        if count * words * 8 > MOST_BYTES:
            raise DataError(
                f"{count:,} conditions on {len(self.table):,} distinct rows take more than 4 GB. Give ordered columns "
                "fewer bins, or say ordinal_conditions='value'."
            )
        return conditions_in(domain, self.ordinal_conditions)

    @property
    def least(self) -> float:
        """The least weight of an antecedent."""
        return float(self.min_support * self.table.n if 0 < self.min_support < 1 else self.min_support)

    @cached_property
    def rows(self) -> list_rows.RowBits:
        """The distinct rows as bits, sorted by weight so that most words hold equal weights."""
        order = np.argsort(self.table.weights, kind="stable")
        codes, words = self.table.codes[order], -(-len(order) // 64)
        weights = np.zeros(words * 64)
        weights[: len(order)] = self.table.weights[order]
        bits = np.empty((len(self.conditions), words), np.uint64)
        for i, (f, low, high) in enumerate(self.conditions):
            bits[i] = pack(((codes[:, f] >= low) & (codes[:, f] <= high))[None])[0]
        first = weights[::64]
        filled = np.arange(words * 64) < len(order)
        alike = ((weights.reshape(words, 64) == first[:, None]) | ~filled.reshape(words, 64)).all(axis=1)
        common = np.where(alike, first, 0.0)
        end = np.append(np.flatnonzero(np.diff(common)) + 1, words)
        runs = records(list_rows.ALIKE, np.append(0, end[:-1]), end, common[end - 1])
        everything = pack(np.ones((1, len(order)), bool))[0]
        return list_rows.RowBits(bits, everything, weights, runs[runs["weight"] > 0], np.flatnonzero(~alike))

    @cached_property
    def runs(self) -> list_boxes.Conditions:
        """The conditions as the kernels read them."""
        domain = self.table.domain
        feature, low, high = np.array(self.conditions, np.int64).reshape(-1, 3).T.copy()
        start, end = domain.starts[feature], domain.starts[feature + 1]
        after = np.searchsorted(feature, feature, side="right")
        run = records(list_boxes.RUN, feature, start + low, start + high, start, end, after)
        return list_boxes.Conditions(run, domain.measures)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many there are of 1, 2, .. conditions."""
        if self.least > 0:
            return tuple(map(len, self._mined))
        return antecedents_by_size(self.table.domain, self.max_conditions, self.ordinal_conditions)

    @cached_property
    def listed(self) -> tuple[Listed, NDArray[np.int64]]:
        """The numbers of the conditions of every antecedent, by size (-1 fills up), and where each size begins.

        None if there are very many and none is left out: then any conditions on different features are one.
        """
        most = len(self.counts)
        if self.least <= 0 and sum(self.counts) > MOST_LISTED:
            return np.empty((0, most), np.int32), np.zeros(most + 2, np.int64)
        rows = [np.pad(mined, ((0, 0), (0, most - mined.shape[1])), constant_values=-1) for mined in self._mined]
        begin = np.concatenate([[0, 0], np.cumsum([len(mined) for mined in self._mined])])
        return np.concatenate(rows), begin.astype(np.int64)

    def has(self, rule: Sequence[Condition]) -> bool:
        """Whether a rule is one of these antecedents."""
        numbers = [self._number.get(condition, -1) for condition in rule]
        if len(rule) > len(self.counts) or min(numbers) < 0:
            return False
        return len(self._supported(np.array([sorted(numbers)], np.int32))) > 0

    def numbers(self, rules: Iterable[Sequence[Condition]]) -> list[list[int]]:
        """Those of some rules that are antecedents, by the numbers of their conditions."""
        return [sorted(self._number[condition] for condition in rule) for rule in rules if self.has(rule)]

    @cached_property
    def _number(self) -> dict[Condition, int]:
        return {condition: i for i, condition in enumerate(self.conditions)}

    @cached_property
    def _mined(self) -> list[Listed]:
        """The antecedents of each size: those of one condition more than the last, while they have support."""
        one = np.arange(len(self.conditions), dtype=np.int32)[:, None]
        found = [self._supported(one)]
        for _ in range(1, min(self.max_conditions, len(self.table.domain))):
            last = found[-1]
            chunks = [self._supported(self._longer(last[i : i + CHUNK])) for i in range(0, len(last), CHUNK)]
            if sum(map(len, chunks)) > MOST_MINED:
                raise DataError(
                    f"More than {MOST_MINED:,} antecedents have the support {self.min_support}. Raise min_support or "
                    "lower max_conditions."
                )
            found.append(np.concatenate([np.empty((0, last.shape[1] + 1), np.int32), *chunks]))
        return found

    def _longer(self, listed: Listed) -> Listed:
        """Every antecedent with one more condition, on a later feature."""
        begin = self.runs.run["after"][listed[:, -1]]
        counts = len(self.conditions) - begin
        which = np.repeat(np.arange(len(listed)), counts)
        steps = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.column_stack([listed[which], begin[which] + steps]).astype(np.int32)

    def _supported(self, listed: Listed) -> Listed:
        if self.least <= 0:
            return listed
        weights: Floats = np.empty(len(listed))
        list_rows.supports(self.rows, listed, weights)
        return listed[weights >= self.least]


def records(kind: np.dtype[Any], *columns: NDArray[Any]) -> NDArray[Any]:
    """Columns as an array of records."""
    return np.rec.fromarrays(columns, dtype=kind).view(np.ndarray)


def pack(truth: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of truth values as the bits of words, the first in the lowest."""
    words = max(1, -(-truth.shape[1] // 64))
    padded = np.zeros((len(truth), words * 64), bool)
    padded[:, : truth.shape[1]] = truth
    packed: NDArray[Any] = np.packbits(padded, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)
