"""``sparsedensity evaluate``: how well a model predicts rows it has not seen, beside what others would say."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedensity.cli.data import (
    SpreadsheetOption,
    note,
    say,
    write_json,
    write_table,
    write_text,
)
from sparsedensity.cli.options import OF_PROFILES, DataNames, ModelOptions, taking_model_options
from sparsedensity.cli.tables import Data, at_hand, check_column, check_outputs
from sparsedensity.errors import DataError, ParameterError

if TYPE_CHECKING:
    from sparsedensity.evaluation import Evaluation, Method
    from sparsedensity.models import DensityModel
    from sparsedensity.report.standing import Score

PROFILES = ", profiles"
"""What the name of a tree whose leaves have profiles ends with."""
EXAMPLES = (
    "Examples: sparsedensity evaluate titanic · sparsedensity evaluate people.csv --weight count --max-leaves 12 · "
    "sparsedensity evaluate people.csv --grid expected_leaves=5,8,10 --keep folds.jsonl --svg folds.svg"
)
GRID_HELP = "PARAMETER=value,value,...: let inner folds choose the value, anew for each fold. Repeatable."
FOLD_HELP = "Hold out the rows of one value of this column at a time, instead of --cv; no method sees the column."
KEEP_HELP = "Keep finished folds in this file; repeat the command to go on where it stopped."


@taking_model_options
def command(
    data: DataNames,
    folds: Annotated[int, typer.Option("--cv", help="Folds of the cross-validation.", min=2)] = 5,
    fold_column: Annotated[str | None, typer.Option("--fold-column", help=FOLD_HELP, metavar="COLUMN")] = None,
    grid: Annotated[list[str] | None, typer.Option("--grid", help=GRID_HELP)] = None,
    mlpack: Annotated[bool, typer.Option("--mlpack", help="Add mlpack's DET (needs mlpack).")] = False,
    inner: Annotated[int, typer.Option("--inner", help="Inner folds, used if there is a grid.", min=2)] = 5,
    keep: Annotated[Path | None, typer.Option("--keep", help=KEEP_HELP)] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write one row per method and fold.")] = None,
    spreadsheet: SpreadsheetOption = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Draw log-likelihood against leaves, one point per method and fold.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    *,
    options: ModelOptions,
) -> None:
    """Cross-validate a model beside simpler and other ones.

    A tree stands beside itself with the other kind of leaf, and all beside DET, the full histogram, independent
    columns, a Chow-Liu tree and one even leaf.
    """
    from sparsedensity.domain import Domain
    from sparsedensity.evaluation import CrossValidation, evaluate
    from sparsedensity.models.progress import telling
    from sparsedensity.report.made import signed

    check_outputs(data, keep, csv, svg)
    seed = 0 if options.random_state is None else options.random_state
    table, splits = _folds(at_hand(options.read(data), "evaluating with"), fold_column, folds)
    model = replace(options, random_state=None).model(table)
    reading = {name: getattr(model, name) for name in ("kinds", "bins", "missing")}
    try:
        with telling(not options.quiet, "cross-validating") as tell:
            found = evaluate(
                table.frame,
                _beside(model, _grid(grid or [], model), mlpack, seed),
                CrossValidation(splits, inner, seed, -1 if options.n_jobs is None else options.n_jobs),
                sample_weight=table.weights,
                domain=model.domain or Domain.infer(table.frame, **reading, sample_weight=table.weights),
                keep=keep,
                progress=lambda done, total: tell(f"{done} of {total} folds"),
            )
    except KeyboardInterrupt:
        if keep is not None:
            note(f"finished folds are kept in {keep}: repeat the command to go on from there")
        raise
    if csv is not None:
        write_table(found.to_frame(), csv, spreadsheet, quiet=options.quiet)
    if svg is not None:
        write_text(signed(found.to_svg(), seed), svg, quiet=options.quiet)
    if json:
        write_json(_plain(found))
    elif not options.quiet:
        say(_in_words(found))


def _folds(table: Data, column: str | None, folds: int) -> tuple[Data, Any]:
    """The table without the column that names the folds, and the folds as row numbers; or a number of folds."""
    if column is None:
        return table, folds
    check_column(table.columns, column, table.name)
    fold = table.frame[column].rank("dense").fill_null(0).to_numpy()
    names = sorted(set(fold.tolist()))
    if len(names) < 2:
        raise DataError(f"The column {column!r} of {table.name} has one value only. Folds need two or more.")
    splits = [((fold != name).nonzero()[0], (fold == name).nonzero()[0]) for name in names]
    return table._replace(frame=table.frame.drop(column)), splits


def _beside(model: DensityModel, grid: dict[str, list[Any]], mlpack: bool, seed: int) -> dict[str, Method]:
    """The model that was asked for, and what to put beside it; one of its own title gives way to it.

    Whatever searches at random does so from the seed.
    """
    from sparsedensity.evaluation import Method
    from sparsedensity.models import GreedyTree, Histogram
    from sparsedensity.models.forest import ChowLiuTree, IndependentColumns
    from sparsedensity.models.plain import parameters_of
    from sparsedensity.report.standing import ONE_LEAF

    limit = {name: value for name, value in parameters_of(model).items() if name == "max_leaves"}
    others = {
        "DET for categories": GreedyTree("ise", **limit),
        **{kind.title: kind() for kind in (Histogram, IndependentColumns, ChowLiuTree)},
        ONE_LEAF: GreedyTree(max_leaves=1),
        **({"mlpack's DET": _mlpack_tree()} if mlpack else {}),
    }
    asked = {_name(model): Method(_seeded(model, seed), grid)}
    beside = {name: Method(_seeded(other, seed)) for name, other in others.items()}
    return asked | _with_other_leaves(_seeded(model, seed), grid) | beside | asked


def _mlpack_tree() -> DensityModel:
    from sparsedensity.evaluation import MlpackTree

    return MlpackTree()


def _seeded(model: Any, seed: int) -> Any:
    """The same model; if it searches at random, from a seed."""
    from sparsedensity.models.plain import parameter_names, unfitted

    return unfitted(model, random_state=seed) if "random_state" in parameter_names(model) else model


def _name(model: DensityModel) -> str:
    """What a model is called in the table: profiles tell it from the same model with uniform leaves."""
    return f"{model.title}{PROFILES}" if getattr(model, "leaf", None) == "profile" else model.title


def _with_other_leaves(model: DensityModel, grid: dict[str, list[Any]]) -> dict[str, Method]:
    """The same tree with the other kind of leaf, unless there is none or the grid chooses the kind."""
    from sparsedensity.evaluation import Method
    from sparsedensity.models.plain import parameter_names, unfitted

    if "leaf" not in parameter_names(model) or "leaf" in grid:
        return {}
    leaf = "uniform" if getattr(model, "leaf", None) == "profile" else "profile"
    other = unfitted(model, leaf=leaf)
    useful = {name: values for name, values in grid.items() if leaf == "profile" or name not in OF_PROFILES}
    return {_name(other): Method(other, useful)}


def _in_words(found: Evaluation) -> str:
    """All methods as a table, and how the first, which was asked for, stands against the simplest."""
    from sparsedensity.report import words
    from sparsedensity.report.standing import Score, standing

    head = f"Held-out log-likelihood per row, {len(found.of(found.methods[0]))} folds; higher is better"
    scores = [Score(summary.method, summary.per_row, summary.error) for summary in found.summaries()]
    text = " ".join(filter(None, [standing(scores), _what_profiles_buy(scores)]))
    return f"{head}\n\n{found.to_text()}\n\n{textwrap.fill(text, words.room(None))}"


def _what_profiles_buy(scores: list[Score]) -> str:
    """How much better the same tree is with profiles, if it is."""
    from sparsedensity.report import words
    from sparsedensity.report.standing import EVEN

    gains = [other.held_out - scores[0].held_out for other in scores[1:] if other.name.endswith(PROFILES)]
    if not gains or not EVEN < gains[0] < math.inf:
        return ""
    times = words.sayable(gains[0])
    return f"With --leaf profile the model gives new records {times} times the density that it does without."


def _grid(options: list[str], model: DensityModel) -> dict[str, list[Any]]:
    """PARAMETER=value,value,...; values are numbers, true, false, none or words."""
    from sparsedensity.models.plain import parameter_names

    grid: dict[str, list[Any]] = {}
    for option in options:
        name, equals, values = option.partition("=")
        name = name.replace("-", "_")
        if not equals or name not in parameter_names(model):
            raise ParameterError("--grid", option, "PARAMETER=value,value,... with a parameter of the model")
        grid[name] = [_value(value) for value in values.split(",")]
    return grid


def _value(text: str) -> Any:
    try:
        return json.loads({"none": "null"}.get(text.lower(), text))
    except ValueError:
        return text


def _plain(found: Evaluation) -> list[dict[str, Any]]:
    names = {
        "model": "method", "leaves": "leaves", "held_out_per_row": "per_row", "standard_error": "error",
        "to_the_best": "difference", "to_the_best_error": "difference_error",
    }  # fmt: skip
    return [
        {key: getattr(summary, name) for key, name in names.items()}
        | {"folds": [asdict(fold) for fold in found.of(summary.method)]}
        for summary in found.summaries()
    ]
