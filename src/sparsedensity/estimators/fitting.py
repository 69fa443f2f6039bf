"""How a model is fitted: rows are read, some may be kept apart, the others are searched, and the leaves are weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparsedensity.engines import LeafWeights, MemoryEngine
from sparsedensity.errors import SearchWarning, warn
from sparsedensity.estimators.answers import adopt, remember_columns
from sparsedensity.estimators.parameters import jobs_of
from sparsedensity.estimators.progress import watching
from sparsedensity.ingest import Reading, Source, check_weights, read_tables
from sparsedensity.ingest.decode import Frame
from sparsedensity.search.interrupts import stopping_on_ctrl_c

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator

EARLY_ENDS = ("time limit", "interrupted")
SMALL_TABLE = 1 << 24
"""Bytes of codes up to which a fitted model holds on to its rows, so that its path can be cut."""


def fit_source(
    model: DensityEstimator, source: Source, sample_weight: Any, frame: Frame, *, in_order: bool = False
) -> None:
    """Learn the density of an open table; `in_order` makes the model independent of the order of its rows."""
    reading = Reading(model.kinds, model.bins, model.domain, model.missing, model.unknown)
    weights = check_weights(sample_weight, source.n_rows)
    held_out = model.held_out(weights)
    with stopping_on_ctrl_c(), watching(model.progress, "searching") as watch:
        tables = read_tables(source, reading, weights, None if held_out is None else held_out.divide)
        first, *held = [table.in_order() for table in tables] if in_order else tables
        engine = MemoryEngine(first, jobs_of(model.n_jobs))
        posterior, found = model.learn(engine, watch)
    if found.reason in EARLY_ENDS:
        warn(f"The search stopped early ({found.reason}): this is its best so far.", SearchWarning)
    remember_columns(model, source)
    model.weighted_, model.frame_, model.archive_ = weights is not None, frame, None
    model.held_out_ = None if held_out is None else replace(held_out, searched=engine.n)
    small = sum(table.codes.nbytes for table in tables) <= SMALL_TABLE
    model.rows_, model.held_ = (first, *held, None)[:2] if small else (None, None)
    weighing = MemoryEngine(held[0], engine.jobs) if held else engine
    adopt(model, posterior, found, LeafWeights.on(weighing, found.structure, even=posterior.even))
