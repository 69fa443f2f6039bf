"""What is known about a fitted model, as plain data: leaves, and the lines a reader reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sparsedensity import periods
from sparsedensity.density import Density
from sparsedensity.domain import Bin, Domain, Feature, Value
from sparsedensity.report import words
from sparsedensity.report.evidence import Evidence
from sparsedensity.report.naming import names_of
from sparsedensity.report.search_summary import calibrated_size, search_facts, search_in_words, several_modes
from sparsedensity.report.traits import Trait, traits_of
from sparsedensity.structures import Cells, RuleList, Structure, Tree
from sparsedensity.structures.tree import Node
from sparsedensity.table import Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles


@dataclass(frozen=True)
class LeafCondition:
    """One feature and the values it may take."""

    feature: str
    values: tuple[Value | tuple[str, str], ...]
    """As in the domain; calendar periods in ISO's form."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Leaf:
    """A bin of the model: where it is, how much is in it, and how dense that is. With profiles it is a kind of record.

    >>> from sparsedensity import LeafSparseTree, datasets
    >>> crew = LeafSparseTree(leaf="profile").fit(datasets.load("titanic")).leaves_[3]
    >>> crew.name, crew.weight
    ('crew', 885.0)
    >>> for trait in crew.traits:
    ...     most = trait.highlight
    ...     print(f"{trait.name} {most.values}: {most.share:.0%}, overall {most.overall:.0%}")
    sex male: 97%, overall 79%
    age adult: 100%, overall 95%
    """

    number: int
    conditions: tuple[LeafCondition, ...]
    weight: float
    """The weight of the training rows in it."""
    probability: float
    """The share of records that the model expects in it."""
    log_volume: float
    density: float
    """Probability over volume, the mean over the leaf (at every point, if it is even); infinite if beyond a float."""
    interval: tuple[float, float] = field(default=(0.0, 1.0))
    """A 95 % interval for the probability, given the structure: credible, or Clopper-Pearson if the model is honest."""
    share: float = 0.0
    """The share of the training rows in it."""
    besides: str = ""
    """What holds beside its conditions: that no rule above it in a list applies."""
    name: str = ""
    """In a few words what tells its records from others: no other leaf of the model has the same name."""
    traits: tuple[Trait, ...] = field(default=(), repr=False)
    """The columns that have a profile of their own in it, strongest first."""
    of: Density | None = field(default=None, repr=False, compare=False)
    """The density that it is a leaf of."""

    @property
    def unusualness(self) -> float:
        """The share of the model's mass that is denser than it; if it has a profile, the mean over its records."""
        return 0.0 if self.of is None else float(self.of.unusualness[self.number])

    @property
    def log_density(self) -> float:
        """The natural log of the density; minus infinity for a leaf without volume or probability."""
        return math.log(self.probability) - self.log_volume if self.probability > 0 else -math.inf

    @property
    def volume(self) -> float:
        """The volume; infinite if it does not fit a float."""
        return _exp(self.log_volume)

    def as_dict(self) -> dict[str, Any]:
        """The leaf as plain data, for JSON."""
        return {
            "leaf": self.number,
            "name": self.name,
            "conditions": [str(condition) for condition in self.conditions],
            "weight": self.weight,
            "probability": self.probability,
            "interval": list(self.interval),
            "density": self.density if math.isfinite(self.density) else None,
            "log_volume": self.log_volume if math.isfinite(self.log_volume) else None,
        }

    def __str__(self) -> str:
        return " and ".join(self.phrases) or "every record"

    @property
    def phrases(self) -> tuple[str, ...]:
        """All that makes a record belong to it, in words."""
        return (*map(str, self.conditions), *([self.besides] if self.besides else []))


@dataclass(frozen=True)
class TextLine:
    """One line of a model as it is read from the top."""

    text: str
    leaf: int | None = None
    """The number of the leaf that this line ends in."""
    last: tuple[bool, ...] = ()
    """For this line and every line above it in the tree: whether it is the last of its siblings."""
    full: str = ""
    """The text with every value named, if the text is shortened or says what the values are not."""
    subject: str = ""
    """The column that the text begins with."""


