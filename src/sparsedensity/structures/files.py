"""Domains and structures as JSON that a person can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sparsedensity import periods, writing
from sparsedensity.domain import Bin, Domain, Feature
from sparsedensity.errors import DataError, ModelFileError, OutputError, ParameterError, in_short
from sparsedensity.scalars import is_number
from sparsedensity.structures.cells import Cells
from sparsedensity.structures.rules import Condition, RuleList
from sparsedensity.structures.tree import Tree

FORMAT = "sparsedensity model"
VERSION = 2
"""The newest version of the file; it keeps the weights of every leaf by value."""
EVEN_VERSION = 1
"""What models with even leaves are written as, so that older releases read them too."""
FIRST_BYTES = 1 << 10
MOST_BYTES = 1 << 30

Json = Any
IF_KNOWN = ("r_hat", "calibrated_leaves", "sampled", "spread", "converged")
"""Entries about the search that not every model has."""
SEARCH_KINDS: dict[str, dict[str, Callable[[Json], bool]]] = {
    "a text": dict.fromkeys(("method", "reason"), lambda value: isinstance(value, str)),
    "a number": dict.fromkeys(("log_posterior", "moves", "seconds"), is_number),
    "a number or null": dict.fromkeys(("upper_bound", *IF_KNOWN[:-1]), lambda value: value is None or is_number(value)),
    "true or false": {"proven": lambda value: isinstance(value, bool)},
    "true, false or null": dict.fromkeys(
        ("limit_binds", "converged"), lambda value: value is None or isinstance(value, bool)
    ),
}
"""What each entry about the search must be."""


def write_document(path: str | os.PathLike[str], document: Mapping[str, Json], version: int = EVEN_VERSION) -> None:
    """Write a model file. The old file stays whole until the new one is complete."""
    path = Path(path)
    try:
        text = json.dumps(
            {"format": FORMAT, "version": version, **document}, indent=1, ensure_ascii=False, allow_nan=False
        )
        writing.write_text(text + "\n", path)
    except OutputError as error:
        raise ModelFileError(path, f"cannot be written: {error.reason}.") from None
    except (TypeError, ValueError) as error:
        raise ModelFileError(path, f"cannot be written: {error}.") from None


def read_document(path: str | os.PathLike[str]) -> dict[str, Json]:
    """Read a model file, or say in one sentence why it is not one."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError("path", path, "the name of a model file")
    path = Path(path)
    document = _read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(path, "is JSON but not a model saved by sparsedensity.")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(path, f"is damaged: its version is {in_short(version)}.")
    if version > VERSION:
        raise ModelFileError(
            path,
            f"was saved by a newer sparsedensity ({document.get('library', 'unknown')}, file version "
            f"{in_short(version)}); this one reads up to version {VERSION}. Upgrade sparsedensity.",
        )
    if not isinstance(document.get("title", ""), str):
        raise ModelFileError(path, f"is damaged: its title is {in_short(document['title'])}, not a text.")
    return {"weighted": False, **document}  # the first files did not say


