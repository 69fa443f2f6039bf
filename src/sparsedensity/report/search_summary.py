"""How a model was found, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from sparsedensity.report import words
from sparsedensity.structures import Cells, Condition, RuleList, Structure

Facts = tuple[tuple[str, str], ...]

REASONS = {"iterations": "stopped at the iteration limit", "time limit": "stopped at the time limit"}
LOOSE = 100.0
"""A bound further away than this, in nats, says little."""
MOST_NAMED = 3
"""So many rules of another mode are named."""


def search_in_words(search: Any, structure: Structure) -> str:
    """The method, why it stopped, after how much work, and whether more leaves would help."""
    moves = words.counted(search.moves, "move", "moves")
    r_hat = "" if getattr(search, "r_hat", None) is None else f", R-hat {search.r_hat:.3g}"
    proof = "; proven optimal" if search.proven else ""
    ended = REASONS.get(search.reason, search.reason)
    sampled = getattr(search, "sampled", None)
    counted = "" if sampled is None else f"; searched on a sample of {sampled:,} rows, counted on all"
    text = f"{search.method}, {ended} after {moves} in {search.seconds:.2g} s{r_hat}{proof}{counted}"
    if getattr(search, "converged", None) is False:
        text += ". The search was still gaining: a longer one is worth it"
    if not search.limit_binds:
        return text
    unit, units = ("rule", "rules") if isinstance(structure, RuleList) else ("leaf", "leaves")
    return f"{text}. The {unit} limit was reached; more {units} would raise the score."


def search_facts(search: Any, structure: Structure, posterior: Any = None) -> Facts:
    """Everything that tells how far the model can be trusted to be the best there is."""
    facts = [("Search", search_in_words(search, structure)), ("Log posterior", f"{search.log_posterior:,.4f}")]
    if posterior is not None and is_dataclass(posterior):
        facts.append(("Prior", _prior(posterior)))
    facts += calibrated_size(search, structure)
    if not isinstance(structure, Cells):
        facts.append(("Optimality", _optimality(search, "list" if isinstance(structure, RuleList) else "tree")))
    if getattr(search, "converged", None) is not None and getattr(search, "spread", None) is not None:
        facts.append(("Restarts", _restarts(search)))
    if getattr(search, "r_hat", None) is not None:
        facts.append(("Convergence", f"Gelman-Rubin {search.r_hat:.4g}; 1 means that all chains agree"))
    return (*facts, *several_modes(search))


def calibrated_size(search: Any, structure: Structure) -> list[tuple[str, str]]:
    """What is said if a smaller tree is best once the choice among splits is charged for."""
    size = getattr(search, "calibrated_leaves", None)
    if size is None or size >= structure.n_leaves:
        return []
    doubt = "there may be nothing here." if size == 1 else "finer leaves may be chance."
    return [("Noise", f"Charging for the choice among splits, the best size is {size}: {doubt}")]


def several_modes(search: Any) -> list[tuple[str, str]]:
    """What is said if chains do not agree: where they ended."""
    modes = getattr(search, "modes", ())
    return [("Modes", _modes(modes))] if len(modes) > 1 else []


def _restarts(search: Any) -> str:
    """How far restarts agreed, and whether the search came to an end."""
    apart = f"{words.nats(float(f'{search.spread:.3g}'))} apart before they shared what they had found"
    end = "the last rounds gained next to nothing" if search.converged else "the search was still gaining when it ended"
    return f"They were up to {apart}; {end}."


def _modes(modes: Sequence[Any]) -> str:
    """Where chains ended that do not agree, and what is different there."""
    best, *others = modes
    ended = sum(mode.restarts > 0 for mode in modes)
    several = f"The chains ended at {ended} lists, so the posterior has several modes."
    text = several if ended > 1 else "All chains ended at one list."
    if best.restarts == 0:
        text += " The best was found by annealing and crossing what they found."
    for mode in others:
        below = words.nats(float(f"{best.log_posterior - mode.log_posterior:.3g}"))
        different = [rule for rule in mode.structure.rules if rule not in best.structure.rules]
        named = [_rule(mode.structure, rule) for rule in different[:MOST_NAMED]]
        more = [f"{len(different) - MOST_NAMED} more"] if len(different) > MOST_NAMED else []
        instead = f", with other rules: {'; '.join(named + more)}" if different else ", with its rules in another order"
        text += f" One is {below} below the best{instead}."
    return text


def _rule(rules: RuleList, rule: Sequence[Condition]) -> str:
    return " and ".join(words.condition(rules.domain[f], range(low, high + 1)) for f, low, high in rule)


def _prior(posterior: Any) -> str:
    numbers = {field.name: getattr(posterior, field.name) for field in fields(posterior)}
    calibrated = "calibrated, " if getattr(posterior, "log_splits", ()) else ""
    return calibrated + ", ".join(
        f"{name.replace('_', ' ')} {words.number(value)}"
        for name, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )


def _optimality(search: Any, kind: str) -> str:
    if search.proven:
        return f"proven: no {kind} scores higher"
    if search.upper_bound is None:
        return "unknown: no bound available"
    gap = max(0.0, search.upper_bound - search.log_posterior)
    if gap > LOOSE:
        return f"No {kind} can score more than {float(f'{gap:.4g}'):,.0f} higher (a loose bound)."
    return f"The optimum is at most {words.nats(float(f'{gap:.3g}'))} higher (proven)."
