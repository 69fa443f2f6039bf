"""A study as files: CSV, Markdown, SVG, PNG, and JSON from which the page is made again."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsedensity.errors import SparseDensityError
from sparsedensity.experiments import charts
from sparsedensity.experiments.machine import Machine
from sparsedensity.experiments.study import Chart, Column, Picture, Study, Table
from sparsedensity.extras import need
from sparsedensity.report import plot, svg

PAPER = "paper"
"""The word in front of whatever the paper printed."""


@dataclass(frozen=True)
class Foot:
    """How a study came to be."""

    command: str
    seconds: float
    machine: Machine
    quick: bool

    def __str__(self) -> str:
        return f"`{self.command}`: {self.seconds:,.1f} s on {self.machine}."


@dataclass(frozen=True)
class Figure:
    """A figure that lies in the folder."""

    name: str
    title: str
    words: str
    is_chart: bool
    svg: str

    @property
    def themed(self) -> str:
        """The SVG for a page; pictures of models bring both sets of colours themselves."""
        return charts.themed(self.svg) if self.is_chart else self.svg


@dataclass(frozen=True)
class Saved:
    """A study as it lies in the folder."""

    name: str
    title: str
    about: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    foot: Foot


def save(study: Study, foot: Foot, folder: Path) -> Saved:
    """Write everything that tells of a study into a folder."""
    figures = tuple(map(_drawn, study.figures))
    sentences = tuple(re.sub(r"(?<=[\s(])-(?=\d)", "−", sentence) for sentence in study.sentences)
    saved = Saved(study.name, study.title, study.about, sentences, study.tables, figures, foot)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in _files(study, saved):
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise SparseDensityError(f"{folder} cannot be written to: {error.strerror or error}.") from None
    return saved


def load(name: str, folder: Path) -> Saved | None:
    """A study that was written earlier; None if it was not."""
    file = folder / f"{name}.json"
    if not file.exists():
        return None
    try:
        return _saved_of(json.loads(file.read_text(encoding="utf-8")), folder)
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise SparseDensityError(f"{file} is not a study of this version ({error}). Run it again.") from None


def as_markdown(saved: Saved) -> str:
    """A study in Markdown, its figures beside it."""
    return "\n".join(markdown_lines(saved, f"# {saved.title}", "##", ""))


def markdown_lines(saved: Saved, heading: str, below: str, pictures: str) -> Iterator[str]:
    """A study under a heading, its figures in a folder."""
    yield from (heading, "", saved.about, "")
    yield from (f"* {sentence}" for sentence in saved.sentences)
    for figure in saved.figures:
        yield from ("", f"![{figure.title}]({pictures}{figure.name}.svg)", "")
        yield f"*{figure.title}.* {figure.words}".rstrip()
    for table in saved.tables:
        yield from ("", f"{below} {table.title}", "")
        yield from table_lines(table)
        yield from (line for note in table.notes for line in ("", note))
    if saved.foot.quick:
        yield from ("", "**A quick run: it shows that everything works, its numbers mean little.**")
    yield from ("", f"Measured by {saved.foot}", "")


def table_lines(table: Table) -> Iterator[str]:
    """A table in Markdown."""
    yield _row(map(heading, table.columns))
    yield _row("---" if column.kind == "text" else "--:" for column in table.columns)
    for i in range(len(table.rows)):
        yield _row(table.cell(i, j) for j in range(len(table.columns)))


def heading(column: Column) -> str:
    """What stands above a column."""
    return f"{PAPER}: {column.title}" if column.paper else column.title


def as_csv(table: Table) -> str:
    """A table for programs: numbers in full."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(heading, table.columns))
    writer.writerows(table.rows)
    return file.getvalue()


def csv_name(study: str, table: Table, place: int) -> str:
    """The file of a table: the first is called as its study."""
    return f"{study}.csv" if place == 0 else f"{study}-{table.name}.csv"


def _files(study: Study, saved: Saved) -> Iterator[tuple[str, str | bytes]]:
    for i, table in enumerate(study.tables):
        yield csv_name(study.name, table, i), as_csv(table)
    for own, figure in zip(study.figures, saved.figures, strict=True):
        yield f"{figure.name}.svg", figure.svg
        yield f"{figure.name}.png", charts.png(own) if isinstance(own, Chart) else _photograph(own)
    yield f"{study.name}.md", as_markdown(saved)
    yield f"{study.name}.json", json.dumps(_as_json(saved), indent=1, ensure_ascii=False)


def _drawn(figure: Chart | Picture) -> Figure:
    if isinstance(figure, Chart):
        return Figure(figure.name, figure.title, figure.words, True, charts.svg(figure))
    return Figure(figure.name, figure.title, figure.words, False, svg.render(figure.report) + "\n")


def _photograph(picture: Picture) -> bytes:
    """The picture of a model as PNG."""
    file = io.BytesIO()
    figure = plot.render(picture.report).figure
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    need("matplotlib.pyplot", charts.PURPOSE).close(figure)
    return file.getvalue()


def _row(cells: Any) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _as_json(saved: Saved) -> dict[str, Any]:
    foot = saved.foot
    return {
        "name": saved.name,
        "title": saved.title,
        "about": saved.about,
        "sentences": list(saved.sentences),
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "columns": [column._asdict() for column in table.columns],
                "rows": [list(row) for row in table.rows],
                "notes": list(table.notes),
            }
            for table in saved.tables
        ],
        "figures": [
            {"name": figure.name, "title": figure.title, "words": figure.words, "is_chart": figure.is_chart}
            for figure in saved.figures
        ],
        "foot": {
            "command": foot.command,
            "seconds": foot.seconds,
            "machine": foot.machine.saved(),
            "quick": foot.quick,
        },
    }


def _saved_of(read: dict[str, Any], folder: Path) -> Saved:
    foot = read["foot"]
    return Saved(
        read["name"],
        read["title"],
        read["about"],
        tuple(read["sentences"]),
        tuple(_table_of(table) for table in read["tables"]),
        tuple(
            Figure(**figure, svg=(folder / f"{figure['name']}.svg").read_text(encoding="utf-8"))
            for figure in read["figures"]
        ),
        Foot(foot["command"], foot["seconds"], Machine.of(foot["machine"]), foot["quick"]),
    )


def _table_of(read: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in read["columns"])
    return Table(read["name"], read["title"], columns, tuple(map(tuple, read["rows"])), tuple(read["notes"]))
