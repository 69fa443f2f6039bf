"""The sets that others published: what they are, whose they are, where their files lie, and what must come out.

A record is all there is to a set. Its *forms* are the ways in which it may arrive: the files of a form, and the
function of :mod:`reproduction.datasets.prepare` that makes the paper's table of them. What comes out is held against
the counts that the paper prints and against the digest of a copy that has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import polars as pl

from reproduction.datasets import prepare
from reproduction.datasets.digest import digest

UCI = "https://archive.ics.uci.edu"
UCI_ZIP = f"{UCI}/static/public"
UCI_OLD = f"{UCI}/ml/machine-learning-databases"
GITHUB = "https://raw.githubusercontent.com"
CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class PublishedFile:
    """A published file, and where it can be fetched: by itself, or inside a zip archive."""

    name: str
    addresses: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What a file is called that has it: itself, or an archive."""
        return tuple(dict.fromkeys((self.name, *map(file_name, self.addresses))))


@dataclass(frozen=True)
class PublishedForm:
    """Files, each with as many addresses as the others, and what the paper's table is made with."""

    files: tuple[PublishedFile, ...]
    prepare: Callable[..., pl.DataFrame]


@dataclass(frozen=True)
class PublishedSet:
    """A published set."""

    name: str
    title: str
    source: str
    """The page that a person would visit."""
    licence: str
    prepared: str
    """How the table differs from what was published."""
    rows: int
    columns: int
    pairs: int
    digest: str
    forms: tuple[PublishedForm, ...]
    digest_rows: int | None = None
    """How many rows the digest is of, if it is only known of the first."""
    stand_in: str | None = None
    """Something like it that is made on the spot."""

    @property
    def description(self) -> str:
        """One line."""
        return f"{self.title}; {self.prepared}."

    def differences(self, frame: pl.DataFrame) -> str:
        """In what a table is not the one that the paper used, in words; nothing if it is."""
        found = (frame.height, frame.width, sum(frame[name].n_unique() for name in frame.columns))
        expected = (self.rows, self.columns, self.pairs)
        words = ("rows", "columns", "feature-value pairs")
        off = [
            f"{has:,} {word} instead of {wanted:,}"
            for has, wanted, word in zip(found, expected, words, strict=True)
            if has != wanted
        ]
        if not off and digest(frame[: self.digest_rows]) != self.digest:
            return "as many rows, columns and values, but others"
        return ", ".join(off)


def file_name(address: str) -> str:
    """The last part of an address.

    >>> file_name("https://archive.ics.uci.edu/static/public/222/bank%2Bmarketing.zip")
    'bank+marketing.zip'
    """
    return PurePosixPath(unquote(urlsplit(address).path)).name


SETS = (
    ("bank_full", "UCI Bank Marketing", f"{UCI}/dataset/222/bank+marketing", CC_BY,
     "twelve features, their numbers in ranges"),
    ("chess_krkp", "UCI Chess, King-Rook vs. King-Pawn", f"{UCI}/dataset/22/chess+king+rook+vs+king+pawn", CC_BY,
     "without the class"),
    ("coco_thing", "COCO 2017, which things are in an image", "https://cocodataset.org", CC_BY,
     "one column per category, without images that have no thing"),
    ("compas", "COMPAS, ProPublica's two-year file as CORELS has it",
     "https://github.com/propublica/compas-analysis", "none stated by ProPublica; CORELS: GPL-3.0",
     "without the label"),
    ("heloc", "FICO Home Equity Line of Credit",
     "https://community.fico.com/s/explainable-machine-learning-challenge",
     "the terms of FICO's Explainable Machine Learning Challenge", "every feature cut in ten bins, without the label"),
    ("mushroom", "UCI Mushroom", f"{UCI}/dataset/73/mushroom", CC_BY,
     "with the class, without rows that miss a value"),
    ("telco_churn", "IBM Telco Customer Churn", "https://github.com/IBM/telco-customer-churn-on-icp4d",
     "IBM sample data", "three features cut in ten bins, without churn and rows that miss a value"),
    ("us_census_1990", "UCI US Census Data (1990)", f"{UCI}/dataset/116/us+census+data+1990", CC_BY,
     "without the number of the case"),
)  # fmt: skip
"""Name, title, source, licence, and how the table differs from what was published."""

