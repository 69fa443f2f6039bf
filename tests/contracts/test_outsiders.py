"""What stands beside the package uses its public names only: whoever repeats a measurement can read how it was made."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLIC = (
    "sparsedensity",
    "sparsedensity.datasets",
    "sparsedensity.errors",
    "sparsedensity.evaluation",
    "sparsedensity.report",
    "sparsedensity.structures",
    "sparsedensity.writing",
)
ROOMS = ("engines", "ingest", "posterior", "problem", "search", "table")
"""What an extender of the library may use too, and a benchmark."""
OF_NAMED_TUPLES = {"_asdict", "_replace"}
MEASURED_INSIDE = {"benchmarks/anneal.py": {"_begin", "_rebuild"}}
"""Proposals per second are those of one chain, without the search around it."""
ALLOWED = {"reproduction": PUBLIC, "benchmarks": (*PUBLIC, *(f"sparsedensity.{room}" for room in ROOMS))}
FILES = [(folder, file) for folder in ALLOWED for file in sorted((ROOT / folder).rglob("*.py"))]


def imports(tree):
    """Every module of the library that is imported, with the names taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def private_attributes(tree):
    """Names with an underscore in front that are asked of anything but ``self``."""
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    of_others = [node.attr for node in asked if not (isinstance(node.value, ast.Name) and node.value.id == "self")]
    return {name for name in of_others if name.startswith("_") and not name.startswith("__")}


@pytest.mark.parametrize(("folder", "file"), FILES, ids=lambda value: str(value).removeprefix(f"{ROOT}/"))
def test_only_public_names_of_the_library_are_used(folder, file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for module, name in imports(tree):
        if module.partition(".")[0] == "sparsedensity":
            assert ".".join(module.split(".")[:2]) in ALLOWED[folder]
            assert not any(part.startswith("_") for part in (*module.split("."), name.removeprefix("__")))
    inside = MEASURED_INSIDE.get(file.relative_to(ROOT).as_posix(), set())
    assert private_attributes(tree) - OF_NAMED_TUPLES - inside == set()


def test_the_package_knows_nothing_of_what_stands_beside_it():
    for file in (ROOT / "src").rglob("*.py"):
        tops = {module.partition(".")[0] for module, _ in imports(ast.parse(file.read_text(encoding="utf-8")))}
        assert not tops & {"reproduction", "benchmarks", "tests"}
