"""``sparsedensity reproduce``: the paper's experiments, with its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import note
from sparsedensity.errors import ParameterError

EXAMPLES = (
    "Examples: sparsedensity reproduce titanic · sparsedensity reproduce all --data tables -o reproduction --jobs 2"
)
EVERYTHING = "all"


def names() -> tuple[str, ...]:
    """What can be asked for."""
    from sparsedensity.experiments.studies import STUDIES

    return (*STUDIES, EVERYTHING)


def complete(incomplete: str) -> list[str]:
    """What a shell offers."""
    return [name for name in names() if name.startswith(incomplete)]


def command(
    study: Annotated[str, typer.Argument(help=f"One of {', '.join(names())}.", autocompletion=complete)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write to; earlier studies in it stay on the page.")
    ] = Path("reproduction"),
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder of published tables; SPARSEDENSITY_DATA by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, to see that everything works.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Threads or processes; -1 for all cores.", min=-1)] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on from parts that are finished.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run the paper's experiments again: tables (CSV, Markdown), figures (SVG, PNG) and one page of them all."""
    if study not in names():
        raise ParameterError("STUDY", study, f"one of {', '.join(names())}")
    from sparsedensity.cli.progress import telling
    from sparsedensity.experiments.running import PAGE, Plan, Skipped, reproduce

    chosen = names()[:-1] if study == EVERYTHING else (study,)
    with telling() as say:
        for found in reproduce(Plan(chosen, output, data, quick, _cores(jobs), fresh, say)):
            if isinstance(found, Skipped):
                note(f"{found.name} is left out: {found.why}")
            elif not quiet:
                typer.echo("\n".join([f"{found.title} ({found.foot.seconds:,.1f} s)", *_sentences(found.sentences)]))
    if not quiet:
        note(f"wrote {output / PAGE}")


def _sentences(found: tuple[str, ...]) -> list[str]:
    return [*(f"  * {sentence}" for sentence in found), ""]


def _cores(jobs: int) -> int:
    from sparsedensity.experiments.machine import cores

    if jobs == 0:
        raise ParameterError("--jobs", jobs, "a whole number of 1 or more, or -1 for all cores")
    return cores() if jobs < 0 else jobs
