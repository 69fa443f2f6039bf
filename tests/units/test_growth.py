"""The benchmark of growth: what it prints, what it leaves out, and what it draws."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks import growth
from benchmarks.growth import Size, Spent
from sparsedensity.structures import Tree


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few sizes, and tables that are made at once; nothing is remembered."""
    growth.fit.cache_clear()
    growth.draw.cache_clear()
    monkeypatch.setattr(growth, "TRUE_LEAVES", 3)
    monkeypatch.setattr(growth, "GROWING", {"rows": (10, 100, 1000), "values": (2, 20)})


def test_time_that_grows_as_rows_do_has_slope_one(monkeypatch, capsys):
    monkeypatch.setattr(growth, "fit", lambda model, size: Spent(size.rows / 100, 7))
    growth.grow("rows")
    last, slopes = capsys.readouterr().out.splitlines()[-2:]
    assert last == "| 1,000 | 10.00 | 7 | 10.00 | 7 | 10.00 | 7 |"
    assert slopes == "| slope | 1.00 | | 1.00 | | 1.00 | |"


def test_a_line_ends_at_the_first_fit_that_is_stopped(monkeypatch, capsys):
    tried = []

    def fit(model, size):
        tried.append((model, size.rows))
        return None if model == "rule list" and size.rows == 100 else Spent(1.0, 7)

    monkeypatch.setattr(growth, "fit", fit)
    lines = growth.grow("rows")
    assert list(lines["rule list"]) == [10]
    assert list(lines["uniform tree"]) == [10, 100, 1000]
    assert ("rule list", 1000) not in tried
    assert "| slope | 0.00 | | 0.00 | | nan | |" in capsys.readouterr().out


@pytest.mark.parametrize(("reason", "expected"), [("finished", 1), ("time limit", None)])
def test_a_fit_that_is_stopped_is_no_measurement(monkeypatch, reason, expected):
    structure = Tree.leaf(growth.draw(10, 2, 2).domain)
    fitted = SimpleNamespace(search_=SimpleNamespace(reason=reason), structure_=structure)
    monkeypatch.setattr(growth, "MODELS", {"one": lambda leaves: SimpleNamespace(fit=lambda frame: fitted)})
    spent = growth.fit("one", Size(rows=10))
    assert (spent and spent.found) == expected


@pytest.mark.parametrize("model", growth.MODELS)
def test_every_model_of_the_benchmark_keeps_its_limit(model):
    assert growth.fit(model, Size(rows=50, columns=2, leaves=2)).found <= 2


def test_mlpack_stands_beside_our_fits(monkeypatch, capsys):
    monkeypatch.setattr(growth, "fit", lambda model, size: Spent(3.0, 7))
    monkeypatch.setattr(growth, "seconds_of_det", lambda codes: 2.0)
    growth.million(Size(rows=1000))
    printed = capsys.readouterr().out
    assert "| 1,000 rows, 20 columns | processor s | of DET | found |" in printed
    assert "| profile tree | 3.0 | 1.50 | 7 |" in printed


def test_without_mlpack_only_our_fits_are_measured(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mlpack", None)
    monkeypatch.setattr(growth, "fit", lambda model, size: Spent(3.0, 7))
    growth.million(Size(rows=10))
    printed = capsys.readouterr().out
    assert "mlpack is skipped: it is not installed" in printed
    assert "| rule list | 3.0 |  | 7 |" in printed


def test_the_parts_that_are_named_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "fit", lambda model, size: Spent(size.rows / 100, 7))
    monkeypatch.setenv("BENCH_PARTS", "values,rows")
    monkeypatch.setenv("BENCH_PLOT", str(tmp_path / "growth.svg"))
    growth.main()
    drawn = (tmp_path / "growth.svg").read_text(encoding="utf-8")
    assert ">slopes: uniform tree 1.00, profile tree 1.00, rule list 1.00</text>" in drawn
    assert ">values per column</text>" in drawn


def test_the_guide_is_linear_and_ends_where_the_slowest_curve_does():
    curves = [growth.curve("one", {1: Spent(2.0, 7), 100: Spent(50.0, 7)}), growth.curve("two", {1: Spent(1.0, 7)})]
    guide = growth.linear(curves)
    assert guide.x == (2.0, 100.0)
    assert guide.y == (1.0, 50.0)
