"""A lazy frame read part by part is the table that its collected rows are."""

import errno
import gc
import signal
import tempfile
import warnings
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity import Domain
from sparsedensity.engines import MemoryEngine, memory
from sparsedensity.errors import DataError, RowError, SparseDensityError, UnknownValueError
from sparsedensity.ingest import Reading, batches, open_source, parts, read_table, storing
from sparsedensity.ingest.parts import read_lazy
from sparsedensity.search.interrupts import stopping_on_ctrl_c
from sparsedensity.table import Table
from tests.laws.test_summaries import tables
from tests.strategies import data_in, domains, table_of, trees

WEIGHTS = {
    "none": st.none(),
    "whole": st.integers(0, 5).map(float),
    "quarters": st.integers(0, 40).map(lambda quarters: quarters / 4),
    "bad": st.sampled_from([1.0, 1.0, 2.5, -1.0, float("nan")]),
}


def as_dict(table):
    assert len(table) == len(set(map(tuple, table.codes.tolist())))
    return dict(zip(map(tuple, table.codes.tolist()), table.weights.tolist(), strict=True))


def in_parts(frame, reading, weight=None, size=7, say=lambda _: None):
    with patch.object(parts, "batches_of", partial(batches.batches_of, rows=size)):
        return read_lazy(frame.lazy(), reading, weight, np.random.default_rng(0), say)


def at_once(frame, reading, weight=None):
    if weight is None:
        return read_table(open_source(frame), reading)
    return read_table(open_source(frame.drop(weight)), reading, frame[weight].to_numpy())


