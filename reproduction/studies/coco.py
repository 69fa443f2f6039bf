"""The labels of COCO as a tree, and its most surprising leaves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import clone

from reproduction import datasets
from reproduction.fitting import warm_up
from reproduction.paper import QUOTED
from reproduction.study import CellValue, ModelPicture, Setting, Study, StudyColumn, StudyTable
from sparsedensity import Leaf, LeafSparseTree
from sparsedensity.evaluation import timed_fit

if TYPE_CHECKING:
    import polars as pl

LEAVES = int(QUOTED["coco stuff, leaves"].value)
"""As many as the paper's tree of the stuff labels."""
MANY_LEAVES, QUICK_LEAVES = 1000, 300
"""A tree this large has leaves in which several labels are present."""
SECONDS, QUICK_SECONDS = 60.0, 1.0
NAMED = 12
FEWEST_IMAGES = 30
"""A leaf of fewer images is no discovery."""


class Surprise(NamedTuple):
    """A leaf, and how far it is from what independent labels would give."""

    present: tuple[str, ...]
    absent: int
    images: float
    expected: float

    @property
    def lift(self) -> float:
        """How many times more images than independent labels would give."""
        return self.images / self.expected if self.expected > 0 else math.inf


def study(setting: Setting) -> Study:
    """Fit the published labels."""
    frame = datasets.load("coco_thing", setting.data)
    return study_of(frame.head(5000) if setting.quick else frame, setting)


def study_of(frame: pl.DataFrame, setting: Setting) -> Study:
    """Fit a table of labels, one column per label and one row per image."""
    limit = QUICK_SECONDS if setting.quick else SECONDS
    setting.say("the tree of labels")
    warm_up(setting.jobs)
    model = LeafSparseTree(max_leaves=LEAVES, random_state=0, n_jobs=setting.jobs, time_limit=limit, kinds="nominal")
    tree, seconds = timed_fit(model, frame)
    setting.say("a large tree of labels")
    large = clone(model).set_params(max_leaves=QUICK_LEAVES if setting.quick else MANY_LEAVES)
    found = surprises(timed_fit(large, frame).model, frame)
    return Study(
        "coco",
        "The labels of COCO",
        f"{frame.height:,} images with {frame.width} labels, present or not. The paper shows a tree of {LEAVES} "
        "leaves of COCO's stuff labels, which are not published in this form. Ours are of its thing labels: a tree of "
        f"at most {LEAVES} leaves to look at, and one of at most {large.max_leaves:,} in which to look for "
        "combinations.",
        tuple(_sentences(tree, found, seconds)),
        (_table(found), _times(tree, seconds)),
        (ModelPicture("coco-tree", "The tree of labels", tree),),
    )


def surprises(tree: Any, frame: pl.DataFrame) -> list[Surprise]:
    """The leaves in which at least two labels are present, those most above independence first."""
    shares = {name: frame[name].value_counts(normalize=True) for name in frame.columns}
    by_value = {name: dict(shares_of.iter_rows()) for name, shares_of in shares.items()}
    found = []
    for leaf in tree.leaves_:
        present = _present(leaf)
        chance = math.prod(sum(by_value[c.feature].get(v, 0.0) for v in c.values) for c in leaf.conditions)
        if len(present) > 1 and leaf.weight >= FEWEST_IMAGES:
            absent = len(leaf.conditions) - len(present)
            found.append(Surprise(present, absent, leaf.weight, chance * frame.height))
    return sorted(found, key=lambda one: -one.lift)


def _present(leaf: Leaf) -> tuple[str, ...]:
    return tuple(c.feature for c in leaf.conditions if len(c.values) == 1 and is_present(c.values[0]))


def is_present(value: object) -> bool:
    """Whether a value says that a label is there: 1, "1", True or "true".

    >>> [is_present(value) for value in (1, "1", True, 0, "0", False)]
    [True, True, True, False, False, False]
    """
    return str(value).lower() in ("1", "true", "yes")


def _sentences(tree: Any, found: list[Surprise], seconds: float) -> list[str]:
    theirs = QUOTED["coco stuff, seconds of a tree"].value
    alone = sum(len(_present(leaf)) <= 1 for leaf in tree.leaves_)
    said = [
        (
            f"The tree took {seconds:.1f} s; the paper's tree of the stuff labels approximately {theirs:.0f} s on its "
            "machine."
        ),
        (f"In {alone} of its {tree.n_leaves_} leaves at most one label is present."),
    ]
    if found:
        top = found[0]
        said.append(
            f"The most surprising leaf: {_together(top.present)} in {top.images:,.0f} images, where independent "
            f"labels would give {top.expected:,.1f}: {top.lift:,.3g} times as many."
        )
    return said


def _together(labels: tuple[str, ...]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _table(found: list[Surprise]) -> StudyTable:
    rows: list[tuple[CellValue, ...]] = [
        (_together(one.present), one.absent, one.images, one.expected, one.lift) for one in found[:NAMED]
    ]
    columns = (
        StudyColumn("labels that are present"),
        StudyColumn("labels that are absent", "whole"),
        StudyColumn("images", "whole"),
        StudyColumn("expected of independent labels", "number", 3, short=True),
        StudyColumn("times as many", "number", 3, short=True),
    )
    notes = (
        (
            "The paper names three leaves of its tree of stuff labels: cardboard, wall-other, stairs and "
            "ground-other; railing, skyscraper and ground-other; blanket and mirror-stuff. Things are other labels, "
            "so the leaves cannot agree."
        ),
        (
            f"Leaves of the large tree with at least {FEWEST_IMAGES} images and two labels present, those furthest "
            "above independence first. Expected: the product of the shares of everything that the leaf says."
        ),
    )
    return StudyTable("surprises", "The most surprising leaves", columns, tuple(rows), notes)


def _times(tree: Any, seconds: float) -> StudyTable:
    columns = (
        StudyColumn("what"),
        StudyColumn("stuff labels", "number", 3, True, True),
        StudyColumn("thing labels", "number", 3, short=True),
    )
    rows = (
        ("leaves", QUOTED["coco stuff, leaves"].value, float(tree.n_leaves_)),
        ("seconds of one tree", QUOTED["coco stuff, seconds of a tree"].value, seconds),
    )
    return StudyTable("times", "The tree, the paper's and ours", columns, rows)
