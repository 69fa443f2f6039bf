"""How the time of a fit grows with rows, columns, values and leaves, and a million rows beside mlpack's DET.

Rows are drawn from a known tree of 100 leaves. Every fit has default settings, but for a limit of 100 on rules too,
and for the limit that grows. Seconds are those of the processor, of all threads together, from a frame to a model, its
kernels loaded before, in a process of its own; beside them is the number of leaves or rules found. A line ends at the
first fit that takes more than ``BENCH_SECONDS`` of them (never on Windows). Its slope is that of its upper half, by
least squares in logs: 1 if the time grows as the size does.

``BENCH_PARTS=rows,columns,values,leaves,million`` names the parts to run, all of them by default. Every fit is kept in
``build/benchmarks/growth-*.jsonl`` until a source changes: a run goes on where the last one ended, and parts that were
run one by one are printed together by a run of all. ``BENCH_PAGE=docs/how-to/large-tables.md`` writes the tables of a
run between the marks of that page, and their plot beside it.
"""

import importlib.util
import math
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.page import OUTPUTS
from benchmarks.printing import header
from reproduction import charts
from reproduction.datasets.random_trees import random_tree
from reproduction.machine import Machine, source
from reproduction.parts import Parts
from reproduction.study import MARK, Chart, Panel, Series
from sparsedensity import LeafSparseTree, SparseRuleList
from sparsedensity.datasets import Truth
from sparsedensity.errors import DataError, SearchWarning, SparseDensityError
from sparsedensity.search.base import size_of
from sparsedensity.writing import write_text

MOST_SECONDS = float(os.environ.get("BENCH_SECONDS", "300"))
TRUE_LEAVES = 100
GROWING = {
    "rows": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "columns": (5, 20, 100, 300, 1_000),
    "values": (2, 10, 50, 200, 1_000),
    "leaves": (5, 20, 100, 300, 1_000),
}
"""What grows, each alone."""
WORDS = {"rows": "rows", "columns": "columns", "values": "values per column", "leaves": "leaves or rules, at most"}
MODELS: Mapping[str, Callable[[int], Any]] = {
    "uniform tree": lambda leaves: LeafSparseTree(max_leaves=leaves, kinds="nominal"),
    "profile tree": lambda leaves: LeafSparseTree(max_leaves=leaves, leaf="profile", kinds="nominal"),
    "rule list": lambda leaves: SparseRuleList(max_rules=leaves, kinds="nominal"),
}
PLOT = "growth.svg"
BEGIN, END = "<!-- written by: python -m benchmarks growth -->\n", "<!-- end of what it wrote -->"


class Size(NamedTuple):
    """The size of a table, and of its model at most."""

    rows: int = 10_000
    columns: int = 20
    values: int = 4
    leaves: int = 100


class Spent(NamedTuple):
    """The processor seconds of a fit, how many leaves or rules it found, and whether it was stopped before its end."""

    seconds: float
    found: int
    stopped: bool = False


Line = dict[int, Spent]
"""The fits of one model, by the size of what grows; only the last one may have been stopped."""


def main() -> None:
    chosen = os.environ.get("BENCH_PARTS", ",".join([*GROWING, "million"])).split(",")
    machine, kept = Machine.here(), kept_fits()
    grown, sections = {}, {}
    for part in (part for part in GROWING if part in chosen):
        grown[part] = grow(part, kept)
        sections[part] = [*table(part, grown[part])]
    if "million" in chosen:
        sections["million"] = [*million(Size(1_000_000), kept)]
    for part, lines in sections.items():
        print("\n".join(["", f"### {part}", *lines]), flush=True)
    if grown and (page := os.environ.get("BENCH_PAGE")):
        write_page(Path(page), grown, sections, machine)


def kept_fits() -> Parts:
    """The fits of earlier runs with the same sources and limits on the same machine, whatever else was committed."""
    belongs = {**Machine.here().saved(), "commit": source(), "seconds": MOST_SECONDS, "true leaves": TRUE_LEAVES}
    return Parts(OUTPUTS / "growth.jsonl", belongs)


def grow(part: str, kept: Parts) -> dict[str, Line]:
    """Fit larger and larger tables, each model until one of its fits is stopped."""
    lines: dict[str, Line] = {model: {} for model in MODELS}
    for number in GROWING[part]:
        for model, line in lines.items():
            if not ended(line):
                line[number] = fit(model, Size()._replace(**{part: number}), kept)
    return lines


