"""The paper's tables that are made on the spot: equal to those beside the paper, or drawn from a truth."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from benchmarks.paper_data import PAPER as FOLDER
from reproduction import datasets
from reproduction.paper import DATA_SETS
from sparsedensity import Domain
from sparsedensity.errors import DataError, ParameterError

SHIFTS = ((0, 1), (1, -1), (1, 0), (1, 1))


def prepared(name):
    """One of the paper's tables, every value as text."""
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there: set PAPER_DATA to the folder of the paper's tables")
    return pl.read_csv(path, infer_schema_length=0)


@pytest.mark.parametrize("name", ["balance", "car", "nursery", "connect4", "titanic"])
def test_a_made_table_has_the_counts_that_the_paper_prints(name):
    frame, line = datasets.load(name), DATA_SETS[name]
    assert (frame.height, frame.width, sum(Domain.infer(frame).sizes)) == (line.rows, line.features, line.pairs)


@pytest.mark.parametrize("name", ["balance", "car", "nursery", "connect4"])
def test_a_made_table_is_the_one_beside_the_paper(name):
    assert datasets.load(name).cast(pl.String).equals(prepared(name))


@pytest.mark.parametrize("name", ["balance", "car", "nursery", "connect4"])
def test_no_row_of_a_made_table_occurs_twice(name):
    frame = datasets.load(name)
    assert frame.unique().height == frame.height


def test_every_position_of_connect_4_keeps_the_rules():
    for row in datasets.connect4().sample(300, seed=0).iter_rows():
        board = np.array(row).reshape(7, 6)
        assert ((board == "x").sum(), (board == "o").sum()) == (4, 4)
        heights = (board != "b").sum(axis=1)
        for column, height in enumerate(heights):
            assert "b" not in board[column, :height]
        for player in "xo":
            assert not has_four(board, player)
            for column in np.flatnonzero(heights < 6):
                after = board.copy()
                after[column, heights[column]] = player
                assert not has_four(after, player)


def has_four(board, player):
    """Look at every four squares in a row, one by one."""
    for column in range(7):
        for square in range(6):
            for across, up in SHIFTS:
                line = [(column + across * i, square + up * i) for i in range(4)]
                if all(0 <= c < 7 and 0 <= s < 6 and board[c, s] == player for c, s in line):
                    return True
    return False


def test_no_position_of_connect_4_is_the_mirror_image_of_another():
    frame = datasets.connect4()
    mirrored = frame.select(pl.col(f"{letter}{square}") for letter in "gfedcba" for square in range(1, 7))
    mirrored.columns = frame.columns
    both = frame.join(mirrored, on=frame.columns, how="semi")
    own = sum(np.array_equal(np.array(row).reshape(7, 6), np.array(row).reshape(7, 6)[::-1]) for row in both.rows())
    assert own == both.height  # only those that are their own mirror image


def test_rows_of_known_truth_fall_into_its_leaves_as_often_as_it_says():
    truth = datasets.census_like(rows=20_000)
    counts = np.bincount(truth.tree.leaf_numbers(truth.codes), minlength=truth.tree.n_leaves)
    assert math.fsum(truth.probabilities) == pytest.approx(1)
    assert stats.chisquare(counts, truth.probabilities * len(truth.codes)).pvalue > 1e-3


def test_inside_a_leaf_every_value_is_as_common_as_the_others():
    truth = datasets.census_like(rows=50_000, leaves=3)
    leaf = truth.tree.leaf_numbers(truth.codes) == np.argmax(truth.probabilities)
    region = truth.tree.regions[np.argmax(truth.probabilities)]
    for feature, allowed in enumerate(region.allowed):
        counts = np.bincount(truth.codes[leaf, feature], minlength=truth.domain.sizes[feature])[sorted(allowed)]
        assert counts.sum() == leaf.sum()
        assert len(counts) == 1 or stats.chisquare(counts).pvalue > 1e-5


def test_the_same_seed_draws_the_same_rows_and_another_seed_others():
    make = datasets.census_like
    assert make(rows=500, seed=1).frame.equals(make(rows=500, seed=1).frame)
    assert not make(rows=500, seed=1).frame.equals(make(rows=500, seed=2).frame)


def test_census_like_has_the_features_and_values_of_the_census():
    frame = datasets.load("census_like", rows=50_000)
    assert sum(Domain.infer(frame).sizes) == DATA_SETS["us_census_1990"].pairs
    real = prepared("us_census_1990_sample1000")
    assert frame.columns == real.columns
    for column in real.columns:
        assert set(real[column]) <= set(frame[column].cast(pl.String))


def test_impossible_sizes_are_refused():
    with pytest.raises(ParameterError, match="rows"):
        datasets.census_like(rows=0)


@pytest.mark.parametrize("seed", [-1, 0.5, True])
def test_impossible_seeds_are_refused(seed):
    with pytest.raises(ParameterError, match="seed must be a whole number of 0 or more"):
        datasets.census_like(rows=10, seed=seed)


def test_a_name_that_is_not_known_says_which_are():
    for ask in (datasets.load, datasets.describe):
        with pytest.raises(DataError, match=r"no data set 'iris'. Known: titanic, "):
            ask("iris")


def test_what_the_paper_prints_adds_up_where_it_adds_up_in_the_paper():
    assert len(DATA_SETS) == 17
    off = [line.title for line in DATA_SETS.values() if line.train_rows + line.validation_rows != line.rows]
    assert off == ["COCO stuff+thing labels hierarchy"]
