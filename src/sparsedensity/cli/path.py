"""``sparsedensity path``: what each extra leaf buys."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedensity import writing
from sparsedensity.cli.data import note, save_model, say, was_interrupted, write_json, write_text
from sparsedensity.cli.options import DataNames, ModelOptions, taking_model_options
from sparsedensity.cli.tables import Data, at_hand, check_outputs
from sparsedensity.errors import ParameterError, SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.models import DensityModel
    from sparsedensity.report.path import PathPoint, SparsityPath

EXAMPLES = "Examples: sparsedensity path titanic · sparsedensity path people.csv --pick simplest -o model.json"


@taking_model_options
def command(
    data: DataNames,
    folds: Annotated[int, typer.Option("--cv", help="Folds of cross-validation; 0 for none.", min=0)] = 5,
    pick: Annotated[
        str | None,
        typer.Option(
            "--pick", help="Pick a size: a number of leaves, best (held out) or simplest (within one standard error)."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Save the picked model as JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the picked model's report.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the path to this PNG, SVG or PDF file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    *,
    options: ModelOptions,
) -> None:
    """Show the best model of every size with its log-likelihood per row, fitted and held out."""
    from sparsedensity.models.searched import SearchedModel

    check_outputs(data, output, report, plot)
    model, table = options.fit(data)
    if not isinstance(model, SearchedModel):
        raise SparseDensityError(f"--method {options.method} has no path: it has one size only.")
    if was_interrupted(model):  # half a path says nothing about sizes
        raise KeyboardInterrupt
    table = at_hand(table, "the path is scored on")
    path = model.sparsity_path(table.frame, folds or None, table.weights)
    if plot is not None:
        _draw(path, plot, quiet=options.quiet)
    if pick is not None:
        chosen = model.cut(_pick(path, pick).size)
        save_model(chosen, output, quiet=options.quiet)
        if report is not None:
            _write_report(chosen, path, table, report, quiet=options.quiet)
    elif output is not None or report is not None:
        raise SparseDensityError("--output and --report need --pick: a number of leaves, best or simplest.")
    if json:
        write_json([asdict(point) for point in path])
    elif not options.quiet:
        say(path.to_text())


def _pick(path: SparsityPath, text: str) -> PathPoint:
    if text == "best":
        return path.best
    if text == "simplest":
        return path.simplest
    if not text.isdecimal():
        raise ParameterError("--pick", text, "a number of leaves, best or simplest")
    return path.at(int(text))


def _write_report(chosen: DensityModel, path: SparsityPath, table: Data, output: Path, *, quiet: bool) -> None:
    """The report of the picked model with the path it was picked from; no fold is searched again."""
    from sparsedensity.models.evidence import gather
    from sparsedensity.report import html

    seen = gather(chosen, table.frame, table.weights, cv=None, source=table.name)
    write_text(html.render(replace(chosen.report(), evidence=replace(seen, path=path))), output, quiet=quiet)


def _draw(path: SparsityPath, file: Path, *, quiet: bool) -> None:
    try:
        with writing.replacing(file) as part:
            path.plot().figure.savefig(part)
    except ValueError as error:
        raise SparseDensityError(f"{file} cannot be drawn: {error}") from None
    if not quiet:
        note(f"wrote {file}")
