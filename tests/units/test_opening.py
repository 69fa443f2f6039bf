"""A table by its name: files, folders, patterns and databases, in memory or left where they are."""

import gzip
import sqlite3
from pathlib import Path

import narwhals as nw
import polars as pl
import pytest

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ColumnsError, DataError, MissingExtraError, without_secrets
from sparsedensity.ingest import files, paths, tables
from sparsedensity.ingest.batches import batches_of, count_rows, first_rows
from sparsedensity.ingest.databases import address_of
from sparsedensity.ingest.files import read_file
from sparsedensity.ingest.opening import open_table
from sparsedensity.ingest.scans import scan_csv

SPELLINGS = (
    "5", "+5", "-5", "- 5", "5.", "+5.0", ".5", "1e5", "1E-5", "inf", "Infinity", "007", "1_000", " 5", "5 ", "  5.5",
    "true", "True", "tRue", " true", "t", "0x10", "1,5", "e5", "2024", "1.234.567", "2024-01-31", "2024-01-31T10:00",
    "2024-01-31 10:00:01Z", "2024-02-30", "10:30", "10:30:11.5", "1.2.2024", " 2024-02-03", "3/4/2024", "NA", "", "nan",
)  # fmt: skip
ROWS = (
    "whole,number,yes,day,dotted,moment,ward,nothing\n"
    "1,2.5,true,2024-03-17,17.03.2024,2024-01-01T10:00,7,\n"
    "NA,NA,NA,,NA,,A1,\n"
    '3,3,False,2024-03-18,18.03.2024,2024-01-02T11:30,"two\nlines",NULL\n'
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def large(monkeypatch):
    """Every table is too large for the memory."""
    monkeypatch.setattr(tables, "MOST_IN_MEMORY", 0)


def as_frame(table):
    """All rows of a table as a Polars frame."""
    return nw.from_native(table).lazy().collect("polars").to_native()


def write(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("second", ["1", "x", "2.5", "2024-01-30", ""])
@pytest.mark.parametrize("first", SPELLINGS)
def test_a_scan_reads_what_the_reader_in_memory_reads(first, second, monkeypatch):
    monkeypatch.setattr("sparsedensity.ingest.scans.LOOKED_AT", 1)  # what does not fit comes later
    write("a.csv", f"a|b\n{first}|x\n{second}|y\n")
    scanned, read = open_table(["a.csv"], engine="polars").collect(), read_file("a.csv")
    assert scanned.schema == read.schema
    assert scanned.equals(read)


def test_a_scan_reads_decimal_commas_and_dots_between_thousands():
    write("a.csv", "size;price;code\n1.234,5;12;1.5\n0,25;13;2,5\n;14;x\n")
    scanned = open_table(["a.csv"], engine="polars").collect()
    assert scanned.equals(read_file("a.csv"))
    assert scanned["size"].to_list() == [1234.5, 0.25, None]


def test_a_scan_leaves_blank_lines_out_and_refuses_short_rows():
    write("a.csv", 'a,b\n1,"x\ny"\n\n2,\n\n')
    assert open_table(["a.csv"], engine="polars").collect().rows() == [(1, "x\ny"), (2, None)]
    for bad, line in (("a,b\n1,x\n2\n", "line 3 has 1"), ("a,b\n1,x\n2,y,z\n", "line 3 has 3")):
        write("bad.csv", bad)
        with pytest.raises(DataError, match=rf"bad\.csv has 2 columns, but {line}\."):
            open_table(["bad.csv"], engine="polars")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,a\n1,2\n", "two columns called 'a'"),
        (b"a,b\nM\xfcnchen,1\n", "is not text in UTF-8, and too large"),
    ],
)
def test_a_bad_file_is_refused_by_a_scan_too(content, says):
    Path("a.csv").write_bytes(content)
    with pytest.raises(DataError, match=says):
        open_table(["a.csv"], engine="polars")


