"""What another model would buy, in one sentence beside the fitted one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedensity.cli.data import note
from sparsedensity.cli.tables import Data

if TYPE_CHECKING:
    from sparsedensity.models import DensityModel
    from sparsedensity.models.further import Further

VISIBLE = 0.02
"""Nats per row that are worth a sentence, records 1.02 times as dense,"""
WORTH_PROFILES = 0.05
"""and those that are worth another kind of leaf: records 1.05 times as dense."""


def advise(model: DensityModel, table: Data, *, more: bool, profiles: bool) -> None:
    """Say what more leaves or rules, and what profiles, would buy, if a quick look finds that they pay."""
    from sparsedensity.models.further import look_at_profiles, look_further

    said = []
    larger = look_further(model, table.frame, table.weights) if more else None
    if larger is not None and larger.after - larger.before >= VISIBLE:
        said.append((larger, f"{larger.size} {model.unit}", "at least ", f": --max-{model.unit} {larger.limit}"))
    profiled = look_at_profiles(model, table.frame, table.weights) if profiles else None
    if profiled is not None and profiled.after - profiled.before >= WORTH_PROFILES:
        leaves = "profile leaf" if profiled.size == 1 else "profile leaves"
        said.append((profiled, f"{profiled.size} {leaves}", "", " on rows that they had not seen: --leaf profile"))
    if said:
        first, *others = said
        note(", and ".join([_in_words(*first, first=True), *(_in_words(*other, first=False) for other in others)]))


def _in_words(found: Further, leaves: str, at_least: str, how: str, *, first: bool) -> str:
    """By how much another model is better; what it is about is said only once."""
    from sparsedensity.report.words import sayable

    would, as_dense = ("would make records ", "as dense ") if first else ("", "")
    times = f"{at_least}{sayable(found.after - found.before)} times"
    scores = f"{'log-likelihood per row ' * first}{found.after:.3f} instead of {found.before:.3f}"
    return f"{leaves} {would}{times} {as_dense}({scores}{how})"
