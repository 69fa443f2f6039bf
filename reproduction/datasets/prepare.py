"""From the files that were published to the table that the paper used.

A preparation takes the open files of a form, in the order in which the form names them, and gives a table. What the
paper says about it is short (rows with missing values dropped, some features cut in ten bins); what it does not say was
found by matching its counts of rows, features and values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reproduction.datasets.census import SIZES

BINS = 10

MUSHROOM = (
    "class", "cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment", "gill-spacing", "gill-size",
    "gill-color", "stalk-shape", "stalk-root", "stalk-surface-above-ring", "stalk-surface-below-ring",
    "stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "veil-color", "ring-number", "ring-type",
    "spore-print-color", "population", "habitat",
)  # fmt: skip
CHESS = (
    "bkblk", "bknwy", "bkon8", "bkona", "bkspr", "bkxbq", "bkxcr", "bkxwp", "blxwp", "bxqsq", "cntxt", "dsopp", "dwipd",
    "hdchk", "katri", "mulch", "qxmsq", "r2ar8", "reskd", "reskr", "rimmx", "rkxwp", "rxmsq", "simpl", "skach", "skewr",
    "skrxp", "spcop", "stlmt", "thrsk", "wkcti", "wkna8", "wknck", "wkovl", "wkpos", "wtoeg",
)  # fmt: skip
COMPAS = (
    "sex", "age", "juvenile-felonies", "juvenile-misdemeanors", "juvenile-crimes", "priors", "current-charge-degree",
)  # fmt: skip
NOT_IN_CORELS = (
    ("Male", ">45", "=0", "=0", "=0", "=0", "Felony"),
    ("Female", "26-45", "=0", "=0", "=0", "2-3", "Misdemeanor"),
    ("Male", "23-25", "=0", "=0", "=0", "=0", "Felony"),
    ("Female", "23-25", "=0", "=0", "=0", "2-3", "Felony"),
)
"""What ProPublica's 7,214 people have and the 7,210 of CORELS lack: one person of each kind."""


def mushroom(file: IO[bytes]) -> pl.DataFrame:
    """Rows with a missing stalk root are dropped, the class is kept."""
    return _headless(file, MUSHROOM).filter(pl.col("stalk-root") != "?")


def chess_krkp(file: IO[bytes]) -> pl.DataFrame:
    """The class is dropped."""
    return _headless(file, (*CHESS, "class")).drop("class")


def bank_full(file: IO[bytes]) -> pl.DataFrame:
    """Twelve features in the ranges of Chen and Rudin (2018), as far as those are known."""
    rows = _headed(file, separator=";")
    thousands = [f"{low}-{low + 999}" for low in range(0, 5000, 1000)]
    return rows.select(
        _ranges(rows["age"], (30, 40, 50, 60), ("17-29", "30-39", "40-49", "50-59", "60-99")),
        "job", "marital", "education", "default",
        _ranges(rows["balance"], (0, *range(1000, 6000, 1000), 10000), ("<0", *thousands, "5000-9999", ">=10000")),
        "housing", "loan", "contact",
        _ranges(rows["campaign"], (2, 3), ("1", "2", ">=3")),
        _ranges(rows["previous"], (1, 2), ("0", "1", ">=2")),
        "poutcome",
    )  # fmt: skip


def compas_of_corels(train: IO[bytes], test: IO[bytes]) -> pl.DataFrame:
    """The training and the test file of CORELS, one after the other; the label is dropped."""
    return pl.concat([_headed(train), _headed(test)]).select(COMPAS)


def compas_of_propublica(file: IO[bytes]) -> pl.DataFrame:
    """The features of CORELS from ProPublica's counts, without the four people that CORELS lacks."""
    rows = _headed(file)
    felonies, misdemeanors, other, priors = (
        rows[name].cast(pl.Int64)
        for name in ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
    )  # fmt: skip
    none = ("=0", ">0")
    degree = rows["c_charge_degree"].replace_strict({"F": "Felony", "M": "Misdemeanor"}, return_dtype=pl.String)
    features = (
        rows["sex"],
        _ranges(rows["age"], (21, 23, 26, 46), ("18-20", "21-22", "23-25", "26-45", ">45")),
        _ranges(felonies, (1,), none),
        _ranges(misdemeanors, (1,), none),
        _ranges(felonies + misdemeanors + other, (1,), none),
        _ranges(priors, (1, 2, 4), ("=0", "=1", "2-3", ">3")),
        degree,
    )
    people = pl.DataFrame(dict(zip(COMPAS, features, strict=True)))
    lacking = pl.DataFrame(NOT_IN_CORELS, schema=COMPAS, orient="row").with_columns(nth=pl.lit(0, pl.UInt32))
    nth = people.with_columns(nth=pl.int_range(pl.len(), dtype=pl.UInt32).over(COMPAS))
    return nth.join(lacking, on=nth.columns, how="anti", maintain_order="left").drop("nth")


def heloc(file: IO[bytes]) -> pl.DataFrame:
    """The label is dropped; every feature, its special codes -7, -8, -9 among the numbers, is cut in ten bins."""
    rows = _headed(file).drop("RiskPerformance")
    return rows.select(_cut(column) for column in rows)


