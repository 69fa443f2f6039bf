"""Large Parquet files of text, written part by part."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from reproduction.datasets.random_trees import random_tree
from sparsedensity import Domain
from sparsedensity.datasets.truth import draw
from sparsedensity.structures import Tree
from sparsedensity.table import Codes

SIZES = [4, 5, 6, 7, 8] * 4
LEAVES = 80
ROWS_PER_GROUP = 1 << 20
"""What PyArrow writes unless it is told otherwise."""


def write_known_tree(path: Path, rows: int, seed: int = 0) -> Tree:
    """Write rows drawn from a random tree, and give the tree."""
    truth = random_tree(rows=1, sizes=SIZES, leaves=LEAVES, seed=seed)
    rng = np.random.default_rng(seed)

    def parts() -> Iterator[Codes]:
        for begin in range(0, rows, ROWS_PER_GROUP):
            yield draw(truth.tree, truth.probabilities, min(ROWS_PER_GROUP, rows - begin), rng).codes

    write_text(path, truth.domain, parts())
    return truth.tree


def write_text(path: Path, domain: Domain, parts: Iterator[Codes]) -> None:
    """Write codes as words, one row group per part; nothing in the file tells that there are few."""
    schema = pa.schema([(name, pa.string()) for name in domain.names])
    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for codes in parts:
            columns = [_words(feature.size, codes[:, i]) for i, feature in enumerate(domain)]
            writer.write_table(pa.table(columns, schema=schema))


def _words(size: int, codes: Codes) -> pa.Array:
    words = pa.array([f"value {code}" for code in range(size)])
    return words.take(pa.array(codes.astype(np.int32)))
