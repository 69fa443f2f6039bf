"""Rows described by expressions, which any engine can evaluate where the rows are.

Codes mean here what they mean in memory: an expression is true of a row if encoding the row would give such a code.

>>> import narwhals as nw, polars as pl
>>> from sparsedensity.domain import Domain, Feature
>>> ages = Feature.continuous("age", (0, 18, 99))
>>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd"), missing=True), ages))
>>> frame = nw.from_native(pl.LazyFrame({"class": ["3rd", None, "4th", "1st"], "age": [17.0, 18.0, 50.0, 99.0]}))
>>> tree = Tree.leaf(domain).split(0, 1, [{0}, {1}]).split(2, 0, [{0, 1, 2}, {3}])
>>> columns = Columns.of(frame)
>>> frame.select(leaf=columns.leaf_number(tree)).collect()["leaf"].to_list()
[0, 2, -1, 1]
>>> frame.select(third=columns.within(domain["class"], {2})).collect()["third"].to_list()
[True, False, False, False]
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np

from sparsedensity import periods
from sparsedensity.domain import Domain, Feature, Value
from sparsedensity.errors import too_wide, unsupported
from sparsedensity.structures import RuleList, Tree
from sparsedensity.structures.tree import LEAF
from sparsedensity.table import Floats

UNKNOWN = -1
"""The leaf of a row with a value that a column in use does not have."""
DEEPEST = 80
"""Choices inside choices, at most: libraries follow them by recursion."""
DEEPEST_IN_SQLITE = 16
MOST_COMPARED = 50
"""Numbers of which the least is asked for at once."""

MOMENTS = np.datetime64(datetime.datetime.min, "s"), np.datetime64(datetime.datetime.max, "s")
DAYS = np.datetime64(datetime.date.min), np.datetime64(datetime.date.max)
"""What Python can say; a year more or less makes no difference there."""
Type = Literal["text", "boolean", "integer", "float", "date", "moment", "time"]

TYPES: dict[Type, tuple[Any, ...]] = {
    "text": (nw.String, nw.Categorical, nw.Enum),
    "boolean": (nw.Boolean,),
    "date": (nw.Date,),
    "moment": (nw.Datetime,),
    "time": (nw.Time,),
}
"""What a column that holds no numbers holds."""


class _Range(NamedTuple):
    """What a run of bins allows; None is no limit."""

    low: float | None
    high: float | None
    closed: bool = False
    """Whether the upper limit belongs to it."""


class _Branch(NamedTuple):
    """Some values of a feature, and where they lead."""

    codes: frozenset[int]
    leaf: nw.Expr
    weight: float
    depth: int


@dataclass(frozen=True)
class Columns:
    """The columns of a lazy frame by their types, and what can be asked of a row's values there."""

    schema: Mapping[str, Any]
    lacks_nan: bool = False
    """Whether the engine has no NaN, nor a question for it."""
    moments_are_text: bool = False
    """Whether the engine compares dates with hours letter by letter."""
    deepest: int = DEEPEST

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any]) -> Columns:
        """The columns of any lazy frame."""
        schema = dict(frame.collect_schema())
        if not frame.implementation.is_ibis():
            return cls(schema)
        operations, backend = import_module("ibis.expr.operations"), frame.to_native().get_backend()
        is_sqlite = backend.name == "sqlite"
        lacks_nan = not backend.has_operation(operations.IsNan)
        return cls(schema, lacks_nan, is_sqlite, DEEPEST_IN_SQLITE if is_sqlite else DEEPEST)

    @cached_property
    def types(self) -> dict[str, Type]:
        """What every column holds, or one sentence about a column that holds something else."""
        return {name: _type_of(name, dtype) for name, dtype in self.schema.items()}

    def missing(self, name: str) -> nw.Expr:
        """Whether a row has no value in a column; never null."""
        column = nw.col(name)
        may_be_nan = self.types[name] == "float" and not self.lacks_nan and not self.schema[name].is_decimal()
        return column.is_null() | column.is_nan() if may_be_nan else column.is_null()

    def within(self, feature: Feature, codes: Collection[int], nearest: bool = False) -> nw.Expr:
        """Whether a row's value is one of some codes of a feature; never null.

        `nearest` puts a number outside the range into the outermost bin.
        """
        return self.is_one_of(feature, codes, nearest).fill_null(False)

    def is_one_of(self, feature: Feature, codes: Collection[int], nearest: bool) -> nw.Expr:
        """As :meth:`within`, but it may be null instead of false."""
        known = sorted(code for code in codes if code != feature.missing)
        tests = self._in_bins(feature, known, nearest) if feature.binned else self._has_label(feature, known)
        if feature.missing in codes:
            tests.append(self.missing(feature.name))
        never = nw.col(feature.name).is_null() & nw.lit(False)  # a column: engines do not add up what is no column
        return nw.any_horizontal(tests or [never], ignore_nulls=False)

    def known(self, feature: Feature, nearest: bool = False) -> nw.Expr:
        """Whether a feature has a row's value; never null."""
        return self.within(feature, range(feature.size), nearest)

    def code(self, feature: Feature) -> nw.Expr:
        """The code of a row whose value is known, by halving the values."""
        each = [_Branch(frozenset({code}), nw.lit(code), 1.0, 0) for code in range(feature.size)]
        return self._choice(feature, each).leaf

    def value(self, name: str) -> nw.Expr:
        """A column as it is compared: numbers of any width as they would be in memory, moments by their own clock."""
        column, dtype = nw.col(name), self.schema[name]
        match self.types[name]:
            case "text" if dtype != nw.String:
                return column.cast(nw.String)
            case "float" if dtype != nw.Float64:
                return column.cast(nw.Float64)
            case "moment" if dtype.time_zone is not None:
                return column.dt.replace_time_zone(None)
            case "moment" if self.moments_are_text:  # of one form after a cast
                return column.cast(nw.String).cast(nw.Datetime)
            case "time":
                return column.dt.hour()
        return column

    def leaf_number(
        self,
        structure: Tree | RuleList,
        nearest: bool = False,
        weights: Floats | None = None,
        *,
        all_known: bool = False,
    ) -> nw.Expr:
        """The leaf of a row, or -1 if a column in use has a value that its feature does not have.

        What leaves weigh, about, lets rows of heavy ones be asked less. If all rows are known, none is tested for it.
        """
        if isinstance(structure, RuleList):
            leaf, used = self._by_rules(structure), structure.feature
        else:
            leaf, used = self._by_tree(structure, weights), structure.feature[structure.feature != LEAF]
        strange = [~self.known(structure.domain[int(i)], nearest) for i in np.unique(used)]
        if all_known or not strange:
            return leaf
        return nw.when(nw.any_horizontal(strange, ignore_nulls=False)).then(nw.lit(UNKNOWN)).otherwise(leaf)

    def _by_rules(self, rules: RuleList) -> nw.Expr:
        conditions = [{c.feature: range(c.low, c.high + 1) for c in rule} for rule in rules.rules]
        return self._first_of(rules.domain, conditions)

    def _by_tree(self, tree: Tree, weights: Floats | None) -> nw.Expr:
        """The choices of a tree inside one another, built from its leaves up: children come after their parents."""
        branches: dict[int, _Branch] = {}
        for node in reversed(range(tree.n_nodes)):
            number = int(tree.leaf_number[node])
            if tree.feature[node] == LEAF:
                branches[node] = _Branch(frozenset(), nw.lit(number), 1.0 if weights is None else weights[number], 0)
            else:
                below = [branches.pop(child)._replace(codes=codes) for child, codes in tree.groups(node).items()]
                below.sort(key=lambda branch: branch.weight)
                branches[node] = self._choice(tree.domain[int(tree.feature[node])], below)
        if branches[0].depth <= self.deepest:
            return branches[0].leaf
        allowed = [dict(enumerate(region.allowed)) for region in tree.regions[:-1]]
        return self._first_of(tree.domain, allowed)

    def _choice(self, feature: Feature, branches: Sequence[_Branch]) -> _Branch:
        """One branch that chooses among several, given from light to heavy: the lighter half is asked for."""
        if len(branches) == 1:
            return branches[0]
        half = len(branches) // 2
        light, heavy = self._choice(feature, branches[:half]), self._choice(feature, branches[half:])
        leaf = nw.when(self.is_one_of(feature, light.codes, nearest=True)).then(light.leaf).otherwise(heavy.leaf)
        depth = max(light.depth, heavy.depth) + 1
        return _Branch(light.codes | heavy.codes, leaf, light.weight + heavy.weight, depth)

    def _first_of(self, domain: Domain, conditions: Sequence[Mapping[int, Collection[int]]]) -> nw.Expr:
        """The number of the first conditions, codes by feature, that a row obeys; else how many there are."""
        rules = [self._obeys(domain, rule) for rule in conditions]
        leaf: nw.Expr = nw.lit(len(rules))
        if len(rules) > self.deepest:
            return _least([nw.when(rule).then(nw.lit(i)).otherwise(leaf) for i, rule in enumerate(rules)])
        for i, rule in reversed(list(enumerate(rules))):
            leaf = nw.when(rule).then(nw.lit(i)).otherwise(leaf)
        return leaf

    def _obeys(self, domain: Domain, conditions: Mapping[int, Collection[int]]) -> nw.Expr:
        """Whether the values of a row that is known are all among the codes of their features."""
        asked = {domain[i]: codes for i, codes in conditions.items() if len(codes) < domain.sizes[i]}
        return _all(self.is_one_of(feature, codes, nearest=True) for feature, codes in asked.items())

    def _has_label(self, feature: Feature, codes: Iterable[int]) -> list[nw.Expr]:
        labels = self._labels_in(feature.name, (feature.values[code] for code in codes))
        column = self.value(feature.name)
        return [] if not labels else [column == labels[0] if len(labels) == 1 else column.is_in(labels)]

    def _labels_in(self, name: str, labels: Iterable[Value]) -> list[Any]:
        """The labels that a column of its type can hold, in that type: True is not 1, but 1.0 is."""
        match self.types[name]:
            case "text":
                return [label for label in labels if isinstance(label, str)]
            case "boolean":
                return [label for label in labels if isinstance(label, bool)]
            case "integer":
                low, high = _limits(self.schema[name])
                whole = [int(label) for label in _numbers(labels) if float(label).is_integer()]
                return [label for label in whole if low <= label <= high]
            case "float":
                return [float(label) for label in _numbers(labels)]
            case _:
                return []

    def _in_bins(self, feature: Feature, codes: Sequence[int], nearest: bool) -> list[nw.Expr]:
        """One test for each run of neighbouring bins."""
        if self.types[feature.name] not in _types_of(feature):
            return []
        return [self._in_range(feature, _range_of(feature, run, nearest)) for run in _runs(codes)]

    def _in_range(self, feature: Feature, limits: _Range) -> nw.Expr:
        column = self.value(feature.name)
        tests = [] if limits.low is None else [column >= self._edge(feature, limits.low)]
        if limits.high is not None:
            high = self._edge(feature, limits.high)
            tests.append(column <= high if limits.closed else column < high)
        elif not tests or self.types[feature.name] == "float":  # some engines put NaN above all numbers
            tests.append(~self.missing(feature.name))
        return _all(tests)

    def _edge(self, feature: Feature, edge: float) -> Any:
        """The edge of a bin as its column is compared with it."""
        if feature.period is None or self.types[feature.name] == "time":
            return edge
        moment = periods.start(feature.period, edge)
        if self.types[feature.name] == "moment":  # as text, which no clock of the session moves
            return nw.lit(str(np.clip(moment.astype("M8[s]"), *MOMENTS).astype(object))).cast(nw.Datetime)
        day = moment.astype("M8[D]")
        return np.clip(day if day == moment else day + 1, *DAYS).astype(object)


