"""Domains and structures as JSON that a person can read, and files written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparsedensity.domain import Bin, Domain, Feature
from sparsedensity.errors import DataError, ModelFileError
from sparsedensity.structures.cells import Cells
from sparsedensity.structures.rules import Condition, RuleList
from sparsedensity.structures.tree import Tree

FORMAT = "sparsedensity model"
VERSION = 1

Json = Any


def write_document(path: str | os.PathLike[str], document: Mapping[str, Json]) -> None:
    """Write a model file. The old file stays whole until the new one is complete."""
    path = Path(path)
    text = json.dumps({"format": FORMAT, "version": VERSION, **document}, indent=1, ensure_ascii=False, allow_nan=False)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise ModelFileError(path, f"cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)


def read_document(path: str | os.PathLike[str]) -> dict[str, Json]:
    """Read a model file, or say in one sentence why it is none."""
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelFileError(path, "does not exist.") from None
    except IsADirectoryError:
        raise ModelFileError(path, "is a directory, not a model file.") from None
    except OSError as error:
        raise ModelFileError(path, f"cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ModelFileError(path, "is not a model file: it is not text in UTF-8.") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ModelFileError(path, f"is damaged or not a model file: it is not valid JSON ({error}).") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(path, "is JSON but not a model saved by sparsedensity.")
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(path, f"is damaged: its version is {version!r}.")
    if version > VERSION:
        raise ModelFileError(
            path,
            f"was saved by a newer sparsedensity ({document.get('library', 'unknown')}, file version {version}); "
            f"this one reads up to version {VERSION}. Upgrade sparsedensity.",
        )
    return document


def domain_to_json(domain: Domain) -> list[Json]:
    """One object a feature."""
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
            return {"rules": [[_condition_to_json(structure.domain, c) for c in rule] for rule in structure.rules]}
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
    own: dict[str, Json] = {"name": feature.name, "kind": feature.kind}
    if feature.kind == "continuous":
        own |= {"edges": np.unique(feature.edges).tolist(), "integer": feature.integer}
    else:
        own |= {"values": list(feature.known)}
    return own | {"missing": feature.missing is not None}


def _feature_from_json(own: dict[str, Json]) -> Feature:
    name, missing = own["name"], own["missing"]
    match own["kind"]:
        case "continuous":
            return Feature.continuous(name, own["edges"], integer=own["integer"], missing=missing)
        case "ordinal":
            return Feature.ordinal(name, own["values"], missing=missing)
        case "nominal":
            return Feature.nominal(name, own["values"], missing=missing)
    raise DataError(f"{name!r} is of the unknown kind {own['kind']!r}.")


def _node_to_json(tree: Tree, node: int) -> dict[str, Json]:
    if tree.feature[node] < 0:
        return {"node": node, "leaf": int(tree.leaf_number[node])}
    feature = tree.domain[int(tree.feature[node])]
    branches = [
        {"values": [_value_to_json(feature, code) for code in sorted(codes)], "node": child}
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
        places = _codes_by_value(domain[feature])
        branches = [([places[_key(v)] for v in branch["values"]], int(branch["node"])) for branch in node["branches"]]
        splits.append((feature, branches))
        reached += [child for _, child in branches]
    if sorted(reached) != list(range(len(nodes))):
        raise DataError("its nodes do not form a tree.")
    tree = Tree.of_splits(domain, splits)
    _check_cover(tree)
    return tree


def _check_cover(tree: Tree) -> None:
    """Every value a node can meet must lead somewhere."""
    for node in tree.walk():
        if node.feature is None:
            continue
        covered = set[int]().union(*tree.groups(node.index).values())
        if not node.region.allowed[node.feature] <= covered or len(tree.groups(node.index)) < 2:
            raise DataError(f"node {node.index} does not cover the values of {tree.domain[node.feature].name!r}.")


def _condition_to_json(domain: Domain, condition: Condition) -> dict[str, Json]:
    feature = domain[condition.feature]
    codes = range(condition.low, condition.high + 1)
    return {"feature": feature.name, "values": [_value_to_json(feature, code) for code in codes]}


def _condition_from_json(domain: Domain, own: dict[str, Json]) -> Condition:
    feature = domain.index(own["feature"])
    places = _codes_by_value(domain[feature])
    codes = sorted(places[_key(value)] for value in own["values"])
    if codes != list(range(codes[0], codes[-1] + 1)):
        raise DataError(f"a rule on {own['feature']!r} allows values that are not neighbours.")
    return Condition(feature, codes[0], codes[-1])


def _cells_from_json(rows: list[Json], domain: Domain) -> Cells:
    codes = np.array(rows, np.int64).reshape(len(rows), len(domain))
    if (codes < 0).any() or (codes >= np.array(domain.sizes)).any():
        raise DataError("a cell lies outside the domain.")
    return Cells(domain, codes.astype(domain.code_type))


def _value_to_json(feature: Feature, code: int) -> Json:
    value = feature.values[code]
    return list(value) if isinstance(value, Bin) else value


def _codes_by_value(feature: Feature) -> dict[Json, int]:
    return {_key(_value_to_json(feature, code)): code for code in range(feature.size)}


def _key(value: Json) -> Json:
    """A value as a dictionary key that tells True from 1."""
    return (type(value) is bool, tuple(value) if isinstance(value, list) else value)
