"""Calendar periods: moments as whole numbers of years, quarters, months, weeks, days or hours.

A moment is a ``datetime64``; a time of day is a moment of the first of January 1970.

>>> may = np.array(["2024-05-17T10"], "M8[s]")
>>> numbers("quarter", may).tolist(), label("quarter", 217, 218), plain("quarter", 217, 217)
([217], '2024 Q2 to 2024 Q3', ('2024-04', '2024-06'))
>>> label("month", 650, 652), plain("month", 650, 650)
('Mar 2024 to May 2024', '2024-03')
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Unit = Literal["year", "quarter", "month", "week", "day", "hour", "hour of day"]
CALENDAR: tuple[Unit, ...] = ("year", "quarter", "month", "week", "day", "hour")
"""The units of moments, the coarsest first; dates have no hours."""
DATES: tuple[Unit, ...] = CALENDAR[:-1]
TIMES_OF_DAY: tuple[Unit, ...] = ("hour of day",)
ENOUGH = 8
"""The coarsest unit with so many periods is taken."""
MOST_PERIODS = 60
"""More periods than this are joined to runs of equal length."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MIDNIGHT = datetime.date(1970, 1, 1)
QUARTER = re.compile(r"(\d{4})[ -]?Q([1-4])")

Moment: TypeAlias = "np.datetime64"


class _Step(NamedTuple):
    """A unit as so many steps of NumPy's calendar, counted from so many steps before 1970."""

    name: Any
    many: int = 1
    before: int = 0


STEPS: dict[Unit, _Step] = {
    "year": _Step("Y"),
    "quarter": _Step("M", 3),
    "month": _Step("M"),
    "week": _Step("D", 7, 3),  # 1970 began on a Thursday, weeks on a Monday
    "day": _Step("D"),
    "hour": _Step("h"),
    "hour of day": _Step("h"),
}


def numbers(unit: Unit, moments: Any) -> NDArray[np.int64]:
    """The number of the period that each moment lies in."""
    step = STEPS[unit]
    found: NDArray[np.int64] = (moments.astype(f"M8[{step.name}]").astype(np.int64) + step.before) // step.many
    return found


def start(unit: Unit, number: Any) -> Any:
    """The moment at which a period begins; for an array of numbers, an array of moments."""
    step = STEPS[unit]
    return (np.asarray(number).astype(np.int64) * step.many - step.before).astype(f"M8[{step.name}]")


def begins(unit: Unit, edges: Any) -> list[str]:
    """When each of several periods begins, and when the last one ends, as texts that sort like the moments.

    >>> begins("quarter", [216, 217]), begins("hour of day", [22, 24])
    (['2024-01-01T00:00:00', '2024-04-01T00:00:00'], ['22:00:00', '24:00:00'])
    """
    if unit == "hour of day":
        return [f"{int(hour):02}:00:00" for hour in edges]
    moments: list[str] = start(unit, edges).astype("M8[s]").astype(str).tolist()
    return moments


def runs(low: Moment, high: Moment, units: Sequence[Unit]) -> tuple[Unit, list[int]]:
    """The unit that suits moments from `low` to `high`, and the edges of its periods or of equal runs of them."""
    unit = next((unit for unit in units if _count(unit, low, high) >= ENOUGH), units[-1])
    first, last = int(numbers(unit, low)), int(numbers(unit, high))
    each = -(-(last - first + 1) // MOST_PERIODS)
    return unit, [*range(first, last + 1, each), last + 1]


def label(unit: Unit, first: float, last: float) -> str:
    """A run of periods for a reader; both ends belong to it."""
    begin, end = _named(unit, first), _named(unit, last)
    if unit in ("hour", "hour of day"):
        end = end.removesuffix("00") + "59"
    return begin if begin == end else f"{begin} to {end}"


def plain(unit: Unit, first: float, last: float) -> str | tuple[str, str]:
    """A run of periods in ISO's form, as :func:`span` reads it: its first and last year, month, day or hour."""
    begin, end = str(start(unit, first)), str(start(unit, last + 1) - 1)
    if unit == "hour of day":
        begin, end = begin.partition("T")[2], end.partition("T")[2]
    return begin if begin == end else (begin, end)


def position(unit: Unit, moment: Moment) -> float:
    """The number of a moment's period, and the share of the period that has gone by."""
    number = int(numbers(unit, moment))
    begin, end = (start(unit, n).astype("M8[s]") for n in (number, number + 1))
    return number + float((moment.astype("M8[s]") - begin) / (end - begin))


def span(unit: Unit, value: Any) -> tuple[float, float]:
    """Where a date, a time or a text in ISO's form begins and ends among periods; ValueError if it is none.

    A text is as long as it says: "2024" a year, "2024-03" a month, "2024 Q1" a quarter. A moment at midnight is a
    day, any other an hour.
    """
    moment, steps = _moment(unit, value)
    if np.isnat(moment):
        raise ValueError(value)
    return position(unit, moment), position(unit, moment + steps)


def _moment(unit: Unit, value: Any) -> tuple[Any, int]:
    """The first moment that is meant, in steps of its own precision, and how many steps are meant."""
    if isinstance(value, str):
        if quarter := QUARTER.fullmatch(value):
            return np.datetime64(f"{quarter[1]}-{3 * int(quarter[2]) - 2:02}"), 3
        return np.datetime64(f"{MIDNIGHT}T{value}" if unit == "hour of day" else value), 1
    if isinstance(value, datetime.time):
        return np.datetime64(datetime.datetime.combine(MIDNIGHT, value.replace(tzinfo=None)), "h"), 1
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    elif not isinstance(value, datetime.date | np.datetime64):
        raise ValueError(value)
    moment = np.datetime64(value)
    day = moment.astype("M8[D]")
    return (day if day == moment else moment.astype("M8[h]")), 1


def _count(unit: Unit, low: Moment, high: Moment) -> int:
    return int(numbers(unit, high) - numbers(unit, low)) + 1


def _named(unit: Unit, number: float) -> str:
    """One period for a reader."""
    date, _, hour = str(start(unit, number).astype("M8[h]")).partition("T")
    year, month, day = date.rsplit("-", 2)
    named_month = f"{MONTHS[int(month) - 1]} {year}"
    names = {
        "year": year,
        "quarter": f"{year} Q{(int(month) + 2) // 3}",
        "month": named_month,
        "week": f"week of {int(day)} {named_month}",
        "day": f"{int(day)} {named_month}",
        "hour": f"{int(day)} {named_month} {hour}:00",
        "hour of day": f"{hour}:00",
    }
    return names[unit]
