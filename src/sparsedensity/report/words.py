"""Values, conditions and numbers in words.

>>> from sparsedensity.domain import Feature
>>> cabin = Feature.nominal("class", ("1st", "2nd", "3rd", "crew"))
>>> some_values(cabin, {2, 3}), some_values(cabin, {0, 1, 2})
('3rd or crew', 'not crew')
>>> some_values(Feature.continuous("fare", (0, 10, 20, 50)), {1, 2})
'10 to 50'
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Sequence

from sparsedensity import periods
from sparsedensity.domain import MOST_BITS, Bin, Feature, Value

LARGE_NUMBERS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
LONGEST_LABEL = 60
LONGEST_LIST = 12
"""Of more values than this only the first few are named."""
NAMED = 4
JOINERS = "\u200c\u200d"
LONGEST_HINT = 1000
"""Nobody reads a hint that is longer than this."""


def some_values(feature: Feature, codes: Collection[int], among: Collection[int] | None = None) -> str:
    """A set of values in words; "not ..." if that is shorter, given that the value is one of `among`."""
    possible = set(range(feature.size)) if among is None else set(among)
    runs = feature.ordered
    text = _listed(feature, sorted(codes), "or") if not runs else _ranged(feature, sorted(codes))
    rest = sorted(possible - set(codes))
    if runs or not rest or len(codes) < 2 or len(rest) > LONGEST_LIST:
        return text
    others = _listed(feature, rest, "nor")
    negated = f"not {others}" if len(rest) == 1 else f"neither {others}"
    return negated if len(negated) < len(text) else text


def condition(feature: Feature, codes: Collection[int], among: Collection[int] | None = None) -> str:
    """A condition in words: "class is 3rd or crew"."""
    return f"{printable(feature.name)} is {some_values(feature, codes, among)}"


def spelt_out(feature: Feature, codes: Collection[int]) -> str:
    """A condition with every value named, however many there are: what a shortened one stands for.

    >>> spelt_out(Feature.nominal("class", ("1st", "2nd", "3rd", "crew")), {0, 1, 2})
    'class is 1st, 2nd or 3rd'
    """
    if feature.ordered:
        values = _ranged(feature, sorted(codes))
    else:
        *some, last = [one_value(feature, feature.values[code], LONGEST_HINT) for code in sorted(codes)]
        values = f"{', '.join(some)} or {last}" if some else last
    return printable(f"{printable(feature.name, LONGEST_HINT)} is {values}", LONGEST_HINT)


def one_value(feature: Feature, value: Value, longest: int = LONGEST_LABEL) -> str:
    """One value of a feature in words."""
    return _interval(feature, *value) if isinstance(value, Bin) else plain_value(value, longest)


def plain_value(value: object, longest: int = LONGEST_LABEL) -> str:
    """A value of a table: numbers short, missing by its name, text with blanks around it in quotes.

    >>> plain_value(None), plain_value(31.5), plain_value(True), plain_value("crew"), plain_value("")
    ('missing', '31.5', 'true', 'crew', '""')
    >>> plain_value(-(10**5000))
    'about -10^5000'
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        text = f"about {'-' * (value < 0)}10^{round(value.bit_length() * math.log10(2))}"
    else:
        text = number(value) if isinstance(value, float) else str(value)
    return printable(text if text.strip() == text and text else f'"{text}"', longest)


def nats(difference: float) -> str:
    """A difference of log posteriors.

    >>> nats(1.0), nats(2.5)
    ('1 nat', '2.5 nats')
    """
    return f"{difference:g} {'nat' if difference == 1 else 'nats'}"


def number(x: float) -> str:
    """A number as short as it can be said: whole numbers in full, others to ten digits.

    >>> number(2201.0), number(0.125), number(1.5500000000000003)
    ('2201', '0.125', '1.55')
    """
    return str(int(x)) if math.isfinite(x) and x == int(x) and abs(x) < 1e15 else f"{x:.10g}"


def count(x: float) -> str:
    """A weight: whole numbers with thousands separators, others to six digits."""
    return f"{int(x):,}" if math.isfinite(x) and x == int(x) and abs(x) < 1e15 else f"{x:,.6g}"


def counted(n: float, one: str, many: str) -> str:
    """A number with its noun: 1 leaf, 9 leaves."""
    return f"{count(n)} {one if n == 1 else many}"