def _all(tests: Iterable[nw.Expr]) -> nw.Expr:
    return nw.all_horizontal([*tests] or [nw.lit(True)], ignore_nulls=False)


def _least(numbers: Sequence[nw.Expr]) -> nw.Expr:
    """The least of some numbers, a few at a time: SQLite takes no more than a hundred."""
    if len(numbers) <= MOST_COMPARED:
        return nw.min_horizontal(numbers)
    return _least([_least(numbers[i : i + MOST_COMPARED]) for i in range(0, len(numbers), MOST_COMPARED)])


def _type_of(name: str, dtype: Any) -> Type:
    if dtype in (nw.Int128, nw.UInt128):
        raise too_wide(name)
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "float"
    found = next((of for of, types in TYPES.items() if dtype in types), None)
    if found is None:
        raise unsupported(name, str(dtype))
    return found


def _types_of(feature: Feature) -> tuple[Type, ...]:
    """The types of columns that a binned feature suits."""
    if feature.period is None:
        return "integer", "float"
    return ("time",) if feature.period == "hour of day" else ("date", "moment")


def _range_of(feature: Feature, run: Sequence[int], nearest: bool) -> _Range:
    """What neighbouring bins allow. The last bin of real numbers includes its end."""
    edges = feature.edges.tolist()
    low, high = edges[run[0]], edges[run[-1] + 1]
    is_first, is_last = run[0] == 0, run[-1] + 2 == len(edges)
    closed = is_last and not (feature.integer and edges[0] < edges[-1])
    return _Range(None if nearest and is_first else low, None if nearest and is_last else high, closed)


def _runs(codes: Sequence[int]) -> list[list[int]]:
    """Neighbouring codes together."""
    runs = itertools.groupby(enumerate(codes), key=lambda both: both[1] - both[0])
    return [[code for _, code in run] for _, run in runs]


def _numbers(labels: Iterable[Value]) -> list[int | float]:
    return [label for label in labels if isinstance(label, int | float) and not isinstance(label, bool)]


def _limits(dtype: Any) -> tuple[int, int]:
    """The lowest and the highest number of a type of whole numbers."""
    limits = np.iinfo(str(dtype).lower())
    return int(limits.min), int(limits.max)
