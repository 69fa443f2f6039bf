"""From the name of a study to its files and the page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduction import page, writing
from reproduction.datasets.places import VARIABLE
from reproduction.machine import Machine, source
from reproduction.parts import Parts, fingerprint
from reproduction.studies import STUDIES, study_of
from reproduction.study import Setting
from reproduction.writing import Foot, SavedStudy
from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.writing import write_text

PAGE = "index.html"
PARTS = "parts"
"""The folder of finished parts, inside the folder of measurements."""


@dataclass(frozen=True)
class StudyPlan:
    """Which studies to run, and how."""

    names: tuple[str, ...]
    output: Path
    data: Path | None = None
    quick: bool = False
    jobs: int = 1
    fresh: bool = False
    """Measure everything anew, also what is kept from an earlier run."""
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)


@dataclass(frozen=True)
class Skipped:
    """A study that could not be run, in one sentence."""

    name: str
    why: str


def reproduce(plan: StudyPlan) -> Iterator[SavedStudy | Skipped]:
    """Run studies one after another; each is written, and the page with it, before the next begins.

    If several are asked for, one whose data are not available is skipped. An earlier study in the folder that
    cannot be read is left off the page, and said at the end.
    """
    machine = Machine.here()
    belongs = _belongs(plan, machine)
    begun: set[str] = set()
    for name in plan.names:
        parts = STUDIES[name].parts or name
        file = plan.output / PARTS / f"{parts}.jsonl"
        try:
            kept = Parts(file, belongs, fresh=plan.fresh and parts not in begun)
            begun.add(parts)
            yield _run(name, plan, machine, kept)
        except DataError as error:
            if len(plan.names) == 1:
                raise
            yield Skipped(name, str(error))
    yield from (found for found in _lying_in(plan.output) if isinstance(found, Skipped))


def write_page(folder: Path) -> Path:
    """All studies that lie in a folder, on one page."""
    studies = saved_studies(folder)
    if not studies:
        raise SparseDensityError(f"There is no study in {folder}. Run one: python -m reproduction titanic.")
    file = folder / PAGE
    write_text(page.render(studies), file)
    return file


def saved_studies(folder: Path) -> list[SavedStudy]:
    """Every study that lies in a folder and can be read, in the order of the page."""
    return [found for found in _lying_in(folder) if isinstance(found, SavedStudy)]


def _lying_in(folder: Path) -> Iterator[SavedStudy | Skipped]:
    for name in STUDIES:
        try:
            found = writing.load(name, folder)
        except SparseDensityError as error:
            yield Skipped(name, str(error))
        else:
            if found is not None:
                yield found


def command_of(name: str, plan: StudyPlan) -> str:
    """What a reader types to get the same, with the reader's own folder of tables.

    >>> command_of("det", StudyPlan(("det",), Path("out"), data=Path("tables"), jobs=2))
    'python -m reproduction det --jobs 2 --data FOLDER'
    """
    options = {"--quick": plan.quick, f"--jobs {plan.jobs}": plan.jobs != 1, "--data FOLDER": plan.data is not None}
    return " ".join(["python -m reproduction", name, *(option for option, given in options.items() if given)])


def _belongs(plan: StudyPlan, machine: Machine) -> dict[str, Any]:
    """All that a finished part depends on: it is used again only if nothing of this is different."""
    data = plan.data and plan.data.resolve()
    return {
        **machine.saved(),
        "source": source(),
        "quick": plan.quick,
        "jobs": plan.jobs,
        "data": fingerprint([str(data), os.environ.get(VARIABLE)]),
    }


def _run(name: str, plan: StudyPlan, machine: Machine, kept: Parts) -> SavedStudy:
    begin = time.perf_counter()
    study = study_of(name)(Setting(kept, plan.data, plan.quick, plan.jobs, lambda what: plan.say(f"{name}: {what}")))
    seconds = time.perf_counter() - begin + kept.seconds_before
    foot = Foot(command_of(name, plan), seconds, machine, plan.quick)
    saved = writing.save(study, foot, plan.output)
    write_page(plan.output)
    return saved
