"""What became of each column of a table, in words.

>>> from sparsedensity.domain import Domain, Feature
>>> sex, age = Feature.nominal("sex", ("female", "male")), Feature.continuous("age", (0, 18, 65), missing=True)
>>> print(columns_in_words(Domain((sex, age), left_out=("id",))))
sex  nominal     2 values         female or male
age  continuous  2 bins, missing  0 to 65
id   left out
"""

from __future__ import annotations

from sparsedensity.domain import Domain, Feature
from sparsedensity.report import words

LONGEST = 60


def columns_in_words(domain: Domain) -> str:
    """One line per column: its kind, how many values or bins it has, and what they are."""
    rows = [_row(feature) for feature in domain]
    rows += [(words.printable(name), "left out", "", "") for name in domain.left_out]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(feature: Feature) -> tuple[str, str, str, str]:
    known = range(len(feature.known))
    size = f"{words.counted(len(known), *_unit(feature))}{', missing' * (feature.missing is not None)}"
    values = words.printable(words.some_values(feature, known), LONGEST) if known else ""
    return words.printable(feature.name), feature.kind, size, values


def _unit(feature: Feature) -> tuple[str, str]:
    """What the values of a feature are called, one and many."""
    if feature.period is None:
        return ("bin", "bins") if feature.binned else ("value", "values")
    if all(measure == 1 for measure in feature.measures):
        return feature.period, _many(feature.period)
    return f"run of {_many(feature.period)}", f"runs of {_many(feature.period)}"


def _many(unit: str) -> str:
    return unit.replace("hour", "hours") if "hour" in unit else f"{unit}s"
