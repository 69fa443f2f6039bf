"""Reports of small models, and tables that try to break pictures."""

from dataclasses import replace

import numpy as np

from sparsedensity import GreedyTree, LeafSparseTree
from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.posterior import LeafSparse
from sparsedensity.posterior.profiles import Profiles, profile_leaf
from sparsedensity.report import model
from sparsedensity.report.model import Report
from sparsedensity.structures import Condition, RuleList, Tree
from tests.draw_list import rules_on

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quotes' & &amp; ]]> --> </style></svg>",
    "x" * 10_000,
    "قيمة من اليمين",
    "emoji 🦀👩‍🚀",
    "two\nlines\r\n\x00\x07",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "\u202eevil\u202c",
    "$x_1$ %s {{ 7*7 }} #quot; \\n",
    "",
)


def report_of(structure, weights, posterior, title="A model"):
    """A report made by hand."""
    density = Density(structure, weights, posterior.log_probabilities(structure, weights))
    leaves = model.leaves_of(density, posterior.intervals(structure, weights))
    return Report(title, (), leaves, density)


def tree_report(tree, weights=None):
    """The report of a tree with some weight in its leaves."""
    given = np.arange(1.0, tree.n_leaves + 1) if weights is None else weights
    return report_of(tree, given, LeafSparse(), f"A tree of {tree.n_leaves}")


def profile_report(tree, codes, weights=None, pseudocount=2.0, probability=0.5):
    """The report of a tree whose leaves have profiles, counted in rows of codes."""
    domain, codes = tree.domain, np.asarray(codes, tree.domain.code_type)
    given = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    by_value = np.zeros((tree.n_leaves, int(domain.starts[-1])))
    leaves = tree.leaf_numbers(codes)
    for feature, start in enumerate(domain.starts[:-1]):
        np.add.at(by_value, (leaves, start + codes[:, feature].astype(int)), given)
    held = by_value[:, domain.span(0)].sum(axis=1)
    posterior = LeafSparse()
    leaf = profile_leaf(domain, by_value.sum(axis=0), pseudocount, probability)
    profiles = Profiles.of(leaf, tree, by_value)
    density = Density(tree, held, posterior.log_probabilities(tree, held), profiles)
    found = model.leaves_of(density, posterior.intervals(tree, held))
    return Report(f"Kinds: {tree.n_leaves}", (), found, density)


def kinds_report():
    """A tree of four kinds of mushrooms: columns that say the same, an order, a number, and a missing value."""
    colours = ("brown", "green", "white")
    domain = Domain(
        (
            Feature.nominal("odor", ("almond", "foul", "none")),
            Feature.nominal("habitat", ("grasses", "paths", "woods")),
            Feature.nominal("ring type", ("evanescent", "large", "pendant")),
            Feature.nominal("cap colour", colours),
            Feature.nominal("gill colour", colours),
            Feature.ordinal("ripeness", ("button", "young", "ripe", "old")),
            Feature.continuous("cap width in cm", (0, 2, 4, 8, 16, 32), missing=True),
            Feature.nominal("bruises", ("no", "yes")),
        )
    )
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}, {2}]).split(3, 1, [{0, 1}, {2}])
    rng = np.random.default_rng(3)

    def row(kind):
        colour = rng.choice(3, p=((0.1, 0.1, 0.8), (0.8, 0.1, 0.1), (0.2, 0.7, 0.1), (0.4, 0.3, 0.3))[kind])
        ripe = rng.choice(4, p=((0.4, 0.4, 0.1, 0.1), (0.05, 0.05, 0.2, 0.7), (0.25,) * 4, (0.25,) * 4)[kind])
        ring = rng.choice(3, p=((0.1, 0.1, 0.8), (0.1, 0.88, 0.02), (0.6, 0.1, 0.3), (0.5, 0.2, 0.3))[kind])
        width = min(5, rng.binomial(5, (0.2, 0.8, 0.5, 0.4)[kind]))
        where = 2 if kind == 3 else int(rng.integers(0, 3 if kind < 2 else 2))
        return [min(kind, 2), where, ring, colour, colour, ripe, width, rng.integers(0, 2)]

    rows = [row(kind) for kind, count in enumerate((400, 700, 250, 650)) for _ in range(count)]
    return replace(profile_report(tree, rows), title="Mushrooms of four kinds")


def rules_report():
    """A list of three rules over three features."""
    domain = Domain(
        (
            Feature.nominal("class", ("1st", "2nd", "3rd", "crew")),
            Feature.nominal("sex", ("female", "male")),
            Feature.continuous("fare", (0, 10, 20, 50, 100)),
        )
    )
    rules = RuleList.of(
        domain,
        [[Condition(0, 3, 3), Condition(1, 1, 1)], [Condition(2, 1, 2)], [Condition(1, 0, 0), Condition(2, 3, 3)]],
    )
    return report_of(rules, np.array([862.0, 400.0, 139.0, 800.0]), rules_on(domain), "A rule list")


def hostile_rows():
    """Labels and column names that try to break out of wherever they are shown."""
    return [
        {
            "<script>alert(2)</script>": HOSTILE[min(i % 23, len(HOSTILE) - 1) if i % 2 else 0],
            "b\x1b[31m\n": HOSTILE[1 + i % 7 // 3 + i % 5 // 4],
            "plain": "yes" if i % 7 < 3 else "no",
        }
        for i in range(400)
    ]


def hostile_model():
    """A tree fitted to such rows."""
    return GreedyTree().fit(hostile_rows())


def animals(rows=900):
    """Birds, fish and mammals by what they are like, not by their names; the zoo they live in says nothing."""
    rng = np.random.default_rng(0)
    kinds = (
        ("feathers", (2, 2, 2, 4), ("eggs", "eggs", "eggs", "eggs"), 1.5),
        ("scales", (0, 0, 0, 0), ("eggs", "eggs", "eggs", "live"), 4.0),
        ("fur", (4, 4, 4, 2), ("live", "live", "live", "live"), 40.0),
    )
    table = []
    for i in range(rows):
        cover, legs, birth, weight = kinds[(0, 0, 1, 2, 2, 2)[i % 6]]
        table.append(
            {
                "cover": cover if rng.random() < 0.97 else "none",
                "legs": legs[rng.integers(4)],
                "birth": birth[rng.integers(4)],
                "weight": None if rng.random() < 0.03 else float(weight * rng.lognormal(0.0, 0.5)),
                "zoo": ("north", "south", "west")[rng.integers(3)],
            }
        )
    return table


def animal_model(rows=None, **settings):
    """A tree with profiles, fitted to them, or to other rows."""
    given = {"leaf": "profile", "max_leaves": 4, "search": "greedy", "bins": {"weight": "quantile"}} | settings
    return LeafSparseTree(**given).fit(animals() if rows is None else rows)
