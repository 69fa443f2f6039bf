"""The paper's numbers, held against its source where that is at hand."""

import os
import re
from pathlib import Path

import pytest

from reproduction import paper

SOURCE = Path(os.environ.get("PAPER_SOURCE", "../shared/paper.tex"))
TABLES = {"table:runtime_results": paper.RUN_TIMES, "tableS:best_params": paper.BEST}


@pytest.fixture(scope="module")
def source():
    if not SOURCE.exists():
        pytest.skip(f"the source of the paper is not at {SOURCE}; PAPER_SOURCE names another place")
    return SOURCE.read_text(encoding="utf-8")


def printed_rows(source, label):
    """The rows of one table of the paper: the name, then the numbers."""
    end = source.index(rf"\label{{{label}}}")
    lines = source[source.rindex(r"\begin{tabular}", 0, end) : end].splitlines()
    cells = [[plain(cell) for cell in re.sub(r"\\\\.*$", "", line).split("&")] for line in lines]
    return [row for row in cells if len(row) > 6 and row[1].isdecimal()]


def plain(cell):
    return re.sub(r"\\textbf\{(.*?)\}", r"\1", cell).strip().replace(r"\%", "")


def one_line(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("label", TABLES)
def test_every_number_of_a_table_is_the_printed_one(source, label):
    printed, ours = printed_rows(source, label), TABLES[label].values()
    assert len(printed) == len(ours) == 17
    for row, own in zip(printed, ours, strict=True):
        numbers = own[2:]
        assert row[0] == own.printed
        assert [float(cell) for cell in row[1 : 1 + len(numbers)]] == list(numbers)


def test_the_sizes_of_the_sets_are_the_printed_ones(source):
    printed = printed_rows(source, "table:datasets_description")
    assert len(printed) == len(paper.DATA_SETS) == 17
    for row, own in zip(printed, paper.DATA_SETS.values(), strict=True):
        sizes = own.rows, own.train_rows, own.validation_rows, own.features, own.pairs
        assert (row[0], *map(int, [*row[1:4], *row[5:7]])) == (own.title, *sizes)


@pytest.mark.parametrize("name", paper.QUOTED)
def test_every_quoted_number_stands_in_the_text(source, name):
    quoted = paper.QUOTED[name]
    assert one_line(quoted.words) in one_line(source)
    said = quoted.words.replace(r" \times 10^{-4}", "e-4")
    assert quoted.value in [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", said)]


def test_the_seconds_of_the_single_machine_are_the_printed_ones(source):
    text = one_line(source)
    for row in paper.SINGLE_MACHINE.values():
        found = re.search(
            rf"{row.printed} dataset[^;.]*?leaf-based(?: method is| --) ([\d.]+) sec, branch-based -- ([\d.]+) sec, "
            r"density list -- ([\d.]+) sec",
            text,
        )
        assert found is not None, row.name
        assert tuple(map(float, found.groups())) == row[2:]


def test_the_tables_are_about_the_same_sets_in_the_same_order():
    assert list(paper.RUN_TIMES) == list(paper.DATA_SETS) == list(paper.BEST)
    assert set(paper.SINGLE_MACHINE) < set(paper.RUN_TIMES)


def test_the_slip_between_two_of_its_tables_is_kept():
    assert paper.RUN_TIMES["coco_stuff_thing"].train_rows == 1_607_458
    assert paper.BEST["coco_stuff_thing"].train_rows == 1_607_459
