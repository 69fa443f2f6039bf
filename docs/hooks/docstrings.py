"""Docstrings as the site shows them.

Roles (:meth:`fit`) become links, sessions outside of a section of examples become code, parameters that are explained
together are listed together, and an estimator takes the docstring of the plain model of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`(~?)([\w.]+)`")
"""A name in a docstring, or its whole path, of which a tilde shows the last part only."""
SESSION = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
EXAMPLES = "\nExamples\n---"
"""The section whose sessions are known to be code."""


class Docstrings(griffe.Extension):
    """Make docstrings ready to be shown, once all that they may name is known."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}
        """Where each class is, by its name."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Find all classes."""
        self.classes |= {kind.name: kind.path for kind in _classes(pkg)}

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make a docstring ready."""
        if obj.docstring is not None:
            obj.docstring.value = _shown(obj, obj.docstring.value, self.classes)
            _join_parameters(obj.docstring)
        elif isinstance(obj, griffe.Class):
            obj.docstring = next((kind.docstring for kind in obj.mro() if kind.name == obj.name), None)


def _classes(obj: griffe.Object) -> Iterator[griffe.Class]:
    """All classes that are defined in an object."""
    for member in obj.members.values():
        if isinstance(member, griffe.Class):
            yield member
        if isinstance(member, griffe.Object):
            yield from _classes(member)


def _shown(obj: griffe.Object, docstring: str, classes: dict[str, str]) -> str:
    """A docstring with its sessions as code and its roles as links."""
    text, heading, examples = docstring.partition(EXAMPLES)
    sessions = SESSION.sub(r"```pycon\n\g<0>\n```", text)
    return ROLE.sub(lambda found: _link(obj, found, classes), sessions + heading + examples)


def _link(obj: griffe.Object, role: re.Match[str], classes: dict[str, str]) -> str:
    """A name as a link, if the site shows what it is the name of, else as code."""
    tilde, name = role.groups()
    try:
        path = obj.resolve(name)
    except griffe.NameResolutionError:
        path = classes.get(name, name)
    shown = name.rpartition(".")[2] if tilde else name
    return f'<autoref optional identifier="{path}"><code>{shown}</code></autoref>'


def _join_parameters(docstring: griffe.Docstring) -> None:
    """Parameters with one explanation become one entry, without types: the signature has them."""
    if "\nParameters\n---" not in docstring.value:
        return
    for section in docstring.parsed:
        if isinstance(section, griffe.DocstringSectionParameters):
            groups = [[*same] for _, same in groupby(section.value, key=lambda entry: entry.description)]
            section.value = [same[0] if len(same) == 1 else _together(same) for same in groups]


def _together(parameters: list[griffe.DocstringParameter]) -> griffe.DocstringParameter:
    names = ", ".join(parameter.name for parameter in parameters)
    return griffe.DocstringParameter(names, description=parameters[0].description)