@dataclass(frozen=True)
class Report:
    """A fitted model, ready to be drawn."""

    title: str
    facts: tuple[tuple[str, str], ...]
    leaves: tuple[Leaf, ...] = field(repr=False)
    density: Density = field(repr=False)
    """The density that the leaves are of."""
    search: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """How the model was found, in words."""
    evidence: Evidence | None = field(default=None, repr=False)
    """What a table says about the model, if one was at hand."""
    weight_name: str = "rows"
    """What the weight of a leaf is called: rows, or weight if the table was weighted."""
    seed: object = None
    """What the search was seeded with, if it was."""

    @cached_property
    def lines(self) -> tuple[TextLine, ...]:
        """The structure line by line."""
        return lines_of(self.structure)

    @property
    def structure(self) -> Structure:
        """The tree, rule list or cells."""
        return self.density.structure

    @property
    def profiles(self) -> Profiles | None:
        """What the leaves hold, if records are not spread evenly over them."""
        return self.density.profiles

    @property
    def features(self) -> Iterator[tuple[str, str, str]]:
        """Name, kind and values of every feature, in words."""
        for feature in self.structure.domain:
            yield words.printable(feature.name), feature.kind, words.some_values(feature, range(feature.size))


def report_of(
    title: str,
    leaves: tuple[Leaf, ...],
    density: Density,
    search: Any,
    posterior: Any = None,
    *,
    weighted: bool,
    searched: float | None = None,
    seed: object = None,
) -> Report:
    """The report of a fitted or saved model.

    `search` is what it says about its search, `searched` the weight of the rows that chose the leaves of an honest one.
    """
    structure, weight_name = density.structure, "weight" if weighted else "rows"
    held = math.fsum(density.weights)
    rows = words.amount(held + (searched or 0.0), weight_name)
    facts = (
        ("Data", f"{rows}, {words.counted(len(structure.domain), 'column', 'columns')}"),
        *([] if searched is None else [_honest(searched, held, weight_name)]),
        ("Log posterior", f"{search.log_posterior:,.2f}"),
        ("Search", search_in_words(search, structure)),
        *calibrated_size(search, structure),
        *several_modes(search),
    )
    how = search_facts(search, structure, posterior)
    return Report(title, facts, leaves, density, how, weight_name=weight_name, seed=seed)


def _honest(searched: float, held: float, weight_name: str) -> tuple[str, str]:
    """Which rows say what in an honest model."""
    chose, others = words.amount(searched, weight_name), words.count(held)
    return "Honest", f"leaves chosen on {chose}, their probabilities and intervals from the other {others}"


def leaves_of(density: Density, intervals: Floats) -> tuple[Leaf, ...]:
    """Every leaf of a fitted structure."""
    structure = density.structure
    volumes, logs, shares = structure.log_volumes, density.log_densities, density.weights / density.weights.sum()
    conditions, traits = [allowed_values(structure, i) for i in range(structure.n_leaves)], traits_of(density)
    names = names_of(density, conditions, traits)
    return tuple(
        Leaf(
            number=i,
            conditions=_in_words(structure.domain, conditions[i]),
            weight=float(density.weights[i]),
            probability=float(density.probabilities[i]),
            log_volume=float(volumes[i]),
            density=_exp(float(logs[i])),
            interval=(float(intervals[i, 0]), float(intervals[i, 1])),
            share=float(shares[i]),
            besides=_besides(structure, i),
            name=names[i],
            traits=traits[i],
            of=density,
        )
        for i in range(structure.n_leaves)
    )


def lines_of(structure: Structure, at_most: int = 30) -> tuple[TextLine, ...]:
    """A structure line by line. Of a full histogram only the first cells are shown."""
    match structure:
        case Tree() as tree:
            return tuple(_tree_lines(tree))
        case RuleList() as rules:
            return tuple(_rule_lines(rules))
        case Cells() as cells:
            return tuple(_cell_lines(cells, at_most))
    raise TypeError(f"{type(structure).__name__} cannot be read line by line.")


def path_of(structure: Structure, leaf: int) -> tuple[str, ...]:
    """What makes a record belong to a leaf, one phrase per column; a tree's columns in the order it asks for them."""
    conditions = [(i, words.condition(structure.domain[i], codes)) for i, codes in allowed_values(structure, leaf)]
    if isinstance(structure, Tree):
        asked = _asked(structure, leaf)
        conditions.sort(key=lambda condition: asked.index(condition[0]))
    besides = _besides(structure, leaf)
    return (*(text for _, text in conditions), *([besides] if besides else []))


