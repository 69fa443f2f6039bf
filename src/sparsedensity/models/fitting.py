"""How a model is fitted: rows are read, some may be kept apart, the others are searched, and the leaves are weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparsedensity.engines import Engine, LeafWeights, MemoryEngine
from sparsedensity.errors import DataError, SearchWarning, warn
from sparsedensity.ingest import Reading, Source, check_weights, open_source, read_tables
from sparsedensity.ingest.decode import Frame, kind_of
from sparsedensity.ingest.lazy import LazyTable, lazy_table, weights_apart
from sparsedensity.models.answers import adopt, remember_columns
from sparsedensity.models.parameters import generator, jobs_of
from sparsedensity.models.progress import telling, watching
from sparsedensity.search.interrupts import quitting_on_ctrl_c, stopping_on_ctrl_c
from sparsedensity.table import Table

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel
    from sparsedensity.models.folds import HeldOut

EARLY_ENDS = ("time limit", "interrupted")
SMALL_TABLE = 1 << 24
"""Bytes of codes up to which a fitted model holds on to its rows, so that its path can be cut."""


def fit_table(model: DensityModel, X: Any, sample_weight: Any) -> None:
    """Learn the density of a table, in memory or elsewhere."""
    lazy = lazy_table(X, sample_weight)
    if lazy is not None:
        fit_lazy(model, lazy)
    else:
        rows, weights = weights_apart(X, sample_weight)
        fit_source(model, open_source(rows), weights, kind_of(X))


def fit_source(
    model: DensityModel, source: Source, sample_weight: Any, frame: Frame, *, in_order: bool = False
) -> None:
    """Learn the density of an open table; `in_order` makes the model independent of the order of its rows."""
    weights = check_weights(sample_weight, source.n_rows)
    held_out = model.held_out(weights)
    with stopping_on_ctrl_c():
        tables = read_tables(source, reading_of(model), weights, None if held_out is None else held_out.divide)
        _learn(model, _engines(model, *(table.in_order() if in_order else table for table in tables)), held_out)
    remember_columns(model, source.names, named=source.named)
    model.weighted_, model.frame_ = weights is not None, frame


def fit_lazy(model: DensityModel, lazy: LazyTable) -> None:
    """Learn the density of a table that is elsewhere: its rows stay there, unless there are few different ones."""
    rng = generator(getattr(model, "random_state", 0))
    with quitting_on_ctrl_c(), telling(model.progress, "reading") as say:
        engines: tuple[Engine, ...] = (lazy.open(reading_of(model), rng, jobs_of(model.n_jobs), say),)
    with stopping_on_ctrl_c():
        held_out = model.held_out(None)
        if held_out is not None:
            engines = _engines(model, *_divided(engines[0], held_out))
        _learn(model, engines, held_out)
    remember_columns(model, lazy.names, named=True)
    model.weighted_, model.frame_ = lazy.weight is not None, "polars"


def reading_of(model: DensityModel) -> Reading:
    """How a model reads tables."""
    return Reading(model.kinds, model.bins, model.domain, model.missing, model.unknown)


def _learn(model: DensityModel, engines: tuple[Engine, ...], held_out: HeldOut | None) -> None:
    """Search the first engine, and weigh the leaves by the last: they differ if the model is honest."""
    searched, weighing = engines[0], engines[-1]
    with watching(model.progress, "searching") as watch:
        posterior, found = model.learn(searched, watch)
    if found.reason in EARLY_ENDS:
        warn(f"The search stopped early ({found.reason}): this is its best so far.", SearchWarning)
    model.archive_ = None
    model.held_out_ = None if held_out is None else replace(held_out, searched=searched.n)
    tables = [engine.collapsed() for engine in engines]
    small = sum(SMALL_TABLE + 1 if table is None else table.codes.nbytes for table in tables) <= SMALL_TABLE
    model.rows_, model.held_ = (*tables, None)[:2] if small else (None, None)
    with telling(model.progress, "weighing the leaves by all rows"):
        weights = LeafWeights.on(weighing, found.structure, even=posterior.even)
    adopt(model, posterior, found, weights)


def _engines(model: DensityModel, *tables: Table) -> tuple[Engine, ...]:
    return tuple(MemoryEngine(table, jobs_of(model.n_jobs)) for table in tables)


def _divided(engine: Engine, held_out: HeldOut) -> tuple[Table, ...]:
    """The rows to search, and those that are kept from the search."""
    table = engine.collapsed()
    if table is None:
        raise DataError(
            "An honest model divides the rows, but this table stays where it is. Divide it there: fit to one part, and "
            "compare with the other."
        )
    parts = held_out.divide(table.weights)
    return tuple(Table(table.domain, table.codes[part > 0], part[part > 0]) for part in parts)
