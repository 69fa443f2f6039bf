"""The command line: one file per verb.

Standard output carries the answer and nothing else; notes, warnings and progress go to standard error. Exit codes:
0 done, 1 the data or the model cannot be used (one sentence says why), 2 the command was misspelt, 130 interrupted.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from typing import Any

import typer

from sparsedensity.cli import compare, datasets, evaluate, explain, fit, path, report, sample, score, show, warm_up
from sparsedensity.cli.data import note
from sparsedensity.cli.help import WIDEST, PlainCommand, PlainGroup
from sparsedensity.cli.options import flag, parameters
from sparsedensity.errors import SparseDensityError, shortened, without_secrets
from sparsedensity.version import COMMAND, __version__

app = typer.Typer(
    name="sparsedensity",
    cls=PlainGroup,
    rich_markup_mode=None,
    help="Interpretable density estimation for tables of categories.",
    epilog="Start with: sparsedensity fit titanic",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
MODULES = (fit, show, path, report, score, explain, compare, sample, evaluate, datasets, warm_up)
VERBS = {module.__name__.rpartition(".")[2].replace("_", "-"): module for module in MODULES}
PARAMETER = re.compile(r"\b(kinds|bins|missing|unknown)=(?:\{'([^']+)': )?'([^']+)'\}?")
"""A parameter of an estimator as our sentences write it, with a word or with a word for one column."""
PYTHON = (
    (re.compile(r"\bkinds=\{'([^']+)': \[\.\.\.\]\}"), r"--kind '\1=...'"),
    (re.compile(r"\bkinds\['([^']+)'\]"), r"--kind for '\1'"),
    (re.compile(r"^bins (for '|must)"), r"--bins \1"),
    (re.compile(r"\bdomain=Domain\.infer\(whole_table\)"), "--domain whole_table.csv"),
    (re.compile(r"^(--max-(?:leaves|rules) .*) None for no limit"), r"\1 none for no limit"),
    (re.compile(r", or None for no limit"), ""),  # the others cannot be given as none: leave them out
)
"""What else our sentences write as Python, and how the command line says it."""
ENGINES = {
    "polars": "Polars", "pyo3_runtime": "Polars", "duckdb": "DuckDB", "_duckdb": "DuckDB", "pyspark": "Spark",
    "py4j": "Spark", "ibis": "Ibis", "narwhals": "The engine",
}  # fmt: skip
"""Who raised an error that is not ours, by the module of its type: what is wrong with a file may show only late."""
for name, verb in VERBS.items():
    app.command(name, cls=PlainCommand, epilog=verb.EXAMPLES)(verb.command)


@app.callback(invoke_without_command=True)
def version(
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Interpretable density estimation for tables of categories."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    warnings.showwarning = _show_warning
    typed = COMMAND.set(without_secrets(shlex.join(["sparsedensity", *sys.argv[1:]])))
    try:
        app()
    except SparseDensityError as error:
        note(f"error: {as_options(str(error))}")
        sys.exit(1)
    except BrokenPipeError:  # whoever read the answer has seen enough
        sys.stdout = None
        sys.exit(0)
    except BaseException as error:  # Polars panics with one that is not an Exception
        engine = ENGINES.get(type(error).__module__.partition(".")[0])
        if engine is None:
            raise
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        note(f"error: {engine} cannot read or count the rows: {shortened(without_secrets(reason))}.")
        sys.exit(1)
    finally:
        COMMAND.reset(typed)


def _show_warning(message: Warning | str, category: type[Warning], *_place: Any, **_more: Any) -> None:
    """A warning is one line for a person, not a place in our code."""
    if category.__module__.startswith("sparsedensity"):
        note(f"warning: {as_options(str(message))}")


def as_options(message: str) -> str:
    """A sentence with the parameters that it names as a user of the command line writes them.

    >>> as_options("kinds={'order id': 'nominal'} keeps it; or use missing='drop'.")
    "--kind 'order id=nominal' keeps it; or use --missing drop."
    >>> as_options("kinds['size'] must be .. Give the order with kinds={'size': [...]}.")
    "--kind for 'size' must be .. Give the order with --kind 'size=...'."
    >>> as_options("profile_probability must be a number from 0 to 1, 1 excluded, not 1.0.")
    '--profile-probability must be a number from 0 to 1, 1 excluded, not 1.0.'
    >>> as_options("time_limit must be a number of seconds of 0 or more, or None for no limit, not -1.0.")
    '--time-limit must be a number of seconds of 0 or more, not -1.0.'
    """
    first, *_ = message.partition(" must be ")
    if first in parameters():
        message = message.replace(first, flag(first), 1)
    for python, option in PYTHON:
        message = python.sub(option, message)
    return PARAMETER.sub(
        lambda found: f"{flag(found[1])} {shlex.quote('='.join(filter(None, found.group(2, 3))))}", message
    )
