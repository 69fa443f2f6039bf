"""Ctrl-C while a table that is elsewhere is read ends the fit; while it is searched, the best so far is counted."""

import signal

import numpy as np
import pytest

from sparsedensity import LeafSparseTree
from sparsedensity.engines.query import QueryEngine
from sparsedensity.errors import SearchWarning
from sparsedensity.ingest import lazy, queries
from tests.engines.nasty import DOMAIN, nasty

ROWS = nasty()[list(DOMAIN.names)]


@pytest.fixture(autouse=True)
def nobody_else_answers():
    """Spark answers to Ctrl-C in the process that started it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def tree(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_DISTINCT", 10)
    return LeafSparseTree(domain=DOMAIN, search="anneal", iterations=30, restarts=2)


def test_ctrl_c_while_queries_read_a_table_ends_the_fit(tree, as_lazy, monkeypatch):
    def interrupted(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None  # what DuckDB makes of it

    monkeypatch.setattr(queries, "_weigh", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tree.fit(as_lazy("duckdb", ROWS))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_pass_keeps_the_best_so_far_with_exact_counts(tree, as_lazy, monkeypatch):
    count, passes = QueryEngine.leaf_value_weights, []

    def interrupted(engine, structure):
        passes.append(structure)
        if len(passes) == 3:
            signal.raise_signal(signal.SIGINT)
        return count(engine, structure)

    monkeypatch.setattr(QueryEngine, "leaf_value_weights", interrupted)
    with pytest.warns(SearchWarning, match=r"stopped early \(interrupted\)"):
        tree.fit(as_lazy("duckdb", ROWS))
    assert tree.search_.reason == "interrupted"
    assert tree.density_.weights.tolist() == np.bincount(tree.apply(ROWS), minlength=tree.n_leaves_).tolist()
