"""Build what is released, look into it, install it where nothing else is, and try it there.

``make release-check`` runs this; with ``--tag v1.2.3`` it also says whether that tag may be released. The wheel and the
source archive are left in ``dist/``.
"""

from __future__ import annotations

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparsedensity"
SUFFIXES = {".css", ".html", ".js", ".py", ".typed"}
"""Code and the report's templates. A table of data in the package would be a mistake: bundled ones are made by code."""
DEMO = (
    "--version",
    "fit titanic --output titanic.json",
    "show titanic.json --as svg --output titanic.svg",
    "report titanic --output titanic.html",
)


def main() -> None:
    """Build, look, install, try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag that is to be released")
    version = _version()
    if tag := parser.parse_args().tag:
        _check_tag(tag, version)
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    archive, wheel = _build(ROOT, ROOT / "dist", "sdist"), _build(ROOT, ROOT / "dist", "wheel")
    for file in (archive, wheel):
        print(f"{file.name}: {file.stat().st_size / 1000:,.0f} kB")
    _check_contents(wheel)
    _check_metadata(wheel, version)
    with tempfile.TemporaryDirectory() as folder:
        _check_archive(archive, wheel, Path(folder, "from-archive"))
        _try_out(wheel, version, Path(folder))
    print(f"sparsedensity {version} can be released.")


def _version() -> str:
    """The version, which the citation must name too."""
    version = _only(r'^__version__ = "(.+)"$', PACKAGE / "version.py")
    cited = _only(r"^version: (.+)$", ROOT / "CITATION.cff")
    _require(version == cited, f"CITATION.cff is about version {cited}, the package is {version}.")
    return version


def _check_tag(tag: str, version: str) -> None:
    date = _only(r"^date-released: (.+)$", ROOT / "CITATION.cff")
    _require(tag == f"v{version}", f"The tag is {tag}, the version {version}.")
    newest = _only(r"\A(?:.*\n)*?## (.+)$", ROOT / "CHANGELOG.md")
    wanted = f"{version} ({date})"
    _require(newest == wanted, f"CHANGELOG.md begins with {newest!r}; it should be {wanted!r}, by CITATION.cff.")


def _build(source: Path, target: Path, kind: str) -> Path:
    """Build a wheel or a source archive from a folder of sources."""
    before = set(target.glob("*"))
    _run([sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(target)], source)
    (built,) = set(target.glob("*")) - before
    return built


def _check_contents(wheel: Path) -> None:
    """A wheel holds the package and what is said about it: no tests, no benchmarks, no documentation, no tables."""
    names = set(zipfile.ZipFile(wheel).namelist())
    about = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    of_package = {file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    wanted = {file.relative_to(PACKAGE.parent).as_posix() for file in of_package}
    wanted |= {f"{about}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    _require(names == wanted, f"The wheel should not differ from the package in {sorted(names ^ wanted)}.")
    odd = sorted(file.name for file in of_package if file.suffix not in SUFFIXES)
    _require(not odd, f"The package holds files that are no code: {odd}.")
    _require("sparsedensity/py.typed" in names, "The wheel lacks py.typed.")


def _check_metadata(wheel: Path, version: str) -> None:
    """What PyPI shows."""
    opened = zipfile.ZipFile(wheel)
    (place,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
    said = email.message_from_string(opened.read(place).decode())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    _require(said["Version"] == version, f"The wheel says version {said['Version']}.")
    _require(said["Requires-Python"] == project["requires-python"], "The wheel is for other versions of Python.")
    _require(set(said.get_all("Provides-Extra", [])) == set(project["optional-dependencies"]), "An extra is missing.")
    _require(said.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8"), "The wheel has another README.")


def _check_archive(archive: Path, wheel: Path, folder: Path) -> None:
    """The source archive makes the same wheel, byte by byte."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    again = _build(source, folder / "dist", "wheel")
    _require(again.read_bytes() == wheel.read_bytes(), "The wheel that the source archive makes is another one.")


def _try_out(wheel: Path, version: str, folder: Path) -> None:
    """Install the wheel and the pinned versions of what it needs, and run the demo in an empty folder."""
    _run([sys.executable, "-m", "venv", "clean"], folder)
    programs = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    install = [*pip, "install", "--no-compile"]
    _run([*install, "--require-hashes", "--requirement", str(ROOT / "requirements.txt")], folder)
    _run([*install, "--no-deps", str(wheel)], folder)
    work = folder / "work"
    work.mkdir()
    said = [_run([str(programs / "sparsedensity"), *words.split()], work) for words in DEMO]
    _require(version in said[0], f"--version says {said[0]!r}.")
    _require("9 leaves" in said[1], f"fit says {said[1]!r}.")
    made = {file.name for file in work.iterdir() if file.stat().st_size}
    _require(made == {"titanic.json", "titanic.svg", "titanic.html"}, f"The demo wrote {sorted(made)}.")


def _run(command: list[str], folder: Path) -> str:
    """Run a program to its end, without this checkout on its path: what it prints."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, encoding="utf-8", check=False)
    _require(done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _only(pattern: str, file: Path) -> str:
    """What a pattern finds in a file."""
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    _require(found is not None, f"{file.name} has nothing like {pattern}.")
    assert found is not None
    return found[1]


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SystemExit(f"Not to be released. {otherwise}")


if __name__ == "__main__":
    main()