def outcome(read, *arguments):
    """The domain and rows of a table, or what kind of error there is instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read(*arguments)
        except SparseDensityError as error:
            return type(error)
    return table.domain, as_dict(table)


@st.composite
def cases(draw):
    """A frame with a column of weights or without, and how to read it."""
    frame, weight = draw(tables()), None
    kind = draw(st.sampled_from(list(WEIGHTS)))
    if kind != "none":
        drawn = draw(st.lists(WEIGHTS[kind], min_size=len(frame), max_size=len(frame)))
        frame, weight = frame.with_columns(pl.Series("weights", drawn, dtype=pl.Float64)), "weights"
    bins = draw(st.sampled_from([3, 10, "quantile:4"]))
    return frame, Reading(bins=bins, missing=draw(st.sampled_from(["category", "drop", "error"]))), weight


@given(cases(), st.integers(1, 30))
def test_parts_give_the_table_of_the_collected_frame(case, size):
    assert outcome(in_parts, *case, size) == outcome(at_once, *case)


@given(tables(), st.data(), st.integers(1, 30), st.sampled_from(["zero", "nearest"]))
def test_so_they_do_in_a_declared_domain(frame, data, size, unknown):
    """It is the domain of some of the rows, so that the others may hold values it does not know."""
    some = frame[: data.draw(st.integers(1, len(frame)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        domain = Domain.infer(some)
    reading = Reading(domain=domain, missing=data.draw(st.sampled_from(["category", "drop"])), unknown=unknown)
    assert outcome(in_parts, frame, reading, None, size) == outcome(at_once, frame, reading)


@given(tables(), st.integers(1, 30))
def test_a_file_mapped_into_memory_holds_the_same_rows(frame, size):
    expected = outcome(at_once, frame, Reading())
    with patch.object(storing, "MOST_IN_MEMORY", 0):
        assert outcome(in_parts, frame, Reading(), None, size) == expected


@pytest.fixture
def many():
    """Rows that are nearly all different, two weights, some rows of weight 0."""
    rng = np.random.default_rng(1)
    columns = {f"x{i}": rng.integers(0, 9, 1000) for i in range(6)}
    return pl.DataFrame({**columns, "weights": rng.integers(0, 9, 1000) / 4})


@pytest.fixture
def few_rows(monkeypatch):
    """A thousand rows are many."""
    monkeypatch.setattr(parts, "FEW_ROWS", 100)


@pytest.mark.parametrize("weight", [None, "weights"])
@pytest.mark.parametrize("most", [0, storing.MOST_IN_MEMORY])
def test_many_different_rows_are_kept_as_they_are(many, few_rows, monkeypatch, weight, most):
    monkeypatch.setattr(storing, "MOST_IN_MEMORY", most)
    frame = many if weight else many.drop("weights")
    table, expected = in_parts(frame, Reading(), weight), at_once(frame, Reading(), weight)
    assert not table.distinct
    assert MemoryEngine(table).collapsed() is None
    assert as_dict(Table.of(table.domain, table.codes, table.weights)) == as_dict(expected)
    assert (MemoryEngine(table).value_weights() == MemoryEngine(expected).value_weights()).all()
    assert table.n == expected.n
    sample = MemoryEngine(table).sample(200, np.random.default_rng(0))
    assert sample.n == pytest.approx(table.n)
    assert as_dict(sample).keys() <= as_dict(expected).keys()


def test_rows_without_weights_share_one(many, few_rows):
    table = in_parts(many.drop("weights"), Reading())
    assert table.weights.strides == (0,)
    assert table.n == 1000


def test_a_sample_of_rows_of_one_weight_is_drawn_at_equal_steps(many, few_rows):
    table = in_parts(many.drop("weights"), Reading())
    whole = Table(table.domain, table.codes, np.ones(1000), distinct=False)
    for size in (10, 333, 1000, 3000):
        samples = [MemoryEngine(rows).sample(size, np.random.default_rng(size)) for rows in (table, whole)]
        assert as_dict(samples[0]) == pytest.approx(as_dict(samples[1]))


def test_many_rows_of_which_few_are_different_are_collapsed(few_rows):
    frame = pl.DataFrame({"a": [0, 1, 2, 3] * 250, "b": ["x", "y"] * 500})
    assert outcome(in_parts, frame, Reading()) == outcome(at_once, frame, Reading())


def test_an_identifier_is_left_out_and_no_row_is_dropped_for_lack_of_it():
    names = [None if i == 5 else f"n{i}" for i in range(300)]
    frame = pl.DataFrame({"name": names, "half": [None, 1, 2] * 100})
    reading = Reading(missing="drop")
    with pytest.warns(match="'name' looks like an identifier"):
        table = in_parts(frame, reading)
    assert table.domain.left_out == ("name",)
    assert table.n == 200
    assert outcome(in_parts, frame, reading) == outcome(at_once, frame, reading)


def test_names_that_crowd_the_first_part_are_not_looked_at_again():
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(200_000)], "half": [None, "x"] * 100_000})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = in_parts(frame, Reading(), size=80_000)
    assert table.domain.left_out == ("name",)
    assert sorted(table.weights.tolist()) == [100_000, 100_000]
    assert outcome(in_parts, frame, Reading(), None, 80_000) == outcome(at_once, frame, Reading())


@pytest.mark.parametrize(
    ("column", "missing", "words"),
    [
        ([1.5] * 17 + [float("inf")], "category", r"holds infinity \(inf\) at row 17\."),
        ([1.5] * 17 + [None], "error", r"'x' is missing at row 17\."),
    ],
)
def test_a_bad_row_is_called_by_its_number_in_the_whole_table(column, missing, words):
    with pytest.raises(RowError, match=words):
        in_parts(pl.DataFrame({"x": column}), Reading(missing=missing))


def test_so_is_a_bad_weight():
    frame = pl.DataFrame({"x": [1, 2] * 9, "w": [1.0] * 17 + [-2.0]})
    with pytest.raises(RowError, match=r"sample_weight is -2.0 at row 17\. Weights must be finite"):
        in_parts(frame, Reading(), "w")


def test_a_value_outside_a_declared_domain_is_refused():
    domain = Domain.infer(pl.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(UnknownValueError, match=r"'x' has no value 'c'\. Known: 'a', 'b'"):
        in_parts(pl.DataFrame({"x": ["a", "b"] * 9 + ["c"]}), Reading(domain=domain))


@pytest.mark.parametrize("frame", [pl.DataFrame({"x": []}, {"x": pl.Int64}), pl.DataFrame()])
def test_nothing_is_no_table(frame):
    with pytest.raises(DataError, match="while a minimum of 1 is required"):
        in_parts(frame, Reading())


def test_every_row_may_not_be_dropped():
    frame = pl.DataFrame({"x": [None, 1] * 9, "y": [1, None] * 9})
    assert outcome(in_parts, frame, Reading(missing="drop")) is outcome(at_once, frame, Reading(missing="drop"))
    with pytest.raises(DataError, match="missing='drop' leaves none"):
        in_parts(frame, Reading(missing="drop"))


@pytest.mark.parametrize("counted", [59, 61])
def test_a_frame_that_has_more_or_fewer_rows_when_read_again_is_refused(counted):
    frame = parts.Parts.of(pl.LazyFrame({"x": [1, 2] * 30}), None, lambda _: None)
    assert frame.rows == 60
    with pytest.raises(DataError, match="more or fewer rows when it was read again"):
        list(replace(frame, rows=counted).each(len))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_scans_of_files_are_read_like_their_rows(many, tmp_path, ending):
    frame = many.with_columns(text=pl.col("x0").cast(pl.String) + "!", day=pl.date(2024, 1, 1))
    for number, part in enumerate(frame.iter_slices(600)):
        file = tmp_path / f"{number}.{ending}"
        part.write_parquet(file, row_group_size=150) if ending == "parquet" else part.write_csv(file)
    scan = partial(pl.scan_csv, try_parse_dates=True) if ending == "csv" else pl.scan_parquet
    lazy = scan(tmp_path / f"*.{ending}")
    assert outcome(in_parts, lazy, Reading(), "weights", 128) == outcome(at_once, frame, Reading(), "weights")
    assert outcome(in_parts, lazy.filter(pl.col("x0") > 3), Reading(), "weights", 128) == outcome(
        at_once, frame.filter(pl.col("x0") > 3), Reading(), "weights"
    )


def test_parquet_is_read_by_slices(many, tmp_path):
    many.write_parquet(tmp_path / "many.parquet", row_group_size=300)
    lazy = pl.scan_parquet(tmp_path / "many.parquet").select("x3", "x1")
    with patch.object(pl.LazyFrame, "collect_batches", side_effect=AssertionError):
        found = list(batches.batches_of(lazy, 128))
    assert [len(batch) for batch in found] == [128] * 7 + [104]
    assert pl.concat(found).equals(many.select("x3", "x1"))


@pytest.fixture
def spilling(monkeypatch, tmp_path, few_rows):
    """Codes go to a temporary file in this folder."""
    monkeypatch.setattr(storing, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_temporary_file_goes_with_the_table(many, spilling):
    table = in_parts(many.drop("weights"), Reading())
    assert isinstance(table.codes.base, np.memmap)
    del table
    gc.collect()
    assert list(spilling.iterdir()) == []


class FullDisk:
    """A file that takes a few bytes."""

    def __init__(self, file):
        self.file, self.room = file, 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.room -= data.nbytes
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data)


def test_a_full_disk_gives_a_sentence_and_leaves_no_file(many, spilling, monkeypatch):
    make = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: FullDisk(make()))
    with pytest.raises(SparseDensityError, match=r"cannot be written to .*: No space left on device\. Set .* TMPDIR"):
        in_parts(many.drop("weights"), Reading())
    assert list(spilling.iterdir()) == []


def test_no_folder_for_temporary_files_gives_a_sentence(many, spilling, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(spilling / "gone"))
    with pytest.raises(SparseDensityError, match="need a temporary file"):
        in_parts(many.drop("weights"), Reading())


def test_it_tells_how_far_it_is(many):
    said = []
    in_parts(many, Reading(), "weights", 300, said.append)
    assert said[-1] == "1,000 of 1,000 rows"


def test_ctrl_c_while_reading_ends_it(many):
    with pytest.raises(KeyboardInterrupt), stopping_on_ctrl_c():
        in_parts(many, Reading(), "weights", 300, lambda _: signal.raise_signal(signal.SIGINT))


@given(domains(), st.data(), st.integers(1, 9))
def test_counts_of_blocks_do_not_depend_on_the_number_of_threads(domain, data, size):
    table, tree = table_of(domain, data.draw(data_in(domain))), data.draw(trees(domain))
    whole = MemoryEngine(table).leaf_value_weights(tree)
    with patch.object(memory, "ROWS_PER_BLOCK", size):
        one, several = MemoryEngine(table), MemoryEngine(table, jobs=3)
        assert (one.leaf_value_weights(tree) == several.leaf_value_weights(tree)).all()
        assert (one.leaf_weights(tree) == several.leaf_weights(tree)).all()
        assert one.leaf_value_weights(tree) == pytest.approx(whole)
        assert one.leaf_weights(tree) == pytest.approx(whole[:, domain.span(0)].sum(axis=1))


def test_blocks_of_whole_weights_are_counted_exactly(many):
    table = at_once(many, Reading(), "weights")
    whole = MemoryEngine(table).value_weights()
    with patch.object(memory, "ROWS_PER_BLOCK", 50):
        assert (MemoryEngine(table, jobs=2).value_weights() == whole).all()