def fit(model: str, size: Size, kept: Parts) -> Spent:
    """What a fit takes, or took: parts that meet at a size share its fits."""
    return Spent(**kept.part(f"{model}, {size}", lambda: measured(model, size)._asdict()))


def measured(model: str, size: Size) -> Spent:
    """What a fit takes now, in a process of its own."""
    spent = in_a_process(timed, model, size)
    print(f"{model}, {size}: {spent}", file=sys.stderr, flush=True)
    return spent


def in_a_process(job: Callable[..., None], *about: Any) -> Spent:
    """What a job sends, or that it was stopped: by processor seconds, on a busy machine as on a quiet one."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=job, args=(sender, *about))
    process.start()
    sender.close()
    spent = Spent(MOST_SECONDS, 0, stopped=True)
    with suppress(EOFError):
        spent = receiver.recv()
    process.join()
    if spent.stopped and process.exitcode != -getattr(signal, "SIGXCPU", 0):
        raise SparseDensityError(f"A fit ended with {process.exitcode} and no answer: {about}.")
    return spent


def timed(sender: Connection, model: str, size: Size) -> None:
    """Send what a fit takes."""
    warnings.simplefilter("ignore", SearchWarning)
    MODELS[model](size.leaves).fit(draw(500, 20, 4).frame)  # loads or compiles
    frame = draw(size.rows, size.columns, size.values).frame
    stop_after(MOST_SECONDS)
    begin = time.process_time()
    fitted = MODELS[model](size.leaves).fit(frame)
    sender.send(Spent(time.process_time() - begin, size_of(fitted.structure_)))


def stop_after(seconds: float) -> None:
    """End this process after so many more processor seconds, wherever it is by then."""
    if sys.platform != "win32":
        import resource

        most = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


@lru_cache(1)
def draw(rows: int, columns: int, values: int) -> Truth:
    """A table drawn from a known tree, kept for the next model."""
    return random_tree(rows, [values] * columns, TRUE_LEAVES, seed=1)


def ended(line: Line) -> bool:
    """Whether the last fit of a line was stopped."""
    return any(spent.stopped for spent in line.values())


def table(part: str, lines: Mapping[str, Line]) -> Iterator[str]:
    """A line per size, the slopes, and a sentence for every model that did not come to the end."""
    yield header(WORDS[part], *(title for model in lines for title in (f"{model}, s", "found")))
    for number in GROWING[part]:
        yield f"| {number:,} | {' | '.join(in_words(line.get(number)) for line in lines.values())} |"
    yield f"| slope | {' | '.join(f'{slope_in_words(line)} |' for line in lines.values())} |"
    for model, line in lines.items():
        if ended(line):
            stopped = f"its fit at {max(line):,} was stopped after {MOST_SECONDS:g} processor seconds"
            yield f"\nThe {model} ends early: {stopped}."


def in_words(spent: Spent | None) -> str:
    if spent is None:
        return f"{MARK} | {MARK}"
    return f"stopped | {MARK}" if spent.stopped else f"{spent.seconds:.2f} | {spent.found:,}"


def finished(line: Line) -> Line:
    """The fits that were not stopped."""
    return {number: spent for number, spent in line.items() if not spent.stopped}


def slope(line: Line) -> float:
    """The power of the size by which the time grows, in the upper half of the sizes.

    >>> round(slope({1: Spent(5.0, 9), 10: Spent(5.0, 9), 100: Spent(50.0, 9)}), 6)
    1.0
    """
    whole = finished(line)
    upper = sorted(whole)[min(len(whole) // 2, max(len(whole) - 2, 0)) :]
    if len(upper) < 2:
        return math.nan
    return float(np.polyfit(np.log(upper), np.log([whole[size].seconds for size in upper]), 1)[0])


def slope_in_words(line: Line) -> str:
    return MARK if math.isnan(slope(line)) else f"{slope(line):.2f}".replace("-", "−")


def million(size: Size, kept: Parts) -> Iterator[str]:
    """Fits of so many rows beside mlpack's DET, unpruned, to which codes are numbers: all in one run."""
    seconds = kept.part(f"beside DET, {size}", lambda: beside_det(size))
    theirs = None if seconds["det"] is None else Spent(*seconds["det"])
    yield header(f"{size.rows:,} rows, {size.columns} columns", "processor s", "of DET", "found")
    if theirs is not None:
        yield f"| mlpack's DET, unpruned | {'more than ' if theirs.stopped else ''}{theirs.seconds:.1f} | 1.00 | |"
    for model in MODELS:
        spent = Spent(*seconds[model])
        yield f"| {model} | " + (
            "stopped | | |" if spent.stopped else f"{spent.seconds:.1f} | {ratio(spent, theirs)} | {spent.found:,} |"
        )
    if theirs is None:
        yield "\nmlpack is skipped: it is not installed (pip install mlpack)."
    if any(Spent(*each).stopped for each in seconds.values() if each is not None):
        yield f"\nWhat took more than {MOST_SECONDS:g} processor seconds was stopped."


