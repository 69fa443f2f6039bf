"""The tables of the gallery that are made up: each has a story, so that one knows what there is to find."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

Values = NDArray[np.str_]


def pick(rng: np.random.Generator, rows: int, shares: Mapping[str, float]) -> Values:
    """So many values, drawn by their shares."""
    return rng.choice([*shares], rows, p=np.array([*shares.values()]) / sum(shares.values()))


# --8<-- [start:claims]
def claims(rows: int = 4000, seed: int = 0) -> pl.DataFrame:
    """Motor claims: hail falls in the warm seasons, thefts are reported, and sixty claims are one story."""
    rng = np.random.default_rng(seed)
    cause = pick(rng, rows, {"collision": 52, "glass": 22, "theft": 14, "hail": 12})
    season = pick(rng, rows, {"spring": 25, "summer": 25, "autumn": 25, "winter": 25})
    reported = {"collision": 0.45, "glass": 0.03, "theft": 0.99, "hail": 0.01}
    called = np.array([reported[one] for one in cause.tolist()]) > rng.random(rows)
    honest = {
        "cause": cause,
        "season": np.where(cause == "hail", pick(rng, rows, {"spring": 35, "summer": 65}), season),
        "police": np.where(called, "called", "not called"),
        "lawyer": pick(rng, rows, {"no": 94, "yes": 6}),
    }
    alike = dict(zip(honest, ("glass", "autumn", "called", "yes"), strict=True))
    table = pl.concat([pl.DataFrame(honest), pl.DataFrame([alike] * 60)])
    return table[rng.permutation(table.height)]


# --8<-- [end:claims]


# --8<-- [start:survey]
def survey(rows: int = 3000, seed: int = 0) -> pl.DataFrame:
    """Answers about work and income: the young are hard to reach, the self-employed keep silent about money."""
    rng = np.random.default_rng(seed)
    ages = {"18-29": 8, "30-44": 26, "45-64": 36, "65+": 30}
    age = pick(rng, rows, ages)
    work = pick(rng, rows, {"employed": 65, "self-employed": 20, "at home": 15})
    work = np.where(age == "18-29", pick(rng, rows, {"student": 55, "employed": 45}), work)
    work = np.where(age == "65+", "retired", work)
    income = pick(rng, rows, {"low": 50, "middle": 40, "high": 10})
    income = np.where(work == "employed", pick(rng, rows, {"low": 15, "middle": 55, "high": 30}), income)
    told = pl.Series(rng.random(rows) > np.where(work == "self-employed", 0.7, 0.05))
    return pl.DataFrame({"age": age, "work": work, "income": income}).with_columns(
        pl.col("age").cast(pl.Enum([*ages])),
        pl.when(told).then("income").cast(pl.Enum(["low", "middle", "high"])).alias("income"),
        weight=pl.when(pl.col("age") == "18-29").then(2.4).otherwise(0.88),
    )


# --8<-- [end:survey]


# --8<-- [start:baskets]
BASKETS = {
    "breakfast": (40, ("milk", "bread", "eggs", "coffee")),
    "barbecue": (22, ("sausages", "buns", "charcoal", "beer")),
    "a baby": (18, ("nappies", "wipes", "baby food", "milk")),
    "dinner for two": (20, ("wine", "cheese", "flowers", "bread")),
}


def baskets(rows: int = 3000, seed: int = 0) -> pl.DataFrame:
    """Shopping baskets for four occasions: most of what belongs to one is in them, and little else."""
    rng = np.random.default_rng(seed)
    occasion = pick(rng, rows, {name: share for name, (share, _) in BASKETS.items()})
    table = {}
    for product in dict.fromkeys(product for _, products in BASKETS.values() for product in products):
        wanted = np.isin(occasion, [name for name, (_, products) in BASKETS.items() if product in products])
        table[product] = np.where(rng.random(rows) < np.where(wanted, 0.8, 0.05), "yes", "no")
    return pl.DataFrame(table)


# --8<-- [end:baskets]


BINS = {"hour": [0, 2, 4, 7, 11, 14, 18, 23], "milliseconds": [0, 100, 300, 1000, 10000]}
"""Ranges for the requests of a shop."""
FIRST, RELEASE = date(2026, 3, 2), date(2026, 3, 9)


# --8<-- [start:requests]
def requests(rows: int = 6000, seed: int = 0) -> pl.DataFrame:
    """Two weeks of a web shop: a backup slows the nights; since the release the checkout is slow at noon."""
    rng = np.random.default_rng(seed)
    minute = np.sort(rng.integers(0, 14 * 24 * 60, rows))
    hour, day = minute // 60 % 24, minute // 60 // 24
    service = pick(rng, rows, {"search": 40, "images": 25, "cart": 20, "checkout": 15})
    at_noon = (day >= (RELEASE - FIRST).days) & (service == "checkout") & (hour >= 11) & (hour < 14)
    slower = np.where((hour >= 2) & (hour < 4), 8.0, np.where(at_noon, 40.0, 1.0))
    failed = rng.random(rows) < np.where(at_noon, 0.3, 0.01)
    return pl.DataFrame(
        {
            "day": [FIRST + timedelta(days=one) for one in day.tolist()],
            "hour": hour,
            "service": service,
            "status": np.where(failed, "error", "ok"),
            "milliseconds": (rng.lognormal(4.0, 0.5, rows) * slower).round(1),
        }
    )


# --8<-- [end:requests]
