"""The engines under test by name; the fixture `as_lazy` makes any Polars frame a lazy table of one of them."""

import itertools

import pytest

CLUSTERS = tuple(pytest.param(name, marks=pytest.mark.cluster) for name in ("spark", "dask"))
DATABASES = ("duckdb", "duckdb_apart", "ibis_duckdb", "ibis_sqlite")
ENGINES = (*CLUSTERS, *DATABASES, "polars")
QUERIED = (CLUSTERS[0], *DATABASES)
"""Those that count by queries."""
SPARK = CLUSTERS[0]


def each_with(values, engines=DATABASES, once=(SPARK,)):
    """Pairs of an engine and a value: every value on quick engines, on slow ones only the last."""
    slow = [pytest.param(*engine.values, values[-1], marks=engine.marks) for engine in once]
    return [(engine, value) for engine in engines for value in values] + slow


PARTS = 3
"""Parts of a table on a cluster: more than there are workers."""

_numbers = itertools.count()


def of_duckdb(connection, frame):
    return connection.from_arrow(frame.to_arrow())


def of_ibis(connection, frame):
    import ibis

    rows, name = frame.to_arrow(), f"rows_{next(_numbers)}"
    table = connection.create_table(name, schema=ibis.schema(rows.schema))
    connection.insert(name, rows)
    return table


def of_dask(client, frame):
    import dask.dataframe

    return dask.dataframe.from_pandas(frame.to_pandas(use_pyarrow_extension_array=True), npartitions=PARTS)


def of_spark(session, frame):
    return session.createDataFrame(frame.to_arrow())


MAKERS = {
    "spark": of_spark,
    "dask": of_dask,
    "duckdb": of_duckdb,
    "duckdb_apart": of_duckdb,
    "ibis_duckdb": of_ibis,
    "ibis_sqlite": of_ibis,
}
"""How each makes a table, given what its fixture started."""
