"""The Titanic: the tree, the lists for 2, 4 and 7 expected rules, and every method, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.fitting import warm_up
from reproduction.methods import BRANCH, DET, LEAF, LIST, MLPACK
from reproduction.paper import BEST, QUOTED, RUN_TIMES, TITANIC_EXPECTED_RULES
from reproduction.performance import Performance, in_folds, performance
from reproduction.studies.lists import in_words, rule_list
from reproduction.study import CellValue, ModelPicture, Setting, Study, StudyColumn, StudyTable
from sparsedensity import BranchSparseTree, LeafSparseTree, datasets
from sparsedensity.evaluation import TimedFit, timed_fit

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
    tree = timed_fit(LeafSparseTree(), people)
    branches = timed_fit(BranchSparseTree(), people)
    lists = {expected: timed_fit(rule_list(expected), people) for expected in TITANIC_EXPECTED_RULES}
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
            ModelPicture("titanic-tree", "The tree", tree.model),
            ModelPicture(
                "titanic-list",
                f"The best list for {'2, 4 and 7' if _same(lists) else '2'} expected rules",
                best,
            ),
            compared.chart,
        ),
    )


def _same(lists: dict[int, TimedFit]) -> bool:
    return len({fitted.model.structure_.rules for fitted in lists.values()}) == 1


def _sentences(tree: TimedFit, lists: dict[int, TimedFit], compared: Performance) -> list[str]:
    model = tree.model
    proven = ", proven to be the best" if model.search_.proven else ""
    sizes = " and ".join(str(size) for size in sorted({fitted.model.n_rules_ for fitted in lists.values()}))
    return [
        (
            f"The leaf-sparse tree has {model.n_leaves_} leaves and a log posterior of "
            f"{model.log_posterior_:,.2f}{proven}, found in {tree.seconds:.2f} s."
        ),
        (
            "For 2, 4 and 7 expected rules the best list is "
            f"{'one and the same' if _same(lists) else 'not the same'}, of {sizes} rules"
            f"{': the data outweigh the prior' if _same(lists) else ''}. For a shorter list, set max_rules."
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


def _leaves(tree: Any) -> StudyTable:
    rows: list[tuple[CellValue, ...]] = []
    for leaf in tree.leaves_:
        event = {condition.feature: list(condition.values) for condition in leaf.conditions}
        printed = QUOTED["titanic 3rd-class children, probability"].value if event == _listed(CHILDREN) else None
        rows.append((str(leaf), leaf.weight, printed, leaf.probability, leaf.volume, leaf.density))
    columns = (
        StudyColumn("people"),
        StudyColumn("count", "whole"),
        StudyColumn("probability", "number", 3, paper=True),
        StudyColumn("probability", "number", 4),
        StudyColumn("volume", "whole"),
        StudyColumn("density", "number", 3, short=True),
    )
    notes = (
        (
            "The paper's text gives one leaf of its tree, the children in 3rd class; it fits 1,761 training "
            "rows, we fit all 2,201."
        ),
    )
    return StudyTable("leaves", "The leaves of the tree", columns, tuple(rows), notes)


def _listed(event: dict[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in event.items()}


def _quoted(people: pl.DataFrame, tree: Any, rules: Any) -> StudyTable:
    rows: list[tuple[CellValue, ...]] = []
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
        StudyColumn("what"),
        StudyColumn("text", "number", 3, paper=True, short=True),
        StudyColumn("counted in all rows", "number", 3, short=True),
        StudyColumn("our tree", "number", 3, short=True),
        StudyColumn("our list", "number", 3, short=True),
    )
    notes = (
        (
            "Densities are means over what the event leaves free. The paper's numbers are of its 1,761 training rows; "
            "posterior means are a little nearer to uniform than counts."
        ),
    )
    return StudyTable("quoted", "The numbers that the paper quotes", columns, tuple(rows), notes)


def _lists(lists: dict[int, TimedFit], people: pl.DataFrame) -> StudyTable:
    rows = tuple(
        (
            expected,
            fitted.model.n_rules_,
            fitted.model.log_posterior_,
            fitted.model.score(people) / people.height,
            fitted.model.search_.proven,
            in_words(fitted.model),
        )
        for expected, fitted in lists.items()
    )
    columns = (
        StudyColumn("expected rules", "whole"),
        StudyColumn("rules", "whole"),
        StudyColumn("log posterior", "number", 2),
        StudyColumn("log-likelihood per row", "number", 4),
        StudyColumn("proven"),
        StudyColumn("the list"),
    )
    notes = (
        (
            "The paper draws its three lists as pictures, longer for more expected rules. The study of lists has the "
            "best list of every length."
        ),
    )
    return StudyTable("lists", "The lists", columns, rows, notes)


def _sizes(tree: TimedFit, branches: TimedFit, lists: dict[int, TimedFit]) -> StudyTable:
    best, times = BEST["titanic"], RUN_TIMES["titanic"]
    rules = lists[TITANIC_EXPECTED_RULES[1]]
    rows = (
        (LEAF, best.leaves, tree.model.n_leaves_, times.leaf_best, tree.seconds),
        (BRANCH, best.branch_leaves, branches.model.n_leaves_, times.branch_best, branches.seconds),
        (LIST, best.rules, rules.model.n_rules_, times.list_best, rules.seconds),
    )
    columns = (
        StudyColumn("method"),
        StudyColumn("leaves or rules", "whole", paper=True),
        StudyColumn("leaves or rules", "whole"),
        StudyColumn("seconds", "number", 3, paper=True),
        StudyColumn("seconds", "number", 3),
    )
    proven = sum(fitted.model.search_.proven for fitted in (tree, branches, rules))
    notes = (
        (
            "Our seconds are of one fit to all rows with the default search, after compiling; it ends with a proof for "
            f"{proven} of the {len(rows)}."
        ),
    )
    return StudyTable("sizes", "Size and seconds", columns, rows, notes)
