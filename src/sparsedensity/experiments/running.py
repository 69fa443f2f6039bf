"""From the name of a study to its files and the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.experiments import charts, page, writing
from sparsedensity.experiments.kept import Kept
from sparsedensity.experiments.machine import Machine
from sparsedensity.experiments.studies import STUDIES, study_of
from sparsedensity.experiments.study import Setting
from sparsedensity.experiments.writing import Foot, Saved

PAGE = "index.html"
PARTS = "parts"
"""The folder of finished parts, inside the folder of a reproduction."""


@dataclass(frozen=True)
class Plan:
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


def reproduce(plan: Plan) -> Iterator[Saved | Skipped]:
    """Run studies one after another; each is written, and the page with it, before the next begins.

    Where several are asked for, one whose data are not to be had is skipped.
    """
    charts.needed()
    machine = Machine.here()
    for name in plan.names:
        try:
            yield _run(name, plan, machine)
        except DataError as error:
            if len(plan.names) == 1:
                raise
            yield Skipped(name, str(error))


def write_page(folder: Path) -> Path:
    """All studies that lie in a folder, on one page."""
    studies = saved_studies(folder)
    if not studies:
        raise SparseDensityError(f"There is no study in {folder}. Run one: sparsedensity reproduce titanic.")
    file = folder / PAGE
    file.write_text(page.render(studies), encoding="utf-8", newline="\n")
    return file


def saved_studies(folder: Path) -> list[Saved]:
    """Every study that lies in a folder, in the order of the page."""
    found = [writing.load(name, folder) for name in STUDIES]
    return [saved for saved in found if saved is not None]


def command_of(names: Sequence[str], *, quick: bool) -> str:
    """What a reader types to get the same."""
    return f"sparsedensity reproduce {' '.join(names)}{' --quick' if quick else ''}"


def _run(name: str, plan: Plan, machine: Machine) -> Saved:
    belongs = {"version": machine.sparsedensity, "commit": machine.commit, "quick": plan.quick}
    file = plan.output / PARTS / f"{STUDIES[name].parts or name}.jsonl"
    kept = Kept(file, belongs, fresh=plan.fresh)
    begin = time.perf_counter()
    study = study_of(name)(Setting(kept, plan.data, plan.quick, plan.jobs, lambda what: plan.say(f"{name}: {what}")))
    seconds = time.perf_counter() - begin + kept.seconds_before
    foot = Foot(command_of([name], quick=plan.quick), seconds, machine, plan.quick)
    saved = writing.save(study, foot, plan.output)
    write_page(plan.output)
    return saved
