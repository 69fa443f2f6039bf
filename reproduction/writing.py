"""A study as files: CSV, Markdown, SVG, PNG, and JSON from which the page is made again."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from reproduction import charts
from reproduction.machine import Machine
from reproduction.study import Chart, ModelPicture, Study, StudyColumn, StudyTable
from sparsedensity.errors import SparseDensityError
from sparsedensity.writing import make_folder, replacing

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
class DrawnFigure:
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
class SavedStudy:
    """A study as it lies in the folder."""

    name: str
    title: str
    about: str
    sentences: tuple[str, ...]
    tables: tuple[StudyTable, ...]
    figures: tuple[DrawnFigure, ...]
    foot: Foot


def save(study: Study, foot: Foot, folder: Path) -> SavedStudy:
    """Write everything that tells of a study into a folder."""
    figures = tuple(map(_drawn, study.figures))
    sentences = tuple(re.sub(r"(?<=[\s(])-(?=\d)", "−", sentence) for sentence in study.sentences)
    saved = SavedStudy(study.name, study.title, study.about, sentences, study.tables, figures, foot)
    make_folder(folder)
    for name, content in _files(study, saved):
        with replacing(folder / name) as part:
            part.write_bytes(content if isinstance(content, bytes) else content.encode())
    return saved


def load(name: str, folder: Path) -> SavedStudy | None:
    """A study that was written earlier; None if it was not."""
    file = folder / f"{name}.json"
    if not file.exists():
        return None
    try:
        return _saved_of(json.loads(file.read_text(encoding="utf-8")), folder)
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise SparseDensityError(f"{file} is not a study of this version ({error}). Run it again.") from None


def as_markdown(saved: SavedStudy) -> str:
    """A study in Markdown, its figures beside it."""
    return "\n".join(markdown_lines(saved, f"# {saved.title}", "##", ""))


def markdown_lines(saved: SavedStudy, heading: str, below: str, pictures: str) -> Iterator[str]:
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


def table_lines(table: StudyTable) -> Iterator[str]:
    """A table in Markdown."""
    yield _row(map(heading, table.columns))
    yield _row("---" if column.kind == "text" else "--:" for column in table.columns)
    for i in range(len(table.rows)):
        yield _row(table.cell(i, j) for j in range(len(table.columns)))


def heading(column: StudyColumn) -> str:
    """What stands above a column."""
    return f"{PAPER}: {column.title}" if column.paper else column.title


def as_csv(table: StudyTable) -> str:
    """A table for programs: numbers in full."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(heading, table.columns))
    writer.writerows(table.rows)
    return file.getvalue()


def csv_name(study: str, table: StudyTable, place: int) -> str:
    """The file of a table: the first is called as its study."""
    return f"{study}.csv" if place == 0 else f"{study}-{table.name}.csv"


def _files(study: Study, saved: SavedStudy) -> Iterator[tuple[str, str | bytes]]:
    for i, table in enumerate(study.tables):
        yield csv_name(study.name, table, i), as_csv(table)
    for drawn, figure in zip(study.figures, saved.figures, strict=True):
        yield f"{figure.name}.svg", figure.svg
        yield f"{figure.name}.png", charts.png(drawn) if isinstance(drawn, Chart) else _photograph(drawn)
    yield f"{study.name}.md", as_markdown(saved)
    yield f"{study.name}.json", json.dumps(_as_json(saved), indent=1, ensure_ascii=False)


def _drawn(figure: Chart | ModelPicture) -> DrawnFigure:
    if isinstance(figure, Chart):
        return DrawnFigure(figure.name, figure.title, figure.words, True, charts.svg(figure))
    return DrawnFigure(figure.name, figure.title, figure.words, False, figure.model.to_svg() + "\n")


def _photograph(picture: ModelPicture) -> bytes:
    """The picture of a model as PNG."""
    file = io.BytesIO()
    figure = picture.model.plot().figure
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    pyplot.close(figure)
    return file.getvalue()


def _row(cells: Any) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _as_json(saved: SavedStudy) -> dict[str, Any]:
    """A study as JSON takes it; the drawings lie beside it."""
    whole = asdict(saved)
    for figure in whole["figures"]:
        del figure["svg"]
    return whole


def _saved_of(read: dict[str, Any], folder: Path) -> SavedStudy:
    foot = Foot(**{**read["foot"], "machine": Machine.of(read["foot"]["machine"])})
    figures = [
        DrawnFigure(**figure, svg=(folder / f"{figure['name']}.svg").read_text(encoding="utf-8"))
        for figure in read["figures"]
    ]
    tables, sentences = map(_table_of, read["tables"]), read["sentences"]
    return SavedStudy(read["name"], read["title"], read["about"], tuple(sentences), tuple(tables), tuple(figures), foot)


def _table_of(read: dict[str, Any]) -> StudyTable:
    columns = tuple(StudyColumn(*column) for column in read["columns"])
    return StudyTable(read["name"], read["title"], columns, tuple(map(tuple, read["rows"])), tuple(read["notes"]))
