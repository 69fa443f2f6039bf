"""Where compiled kernels are kept: a folder named after all their sources, so that an edited kernel is compiled anew.

numba itself looks only at the file of the function it loads: a caller would go on with the old code of a callee that
was changed in another file. Keeping is a convenience: whatever goes wrong with it, the kernel is compiled and runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature
from numba.misc.appdirs import AppDirs

from sparsedensity.errors import CacheWarning, warn

KERNELS = Path(__file__).parent
PACKAGE = __name__.partition(".")[0]
PREFIX = "sparsedensity-"
FOLDERS_KEPT = 5
"""Someone who goes back and forth between a few versions compiles each once."""


@cache
def cache_folder() -> Path | None:
    """The folder of these sources, in the first place that can be written or was filled by somebody who could.

    None if there is no such place.
    """
    name = f"{PREFIX}{_digest()}"
    for place in _places():
        folder = place / name
        with contextlib.suppress(OSError):
            is_new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "used").touch()
            if is_new:
                _forget_old(place)
            return folder
        if any(folder.glob("*.nbi")):
            return folder
    return None


def _places() -> list[Path]:
    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    if not any(KERNELS.glob("*.py")):
        return []  # inside an archive: nothing would tell old code from new
    beside, of_user = KERNELS / "__pycache__", Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    return [Path(chosen), beside, of_user] if chosen else [beside, of_user]


def _digest() -> str:
    content = hashlib.sha256(numba.__version__.encode())
    for path in sorted(KERNELS.rglob("*.py")):
        content.update(f"\0{path.relative_to(KERNELS).as_posix()}\0".encode() + path.read_bytes())
    return content.hexdigest()[:16]


def _forget_old(place: Path) -> None:
    for folder in sorted(place.glob(f"{PREFIX}*"), key=_last_used)[:-FOLDERS_KEPT]:
        shutil.rmtree(folder, ignore_errors=True)


def _last_used(folder: Path) -> float:
    try:
        return (folder / "used").stat().st_mtime
    except OSError:
        return math.inf  # another process is making it


class _Locator(_CacheLocator):
    def __init__(self, function: Any, file: str, folder: Path):
        self._py_file, self._line, self._folder = file, function.__code__.co_firstlineno, folder

    def get_cache_path(self) -> str:
        return os.fspath(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        folder = cache_folder()
        return None if folder is None else cls(py_func, py_file, folder)


class _Files(CompileResultCacheImpl):
    _locator_classes = (_Locator,)  # type: ignore[assignment]


class KernelCache(FunctionCache):
    """Keeps the compiled forms of one kernel, except those whose code comes partly from outside this package."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for these arguments, or None: then numba compiles it.

        Code that is compiled needs memory to be managed, and nothing else of numba's: what loads here as a rule, all
        that it could compile, takes half a second, and is loaded by whatever is compiled.
        """
        try:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:
            # A damaged file, or a class that has moved since. Compiling is always right, and an empty index mends it.
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, if it is all ours and there is room for it."""
        if all(map(is_ours, normalize_signature(sig)[0])):
            try:
                super().save_overload(sig, data)
            except OSError as error:
                _say_once(f"{self._cache_path}: {error.strerror or error}")

    def is_filled(self) -> bool:
        """Whether some compiled form of the kernel is kept."""
        return Path(self._cache_path, f"{self._impl.filename_base}.nbi").exists()


@cache
def _say_once(why: str) -> None:
    warn(
        f"Compiled code cannot be kept in {why}. The next start will compile it again, unless NUMBA_CACHE_DIR names a "
        "folder with room.",
        CacheWarning,
    )


def is_ours(kind: Any) -> bool:
    """Whether a type of numba's brings no code from outside: neither a function nor a named tuple of someone else."""
    if isinstance(kind, types.Callable | types.FunctionType):
        return False
    owner = getattr(kind, "instance_class", None)
    if owner is not None and owner.__module__.partition(".")[0] != PACKAGE:
        return False
    return all(map(is_ours, getattr(kind, "types", ())))