def telco_churn(file: IO[bytes]) -> pl.DataFrame:
    """Customers without total charges are dropped, number and churn too; three features are cut in ten bins."""
    rows = _headed(file).filter(pl.col("TotalCharges").str.strip_chars() != "").drop("customerID", "Churn")
    return rows.with_columns(_cut(rows[name]) for name in ("tenure", "MonthlyCharges", "TotalCharges"))


def us_census_1990(file: IO[bytes]) -> pl.DataFrame:
    """The number of the case is dropped."""
    return pl.read_csv(file.read(), columns=list(SIZES), schema_overrides=dict.fromkeys(SIZES, pl.Int16))


def coco_thing(train: IO[bytes], validation: IO[bytes]) -> pl.DataFrame:
    """One row per image, one column per category: 1 if the image has an instance of it.

    Training images come first, each half by number; images without any instance are left out.
    """
    return pl.concat([_image_labels(train), _image_labels(validation)])


def typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of nothing but whole numbers become numbers, in the smallest type that holds them."""
    return frame.select(map(_typed, frame))


def cut(values: NDArray[np.float64], bins: int = BINS) -> NDArray[np.int64]:
    """The number of the bin of every value, in bins of equal width: the codes of ``pandas.cut(values, bins)``.

    >>> cut(np.array([0.0, 0.1, 5.0, 5.1, 10.0])).tolist()
    [0, 0, 4, 5, 9]
    """
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = (end + sign * 0.001 * (abs(low) or 1) for end, sign in ((low, -1), (high, 1)))
        edges = np.linspace(low, high, bins + 1)
    else:
        edges = np.linspace(low, high, bins + 1)
        edges[0] -= (high - low) * 0.001
    codes: NDArray[np.int64] = np.searchsorted(edges, values, side="left") - 1
    return codes


def _cut(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, cut(column.str.strip_chars().cast(pl.Float64).to_numpy()))


def _ranges(column: pl.Series, starts: Sequence[int], labels: Sequence[str]) -> pl.Series:
    """The label of the range in which every number lies; the second range begins at the first start."""
    numbers = column.cast(pl.Int64).to_numpy()
    return pl.Series(labels).gather(np.searchsorted(starts, numbers, side="right")).alias(column.name)


def _typed(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if numbers.null_count() or not (numbers.cast(pl.String) == column).all():
            return column
        column = numbers
    return column.shrink_dtype() if column.dtype.is_integer() else column


def _headed(file: IO[bytes], separator: str = ",") -> pl.DataFrame:
    """A CSV file with a header, every value as text."""
    return _without_blanks(pl.read_csv(file.read(), separator=separator, infer_schema=False))


def _headless(file: IO[bytes], columns: Sequence[str]) -> pl.DataFrame:
    """A CSV file without a header, every value as text."""
    return _without_blanks(pl.read_csv(file.read(), has_header=False, new_columns=columns, infer_schema=False))


def _without_blanks(frame: pl.DataFrame) -> pl.DataFrame:
    """Some copies end with blank lines, which are read as rows of nothing."""
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _image_labels(file: IO[bytes]) -> pl.DataFrame:
    pairs, names = _instances(file.read().decode("utf-8"))
    images, row = np.unique(pairs[:, 0], return_inverse=True)
    ids = np.array(sorted(names))
    labels = np.zeros((len(images), len(ids)), np.int8)
    labels[row, np.searchsorted(ids, pairs[:, 1])] = 1
    columns = {names[number]: labels[:, place] for place, number in enumerate(ids.tolist())}
    return pl.DataFrame({name: columns[name] for name in sorted(columns)})


def _instances(text: str) -> tuple[NDArray[np.int64], dict[int, str]]:
    """The (image, category) of every annotation of a COCO file, and the names of the categories."""
    pairs: list[tuple[int, int]] = []
    names: dict[int, str] = {}
    for part, item in _items(text):
        if part == "annotations":
            pairs.append((item["image_id"], item["category_id"]))
        elif part == "categories":
            names[item["id"]] = item["name"]
    return np.array(pairs, np.int64).reshape(-1, 2), names


def _items(text: str) -> Iterator[tuple[str, Any]]:
    """Every item of every list of a JSON object, with the name of its list; one at a time, for there are a million."""
    decode, space = json.JSONDecoder().raw_decode, re.compile(r"\s*")

    def skip(place: int) -> int:
        return space.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing at least

    place = skip(skip(0) + 1)
    while text[place] != "}":
        name, place = decode(text, place)
        place = skip(skip(place) + 1)  # over the colon
        if text[place] == "[":
            place = skip(place + 1)
            while text[place] != "]":
                item, place = decode(text, place)
                yield name, item
                place = _over_comma(text, skip(place), skip)
            place += 1
        else:
            _, place = decode(text, place)
        place = _over_comma(text, skip(place), skip)


def _over_comma(text: str, place: int, skip: Any) -> int:
    return int(skip(place + 1)) if text[place] == "," else place
