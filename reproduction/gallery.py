"""``python -m reproduction gallery``: tables of the paper for the gallery of the documentation, as pictures and words.

A page is written by hand, but for the numbers on it: these stand between two marks, and the command writes them. No row
of a table goes into the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from docs.drawing import GALLERY as WIDTH
from docs.drawing import on_a_page
from reproduction import datasets
from reproduction.datasets.words import bank_in_words, compas_in_words, labels_in_words, mushroom_in_words
from sparsedensity import BranchSparseTree, LeafSparseTree, compare
from sparsedensity.errors import DataError
from sparsedensity.report import path_svg
from sparsedensity.report.path import SparsityPath
from sparsedensity.writing import write_text

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
BEGIN, END = "<!-- written by: python -m reproduction gallery -->\n", "<!-- end of what it wrote -->"
COCO_TRAINING = 117_266
"""The first rows of COCO are the training images of 2017, the others those for validation."""


@dataclass(frozen=True)
class Exhibit:
    """A table of the gallery: how it is read, the model that shows it, and what is said of them."""

    table: str
    model: Any
    facts: Callable[[Any, pl.DataFrame], Iterator[str]]
    prepare: Callable[[pl.DataFrame], pl.DataFrame] = pl.DataFrame.clone
    more: Callable[[pl.DataFrame], tuple[str, str]] | None = None
    """One more picture, and its sentence."""


def files(name: str, folder: Path | None = None, gallery: Path = GALLERY) -> dict[str, str]:
    """The pictures of an exhibit and its page with the numbers filled in, by file name."""
    exhibit = EXHIBITS[name]
    frame = exhibit.prepare(datasets.load(exhibit.table, folder))
    model = exhibit.model.fit(frame)
    path = model.sparsity_path(frame)
    made = {f"{name}.svg": on_a_page(model, WIDTH), f"{name}-path.svg": path_svg.render(path)}
    facts = [*exhibit.facts(model, frame), bought(path)]
    if exhibit.more is not None:
        made[f"{name}-compared.svg"], sentence = exhibit.more(frame)
        facts.append(sentence)
    page = (gallery / f"{name}.md").read_text(encoding="utf-8")
    return {file: picture + "\n" for file, picture in made.items()} | {f"{name}.md": filled(page, facts)}


def filled(page: str, facts: Sequence[str]) -> str:
    r"""A page with other facts between its marks.

    >>> page = f"above\n{BEGIN}old\n{END}\nbelow"
    >>> print(filled(page, ["* new"]).replace(BEGIN, "(\n").replace(END, ")"))
    above
    (
    <BLANKLINE>
    * new
    <BLANKLINE>
    )
    below
    """
    above, begin, rest = page.partition(BEGIN)
    _, end, below = rest.partition(END)
    if not (begin and end):
        raise DataError(f"The page has no room for numbers. It needs the lines {BEGIN.strip()!r} and {END!r}.")
    return "".join([above, begin, "\n", "\n".join(facts), "\n\n", end, below])


def command(
    data: Annotated[Path | None, typer.Option("--data", help="A folder of published tables.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the pages.")] = GALLERY,
) -> None:
    """Draw the paper's tables for the gallery of the documentation, and fill their numbers into its pages."""
    for name in EXHIBITS:
        for file, content in files(name, data, output).items():
            write_text(content, output / file)
            typer.echo(f"wrote {output / file}", err=True)


def bought(path: SparsityPath) -> str:
    """What leaves buy on rows that were not seen, and how many of them buy half of it."""
    held_out = {point.size: point.held_out for point in path if point.held_out is not None}
    first, last = held_out[path.sizes[0]], held_out[path.sizes[-1]]
    half = next(size for size, value in held_out.items() if value >= (first + last) / 2)
    times = float(f"{math.exp(last - first):.3g}")
    return (
        f"* Rows that it has not seen are {times:,g} times as dense with {path.sizes[-1]} leaves as with one "
        f"({last - first:.3g} nats per row, the path's held-out line); {half} leaves buy half of these nats."
    )


