"""Docstrings as the site shows them: their roles (:meth:`fit`) become links, and estimators get their models' texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`(~?)([\w.]+)`")
"""A name in a docstring, as :meth:`fit`, or by its whole path, of which a tilde shows the last part only."""

SESSION = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Make docstrings ready to be shown, once all that they may name is known."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Go through all docstrings of the package."""
        for obj in _everything(pkg):
            if obj.docstring is None and isinstance(obj, griffe.Class):
                obj.docstring = _docstring_of_model(obj)
            elif obj.docstring is not None:
                obj.docstring.value = _shown(obj, obj.docstring.value)


def _shown(obj: griffe.Object, docstring: str) -> str:
    """A docstring with its sessions as code and its roles as links; a section of examples is known to be code."""
    text, heading, examples = docstring.partition("\nExamples\n---")
    sessions = SESSION.sub(r"```pycon\n\g<0>\n```", text)
    return ROLE.sub(lambda found: _link(obj, *found.groups()), sessions + heading + examples)


def _everything(obj: griffe.Object) -> Iterator[griffe.Object]:
    """An object of the package and all that is defined in it."""
    yield obj
    for member in obj.members.values():
        if isinstance(member, griffe.Object):
            yield from _everything(member)


def _docstring_of_model(estimator: griffe.Class) -> griffe.Docstring | None:
    """An estimator takes the docstring of the plain model of the same name."""
    return next((kind.docstring for kind in estimator.mro() if kind.name == estimator.name), None)


def _link(obj: griffe.Object, tilde: str, name: str) -> str:
    """A name as a link, if the site shows what it is the name of, else as code."""
    shown = name.rpartition(".")[2] if tilde else name
    return f'<autoref optional identifier="{_path(obj, name)}"><code>{shown}</code></autoref>'


def _path(obj: griffe.Object, name: str) -> str:
    """The whole path of a name in the docstring of an object."""
    try:
        return obj.resolve(name)
    except griffe.NameResolutionError:
        return name
