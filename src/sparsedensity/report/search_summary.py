"""How a model was found, in words."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from sparsedensity.report import words
from sparsedensity.structures import RuleList, Structure

Facts = tuple[tuple[str, str], ...]


def search_in_words(search: Any, structure: Structure) -> str:
    """One line: the method, why it stopped, after how much."""
    unit = "rules" if isinstance(structure, RuleList) else "leaves"
    limit = f"; more {unit} would pay, but for the limit" if search.limit_binds else ""
    moves = words.counted(search.moves, "move", "moves")
    r_hat = getattr(search, "r_hat", None)
    agreed = "" if r_hat is None else f", R-hat {r_hat:.3g}"
    proof = "; proven optimal" if search.proven else ""
    return f"{search.method}, {search.reason} after {moves} in {search.seconds:.2g} s{agreed}{proof}{limit}"


def search_facts(search: Any, structure: Structure, posterior: Any = None) -> Facts:
    """Everything that tells how far the model can be trusted to be the best there is."""
    facts = [("Search", search_in_words(search, structure)), ("Log posterior", f"{search.log_posterior:,.4f}")]
    if posterior is not None and is_dataclass(posterior):
        facts.append(("Prior", _prior(posterior)))
    facts.append(("Best possible", _optimality(search)))
    r_hat = getattr(search, "r_hat", None)
    if r_hat is not None:
        facts.append(("Convergence", f"Gelman-Rubin {r_hat:.4g}; 1 means that all chains agree"))
    return tuple(facts)


def _prior(posterior: Any) -> str:
    numbers = {field.name: getattr(posterior, field.name) for field in fields(posterior)}
    shown = [
        f"{name.replace('_', ' ')} {words.number(value)}"
        for name, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return ", ".join(shown)


def _optimality(search: Any) -> str:
    if search.proven:
        return "proven: no other structure has a higher log posterior"
    if search.upper_bound is None:
        return "not known: this search proves nothing"
    gap = max(0.0, search.upper_bound - search.log_posterior)
    return f"at most {gap:.4g} above this one, which is proven"