def _asked(tree: Tree, leaf: int) -> list[int]:
    """The features that a tree asks for on the way to a leaf, from the top."""
    path: list[int] = []
    for node in tree.walk():
        if node.is_leaf and node.number == leaf:
            return path[: node.depth]
        path[node.depth :] = [-1 if node.feature is None else node.feature]
    return path


def _besides(structure: Structure, leaf: int) -> str:
    """What holds in a leaf beside its conditions, in words."""
    if isinstance(structure, RuleList) and leaf > 0:
        return "none of the rules above"
    return "every other point" if isinstance(structure, Cells) and leaf == len(structure.codes) else ""


def _tree_lines(tree: Tree) -> Iterator[TextLine]:
    if tree.n_leaves == 1:
        yield TextLine("everything", leaf=0)
        return
    path: list[Node] = []
    last: list[bool] = []
    for node in tree.walk():
        path[node.depth :] = [node]
        if node.depth:
            feature, group, among = _branch(path[-2], node)
            last[node.depth - 1 :] = [node.index == list(tree.groups(path[-2].index))[-1]]
            text, full = words.condition(feature, group, among), words.spelt_out(feature, group)
            number, subject = node.number if node.is_leaf else None, words.printable(feature.name)
            yield TextLine(text, number, tuple(last), full, subject)


def _branch(parent: Node, child: Node) -> tuple[Feature, frozenset[int], frozenset[int]]:
    """The feature of a branch, the values that take it, and those that could."""
    assert parent.feature is not None
    assert child.group is not None
    return parent.tree.domain[parent.feature], child.group, parent.region.allowed[parent.feature]


def _rule_lines(rules: RuleList) -> Iterator[TextLine]:
    for i in range(rules.n_rules):
        phrase = " and ".join(map(str, _leaf_conditions(rules, i)))
        full = " and ".join(words.spelt_out(rules.domain[c.feature], range(c.low, c.high + 1)) for c in rules.rules[i])
        yield TextLine(f"{'else ' * (i > 0)}if {phrase}", i, full=full)
    yield TextLine("else" if rules.n_rules else "everything", rules.n_rules)


def _cell_lines(cells: Cells, at_most: int) -> Iterator[TextLine]:
    occupied = cells.n_leaves - 1
    for i in range(min(occupied, at_most)):
        yield TextLine(" and ".join(map(str, _leaf_conditions(cells, i))), i)
    if occupied > at_most:
        yield TextLine(f"… and {occupied - at_most:,} more occupied points")
    if cells.log_empty > -math.inf:
        yield TextLine("every other point", occupied)


def _leaf_conditions(structure: Structure, leaf: int) -> tuple[LeafCondition, ...]:
    return _in_words(structure.domain, allowed_values(structure, leaf))


def _in_words(domain: Domain, conditions: Sequence[tuple[int, Sequence[int]]]) -> tuple[LeafCondition, ...]:
    return tuple(
        LeafCondition(feature.name, tuple(_value(feature, code) for code in codes), words.condition(feature, codes))
        for feature, codes in ((domain[i], codes) for i, codes in conditions)
    )


def allowed_values(structure: Structure, leaf: int) -> list[tuple[int, Sequence[int]]]:
    """The features that a leaf has conditions on, and the codes that these allow."""
    match structure:
        case Tree():
            sizes = structure.domain.sizes
            sides = enumerate(structure.regions[leaf].allowed)
            return [(i, sorted(codes)) for i, codes in sides if len(codes) < sizes[i]]
        case RuleList() if leaf < structure.n_rules:
            return [(feature, range(low, high + 1)) for feature, low, high in structure.rules[leaf]]
        case Cells() if leaf < len(structure.codes):
            return [(i, [code]) for i, code in enumerate(structure.codes[leaf].tolist())]
    return []


def _value(feature: Feature, code: int) -> Any:
    """A value as it is; calendar periods in ISO's form."""
    value = feature.values[code]
    if isinstance(value, Bin) and feature.period is not None:
        return periods.plain(feature.period, value.low, value.high - 1)
    return value


def _exp(log: float) -> float:
    """The number with this natural log; infinite if it does not fit a float."""
    return math.exp(log) if log < 709 else math.inf
