"""The page of all measurements, docs/benchmarks.md, from what ``make bench`` and ``python -m reproduction`` left."""

import importlib
import inspect
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks import names
from reproduction.machine import Machine
from reproduction.running import saved_studies
from reproduction.writing import SavedStudy, markdown_lines
from sparsedensity.writing import make_folder, write_text

ROOT = Path(__file__).parent.parent
OUTPUTS = ROOT / "build" / "benchmarks"
MEASUREMENTS = ROOT / "measurements"
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = "benchmarks"
"""The folder of the figures, beside the page."""
ABOUT = """# Measurements

Everything that was measured, with the machine, the versions and the commit it was measured with. `make measure` runs
all of it and writes this page: the studies of the paper (`python -m reproduction all`), then the benchmarks
(`make bench`). What the paper printed stands in columns called so. Numbers of different machines are not to be compared
with each other.
"""


def write_page(outputs: Path = OUTPUTS, measurements: Path = MEASUREMENTS, page: Path = PAGE) -> Path:
    """Put together what lies in the two folders."""
    studies = [study for study in saved_studies(measurements) if not study.foot.quick]
    # What a benchmark that was deleted printed stays where it was kept.
    files = [file for file in sorted(outputs.glob("*.json")) if file.stem in names()]
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    lines = [ABOUT, *_contents(studies, kept), *_studies(studies), *_benchmarks(kept)]
    write_text("\n".join(lines).rstrip() + "\n", page)
    _copy_figures(studies, measurements, page.parent / FIGURES)
    return page


def _contents(studies: list[SavedStudy], kept: list[dict[str, object]]) -> Iterator[str]:
    if studies:
        yield "* [The studies of the paper](#the-studies-of-the-paper): " + ", ".join(s.title for s in studies)
    if kept:
        yield "* [Benchmarks](#benchmarks): " + ", ".join(str(one["name"]) for one in kept)
    if not studies and not kept:
        yield "Nothing was measured yet."
    yield ""


def _studies(studies: list[SavedStudy]) -> Iterator[str]:
    if studies:
        yield from ("## The studies of the paper", "")
    for study in studies:
        yield from markdown_lines(study, f"### {study.title}", "####", f"{FIGURES}/")


def _benchmarks(kept: list[dict[str, object]]) -> Iterator[str]:
    if kept:
        yield from ("## Benchmarks", "")
    for one in kept:
        machine = Machine.of(one["machine"])  # type: ignore[arg-type]
        yield from (f"### {one['name']}", "", about(str(one["name"])), "")
        yield from _printed(str(one["printed"]))
        yield from ("", f"Measured by `python -m benchmarks {one['name']}` on {machine}.", "")


def about(name: str) -> str:
    """What a benchmark is about: the first sentence of its file."""
    return (inspect.getdoc(importlib.import_module(f"benchmarks.{name}")) or "").split("\n\n")[0]


def _printed(text: str) -> Iterator[str]:
    """What a benchmark printed: tables and headings as they are, other lines as a block of text."""
    block: list[str] = []
    for line in [*text.strip("\n").split("\n"), "|"]:
        if line and not line.startswith(("|", "#")):
            block.append(line)
            continue
        if block:
            yield from ("", "```text", *block, "```", "")
            block = []
        if line != "|":
            yield f"#{line}" if line.startswith("#") else line


def _copy_figures(studies: list[SavedStudy], measurements: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for figure in (figure for study in studies for figure in study.figures):
        make_folder(folder)
        shutil.copy(measurements / f"{figure.name}.svg", folder)
