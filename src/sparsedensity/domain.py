"""Features and the domain: the space a density lives on.

A domain is a list of features. A feature has values, every value has a measure, and the volume of a region is
the product over the features of the summed measures of the values it allows.

>>> domain = Domain((
...     Feature.nominal("class", ("1st", "2nd", "3rd", "crew")),
...     Feature.ordinal("age", ("child", "adult")),
...     Feature.continuous("fare", (0, 10, 50)),
... ))
>>> domain.sizes
(4, 2, 2)
>>> domain.everything().volume(domain)
400.0
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparsedensity import periods
from sparsedensity.errors import DataError, ParameterError

if TYPE_CHECKING:
    from sparsedensity.region import Region

Kind = Literal["nominal", "ordinal", "continuous"]
KINDS: tuple[Kind, ...] = ("nominal", "ordinal", "continuous")
MOST_BITS = 2000
"""Python may refuse to write a longer whole number out."""
MAX_VALUES = 65_535


class Bin(NamedTuple):
    """One bin of a continuous feature: ``low <= x < high`` (the last bin of a real feature includes ``high``).

    Of dates and times it is a run of calendar periods, by their numbers (:mod:`~sparsedensity.periods`).
    """

    low: float
    high: float


Label: TypeAlias = str | bool | int | float
"""A category or level, as the user wrote it."""

Value: TypeAlias = Label | Bin | None
"""What a code stands for: a label, a bin, or missing (``None``)."""


@dataclass(frozen=True)
class Feature:
    """A column: its name, its kind, and its values, each with a measure.

    Made by :meth:`nominal`, :meth:`ordinal`, :meth:`continuous` or :meth:`calendar`. A missing value, if the feature
    has one, is always the last code.

    >>> Feature.continuous("age", (0, 18, 65, 100), integer=True, missing=True).measures
    (18.0, 47.0, 35.0, 33.333333333333336)
    """

    name: str
    kind: Kind
    values: tuple[Value, ...]
    measures: tuple[float, ...]
    integer: bool = False
    """Whether bins are of whole numbers: a bin then measures how many it holds."""
    period: periods.Unit | None = field(default=None, repr=False)
    """What the bins of dates and times count."""

    def __post_init__(self) -> None:
        check_name(self.name)
        check_kind(f"the kind of {self.name!r}", self.kind)
        if not self.values:
            raise DataError(f"{self.name!r} has no values: a feature needs at least one.")
        if len(self.values) > MAX_VALUES:
            raise DataError(
                f"{self.name!r} has {len(self.values):,} distinct values; at most {MAX_VALUES:,} are possible. "
                "Leave the column out, group its values, or make it continuous if it is a number."
            )
        if any(isinstance(value, int) and value.bit_length() > MOST_BITS for value in self.values):
            raise DataError(f"{self.name!r} has a whole number of over 600 digits. Make the column a text.")
        if len(set(map(_identity, self.values))) < len(self.values):
            raise DataError(f"{self.name!r} lists a value twice. Give each value once.")
        if None in self.values[:-1] or any(isinstance(value, float) and math.isnan(value) for value in self.values):
            raise DataError(f"{self.name!r} lists a missing value among its values. Use missing=True instead.")
        if len(self.measures) != len(self.values) or not all(0 < m < math.inf for m in self.measures):
            raise DataError(f"{self.name!r} needs a measure above 0 for each of its {len(self.values)} values.")

    @classmethod
    def nominal(cls, name: str, values: Sequence[Label], *, missing: bool = False) -> Feature:
        """A feature whose values have no order: any set of them may be grouped."""
        return cls._of_labels(name, "nominal", values, missing)

    @classmethod
    def ordinal(cls, name: str, values: Sequence[Label], *, missing: bool = False) -> Feature:
        """A feature whose values have an order: only neighbours may be grouped."""
        return cls._of_labels(name, "ordinal", values, missing)

    @classmethod
    def continuous(cls, name: str, edges: Iterable[float], *, integer: bool = False, missing: bool = False) -> Feature:
        """A number cut into bins. Equal edges merge; one edge is one bin of measure 1.

        For whole numbers (``integer=True``) the last edge is the first number that is too large, and an edge between
        two of them is the same as the upper one.
        """
        try:
            cuts = sorted(set(map(float, edges)))
        except (TypeError, ValueError):
            raise DataError(f"{name!r} needs numbers for bin edges, not {edges!r}.") from None
        if not cuts or not all(map(math.isfinite, cuts)):
            raise DataError(f"{name!r} needs finite bin edges, not {cuts!r}.")
        if integer:
            cuts = sorted({float(math.ceil(cut)) for cut in cuts})
        ends = itertools.pairwise(cuts) if len(cuts) > 1 else [(cuts[0], cuts[0])]
        bins = tuple(Bin(low, high) for low, high in ends)
        widths = tuple(high - low or 1.0 for low, high in bins)
        mean = sum(widths) / len(widths)
        return cls(name, "continuous", bins + (None,) * missing, widths + (mean,) * missing, integer)

    @classmethod
    def calendar(
        cls, name: str, unit: periods.Unit, edges: Iterable[float], *, kind: Kind = "ordinal", missing: bool = False
    ) -> Feature:
        """Dates or times of day over calendar periods: a value is a run of them and measures how many it holds.

        >>> Feature.calendar("seen", "year", (50, 52, 55)).measures
        (2.0, 3.0)
        """
        if unit not in periods.STEPS:
            raise DataError(f"{name!r} needs a unit of the calendar, {', '.join(periods.STEPS)}, not {unit!r}.")
        binned = cls.continuous(name, edges, integer=True, missing=missing)
        return replace(binned, kind=kind, period=unit)

    @classmethod
    def _of_labels(cls, name: str, kind: Kind, values: Sequence[Label], missing: bool) -> Feature:
        labels = tuple(values)
        return cls(name, kind, labels + (None,) * missing, (1.0,) * (len(labels) + missing))

    @property
    def size(self) -> int:
        """How many values it has, missing included."""
        return len(self.values)

    @property
    def ordered(self) -> bool:
        """Whether only runs of neighbouring values may be grouped."""
        return self.kind != "nominal"

    @property
    def binned(self) -> bool:
        """Whether its values are bins."""
        return isinstance(self.values[0], Bin)

    @property
    def missing(self) -> int | None:
        """The code of the missing value, if there is one."""
        return self.size - 1 if self.values[-1] is None else None

    @property
    def known(self) -> tuple[Value, ...]:
        """The values without missing."""
        return self.values if self.missing is None else self.values[:-1]

    @property
    def edges(self) -> NDArray[np.float64]:
        """The edges of its bins, lowest first."""
        bins = [value for value in self.known if isinstance(value, Bin)]
        return np.array([b.low for b in bins] + [b.high for b in bins[-1:]])

    def code(self, value: object) -> int:
        """The code of one label.

        >>> Feature.nominal("sex", ("female", "male")).code("male")
        1
        """
        for code, known in enumerate(self.values):
            if _identity(known) == _identity(value):
                return code
        raise DataError(f"{self.name!r} has no value {value!r}. Known: {list(self.known)!r}.")


@dataclass(frozen=True)
class Domain:
    """All features with their values: the space a density lives on.

    Inferred from a table with :meth:`infer`, or declared feature by feature. Models fitted with the same ``domain=``
    measure volumes alike, so that their log-likelihoods can be compared.

    >>> domain = Domain((Feature.nominal("sex", ("female", "male")), Feature.continuous("age", (0, 18, 100))))
    >>> domain["age"].values
    (Bin(low=0.0, high=18.0), Bin(low=18.0, high=100.0))
    """

    features: tuple[Feature, ...]
    left_out: tuple[str, ...] = field(default=(), compare=False)
    """Columns of the table that are no features: tables may have them or not."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise DataError("A domain needs at least one feature.")
        if len(self._index) < len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self._index[name] != i)
            raise DataError(f"Two columns are called {twice!r}. Rename one of them.")

    @classmethod
    def infer(
        cls,
        X: Any,
        *,
        kinds: Mapping[str, Any] | str | None = None,
        bins: Any = 10,
        missing: Literal["category", "drop", "error"] = "category",
        sample_weight: Any = None,
    ) -> Domain:
        """The domain of a table: every value that occurs or that a categorical column declares.

        >>> Domain.infer([{"sex": "male", "age": 31.5}, {"sex": "female", "age": 2.0}], bins=2).sizes
        (2, 2)
        """
        from sparsedensity.ingest import Reading  # the one door for frames lies above this room
        from sparsedensity.ingest.lazy import infer_domain

        return infer_domain(X, Reading(kinds, bins, None, missing), sample_weight)

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, feature: int | str) -> Feature:
        return self.features[self.index(feature)]

    def index(self, feature: int | str) -> int:
        """The position of a feature, by name or by position."""
        if isinstance(feature, int | np.integer):
            if not 0 <= feature < len(self):
                raise DataError(f"There is no column {feature}: the columns are 0 to {len(self) - 1}.")
            return int(feature)
        if feature not in self._index:
            raise DataError(f"There is no column {feature!r}. Columns: {', '.join(map(repr, self.names))}.")
        return self._index[feature]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each feature."""
        return tuple(feature.size for feature in self.features)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each feature's values begin in an array of all values; one more entry for the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def measures(self) -> NDArray[np.float64]:
        """The measure of every value, feature after feature."""
        return np.concatenate([feature.measures for feature in self.features])

    @cached_property
    def log_volume(self) -> float:
        """The natural log of the volume of the whole domain."""
        return math.fsum(math.log(sum(feature.measures)) for feature in self.features)

    @cached_property
    def log_points(self) -> float:
        """The natural log of the number of points: one value for every feature."""
        return math.fsum(math.log(size) for size in self.sizes)

    @cached_property
    def code_type(self) -> np.dtype[Any]:
        """The smallest integer type that holds every code."""
        return np.dtype(np.uint8 if max(self.sizes) <= 256 else np.uint16)

    def span(self, feature: int) -> slice:
        """The place of one feature's values in an array of all values."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))

    def everything(self) -> Region:
        """The region that allows every value."""
        from sparsedensity.region import Region

        return Region(tuple(frozenset(range(size)) for size in self.sizes))


def check_name(name: Any) -> None:
    """Raise unless a feature may have this name."""
    if not isinstance(name, str):
        raise DataError(f"A feature name must be a string, not {name!r}.")
    if name.encode("utf-8", "replace").decode("utf-8") != name:
        raise DataError(f"The column name {name!r} is not valid Unicode. Rename the column.")


def check_kind(parameter: str, kind: object) -> Kind:
    """Raise for a word that is not a kind of feature."""
    for known in KINDS:
        if isinstance(kind, str) and kind == known:
            return known
    raise ParameterError(parameter, kind, f"one of {', '.join(map(repr, KINDS))} or a list of values in order")


def _identity(value: object) -> tuple[bool, object]:
    """Tell True from 1, which Python calls equal."""
    return isinstance(value, bool | np.bool_), value