def enumerated(texts: Sequence[str]) -> str:
    """Several things in one sentence.

    >>> enumerated(["a"]), enumerated(["a", "b"]), enumerated(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *some, last = texts
    return f"{', '.join(some)} and {last}" if some else last


def amount(weight: float, name: str) -> str:
    """What a table weighs.

    >>> amount(1, "rows"), amount(2201, "rows"), amount(19.5, "weight")
    ('1 row', '2,201 rows', 'total weight 19.5')
    """
    return counted(weight, "row", "rows") if name == "rows" else f"total weight {count(weight)}"


def percent(share: float) -> str:
    """A share in percent, to three digits.

    >>> percent(0.38943), percent(0.0000012), percent(0.99999), percent(1.0)
    ('38.9 %', '0.000120 %', 'over 99.9 %', '100 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return f"{100 * share:#.3g}".removesuffix(".") + " %" if share else "0 %"


def about(share: float) -> str:
    """A share in percent, as short as it can be said.

    >>> about(0.884), about(0.004), about(0.0001), about(0.9971), about(1.0), about(0.0)
    ('88 %', '0.4 %', 'under 0.1 %', 'over 99 %', '100 %', '0 %')
    """
    if 0.995 <= share < 1:
        return "over 99 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.0095 else f"{100 * share:.0f} %"


def observed(share: float) -> str:
    """The share of the rows that was seen.

    >>> observed(0.037), observed(0.0)
    ('3.70 %', 'no record')
    """
    return percent(share) if share else "no record"


def of_all_records(share: float, expected: float) -> str:
    """The share that was seen and, if it reads differently, the share that a model expects.

    >>> of_all_records(0.037, 0.0382), of_all_records(0.0, 0.0000198), of_all_records(0.39, 0.39)
    ('3.70 % of all records (3.82 % expected)', 'no record (0.00198 % expected)', '39.0 % of all records')
    """
    seen = f"{percent(share)} of all records" if share else "no record"
    return seen if percent(share) == percent(expected) else f"{seen} ({percent(expected)} expected)"


def rarity(unusualness: float) -> str:
    """How rare a record is, by the share of expected records that are more common.

    >>> rarity(0.9957), rarity(0.99999), rarity(0.0)
    ('rarer than 99.6 % of expected records', 'rarer than 99.9 % of expected records', 'among the most common records')
    """
    if unusualness < 0.0005:
        return "among the most common records"
    return f"rarer than {percent(unusualness).removeprefix('over ')} of expected records"


def p_value(p: float) -> str:
    """A p-value with its sign, to three digits.

    >>> p_value(0.5678), p_value(0.0)
    ('p = 0.568', 'p < 1e-300')
    """
    return f"p = {p:.3g}" if p >= 1e-300 else "p < 1e-300"


def from_log(log: float) -> str:
    """A positive number given by its natural log, which may be far beyond a float.

    >>> from_log(math.log(24)), from_log(1000.0), from_log(-math.inf)
    ('24', '1.97e+434', '0')
    """
    if log == -math.inf:
        return "0"
    if abs(log) < math.log(1e6):
        return f"{round(math.exp(log), 9):,.6g}"
    exponent = math.floor(log / math.log(10))
    return f"{math.exp(log - exponent * math.log(10)):.2f}e{exponent:+03d}"


def density(log: float) -> str:
    """A density given by its natural log, to three digits."""
    return from_log(log) if abs(log) > 700 else f"{math.exp(log):.3g}"


def sayable(log: float) -> str:
    """A positive number given by its natural log, as a person would say it.

    >>> [sayable(math.log(x)) for x in (0.0123, 77.77, 999.9, 13_123, 999_999, 4.42e12, 2.1e40)]
    ['0.0123', '77.8', '1,000', '13,000', '1 million', '4.4 trillion', '2 × 10^40']
    """
    exponent = math.floor(log / math.log(10) + 1e-9)
    if exponent >= 15:
        mantissa = round(math.exp(log - exponent * math.log(10)))
        return f"{mantissa} × 10^{exponent}" if mantissa < 10 else f"1 × 10^{exponent + 1}"
    exact = float(f"{math.exp(log):.6g}") * (1 + 1e-9)  # ties go up, as in the page's script
    if exact < 999.5:
        return f"{exact:.3g}"
    value = float(f"{exact:.2g}")
    size, name = next(((size, f" {name}") for size, name in LARGE_NUMBERS if value >= size), (1.0, ""))
    return f"{value / size:,.4g}{name}" if name else f"{value:,.0f}"


def room(width: int | None, least: int = 60) -> int:
    """The width to write in: as asked, or that of the terminal, but never too narrow to read."""
    return max(least, width or shutil.get_terminal_size((100, 24)).columns)


def printable(text: object, longest: int = LONGEST_LABEL) -> str:
    r"""Text that is safe to print: control characters are spelt out and very long labels shortened.

    The joiners that emoji and some scripts are written with stay.

    >>> printable("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    safe = str(text)
    if not safe.isprintable():
        safe = "".join(
            c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode("ascii") for c in safe
        )
    return safe if len(safe) <= longest else f"{safe[: longest - 1]}…"


def _listed(feature: Feature, codes: Sequence[int], word: str) -> str:
    if len(codes) > LONGEST_LIST:
        first = ", ".join(one_value(feature, feature.values[code]) for code in codes[:NAMED])
        return f"one of {len(codes)} values ({first}, …)"
    *some, last = [one_value(feature, feature.values[code]) for code in codes]
    return f"{', '.join(some)} {word} {last}" if some else last


def _ranged(feature: Feature, codes: Sequence[int]) -> str:
    """Runs of an ordered feature, and missing if it has joined one."""
    parts = [_run(feature, run) for run in runs_of([code for code in codes if code != feature.missing])]
    return " or ".join([*parts, "missing"] if feature.missing in codes else parts)


def _run(feature: Feature, run: Sequence[int]) -> str:
    first, last = feature.values[run[0]], feature.values[run[-1]]
    if isinstance(first, Bin) and isinstance(last, Bin):
        return _interval(feature, first.low, last.high)
    if len(run) <= 2:
        return _listed(feature, run, "or")
    return f"{one_value(feature, first)} to {one_value(feature, last)}"


def runs_of(codes: Sequence[int]) -> list[list[int]]:
    """Whole numbers in order as runs of neighbours."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][-1] == code - 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs


def _interval(feature: Feature, low: float, high: float) -> str:
    """Two ends with as many digits as tell the bins apart; whole numbers and periods include the upper end."""
    if feature.period is not None:
        return periods.label(feature.period, low, high - 1)
    if feature.integer:
        high = max(low, high - 1)
    elif low < high:
        narrowest = min(feature.measures)
        digits = max(0, 2 - math.floor(math.log10(narrowest)))
        low, high = round(low, digits), round(high, digits)
    return number(low) if low == high else f"{number(low)} to {number(high)}"