def _read_json(path: Path) -> Json:
    try:
        return json.loads(_content(path).decode("utf-8"))
    except FileNotFoundError:
        raise ModelFileError(path, "does not exist. Check the name and the folder.") from None
    except IsADirectoryError:
        raise ModelFileError(path, "is a directory, not a model file.") from None
    except OSError as error:
        raise ModelFileError(path, f"cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ModelFileError(path, "is not a model file: it is not text in UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(path, f"is damaged or not a model file: it is not valid JSON ({error}).") from None


def checked_search(search: dict[str, Json]) -> dict[str, Json]:
    """What a model file says about the search, if every entry is what it should be."""
    for kind, entries in SEARCH_KINDS.items():
        for name, is_sound in entries.items():
            value = search.get(name) if name in IF_KNOWN else search[name]
            if not is_sound(value):
                raise DataError(f"its {name} is {in_short(value)}, not {kind}.")
    return search


def _content(path: Path) -> bytes:
    """The bytes of a model file; an endless or a huge file is not read to its end."""
    with path.open("rb") as file:
        content = read_like_json(file)
    if len(content) > MOST_BYTES:
        raise ModelFileError(path, f"is not a model file: it is larger than {MOST_BYTES >> 20:,} MB.")
    return content


def read_like_json(file: BinaryIO) -> bytes:
    """What a file holds, as far as a model could reach; only its first bytes if it does not begin like JSON."""
    begin = file.read(FIRST_BYTES)
    return begin + file.read(MOST_BYTES) if begin.lstrip()[:1] in (b"{", b"[") else begin


def domain_to_json(domain: Domain) -> list[Json]:
    """One object per feature."""
    return [_feature_to_json(feature) for feature in domain]


def domain_from_json(features: list[Json]) -> Domain:
    """The domain that :func:`domain_to_json` wrote."""
    return Domain(tuple(map(_feature_from_json, features)))


def structure_to_json(structure: Tree | RuleList | Cells) -> dict[str, Json]:
    """A structure by the names and values of its domain."""
    match structure:
        case Tree():
            return {"tree": [_node_to_json(structure, node) for node in range(len(structure.feature))]}
        case RuleList():
            return {"rules": [[_condition_to_json(structure.domain, *run) for run in rule] for rule in structure.rules]}
        case Cells():
            return {"cells": structure.codes.tolist()}


def structure_from_json(document: dict[str, Json], domain: Domain) -> Tree | RuleList | Cells:
    """The structure that :func:`structure_to_json` wrote."""
    if "tree" in document:
        return _tree_from_json(document["tree"], domain)
    if "rules" in document:
        return RuleList.of(domain, [[_condition_from_json(domain, c) for c in rule] for rule in document["rules"]])
    return _cells_from_json(document["cells"], domain)


def _feature_to_json(feature: Feature) -> dict[str, Json]:
    values: dict[str, Json] = {"values": list(feature.known)}
    if feature.period is not None:
        edges = periods.start(feature.period, feature.edges)
        values = {"period": feature.period, "edges": edges.astype(str).tolist()}
    elif feature.binned:
        values = {"edges": np.unique(feature.edges).tolist(), "integer": feature.integer}
    return {"name": feature.name, "kind": feature.kind, **values, "missing": feature.missing is not None}


def _feature_from_json(entry: dict[str, Json]) -> Feature:
    name, missing = entry["name"], entry["missing"]
    for flag in ("missing", "integer"):
        if not isinstance(entry.get(flag, False), bool):
            raise DataError(f"{flag!r} of {in_short(name)} is {in_short(entry[flag])}, not true or false.")
    if "period" in entry:
        return _calendar_from_json(entry)
    match entry["kind"]:
        case "continuous":
            return Feature.continuous(name, entry["edges"], integer=entry["integer"], missing=missing)
        case "ordinal":
            return Feature.ordinal(name, entry["values"], missing=missing)
        case "nominal":
            return Feature.nominal(name, entry["values"], missing=missing)
    raise DataError(f"{name!r} is of the unknown kind {entry['kind']!r}.")


def _calendar_from_json(entry: dict[str, Json]) -> Feature:
    unit = entry["period"]
    edges: list[float] = []
    if unit in periods.STEPS:
        edges = periods.numbers(unit, np.array(entry["edges"], "M8[h]")).tolist()
    return Feature.calendar(entry["name"], unit, edges, kind=entry["kind"], missing=entry["missing"])


def _node_to_json(tree: Tree, node: int) -> dict[str, Json]:
    if tree.feature[node] < 0:
        return {"node": node, "leaf": int(tree.leaf_number[node])}
    feature = tree.domain[int(tree.feature[node])]
    branches = [
        {"values": [value_to_json(feature, code) for code in sorted(codes)], "node": child}
        for child, codes in tree.groups(node).items()
    ]
    return {"node": node, "split": feature.name, "branches": branches}


def _tree_from_json(nodes: list[Json], domain: Domain) -> Tree:
    splits: list[tuple[int, list[tuple[list[int], int]]] | None] = []
    reached = [0]
    for node in nodes:
        if "split" not in node:
            splits.append(None)
            continue
        feature = domain.index(node["split"])
        branches = [(_codes_of(domain[feature], branch["values"]), branch["node"]) for branch in node["branches"]]
        splits.append((feature, branches))
        reached += [child for _, child in branches]
    # Children come after their parents, so nodes that are reached once each form a tree.
    behind = all(child > node for node, split in enumerate(splits) if split for _, child in split[1])
    if not behind or sorted(reached) != list(range(len(nodes))):
        raise DataError("its nodes do not form a tree.")
    tree = Tree.of_splits(domain, splits)
    for place in tree.walk():
        # Every value that reaches a node must lead to one child, and every child must be reached.
        feature, branches = splits[place.index] or (0, [])
        codes = sorted(code for group, _ in branches for code in group)
        sound = len(branches) > 1 and all(group for group, _ in branches)
        if not place.is_leaf and not (sound and codes == sorted(place.region.allowed[feature])):
            raise DataError(f"node {place.index} does not divide the values of {domain[feature].name!r}.")
    return tree


def _condition_to_json(domain: Domain, feature: int, low: int, high: int) -> dict[str, Json]:
    of = domain[feature]
    return {"feature": of.name, "values": [value_to_json(of, code) for code in range(low, high + 1)]}


def _condition_from_json(domain: Domain, entry: dict[str, Json]) -> Condition:
    feature = domain.index(entry["feature"])
    codes = sorted(_codes_of(domain[feature], entry["values"]))
    if not codes or codes != list(range(codes[0], codes[-1] + 1)):
        raise DataError(f"a rule on {entry['feature']!r} allows values that are not neighbours.")
    return Condition(feature, codes[0], codes[-1])


def _cells_from_json(rows: list[Json], domain: Domain) -> Cells:
    codes = np.array(rows)
    if codes.shape != (len(rows), len(domain)) or codes.dtype.kind != "i":
        raise DataError(f"its cells are not rows of {len(domain)} whole numbers.")
    if (codes < 0).any() or (codes >= np.array(domain.sizes)).any():
        raise DataError("a cell lies outside the domain.")
    if len(np.unique(codes, axis=0)) < len(codes):
        raise DataError("a cell is listed twice.")
    return Cells(domain, codes.astype(domain.code_type))


def value_to_json(feature: Feature, code: int) -> Json:
    """A value as it stands in a model file: a bin by its ends."""
    value = feature.values[code]
    if isinstance(value, Bin) and feature.period is not None:
        return periods.start(feature.period, value).astype(str).tolist()
    return list(value) if isinstance(value, Bin) else value


def _codes_of(feature: Feature, values: list[Json]) -> list[int]:
    places = {_key(value_to_json(feature, code)): code for code in range(feature.size)}
    for value in values:
        if _key(value) not in places:
            raise DataError(f"{feature.name!r} has no value {value!r}.")
    return [places[_key(value)] for value in values]


def _key(value: Json) -> Json:
    """A value as a dictionary key that tells True from 1."""
    return (type(value) is bool, tuple(value) if isinstance(value, list) else value)
