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


@dataclass(frozen=True, kw_only=True)
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
    digest_rows: int | None = None
    """How many rows the digest is of, if it is only known of the first."""
    forms: tuple[PublishedForm, ...]
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


def _one_file(prepared_by: Callable[..., pl.DataFrame], name: str, *addresses: str) -> tuple[PublishedForm]:
    return (PublishedForm((PublishedFile(name, addresses),), prepared_by),)


COCO_ARCHIVE = "http://images.cocodataset.org/annotations/annotations_trainval2017.zip"
COCO_FORM = PublishedForm(
    tuple(PublishedFile(f"instances_{part}2017.json", (COCO_ARCHIVE,)) for part in ("train", "val")), prepare.coco_thing
)
CORELS_FORM = PublishedForm(
    tuple(
        PublishedFile(name, (f"{GITHUB}/nlarusstone/corels/master/data/{name}",))
        for name in ("compas_train.csv", "compas_test.csv")
    ),
    prepare.compas_of_corels,
)
RECORDS = (
    PublishedSet(
        name="bank_full",
        title="UCI Bank Marketing",
        source=f"{UCI}/dataset/222/bank+marketing",
        licence=CC_BY,
        prepared="twelve features, their numbers in ranges",
        rows=45211,
        columns=12,
        pairs=51,
        digest="d9258443ecae27bc1a8fa0a1b518a9336773a38a5a57f358f93ed40658ea6d69",
        forms=_one_file(
            prepare.bank_full,
            "bank-full.csv",
            f"{UCI}/static/public/222/bank+marketing.zip",
            f"{UCI_OLD}/00222/bank.zip",
        ),
    ),
    PublishedSet(
        name="chess_krkp",
        title="UCI Chess, King-Rook vs. King-Pawn",
        source=f"{UCI}/dataset/22/chess+king+rook+vs+king+pawn",
        licence=CC_BY,
        prepared="without the class",
        rows=3196,
        columns=36,
        pairs=73,
        digest="88da20c5cf37217e86dc54f0707ff9f0f823fee78634fe4ff18ae5559faa18a4",
        forms=_one_file(
            prepare.chess_krkp,
            "kr-vs-kp.data",
            f"{UCI}/static/public/22/chess+king+rook+vs+king+pawn.zip",
            f"{UCI_OLD}/chess/king-rook-vs-king-pawn/kr-vs-kp.data",
        ),
    ),
    PublishedSet(
        name="coco_thing",
        title="COCO 2017, which things are in an image",
        source="https://cocodataset.org",
        licence=CC_BY,
        prepared="one column per category, without images that have no thing",
        rows=122218,
        columns=80,
        pairs=160,
        digest="84f4d93e8e3a5e3dcf99721a3052d5bc82df3e8f5899f633895f46724163f9e2",
        forms=(COCO_FORM,),
    ),
    PublishedSet(
        name="compas",
        title="COMPAS, ProPublica's two-year file as CORELS has it",
        source="https://github.com/propublica/compas-analysis",
        licence="none stated by ProPublica; CORELS: GPL-3.0",
        prepared="without the label",
        rows=7210,
        columns=7,
        pairs=19,
        digest="2ce876f00aa8c79fdf571916a64bb699164dcd9f25ff577330a62f4068887e0a",
        forms=(
            CORELS_FORM,
            *_one_file(
                prepare.compas_of_propublica,
                "compas-scores-two-years.csv",
                f"{GITHUB}/propublica/compas-analysis/master/compas-scores-two-years.csv",
            ),
        ),
    ),
    PublishedSet(
        name="heloc",
        title="FICO Home Equity Line of Credit",
        source="https://community.fico.com/s/explainable-machine-learning-challenge",
        licence="the terms of FICO's Explainable Machine Learning Challenge",
        prepared="every feature cut in ten bins, without the label",
        rows=10459,
        columns=23,
        pairs=195,
        digest="007c254be70cb0a35763d5c87c7806d9cfd4e81c6a0a9a20069f7bd533285f98",
        forms=_one_file(
            prepare.heloc,
            "heloc_dataset_v1.csv",
            f"{GITHUB}/csinva/imodels-data/master/data/fico/heloc_dataset_v1.csv",
        ),
    ),
    PublishedSet(
        name="mushroom",
        title="UCI Mushroom",
        source=f"{UCI}/dataset/73/mushroom",
        licence=CC_BY,
        prepared="with the class, without rows that miss a value",
        rows=5644,
        columns=23,
        pairs=100,
        digest="f39ab226706a05b035c39c929db6cf4dc9fba18879226b1ba5ece73890100377",
        forms=_one_file(
            prepare.mushroom,
            "agaricus-lepiota.data",
            f"{UCI}/static/public/73/mushroom.zip",
            f"{UCI_OLD}/mushroom/agaricus-lepiota.data",
        ),
    ),
    PublishedSet(
        name="telco_churn",
        title="IBM Telco Customer Churn",
        source="https://github.com/IBM/telco-customer-churn-on-icp4d",
        licence="IBM sample data",
        prepared="three features cut in ten bins, without churn and rows that miss a value",
        rows=7032,
        columns=19,
        pairs=73,
        digest="66e87c482f761fb1cb0312eacb4d2378d26309227c3310921a4a6bfdcb30f3cc",
        forms=_one_file(
            prepare.telco_churn,
            "WA_Fn-UseC_-Telco-Customer-Churn.csv",
            f"{GITHUB}/IBM/telco-customer-churn-on-icp4d/master/data/Telco-Customer-Churn.csv",
        ),
    ),
    PublishedSet(
        name="us_census_1990",
        title="UCI US Census Data (1990)",
        source=f"{UCI}/dataset/116/us+census+data+1990",
        licence=CC_BY,
        prepared="without the number of the case",
        rows=2458285,
        columns=68,
        pairs=396,
        digest="7599f7545d63b949635b4c3cd8ee2097b1e76e8f0fa1500eb8ede95fe8915c4f",
        digest_rows=1000,
        forms=_one_file(
            prepare.us_census_1990,
            "USCensus1990.data.txt",
            f"{UCI}/static/public/116/us+census+data+1990.zip",
            f"{UCI_OLD}/census1990-mld/USCensus1990.data.txt",
        ),
        stand_in="census_like",
    ),
)
PUBLISHED = {record.name: record for record in RECORDS}
"""By name. The addresses were looked up in public sources and not tried."""