def ratio(ours: Spent, theirs: Spent | None) -> str:
    """Our seconds as a share of theirs, which is less than this if theirs were not all; empty without theirs."""
    return "" if theirs is None else f"{'< ' if theirs.stopped else ''}{ours.seconds / theirs.seconds:.2f}"


def beside_det(size: Size) -> dict[str, Any]:
    """What DET takes, and every model after it."""
    return {"det": measured_det(size)} | {model: measured(model, size) for model in MODELS}


def measured_det(size: Size) -> Spent | None:
    """What mlpack's DET takes without pruning, in a process of its own; nothing if it is not installed."""
    if importlib.util.find_spec("mlpack") is None:
        return None
    return in_a_process(timed_det, size)


def timed_det(sender: Connection, size: Size) -> None:
    """Send what DET takes."""
    from mlpack import det

    numbers = draw(size.rows, size.columns, size.values).codes.astype(np.float64)
    stop_after(MOST_SECONDS)
    begin = time.process_time()
    det(training=numbers, skip_pruning=True)
    sender.send(Spent(time.process_time() - begin, 0))


def write_page(
    page: Path, grown: Mapping[str, Mapping[str, Line]], sections: Mapping[str, Sequence[str]], machine: Machine
) -> None:
    """Write the tables between the marks of a page, and the plot beside it."""
    above, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, below = rest.partition(END)
    if not (begin and end):
        raise DataError(f"{page} has no room for tables. It needs the lines {BEGIN.strip()!r} and {END!r}.")
    chart = drawn(grown)
    written = [f"![{chart.title}. {chart.words}]({PLOT})"]
    written += ["\n".join(lines) for lines in sections.values()]
    written += [f"Measured on {machine}."]
    write_text("".join([above, begin, "\n", "\n\n".join(written), "\n\n", end, below]), page)
    write_text(charts.by_itself(chart), page.parent / PLOT)


def drawn(grown: Mapping[str, Mapping[str, Line]]) -> Chart:
    """Seconds against sizes, on logarithmic axes, beside a line that grows as the size does."""
    panels, words = [], []
    for part, lines in grown.items():
        curves = [curve(model, line) for model, line in lines.items() if finished(line)]
        slopes = ", ".join(f"{model} {slope_in_words(line)}" for model, line in lines.items())
        words.append(f"Slopes with {WORDS[part].partition(',')[0]}: {slopes}.")
        series = (*curves, linear(curves)) if curves else ()
        panels.append(Panel(f"slopes: {slopes}", WORDS[part], "processor seconds", series, log_x=True, log_y=True))
    rows = 2 if len(panels) == len(GROWING) else 1
    title = "Processor seconds of a fit as its table grows"
    return Chart("growth", title, tuple(panels), " ".join(words), rows=rows, one_scale=True)


def curve(model: str, line: Line) -> Series:
    """The seconds of a model, with a word at the end if there is no more because a fit was stopped."""
    whole = finished(line)
    names = (*[""] * (len(whole) - 1), f"then over {MOST_SECONDS:g} s") if ended(line) else ()
    return Series(model, tuple(map(float, whole)), tuple(one.seconds for one in whole.values()), line=True, names=names)


def linear(curves: Sequence[Series]) -> Series:
    """A guide for the eye: from the lowest point up to the last point of the slowest curve."""
    low = min(second for one in curves for second in one.y)
    x, high = max(((one.x[-1], one.y[-1]) for one in curves), key=lambda end: end[1])
    start = max(min(one.x[0] for one in curves), x * low / high)
    return Series("linear", (start, x), (high * start / x, high), line=True, faint=True)