def test_text_of_a_domain_is_text_in_a_scan():
    domain = Domain((Feature.nominal("ward", ("7", "A1")), Feature.ordinal("size", (1, 2))))
    write("a.csv", "ward,size\n7,1\n8,2\n")
    assert open_table(["a.csv"], domain, "polars").collect().rows() == [("7", 1), ("8", 2)]


def test_a_table_is_read_into_memory_only_if_it_fits(monkeypatch):
    pl.DataFrame({"a": range(100), "b": ["x"] * 100}).write_parquet("a.parquet")
    write("a.csv", "a,b\n1,x\n")
    Path("z.csv.gz").write_bytes(gzip.compress(b"a,b\n1,x\n"))
    for name in ("a.parquet", "a.csv", "z.csv.gz"):
        monkeypatch.setattr(
            tables, "MOST_IN_MEMORY", tables.bytes_in_memory(tables.Files([Path(name)], files.form_of(Path(name))))
        )
        whole = open_table([name])
        assert isinstance(whole, pl.DataFrame)
        monkeypatch.setattr(tables, "MOST_IN_MEMORY", tables.MOST_IN_MEMORY - 1)
        lazy = open_table([name])
        assert isinstance(lazy, pl.LazyFrame)
        assert lazy.collect().equals(whole)
    assert tables.bytes_in_memory(tables.Files([Path("a.parquet")], "Parquet")) == 200 * tables.BYTES_PER_CELL


def test_several_files_patterns_and_folders_are_one_table(large):
    write("logs/b.csv", "size,ward\n2.5,A1\n")
    write("logs/a.csv", "ward,size\n7,1\n8,2\n")
    write("logs/_notes.csv", "not data\n1\n")
    write("logs/.hidden.csv", "not data\n1\n")
    rows = [("7", 1.0), ("8", 2.0), ("A1", 2.5)]
    for names in (["logs/a.csv", "logs/b.csv"], ["logs/?.csv"], ["logs"], [str(Path("logs").resolve() / "[ab].csv")]):
        assert open_table(names).collect().rows() == rows
    assert open_table(["logs/b.csv", "logs/a.csv"]).collect().columns == ["size", "ward"]


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_files_are_one_table_in_memory_and_elsewhere(engine):
    write("a.csv", ROWS)
    write("b.csv", ROWS.replace(",7,", ",8,"))
    together = as_frame(open_table(["*.csv"], engine=engine))
    expected = pl.concat([read_file("a.csv"), read_file("b.csv")])
    assert together.schema == expected.schema
    assert together.sort(pl.all()).equals(expected.sort(pl.all()))