def by_leaf(model: Any, frame: pl.DataFrame, rows: str, marked: pl.Series) -> Iterator[str]:
    """A table of leaves: how many rows, and what share of them is marked; the last line is that of all rows."""
    yield f"| leaf | kind | {rows} | {marked.name} |\n| --: | --- | --: | --: |"
    numbers = pl.Series(model.apply(frame))
    for leaf in model.leaves_:
        inside = marked.filter(numbers == leaf.number)
        yield f"| {leaf.number} | {leaf.name} | {len(inside):,} | {_percent(inside)} |"
    yield f"| | all {rows} | {len(marked):,} | {_percent(marked)} |\n"


def _percent(marked: pl.Series) -> str:
    return f"{100 * marked.sum() / len(marked):.3g} %"


def oddest(model: Any, frame: pl.DataFrame, what: str) -> str:
    """The most unusual row, and why."""
    (why,) = model.explain(frame[int(model.unusualness(frame).argmax())])
    return "\n".join([f"* The most unusual {what} is in leaf {why.leaf}:", *(f"    * {one}" for one in why.remarks)])


def of_mushrooms(model: Any, frame: pl.DataFrame) -> Iterator[str]:
    """Which kinds are poisonous."""
    yield from by_leaf(model, frame, "mushrooms", (frame["class"] == "poisonous").alias("poisonous"))
    yield oddest(model, frame, "mushroom")


def of_clients(model: Any, frame: pl.DataFrame) -> Iterator[str]:
    """Who accepted an earlier offer."""
    yield from by_leaf(model, frame, "clients", (frame["outcome before"] == "success").alias("accepted before"))
    yield oddest(model, frame, "client")


def of_images(model: Any, frame: pl.DataFrame) -> Iterator[str]:
    """The scenes."""
    yield "| leaf | kind | images |\n| --: | --- | --: |"
    yield from (f"| {leaf.number} | {leaf.name} | {leaf.weight:,.0f} |" for leaf in model.leaves_)
    yield ""
    yield oddest(model, frame, "image")


def of_people(model: Any, frame: pl.DataFrame) -> Iterator[str]:
    """Where nobody is, and where most are."""
    largest = max(model.leaves_, key=lambda leaf: leaf.weight)
    empty = [leaf for leaf in model.leaves_ if not leaf.weight]
    volume = sum(leaf.volume for leaf in model.leaves_)
    yield f"* The largest leaf is {largest.number} ({largest}): {largest.weight:,.0f} of {frame.height:,} people."
    yield (
        f"* {len(empty)} leaves hold nobody, and yet {100 * sum(leaf.volume for leaf in empty) / volume:.3g} % of the "
        f"{volume:,.0f} possible records: {'; '.join(map(str, empty))}."
    )


def of_applicants(model: Any, frame: pl.DataFrame) -> Iterator[str]:
    """Those without a file."""
    lowest = frame.select(pl.all_horizontal(pl.all() == 0)).to_series()
    first = pl.Series(model.apply(frame)) == 0
    yield (
        f"* {first.sum():,} of {frame.height:,} applicants are in leaf 0. {(first & lowest).sum():,} of them are in "
        f"the lowest range of all {frame.width} columns; of the others, {(~first & lowest).sum() or 'nobody is'}."
    )
    yield oddest(model, frame.filter(~first), "applicant with a file")


def for_validation(frame: pl.DataFrame) -> tuple[str, str]:
    """The images for validation against those for training."""
    tables = frame.head(COCO_TRAINING), frame.tail(frame.height - COCO_TRAINING)
    compared = compare(*tables, names=("for training", "for validation"), model=kinds(10))
    return compared.to_svg(), (
        f"* {tables[1].height:,} images for validation against {tables[0].height:,} for training: "
        f"p = {compared.p_value:.2g}, Jensen-Shannon distance {compared.distance:.2g}."
    )


def kinds(leaves: int) -> LeafSparseTree:
    """So many kinds of rows, found in a moment and the same on every machine."""
    return LeafSparseTree(leaf="profile", max_leaves=leaves, search="greedy")


EXHIBITS = {
    "mushrooms": Exhibit("mushroom", kinds(8), of_mushrooms, mushroom_in_words),
    "clients": Exhibit("bank_full", kinds(8), of_clients, bank_in_words),
    "images": Exhibit("coco_thing", kinds(10), of_images, labels_in_words, for_validation),
    "arrests": Exhibit("compas", BranchSparseTree(max_leaves=10, search="greedy"), of_people, compas_in_words),
    "credit": Exhibit("heloc", kinds(6), of_applicants),
}
"""By the name of their page."""
