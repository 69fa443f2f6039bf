"""What near-optimal models share and where they differ, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparsedensity.region import Region
from sparsedensity.report import words
from sparsedensity.report.text import table
from sparsedensity.structures import RuleList, Structure, Tree
from sparsedensity.structures.tree import LEAF

MOST_PARTS = 30
"""Of more leaves or rules than this, those in fewer models are counted and not named."""


@dataclass(frozen=True)
class Part:
    """A leaf of some trees, or a rule of some lists."""

    text: str
    models: int
    """How many of the models have it."""
    share: float | None
    """The share of the data in a leaf; a rule has none, because that depends on the rules above it."""


@dataclass(frozen=True)
class Agreement:
    """Models that are almost equally good: what they have in common, and where they differ."""

    total: int
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""
    kind: str
    """What the models are: tree or list."""
    sizes: tuple[int, int]
    """The fewest and the most leaves or rules."""
    columns: tuple[tuple[str, int], ...]
    """How many of the models use each column, those that most use first."""
    parts: tuple[Part, ...]
    """The leaves of trees or rules of lists, those that most have first."""

    @property
    def shared(self) -> tuple[Part, ...]:
        """What all of them have."""
        return tuple(part for part in self.parts if part.models == self.total)

    @property
    def differing(self) -> tuple[Part, ...]:
        """What only some of them have."""
        return tuple(part for part in self.parts if part.models < self.total)

    def to_text(self, width: int | None = None) -> str:
        """The agreement in the width of the terminal."""
        titles = (f"{self.kind}s", "share") if self.kind == "tree" else (f"{self.kind}s",)
        rows = [*self._rows(*self._agreed(), len(titles)), *self._rows(*self._disputed(), len(titles))]
        lines = [self._head(), *self._columns_in_words()]
        return "\n".join([*lines, "", *table(titles, rows, words.room(width))] if rows else lines)

    def as_dict(self) -> dict[str, Any]:
        """The agreement as plain data, for JSON."""
        named = {"within": self.within, "complete": self.complete, f"{self.kind}s": self.total, "sizes": self.sizes}
        return {**named, "columns": dict(self.columns), "parts": [vars(part).copy() for part in self.parts]}

    def __str__(self) -> str:
        return self.to_text()

    def _head(self) -> str:
        few, many = self.sizes
        unit = ("leaf", "leaves") if self.kind == "tree" else ("rule", "rules")
        size = words.counted(few, *unit) if few == many else f"{few:,} to {many:,} {unit[1]}"
        number = words.counted(self.total, self.kind, f"{self.kind}s")
        near = f"{number} within {words.nats(self.within)} of the optimum, with {size}"
        return near if self.complete else f"At least {near}"

    def _columns_in_words(self) -> Iterator[str]:
        everywhere = [words.printable(name) for name, models in self.columns if models == self.total]
        some = [f"{words.printable(name)} ({models:,})" for name, models in self.columns if 0 < models < self.total]
        if everywhere:
            yield f"Columns in all of them: {', '.join(everywhere)}"
        if some:
            yield f"Columns in some of them: {', '.join(some)}"

    def _agreed(self) -> tuple[str, Sequence[Part]]:
        share = math.fsum(part.share or 0.0 for part in self.shared)
        return f"In all of them{f', with {words.percent(share)} of the data' if share else ''}", self.shared

    def _disputed(self) -> tuple[str, Sequence[Part]]:
        share = 1 - math.fsum(part.share or 0.0 for part in self.shared)
        other = f"the other {words.percent(share)}" if self.shared else "the data"
        how = f", which divide {other} differently" if self.kind == "tree" else ""
        return f"In some of them{how}", self.differing

    def _rows(self, heading: str, parts: Sequence[Part], columns: int) -> Iterator[tuple[str, Sequence[str] | None]]:
        if parts:
            yield heading, None
        for part in parts[:MOST_PARTS]:
            cells = f"{part.models:,}", words.percent(part.share or 0.0)
            yield f"  {part.text}", cells[:columns]
        if len(parts) > MOST_PARTS:
            yield f"  … and {len(parts) - MOST_PARTS:,} more", None


def agreement(
    structures: Sequence[Structure], shares: Mapping[Region, float], within: float, *, complete: bool
) -> Agreement:
    """What structures over one domain share; `shares` has the share of the rows in every leaf of trees."""
    names, first = structures[0].domain.names, structures[0]
    used = Counter(column for structure in structures for column in _columns(structure))
    counts: Counter[Any] = Counter(part for structure in structures for part in _parts(structure))
    parts = [Part(_in_words(first, part), models, shares.get(part)) for part, models in counts.items()]
    sizes = [len(_parts(structure)) for structure in structures]
    return Agreement(
        len(structures),
        within,
        complete,
        "tree" if isinstance(first, Tree) else "list",
        (min(sizes), max(sizes)),
        tuple((name, used[i]) for i, name in sorted(enumerate(names), key=lambda pair: -used[pair[0]])),
        tuple(sorted(parts, key=lambda part: (-part.models, -(part.share or 0.0)))),
    )


def _parts(structure: Structure) -> Sequence[Hashable]:
    """What is compared: the regions of a tree's leaves, or the conditions of a list's rules."""
    if isinstance(structure, Tree):
        return structure.regions
    assert isinstance(structure, RuleList)
    return structure.rules


def _columns(structure: Structure) -> set[int]:
    """The features that a tree or list asks about."""
    assert isinstance(structure, Tree | RuleList)
    return set(structure.feature[structure.feature != LEAF].tolist())


def _in_words(structure: Structure, part: Any) -> str:
    domain = structure.domain
    if isinstance(part, Region):
        sides = zip(domain, part.allowed, strict=True)
        conditions = [words.condition(of, codes) for of, codes in sides if len(codes) < of.size]
    else:
        conditions = [words.condition(domain[of], range(low, high + 1)) for of, low, high in part]
    return " and ".join(conditions) or "everything"
