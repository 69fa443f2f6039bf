"""Files that are read by DuckDB or Spark instead of Polars."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.extras import need
from sparsedensity.ingest.files import MISSING, lines_are_alike
from sparsedensity.ingest.paths import Files
from sparsedensity.ingest.scans import CsvScan
from sparsedensity.ingest.tables import Types, parquet_types, scan_csvs

FOR_SPARK = "--engine spark"
CASTS: dict[Any, Any] = {pl.Int64: nw.Int64, pl.Float64: nw.Float64, pl.Date: nw.Date, pl.Time: nw.Time}


def on_duckdb(files: Files, domain: Domain | None) -> Any:
    """Files as a relation of DuckDB."""
    duckdb = need("duckdb", "--engine duckdb")
    names = [str(path) for path in files.paths]
    if files.form == "Parquet":
        parquet_types(files)
        return duckdb.read_parquet(names, union_by_name=True, hive_partitioning=files.partitioned)
    scans, types = scan_csvs(files, domain)
    table = duckdb.read_csv(names, all_varchar=True, header=True, sep=_separator(scans), union_by_name=True)
    return _meaningful(table, scans, types)


def on_spark(files: Files, domain: Domain | None) -> Any:
    """Files as a data frame of the active Spark session, of the one that the environment names, or of a local one."""
    need("pyspark", FOR_SPARK)
    names = [_for_spark(path) for path in files.paths]
    if files.form == "Parquet":
        parquet_types(files)
        return _spark().read.options(**_base(files)).option("mergeSchema", value=True).parquet(*names)
    scans, types = scan_csvs(files, domain)
    _check_for_spark(files, scans, types)
    whole_lines = all(lines_are_alike(path, scans[0].separator) for path in files.paths)
    how = {"header": True, "sep": _separator(scans), "escape": '"', "multiLine": not whole_lines}
    return _meaningful(_spark().read.options(**how).csv(names), scans, types)


def _spark() -> Any:
    """A Spark session; Spark itself reads SPARK_REMOTE and the rest of the environment."""
    sessions = need("pyspark.sql", FOR_SPARK).SparkSession
    active = sessions.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "SPARK_REMOTE" not in os.environ:
        _start_spark()
    return sessions.builder.appName("sparsedensity").getOrCreate()


def _start_spark() -> None:
    """Start Spark without its notes, a dozen lines before any answer; what goes wrong comes as an exception."""
    spark = need("pyspark", FOR_SPARK)
    launch = need("pyspark.java_gateway", FOR_SPARK).launch_gateway
    conf = spark.SparkConf().setAppName("sparsedensity")
    try:
        spark.SparkContext(conf=conf, gateway=launch(conf, {"stderr": subprocess.DEVNULL}))
    except spark.errors.PySparkRuntimeError:
        ways = "It needs Java 17 or later, at JAVA_HOME or on the path; the command `pyspark` shows what else it lacks."
        raise DataError(f"Spark did not start. {ways}") from None


def _base(files: Files) -> dict[str, str]:
    """Where the folders of a partitioned table begin."""
    if not files.partitioned:
        return {}
    path = files.paths[0].resolve()
    first = next(i for i, part in enumerate(path.parts) if "=" in part)
    return {"basePath": _for_spark(Path(*path.parts[:first]))}


def _for_spark(path: Path) -> str:
    """A local file, whatever the file system that Spark uses by default."""
    return f"file:///{path.resolve().as_posix().lstrip('/')}"


def _separator(scans: list[CsvScan]) -> str:
    """What separates the fields of all files; Polars alone reads files that differ in how they are written."""
    first = scans[0]
    for scan in scans:
        forms = {name: form for name, (_, form) in scan.meanings.items() if form}
        if scan.decimal_comma:
            raise DataError(f"{scan.path} has decimal commas. Use --engine polars, which reads them.")
        if scan.separator != first.separator or any(first.meanings[name][1] not in ("", forms[name]) for name in forms):
            raise DataError(
                f"{scan.path} is written in another way than {first.path}. Use --engine polars, which reads both."
            )
    return first.separator


def _check_for_spark(files: Files, scans: list[CsvScan], types: Types) -> None:
    """Refuse what Spark does not read: times of day, and columns in another order in another file."""
    for name, dtype in types.items():
        if dtype == pl.Time:
            raise DataError(f"{name!r} holds times of day, which Spark does not have. Use --engine polars.")
    for scan in scans:
        if list(scan.meanings) != list(types):
            raise DataError(
                f"{scan.path} has its columns in another order than {files.paths[0]}. Use --engine polars, which reads "
                "both."
            )


def _meaningful(table: Any, scans: list[CsvScan], types: Types) -> Any:
    """A table of text as what it means, by the expressions of its own engine."""
    forms = {name: form for scan in scans for name, (_, form) in scan.meanings.items() if form}
    frame = nw.from_native(table)
    return frame.select(_meaning(name, dtype, forms.get(name, "")) for name, dtype in types.items()).to_native()


def _meaning(name: str, dtype: Any, form: str) -> nw.Expr:
    text = nw.when(~nw.col(name).is_in(MISSING)).then(nw.col(name)).alias(name)
    if dtype == pl.String:
        return text
    if dtype == pl.Boolean:
        return text.str.to_lowercase() == "true"
    text = text.str.strip_chars()
    if dtype == pl.Datetime:
        return text.str.replace_all("T", " ", literal=True).str.replace_all("Z", "", literal=True).cast(nw.Datetime)
    if dtype == pl.Date and form == "%d.%m.%Y":
        return text.str.to_date(format=form)
    return text.cast(CASTS[dtype])