def test_a_column_of_numbers_and_text_is_read_as_it_is_written():
    write("a.csv", "ward,day,empty\n007,2024-01-31,\n")
    write("b.csv", "ward,day,empty\nA1,17.03.2024,3\n")
    both = [open_table(["a.csv", "b.csv"]), open_table(["a.csv", "b.csv"], engine="polars").collect()]
    assert both[0].equals(both[1])
    assert both[0]["ward"].to_list() == ["007", "A1"]
    assert (both[0]["day"].dtype, both[0]["empty"].to_list()) == (pl.Date, [None, 3])


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_parquet_files_are_joined_by_name_and_kind_of_number(engine):
    pl.DataFrame({"a": [1], "b": ["x"]}).write_parquet("a.parquet")
    pl.DataFrame({"b": ["y"], "a": [2.5]}).write_parquet("b.parquet")
    assert as_frame(open_table(["a.parquet", "b.parquet"], engine=engine)).rows() == [(1.0, "x"), (2.5, "y")]


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_other_columns_and_types_are_named_with_their_file(engine):
    pl.DataFrame({"a": [1], "b": ["x"]}).write_parquet("a.parquet")
    pl.DataFrame({"a": [1], "b": [7]}).write_parquet("b.parquet")
    pl.DataFrame({"a": [1], "c": ["x"]}).write_parquet("c.parquet")
    with pytest.raises(
        ColumnsError, match=r"^The column 'b' holds Int64 in b\.parquet, but String in the files before"
    ):
        open_table(["a.parquet", "b.parquet"], engine=engine)
    with pytest.raises(ColumnsError, match=r"c\.parquet has other columns than a\.parquet: it has no column 'b'"):
        open_table(["a.parquet", "c.parquet"], engine=engine)
    for year, name in (("2023", "a"), ("2024", "b")):
        Path("survey", year).mkdir(parents=True)
        pl.DataFrame({name: [1]}).write_parquet(Path("survey", year, "all.parquet"))
    with pytest.raises(ColumnsError, match=r"2024.all\.parquet has other columns than survey.2023.all\.parquet: "):
        open_table(["survey"], engine=engine)


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_folders_of_a_partitioned_table_are_a_column(engine):
    for year in (2023, 2024):
        Path(f"t/year={year}").mkdir(parents=True)
        pl.DataFrame({"a": ["x", "y"]}).write_parquet(f"t/year={year}/part.parquet")
    assert as_frame(open_table(["t"], engine=engine)).rows() == [
        ("x", 2023), ("y", 2023), ("x", 2024), ("y", 2024),
    ]  # fmt: skip
    assert as_frame(open_table(["t/year=2023/part.parquet"], engine=engine)).rows() == [("x",), ("y",)]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["a.csv", "a.csv"], "a.csv is named twice"),
        (["a.csv", "*.csv"], "a.csv is named twice"),
        (["."], "a.csv and p.parquet are of different forms. Name files of one form, for example *.parquet."),
        (["empty"], "empty is a folder without CSV or Parquet files"),
        (["x*.csv"], "No file matches x*.csv. Check the pattern and the folder."),
        (["nope.csv"], "There is no file nope.csv"),
        (["-", "a.csv"], "Standard input is a table of its own. Name it alone"),
        (["a.csv", "shop.duckdb"], "shop.duckdb is a table of its own"),
    ],
)
def test_what_cannot_be_one_table_is_refused_in_a_sentence(names, says):
    write("a.csv", "a\n1\n")
    pl.DataFrame({"a": [1]}).write_parquet("p.parquet")
    Path("empty").mkdir()
    with pytest.raises(DataError) as refused:
        open_table(names)
    assert says in str(refused.value)


