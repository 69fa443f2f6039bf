"""The benchmark of growth: what it prints, what it leaves out, what it keeps, and what it draws."""

import sys
from multiprocessing import Pipe

import pytest

from benchmarks import growth
from benchmarks.growth import Size, Spent
from reproduction.parts import Parts
from sparsedensity.errors import DataError, SparseDensityError

PAGE = f"above\n{growth.BEGIN}old\n{growth.END}\nbelow\n"


@pytest.fixture(autouse=True)
def tried(monkeypatch, tmp_path):
    """Few sizes, and fits that take as long as there are rows; which ones were tried is told."""
    asked = []

    def measured(model, size):
        asked.append((model, size))
        return Spent(size.rows / 100, 7, stopped=model == "rule list" and size.rows == 1000)

    growth.draw.cache_clear()
    monkeypatch.setattr(growth, "OUTPUTS", tmp_path / "kept")
    monkeypatch.setattr(growth, "TRUE_LEAVES", 3)
    monkeypatch.setattr(growth, "GROWING", {"rows": (10, 100, 1000, 10000), "values": (2, 20)})
    monkeypatch.setattr(growth, "measured", measured)
    return asked


def test_time_that_grows_as_rows_do_has_slope_one():
    lines = [*growth.table("rows", growth.grow("rows", Parts()))]
    assert "| 100 | 1.00 | 7 | 1.00 | 7 | 1.00 | 7 |" in lines
    assert "| slope | 1.00 | | 1.00 | | 1.00 | |" in lines


def test_a_line_ends_at_the_first_fit_that_is_stopped_and_says_so(tried):
    lines = [*growth.table("rows", growth.grow("rows", Parts()))]
    assert ("uniform tree", Size(rows=10000)) in tried
    assert ("rule list", Size(rows=10000)) not in tried
    assert "| 1,000 | 10.00 | 7 | 10.00 | 7 | stopped | – |" in lines
    assert "| 10,000 | 100.00 | 7 | 100.00 | 7 | – | – |" in lines
    assert lines[-1] == "\nThe rule list ends early: its fit at 1,000 was stopped after 300 processor seconds."


def test_a_line_of_one_fit_has_no_slope():
    assert growth.slope_in_words({10: Spent(1.0, 7), 100: Spent(9.0, 7, stopped=True)}) == "–"


def endless(sender, seconds):
    """Whatever it is doing, and however it feels about signals."""
    growth.stop_after(seconds)
    while True:
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count the seconds of a process")
def test_a_fit_is_stopped_after_so_many_processor_seconds():
    assert growth.in_a_process(endless, 0.1).stopped


def test_a_fit_that_breaks_is_no_measurement(capfd):
    with pytest.raises(SparseDensityError, match="ended with 1 and no answer"):
        growth.in_a_process(int)


@pytest.mark.parametrize("model", growth.MODELS)
def test_every_model_of_the_benchmark_keeps_its_limit(model, monkeypatch):
    monkeypatch.setattr(growth, "stop_after", lambda seconds: None)
    receiver, sender = Pipe(duplex=False)
    growth.timed(sender, model, Size(rows=50, columns=2, leaves=2))
    assert 1 <= receiver.recv().found <= 2


def test_mlpack_stands_beside_our_fits(monkeypatch):
    monkeypatch.setattr(growth, "measured_det", lambda size: growth.Spent(5.0, 0))
    lines = [*growth.million(Size(rows=1000), Parts())]
    assert lines[0].startswith("| 1,000 rows, 20 columns | processor s | of DET | found |")
    assert "| profile tree | 10.0 | 2.00 | 7 |" in lines
    assert "| rule list | stopped | | |" in lines
    assert lines[-1] == "\nWhat took more than 300 processor seconds was stopped."


def test_a_det_that_was_stopped_takes_longer_than_that(monkeypatch):
    monkeypatch.setattr(growth, "measured_det", lambda size: growth.Spent(300.0, 0, stopped=True))
    lines = [*growth.million(Size(rows=1000), Parts())]
    assert "| mlpack's DET, unpruned | more than 300.0 | 1.00 | |" in lines
    assert "| profile tree | 10.0 | < 0.03 | 7 |" in lines


def test_det_is_run():
    pytest.importorskip("mlpack", reason="mlpack is not installed: pip install sparsedensity[mlpack]")
    assert growth.measured_det(growth.Size(1000, 3, 3)).seconds > 0


def test_without_mlpack_only_our_fits_are_measured(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlpack", None)
    lines = [*growth.million(Size(rows=10), Parts())]
    assert "| rule list | 0.1 |  | 7 |" in lines
    assert lines[-1] == "\nmlpack is skipped: it is not installed (pip install mlpack)."


def test_parts_that_were_run_one_by_one_are_written_together(monkeypatch, tmp_path, tried, capsys):
    for part in ("values", "rows"):
        monkeypatch.setenv("BENCH_PARTS", part)
        growth.main()
    before = len(tried)
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setenv("BENCH_PARTS", "values,rows")
    monkeypatch.setenv("BENCH_PAGE", str(page))
    growth.main()
    assert len(tried) == before
    written, plot = page.read_text(encoding="utf-8"), (tmp_path / growth.PLOT).read_text(encoding="utf-8")
    slopes = "uniform tree 1.00, profile tree 1.00, rule list 1.00"
    assert f"Slopes with rows: {slopes}." in written
    assert f"]({growth.PLOT})\n\n| rows | uniform tree, s | found |" in written
    assert (written.startswith("above\n"), written.endswith("\nbelow\n"), "old" in written) == (True, True, False)
    assert f">slopes: {slopes}</text>" in plot
    assert ">then over 300 s</text>" in plot
    assert "### values\n" in capsys.readouterr().out


def test_a_page_without_room_is_left_as_it_is(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("above", encoding="utf-8")
    with pytest.raises(DataError, match=r"page\.md has no room for tables"):
        growth.write_page(page, {}, {}, None)
    assert page.read_text(encoding="utf-8") == "above"


def test_the_guide_is_linear_and_ends_where_the_slowest_curve_does():
    curves = [growth.curve("one", {1: Spent(2.0, 7), 100: Spent(50.0, 7)}), growth.curve("two", {1: Spent(1.0, 7)})]
    guide = growth.linear(curves)
    assert guide.x == (2.0, 100.0)
    assert guide.y == (1.0, 50.0)
