"""Tables small enough to be written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Dawson (1995), "The unusual episode data revisited": class, sex, age and the number of people.
TITANIC = (
    ("1st", "male", "adult", 175),
    ("1st", "male", "child", 5),
    ("1st", "female", "adult", 144),
    ("1st", "female", "child", 1),
    ("2nd", "male", "adult", 168),
    ("2nd", "male", "child", 11),
    ("2nd", "female", "adult", 93),
    ("2nd", "female", "child", 13),
    ("3rd", "male", "adult", 462),
    ("3rd", "male", "child", 48),
    ("3rd", "female", "adult", 165),
    ("3rd", "female", "child", 31),
    ("crew", "male", "adult", 862),
    ("crew", "female", "adult", 23),
)

SIMULATED = ((1, 2, 1, 100), (1, 2, 2, 100), (2, 1, 1, 100), (2, 1, 2, 400), (2, 2, 2, 300))


def titanic() -> pl.DataFrame:
    """The people aboard the Titanic, one row per person.

    >>> titanic().columns
    ['class', 'sex', 'age']
    """
    return _repeated(("class", "sex", "age"), TITANIC)


def simulated() -> pl.DataFrame:
    """The paper's simulated data: 1,000 rows from a tree of six leaves over three features.

    >>> simulated().unique().height
    5
    """
    return _repeated(("x1", "x2", "x3"), SIMULATED)


def _repeated(names: tuple[str, ...], counted: tuple[tuple[object, ...], ...]) -> pl.DataFrame:
    import polars as pl

    table = pl.DataFrame(counted, schema=[*names, "count"], orient="row")
    return table.select(pl.col(names).repeat_by("count").explode())
