"""Where and with what something was measured."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import sparsedensity

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "polars", "matplotlib", "mlpack")
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Machine:
    """A machine, the versions on it, and the commit of the checkout."""

    processor: str
    cores: int
    system: str
    python: str
    sparsedensity: str
    commit: str
    """Empty if the library is not a checkout."""
    libraries: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        commit = f", commit {self.commit}" if self.commit else ""
        libraries = ", ".join(f"{name} {number}" for name, number in self.libraries)
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return (
            f"{self.processor}, {cores}, {self.system}; sparsedensity {self.sparsedensity}{commit}; Python "
            f"{self.python}, {libraries}"
        )

    @classmethod
    def here(cls) -> Machine:
        """The one that runs this."""
        return cls(
            processor=_processor(),
            cores=cores(),
            system=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            sparsedensity=sparsedensity.__version__,
            commit=commit(),
            libraries=tuple(_installed()),
        )

    @classmethod
    def of(cls, saved: dict[str, object]) -> Machine:
        """A machine from what :meth:`saved` gave."""
        libraries = tuple((str(name), str(number)) for name, number in saved["libraries"])  # type: ignore[attr-defined]
        return cls(**{**saved, "libraries": libraries})  # type: ignore[arg-type]

    def saved(self) -> dict[str, object]:
        """The machine as JSON takes it."""
        return {**asdict(self), "libraries": [list(pair) for pair in self.libraries]}


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def commit() -> str:
    """The commit of this library's checkout, with a word if files differ from it; empty if it is no checkout."""
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:  # another project's checkout around us
        return ""
    found = _git(here.parent, "rev-parse", "--short=10", "HEAD") or ""
    changed = _git(here.parent.parent, "status", "--porcelain", "--untracked-files=no", "src", "reproduction")
    return f"{found} with changes" if found and changed else found


def source() -> str:
    """A word for the source of the library and of its studies as they are on the disk, committed or not."""
    digest = hashlib.sha256()
    for package in (Path(sparsedensity.__file__).parent, Path(__file__).parent):
        for file in sorted(package.rglob("*.py")):
            digest.update(f"{file.relative_to(package).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *words],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _installed() -> list[tuple[str, str]]:
    found = []
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