@pytest.fixture
def shop():
    """A database of two tables, and one of a single table."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'sparsedensity[duckdb]'")
    for name, statements in {
        "shop.duckdb": [
            "create table orders as select range as i, 'x' as s from range(5)",
            "create table people (a int)",
        ],
        "one.db": ["create table orders as select range as i, 'x' as s from range(5)"],
    }.items():
        with duckdb.connect(name) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.mark.parametrize("name", ["shop.duckdb?table=orders", "duckdb://shop.duckdb?table=orders", "one.db"])
def test_a_table_of_a_duckdb_file_stays_where_it_is(name, shop):
    table = open_table([name])
    assert count_rows(table) == 5
    assert first_rows(table, 2).rows() == [(0, "x"), (1, "x")]
    assert sum(part.height for part in batches_of(table, rows=2)) == 5
    assert open_table([name], engine="duckdb").columns == ["i", "s"]


def test_a_sqlite_file_is_read_by_ibis():
    pytest.importorskip("ibis.backends.sqlite", reason="ibis is not installed: pip install 'sparsedensity[ibis]'")
    with sqlite3.connect("shop.db") as connection:
        connection.execute("create table orders (a int, b text)")
        connection.executemany("insert into orders values (?, ?)", [(1, "x"), (2, None)])
    for name in ("shop.db", "sqlite://shop.db?table=orders"):
        assert pl.concat(batches_of(open_table([name]))).rows() == [(1, "x"), (2, None)]


@pytest.mark.parametrize(
    ("name", "engine", "says"),
    [
        ("shop.duckdb", None, 'shop.duckdb has 2 tables: orders, people. Name one: "shop.duckdb?table=orders".'),
        ("shop.duckdb?table=nope", None, "There is no table 'nope' in shop.duckdb. Tables: orders, people."),
        ("nope.duckdb", None, "There is no file nope.duckdb."),
        ("one.db", "spark", "--engine spark is for files, but one.db is a database. Leave it out."),
        ("text.db", None, "text.db cannot be opened as a database"),
        ("nope://me:secret@host/x", None, "nope://me:...@host/x cannot be opened as a database"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_in_a_sentence(name, engine, says, shop):
    pytest.importorskip("ibis", reason="ibis is not installed: pip install 'sparsedensity[ibis]'")
    write("text.db", "not a database, but long enough to be read as one\n" * 100)
    with pytest.raises(DataError) as refused:
        open_table([name], engine=engine)
    assert says in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_url_keeps_what_it_says_beside_the_table():
    address = address_of("postgres://me:pw@host/shop?sslmode=require&table=public.orders")
    assert (address.table, address.url) == ("public.orders", "postgres://me:pw@host/shop?sslmode=require")
    assert without_secrets("a postgres://me@host/x b") == "a postgres://me@host/x b"
    assert address_of("a.csv") is None


def test_a_driver_that_ibis_lacks_is_named(monkeypatch):
    ibis = pytest.importorskip("ibis", reason="ibis is not installed: pip install 'sparsedensity[ibis]'")

    def without_driver(_url):
        raise ImportError('Failed to import.\n\n  python -m pip install -U "ibis-framework[postgres]"  # pip install')

    monkeypatch.setattr(ibis, "connect", without_driver)
    with pytest.raises(
        MissingExtraError, match=r"me:\.\.\.@host/x\. Install it: pip install 'ibis-framework\[postgres\]'"
    ):
        open_table(["postgresql://me:secret@host/x?table=orders"])


def test_spark_without_java_says_what_it_needs(monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'sparsedensity[spark]'")
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    def without_java(_conf, _options):
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", without_java)
    write("a.csv", "a\n1\n")
    with pytest.raises(DataError, match=r"^Spark did not start\. It needs Java 17 or later, "):
        open_table(["a.csv"], engine="spark")


def test_what_only_polars_reads_is_refused_by_other_engines():
    write("comma.csv", "a;b\n1,5;x\n")
    write("time.csv", "a,b\n10:30,x\n")
    write("a.csv", "b,a\nx,1\n")
    write("b.csv", "a,b\n1,x\n")
    for names, engine, says in (
        (["comma.csv"], "duckdb", "has decimal commas. Use --engine polars"),
        (["time.csv"], "spark", "'a' holds times of day, which Spark does not have"),
        (["a.csv", "b.csv"], "spark", "b.csv has its columns in another order than a.csv"),
        (["a.csv", "semicolon.csv"], "duckdb", "is written in another way than a.csv"),
        (["x.xlsx"], "duckdb", "--engine duckdb reads CSV and Parquet files, not x.xlsx"),
    ):
        write("semicolon.csv", "b;a\nx;1\n")
        write("x.xlsx", "")
        with pytest.raises(DataError) as refused:
            open_table(names, engine=engine)
        assert says in str(refused.value)


def test_the_pass_that_finds_the_types_of_a_csv_reads_to_its_end():
    write("a.csv", "a,b\n" + "1,2024-01-01\n" * 20_000 + "x,soon\n")
    assert [dtype for dtype, _ in scan_csv(Path("a.csv")).meanings.values()] == [pl.String(), pl.String()]


def test_a_folder_of_very_many_folders_is_no_table(here, monkeypatch):
    monkeypatch.setattr(paths, "MOST_FOLDERS", 3)
    for name in "abcd":
        (here / "all" / name).mkdir(parents=True)
    with pytest.raises(DataError, match=r"^all holds more than 3 folders\. Name one of them, or a pattern\.$"):
        open_table(["all"])
