"""A fitted model as plain data for renderers, and what they draw as files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedensity.report import model as plain
from sparsedensity.report.model import Report
from sparsedensity.report.search_summary import search_facts, search_in_words
from sparsedensity.report.words import count, counted
from sparsedensity.structures import Cells, RuleList, Structure

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator


def report_of(model: DensityEstimator) -> Report:
    """Plain data about a fitted model."""
    domain, found, structure = model.domain_, model.found_, model.structure_
    weight = float(model.density_.weights.sum())
    rows = f"total weight {count(weight)}" if model.weighted_ else counted(weight, "row", "rows")
    facts = (
        ("Data", f"{rows}, {counted(len(domain), 'column', 'columns')}"),
        ("Log posterior", f"{found.log_posterior:,.2f}"),
        ("Search", search_in_words(found, structure)),
    )
    return Report(
        f"{model.title} with {_size_in_words(structure)}",
        facts,
        plain.lines_of(structure),
        model.leaves_,
        plain.features_of(domain),
        structure,
        search_facts(found, structure, model.posterior_),
    )


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text itself, written to a file if there is a path."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _size_in_words(structure: Structure) -> str:
    match structure:
        case RuleList() as rules:
            return counted(rules.n_rules, "rule", "rules")
        case Cells() as cells:
            return f"{cells.n_points:,} points, {len(cells.codes):,} of them occupied"
    return counted(structure.n_leaves, "leaf", "leaves")
