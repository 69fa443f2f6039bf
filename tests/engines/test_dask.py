"""Tables of Dask: counted on the workers as they are in memory."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import polars as pl
import pytest

from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.structures import Condition, RuleList
from sparsedensity.table import Table
from tests.engines.nasty import DOMAIN, TREE, WEIGHTS, nasty

pytestmark = pytest.mark.cluster
RULES = RuleList.of(DOMAIN, [(Condition(1, 0, 1), Condition(5, 0, 0)), (Condition(4, 4, 4),)])


DECLARED = Reading(domain=DOMAIN)


def opened(frame, reading=DECLARED, weight=None):
    from sparsedensity.ingest.dask import open_dask

    return open_dask(frame, reading, weight, np.random.default_rng(0))


def blocks_of(engine):
    from dask import compute

    return compute(*engine.blocks)


def in_memory(frame, reading=DECLARED, weight=None):
    weights = None if weight is None else frame[weight].to_numpy()
    names = [name for name in frame.columns if name != weight]
    return MemoryEngine(read_table(open_source(frame.select(names)), reading, weights))


def same_rows(one, other):
    return np.array_equal(one.codes, other.codes) and np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("weight", [None, *WEIGHTS])
def test_counts_are_those_in_memory(weight, as_lazy):
    frame = nasty().select(*DOMAIN.names, *([] if weight is None else [weight]))
    ours, expected = opened(as_lazy("dask", frame), weight=weight), in_memory(frame, weight=weight)
    assert ours.n == expected.n
    assert np.array_equal(ours.value_weights(), expected.value_weights())
    for structure in (TREE, RULES):
        assert np.array_equal(ours.leaf_weights(structure), expected.leaf_weights(structure))
        assert np.array_equal(ours.leaf_value_weights(structure), expected.leaf_value_weights(structure))


def test_distinct_rows_come_home_in_order_of_appearance_unless_they_are_many(as_lazy):
    frame = nasty().select(*DOMAIN.names, "quarter")
    ours, table = opened(as_lazy("dask", frame), weight="quarter"), in_memory(frame, weight="quarter").table
    assert same_rows(ours.distinct(len(table)), table)
    assert ours.distinct(len(table) - 1) is None
    assert ours.collapsed() is None


def test_a_sample_is_that_of_the_same_rows_in_memory(as_lazy):
    frame = nasty().select(*DOMAIN.names, "quarter")
    ours = opened(as_lazy("dask", frame), weight="quarter")
    codes, weights = zip(*((block.codes, block.weights) for block in blocks_of(ours)), strict=True)
    rows = MemoryEngine(Table(DOMAIN, np.concatenate(codes), np.concatenate(weights)))
    sample, expected = (engine.sample(250, np.random.default_rng(3)) for engine in (ours, rows))
    assert same_rows(sample, Table.of(DOMAIN, expected.codes, expected.weights))
    assert sample.n == pytest.approx(ours.n)


READINGS = [Reading(bins="quantile"), Reading(missing="drop"), Reading(kinds={"number": "nominal", "flag": "ordinal"})]


@pytest.mark.filterwarnings("ignore:.*looks like an identifier", "ignore:.*one bin")
@pytest.mark.parametrize("reading", READINGS)
def test_the_domain_and_the_rows_that_count_are_those_in_memory(reading, as_lazy):
    number = pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.format("no. {}", pl.int_range(pl.len())))
    frame = nasty().select(*DOMAIN.names, "quarter", number=number)
    ours, expected = opened(as_lazy("dask", frame), reading, "quarter"), in_memory(frame, reading, "quarter")
    assert ours.domain == expected.domain
    assert ours.domain.left_out == expected.domain.left_out
    assert same_rows(ours.distinct(len(frame)), expected.table)


def test_partitions_may_be_empty_or_of_weight_0(as_lazy):
    frame = nasty().select(*DOMAIN.names, "whole").sort("whole")
    heavy = opened(as_lazy("dask", frame), weight="whole")
    assert np.array_equal(heavy.value_weights(), in_memory(frame, weight="whole").value_weights())
    lazy = as_lazy("dask", frame)
    some = opened(lazy[lazy["whole"] == 7][list(DOMAIN.names)])
    rows = frame.filter(pl.col("whole") == 7).drop("whole")
    assert [len(block) for block in blocks_of(some)].count(0) == 2
    assert same_rows(some.distinct(len(rows)), in_memory(rows).table)


BAD = {
    "'name' has no value 'stranger'": ("name", "stranger"),
    "'reading' holds infinity .inf. in partition 1 at row 5. Replace it": ("reading", float("inf")),
    "whole is -1.0 in partition 1 at row 5. Weights must be": ("whole", -1),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_is_wrong_in_a_partition_is_said_in_one_sentence(sentence, as_lazy):
    (column, value), row = BAD[sentence], pl.int_range(pl.len())
    frame = (
        nasty(60)
        .select(*DOMAIN.names, whole=1)
        .with_columns(pl.when(row == 25).then(pl.lit(value)).otherwise(column).alias(column))
    )
    with pytest.raises(DataError, match=sentence):
        opened(as_lazy("dask", frame), weight="whole").value_weights()


def test_a_table_without_rows_that_count_is_refused(as_lazy):
    frame = nasty(9).select(*DOMAIN.names, whole=0)
    with pytest.raises(DataError, match="whole is zero in every row"):
        opened(as_lazy("dask", frame), weight="whole")
    lazy = as_lazy("dask", frame)
    with pytest.raises(DataError, match="The table has no rows"):
        opened(lazy[lazy["whole"] > 0])
    gone = frame.with_columns(name=pl.lit(None, pl.String)).drop("whole")
    with pytest.raises(DataError, match="missing='drop' leaves none"):
        opened(as_lazy("dask", gone), Reading(missing="drop"))


@pytest.mark.parametrize("most_held", [1 << 30, 0])
def test_without_a_cluster_rows_are_encoded_once_unless_they_are_many(most_held, as_lazy, monkeypatch):
    from dask import config

    frame = nasty().select(DOMAIN.names)
    lazy = as_lazy("dask", frame)
    monkeypatch.setattr("sparsedensity.ingest.dask.MOST_HELD", most_held)
    with config.set(scheduler="threads"):
        ours = opened(lazy)
        assert np.array_equal(ours.leaf_weights(TREE), in_memory(frame).leaf_weights(TREE))
    assert all((len(block.dask) == 1) == bool(most_held) for block in ours.blocks)


def test_a_worker_that_is_killed_during_a_pass_changes_no_count(dask, as_lazy, tmp_path):
    import psutil

    frame, gate = nasty().select(*DOMAIN.names, "quarter"), tmp_path / "open"
    ours = opened(as_lazy("dask", frame).repartition(npartitions=8), weight="quarter")
    with ThreadPoolExecutor() as threads:
        counting = threads.submit(ours._counted, partial(counted_behind, gate), TREE)
        while not any(dask.processing().values()):
            time.sleep(0.01)
        psutil.Process(next(iter(dask.run(os.getpid).values()))).kill()
        gate.touch()
    assert np.array_equal(counting.result(), in_memory(frame, weight="quarter").leaf_value_weights(TREE))


def counted_behind(gate, engine, structure):
    """The weights in every leaf, as soon as a gate is open."""
    end = time.monotonic() + 60
    while not gate.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return engine.leaf_value_weights(structure)
