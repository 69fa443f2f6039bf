"""``python -m reproduction``: the paper's experiments, its numbers beside ours, and its data sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from reproduction import gallery, listing
from reproduction.machine import cores
from reproduction.running import PAGE, Skipped, StudyPlan, reproduce
from reproduction.studies import STUDIES
from sparsedensity.errors import ParameterError, SparseDensityError

Output = Annotated[
    Path, typer.Option("--output", "-o", help="The folder to write to; earlier studies in it stay on the page.")
]
Data = Annotated[
    Path | None, typer.Option("--data", help="A folder of published tables; SPARSEDENSITY_DATA by default.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small version, to see that everything works.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads or processes; -1 for all cores.", min=-1)]
Fresh = Annotated[bool, typer.Option("--fresh", help="Do not go on from parts that are finished.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

app = typer.Typer(
    name="python -m reproduction",
    help='The experiments of "Sparse Density Trees and Lists" (Goh, Semenova, Rudin), run again: tables (CSV, '
    "Markdown), figures (SVG, PNG) and one page of them all.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def running(*names: str) -> Callable[..., None]:
    """A command that runs some studies."""

    def command(
        output: Output = Path("measurements"),
        data: Data = None,
        quick: Quick = False,
        jobs: Jobs = 1,
        fresh: Fresh = False,
        quiet: Quiet = False,
    ) -> None:
        if jobs == 0:
            raise ParameterError("--jobs", jobs, "a whole number of 1 or more, or -1 for all cores")
        with telling() as say:
            for found in reproduce(StudyPlan(names, output, data, quick, cores() if jobs < 0 else jobs, fresh, say)):
                if isinstance(found, Skipped):
                    typer.echo(f"{found.name} is left out: {found.why}", err=True)
                elif not quiet:
                    typer.echo(f"{found.title} ({found.foot.seconds:,.1f} s)")
                    typer.echo("".join(f"  * {sentence}\n" for sentence in found.sentences))
        if not quiet:
            typer.echo(f"wrote {output / PAGE}", err=True)

    return command


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """A function that shows one line about what is going on; nothing if standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("starting") as status:
        yield status.update


for name, entry in STUDIES.items():
    app.command(name, help=f"{entry.about[0].upper()}{entry.about[1:]}.")(running(name))
app.command("all", help="Every study.")(running(*STUDIES))
app.command("datasets")(listing.command)
app.command("gallery")(gallery.command)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SparseDensityError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
