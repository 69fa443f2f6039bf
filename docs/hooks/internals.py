"""The page of internals: whatever a page links to by its path, and the reference does not show, with its source."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[2] / "src"
PAGE = "reference/internals.md"
LINK = re.compile(r"\]\[(sparsedensity\.[\w.]+)\]")
SHOWN = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
DIRECTIVE = """::: {module}
    options: {{ show_root_full_path: true, toc_label: {label}, show_source: true, members: [{members}] }}"""
DIRECTIVES: list[str] = []


def on_files(files: Any, **_: Any) -> None:
    """Read which names the pages link to, and which the reference shows."""
    pages = [file.content_string for file in files.documentation_pages()]
    shown = {name for page in pages for path in SHOWN.findall(page) for name in _names(path)}
    linked = {_place(path) for page in pages for path in LINK.findall(page)}
    members: dict[str, list[str]] = {}
    for module, name in sorted(linked):
        if name and _home(module, name) not in shown:
            members.setdefault(module, []).append(name)
    DIRECTIVES[:] = [_directive(*module) for module in members.items()]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill the page."""
    return "\n\n".join([markdown, *DIRECTIVES]) if page.file.src_uri == PAGE else markdown


def _directive(module: str, names: list[str]) -> str:
    """What shows some members of a module."""
    label = module.removeprefix("sparsedensity.")
    return DIRECTIVE.format(module=module, label=label, members=", ".join(names))


def _place(path: str) -> tuple[str, str]:
    """The module of a path, and what it names in it: a function or a class, whatever of it is meant."""
    module, name = path, ""
    while not _is_module(SOURCES.joinpath(*module.split("."))):
        module, _, name = module.rpartition(".")
    return module, name


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").is_file()


def _names(path: str) -> Iterator[str]:
    """Where the objects are defined that the reference shows for a path: one, or all that a module exports."""
    module, name = _place(path)
    for exported in [name] if name else getattr(importlib.import_module(module), "__all__", []):
        yield _home(module, exported)


def _home(module: str, name: str) -> str:
    """Where an object is defined."""
    found = getattr(importlib.import_module(module), name, None)
    return f"{getattr(found, '__module__', module)}.{name}"
