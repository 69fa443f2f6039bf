"""How a model stands against simpler ways to estimate the density, in words a person understands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sparsedensity.report import words

ONE_LEAF, INDEPENDENT, HISTOGRAM = "One even leaf", "Independent columns", "Full histogram"
SAID = {
    INDEPENDENT: ("independent columns", "do", "describe"),
    HISTOGRAM: ("the full histogram", "does", "describes"),
    ONE_LEAF: ("one even leaf", "does", "describes"),
}
EVEN = 0.005
"""Log-likelihoods per row this close are called the same."""
ADVICE = {
    INDEPENDENT: "Consider more leaves.",
    HISTOGRAM: "Consider more leaves.",
    ONE_LEAF: "There may be nothing to find here: consider fewer leaves.",
}


@dataclass(frozen=True)
class Score:
    """The held-out log-likelihood per row of one way to estimate the density."""

    name: str
    held_out: float
    error: float
    """The standard error over the folds."""


def standing(scores: Sequence[Score]) -> str:
    """How a model, which comes first, stands against one even leaf, independent columns and the full histogram.

    >>> print(standing([Score("A tree", -2.0, 0.1), Score(ONE_LEAF, -3.0, 0.0), Score(INDEPENDENT, -2.1, 0.1)]))
    Held out, the model gives new records 1.11 times the density that independent columns do and 2.72 times the density that one even leaf does.
    >>> print(standing([Score("A tree", -2.0, 0.1), Score(INDEPENDENT, -1.5, 0.1)]))
    Held out, independent columns describe this table better: they give new records 1.65 times the density that the model does. Consider more leaves.
    """  # noqa: E501 sentences are as long as they are
    known = {score.name: score.held_out for score in scores[1:]}
    if not scores or not known:
        return ""
    if scores[0].held_out == -math.inf:
        return "Held out, the model gives some new records density 0; density='mean' never does."
    gains = {name: scores[0].held_out - known[name] for name in SAID if name in known}
    ahead = [_ahead(name, gain) for name, gain in gains.items() if gain > -EVEN]
    behind = [_behind(name, -gain, first=not ahead) for name, gain in gains.items() if gain <= -EVEN]
    advice = dict.fromkeys(ADVICE[name] for name, gain in gains.items() if gain <= -EVEN)
    first = [f"Held out, the model gives new records {words.enumerated(ahead)}."] if ahead else []
    return " ".join([*first, *behind, *advice])


def _ahead(name: str, gain: float) -> str:
    other, does, _ = SAID[name]
    times = "about" if gain < EVEN else f"{words.sayable(gain)} times"
    return f"{times} the density that {other} {does}"


def _behind(name: str, loss: float, *, first: bool) -> str:
    other, does, describes = SAID[name]
    they, give = ("they", "give") if does == "do" else ("it", "gives")
    text = f"{other} {describes} this table better: {they} {give} new records {words.sayable(loss)} times the density"
    return f"Held out, {text} that the model does." if first else f"{text[0].upper()}{text[1:]} that the model does."