COUNTS = {
    "bank_full": (45211, 12, 51, "d9258443ecae27bc1a8fa0a1b518a9336773a38a5a57f358f93ed40658ea6d69"),
    "chess_krkp": (3196, 36, 73, "88da20c5cf37217e86dc54f0707ff9f0f823fee78634fe4ff18ae5559faa18a4"),
    "coco_thing": (122218, 80, 160, "84f4d93e8e3a5e3dcf99721a3052d5bc82df3e8f5899f633895f46724163f9e2"),
    "compas": (7210, 7, 19, "2ce876f00aa8c79fdf571916a64bb699164dcd9f25ff577330a62f4068887e0a"),
    "heloc": (10459, 23, 195, "007c254be70cb0a35763d5c87c7806d9cfd4e81c6a0a9a20069f7bd533285f98"),
    "mushroom": (5644, 23, 100, "f39ab226706a05b035c39c929db6cf4dc9fba18879226b1ba5ece73890100377"),
    "telco_churn": (7032, 19, 73, "66e87c482f761fb1cb0312eacb4d2378d26309227c3310921a4a6bfdcb30f3cc"),
    "us_census_1990": (2458285, 68, 396, "7599f7545d63b949635b4c3cd8ee2097b1e76e8f0fa1500eb8ede95fe8915c4f"),
}
"""Rows, columns, feature-value pairs, and the digest of a table that has them."""

PARTLY_KNOWN = {"us_census_1990": (1000, "census_like")}
"""How many rows the digest is of, and what is like the set."""

FILES = (
    ("bank_full", prepare.bank_full, ("bank-full.csv",),
     (f"{UCI_ZIP}/222/bank+marketing.zip", f"{UCI_OLD}/00222/bank.zip")),
    ("chess_krkp", prepare.chess_krkp, ("kr-vs-kp.data",),
     (f"{UCI_ZIP}/22/chess+king+rook+vs+king+pawn.zip", f"{UCI_OLD}/chess/king-rook-vs-king-pawn/{{}}")),
    ("coco_thing", prepare.coco_thing, ("instances_train2017.json", "instances_val2017.json"),
     ("http://images.cocodataset.org/annotations/annotations_trainval2017.zip",)),
    ("compas", prepare.compas_of_corels, ("compas_train.csv", "compas_test.csv"),
     (f"{GITHUB}/nlarusstone/corels/master/data/{{}}",)),
    ("compas", prepare.compas_of_propublica, ("compas-scores-two-years.csv",),
     (f"{GITHUB}/propublica/compas-analysis/master/{{}}",)),
    ("heloc", prepare.heloc, ("heloc_dataset_v1.csv",), (f"{GITHUB}/csinva/imodels-data/master/data/fico/{{}}",)),
    ("mushroom", prepare.mushroom, ("agaricus-lepiota.data",),
     (f"{UCI_ZIP}/73/mushroom.zip", f"{UCI_OLD}/mushroom/{{}}")),
    ("telco_churn", prepare.telco_churn, ("WA_Fn-UseC_-Telco-Customer-Churn.csv",),
     (f"{GITHUB}/IBM/telco-customer-churn-on-icp4d/master/data/Telco-Customer-Churn.csv",)),
    ("us_census_1990", prepare.us_census_1990, ("USCensus1990.data.txt",),
     (f"{UCI_ZIP}/116/us+census+data+1990.zip", f"{UCI_OLD}/census1990-mld/{{}}")),
)  # fmt: skip
"""A set, what prepares it, its files, and their addresses, in which braces stand for the name of the file."""


def _forms(name: str) -> tuple[PublishedForm, ...]:
    return tuple(
        PublishedForm(
            tuple(PublishedFile(file, tuple(address.format(file) for address in addresses)) for file in files),
            prepared_by,
        )
        for of, prepared_by, files, addresses in FILES
        if of == name
    )


PUBLISHED = {
    name: PublishedSet(name, title, source, licence, prepared, *COUNTS[name], _forms(name), *PARTLY_KNOWN.get(name, ()))
    for name, title, source, licence, prepared in SETS
}
"""By name. The addresses were looked up in public sources and not tried."""
