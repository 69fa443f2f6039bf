"""One helper for optional libraries."""

from __future__ import annotations

import importlib
from types import ModuleType

from sparsedensity.errors import MissingExtraError


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
        raise MissingExtraError(f"{package} is needed for {purpose}. Install it: pip install {package}") from error
