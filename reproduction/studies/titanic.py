"""The Titanic: the tree, the lists for 2, 4 and 7 expected rules, and every method, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsedensity import BranchSparseTree, LeafSparseTree, datasets
from sparsedensity.experiments.fitting import Fit, fit, warm_up
from sparsedensity.experiments.names import BRANCH, DET, LEAF, LIST, MLPACK
from sparsedensity.experiments.paper import BEST, QUOTED, RUN_TIMES, TITANIC_EXPECTED_RULES
from sparsedensity.experiments.performance import Performance, in_folds, performance
from sparsedensity.experiments.studies.lists import in_words, rule_list
from sparsedensity.experiments.study import Cell, Column, Picture, Setting, Study, Table

if TYPE_CHECKING:
    import polars as pl

CHILDREN = {"class": "3rd", "age": "child"}
WOMEN = {"sex": "female", "age": "adult"}
BOYS = {"sex": "male", "age": "child"}


def study(setting: Setting) -> Study:
    """Fit the people aboard."""
    people = datasets.load("titanic")
    setting.say("the tree and the lists")
    warm_up(setting.jobs)
    tree = fit(LeafSparseTree(), people)
    branches = fit(BranchSparseTree(), people)
    lists = {expected: fit(rule_list(expected), people) for expected in TITANIC_EXPECTED_RULES}
    compared = performance(setting, "titanic", people)
    best = lists[TITANIC_EXPECTED_RULES[0]].model
    return Study(
        "titanic",
        "The Titanic",
        "2,201 people by class, sex and age. The leaf-sparse tree has 8 expected leaves and pseudocount 2, the lists "
        "2, 4 and 7 expected rules, 2 expected conditions and pseudocount 1. All methods are compared "
        f"{in_folds(setting)}.",
        tuple(_sentences(tree, lists, compared)),
        (
            _leaves(tree.model),
            _quoted(people, tree.model, best),
            _lists(lists, people),
            _sizes(tree, branches, lists),
            *compared.tables,
        ),
        (
            Picture("titanic-tree", "The tree", tree.model.report()),
            Picture(
                "titanic-list",
                f"The best list for {'2, 4 and 7' if _same(lists) else '2'} expected rules",
                best.report(),
            ),
            compared.chart,
        ),
    )


def _same(lists: dict[int, Fit]) -> bool:
    return len({own.model.structure_.rules for own in lists.values()}) == 1


def _sentences(tree: Fit, lists: dict[int, Fit], compared: Performance) -> list[str]:
    model = tree.model
    proven = ", proven to be the best" if model.search_.proven else ""
    sizes = " and ".join(str(size) for size in sorted({own.model.n_rules_ for own in lists.values()}))
    return [
        (
            f"The leaf-sparse tree has {model.n_leaves_} leaves and a log posterior of "
            f"{model.log_posterior_:,.2f}{proven}, found in {tree.seconds:.2f} s."
        ),
        (
            "For 2, 4 and 7 expected rules the best list is "
            f"{'one and the same' if _same(lists) else 'not the same'}, of {sizes} rules"
            f"{': the data outweigh the prior' if _same(lists) else ''}. Whoever wants a shorter list asks for one "
            "with max_rules."
        ),
        (
            f"Held out, per row, the leaf-sparse tree is {compared.above(LEAF, DET, 'DET for categories')} and "
            f"{compared.above(LEAF, LIST, 'the list')}."
        ),
        *_of_mlpack(compared),
    ]


def _of_mlpack(compared: Performance) -> list[str]:
    if not compared.per_row(MLPACK):
        return []
    away = compared.above(MLPACK, LEAF, "the leaf-sparse tree")
    return [f"mlpack's DET, with which the paper compared, is {away}. The paper: DET has worse log-likelihood."]


def _leaves(tree: Any) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for leaf in tree.leaves_:
        event = {condition.feature: list(condition.values) for condition in leaf.conditions}
        printed = QUOTED["titanic 3rd-class children, probability"].value if event == _listed(CHILDREN) else None
        rows.append((str(leaf), leaf.weight, printed, leaf.probability, leaf.volume, leaf.density))
    columns = (
        Column("people"),
        Column("count", "whole"),
        Column("probability", "number", 3, paper=True),
        Column("probability", "number", 4),
        Column("volume", "whole"),
        Column("density", "number", 3, short=True),
    )
    notes = (
        (
            "Of the leaves of its tree the paper's text tells one, the children in 3rd class; it fits 1,761 training "
            "rows, we fit all 2,201."
        ),
    )
    return Table("leaves", "The leaves of the tree", columns, tuple(rows), notes)


def _listed(event: dict[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in event.items()}


def _quoted(people: pl.DataFrame, tree: Any, rules: Any) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, event, volume in (
        ("titanic 3rd-class children, probability", CHILDREN, 1),
        ("titanic 3rd-class children, density", CHILDREN, 2),
        ("titanic adult women, density", WOMEN, 4),
        ("titanic boys, density", BOYS, 4),
    ):
        counted = people.filter(**event).height / people.height / volume
        ours = (model.probability(event) / volume for model in (tree, rules))
        rows.append((name.removeprefix("titanic "), QUOTED[name].value, counted, *ours))
    columns = (
        Column("what"),
        Column("text", "number", 3, paper=True, short=True),
        Column("counted in all rows", "number", 3, short=True),
        Column("our tree", "number", 3, short=True),
        Column("our list", "number", 3, short=True),
    )
    notes = (
        (
            "Densities are means over what the event leaves free. The paper's numbers are of its 1,761 training rows; "
            "posterior means are a little nearer to uniform than counts."
        ),
    )
    return Table("quoted", "The numbers that the paper quotes", columns, tuple(rows), notes)


def _lists(lists: dict[int, Fit], people: pl.DataFrame) -> Table:
    rows = tuple(
        (
            expected,
            own.model.n_rules_,
            own.model.log_posterior_,
            own.model.score(people) / people.height,
            own.model.search_.proven,
            in_words(own.model),
        )
        for expected, own in lists.items()
    )
    columns = (
        Column("expected rules", "whole"),
        Column("rules", "whole"),
        Column("log posterior", "number", 2),
        Column("log-likelihood per row", "number", 4),
        Column("proven"),
        Column("the list"),
    )
    notes = (
        (
            "The paper draws its three lists as pictures, longer for more expected rules. The study of lists has the "
            "best list of every length."
        ),
    )
    return Table("lists", "The lists", columns, rows, notes)


def _sizes(tree: Fit, branches: Fit, lists: dict[int, Fit]) -> Table:
    best, times = BEST["titanic"], RUN_TIMES["titanic"]
    rules = lists[TITANIC_EXPECTED_RULES[1]]
    rows = (
        (LEAF, best.leaves, tree.model.n_leaves_, times.leaf_best, tree.seconds),
        (BRANCH, best.branch_leaves, branches.model.n_leaves_, times.branch_best, branches.seconds),
        (LIST, best.rules, rules.model.n_rules_, times.list_best, rules.seconds),
    )
    columns = (
        Column("method"),
        Column("leaves or rules", "whole", paper=True),
        Column("leaves or rules", "whole"),
        Column("seconds", "number", 3, paper=True),
        Column("seconds", "number", 3),
    )
    proven = sum(own.model.search_.proven for own in (tree, branches, rules))
    notes = (
        (
            "Our seconds are of one fit to all rows with the default search, after compiling; it ends with a proof for "
            f"{proven} of the {len(rows)}."
        ),
    )
    return Table("sizes", "Size and seconds", columns, rows, notes)
