"""One helper for optional libraries."""

from __future__ import annotations

import importlib
from types import ModuleType

from sparsedensity.errors import MissingExtraError

EXTRAS = {"duckdb": "duckdb", "ibis": "ibis", "matplotlib": "plot", "mlpack": "mlpack", "pyspark": "spark"}
"""The extra of this package that brings a library with all that it needs beside it."""


def need(module: str, purpose: str) -> ModuleType:
    """Import an optional library, or say in one sentence what it is for and how to get it.

    >>> need("json", "writing JSON").dumps(1)
    '1'
    >>> need("no_such_library", "magic")
    Traceback (most recent call last):
        ...
    sparsedensity.errors.MissingExtraError: no_such_library is needed for magic. Install it: pip install no_such_library
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        wanted = f'"sparsedensity[{EXTRAS[package]}]"' if package in EXTRAS else package
        raise MissingExtraError(f"{package} is needed for {purpose}. Install it: pip install {wanted}") from error
