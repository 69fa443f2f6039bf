"""A fitted model as plain data for renderers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedensity.report import model as plain
from sparsedensity.report.model import Report
from sparsedensity.report.words import counted
from sparsedensity.structures import Cells, RuleList, Structure

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator


def report_of(model: DensityEstimator) -> Report:
    """Plain data about a fitted model."""
    structure = model.structure_
    return plain.report_of(
        f"{model.title} with {_size_in_words(structure)}",
        model.leaves_,
        structure,
        model.found_,
        weighted=model.weighted_,
        posterior=model.posterior_,
    )


def _size_in_words(structure: Structure) -> str:
    match structure:
        case RuleList() as rules:
            return counted(rules.n_rules, "rule", "rules")
        case Cells() as cells:
            return f"{cells.n_points:,} points, {len(cells.codes):,} of them occupied"
    return counted(structure.n_leaves, "leaf", "leaves")
