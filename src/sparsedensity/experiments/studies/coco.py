"""The labels of COCO as a tree, and its most surprising leaves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsedensity import LeafSparseTree
from sparsedensity.experiments.fitting import fit
from sparsedensity.experiments.paper import QUOTED
from sparsedensity.experiments.sets import load
from sparsedensity.experiments.study import Cell, Column, Picture, Setting, Study, Table

if TYPE_CHECKING:
    import polars as pl

LEAVES = int(QUOTED["coco stuff, leaves"].value)
"""As many as the paper's tree of the stuff labels."""
SECONDS = 60.0
NAMED = 8
FEWEST_IMAGES = 30
"""A leaf of fewer images is no discovery."""


class Surprise(NamedTuple):
    """A leaf, and how far it is from what independent labels would give."""

    leaf: int
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
    frame = load("coco_thing", setting.data)
    return study_of(frame.head(5000) if setting.quick else frame, setting)


def study_of(frame: pl.DataFrame, setting: Setting) -> Study:
    """Fit a table of labels, one column a label and one row an image."""
    setting.say("the tree of labels")
    model = LeafSparseTree(max_leaves=LEAVES, random_state=0, n_jobs=setting.jobs, time_limit=SECONDS)
    tree, seconds = fit(model, frame)
    found = surprises(tree, frame)
    return Study(
        "coco",
        "The labels of COCO",
        f"{frame.height:,} images with {frame.width} labels, present or not. The paper shows a tree of {LEAVES} "
        "leaves of "
        f"COCO's stuff labels, which are not published in this form; ours has at most {LEAVES} leaves of its thing "
        "labels.",
        tuple(_sentences(found, seconds)),
        (_table(found), _times(tree, seconds)),
        (Picture("coco-tree", "The tree of labels", tree.report()),),
    )


def surprises(tree: Any, frame: pl.DataFrame) -> list[Surprise]:
    """The leaves in which at least one label is present, those most above independence first."""
    shares = {name: frame[name].value_counts(normalize=True) for name in frame.columns}
    by_value = {name: dict(own.iter_rows()) for name, own in shares.items()}
    found = []
    for leaf in tree.leaves_:
        present = tuple(c.feature for c in leaf.conditions if len(c.values) == 1 and is_present(c.values[0]))
        chance = math.prod(sum(by_value[c.feature].get(v, 0.0) for v in c.values) for c in leaf.conditions)
        if present and leaf.weight >= FEWEST_IMAGES:
            absent = len(leaf.conditions) - len(present)
            found.append(Surprise(leaf.number, present, absent, leaf.weight, chance * frame.height))
    return sorted(found, key=lambda one: -one.lift)


def is_present(value: object) -> bool:
    """Whether a value says that a label is there: 1, "1", True or "true".

    >>> [is_present(value) for value in (1, "1", True, 0, "0", False)]
    [True, True, True, False, False, False]
    """
    return str(value).lower() in ("1", "true", "yes")


def _sentences(found: list[Surprise], seconds: float) -> list[str]:
    theirs = QUOTED["coco stuff, seconds of a tree"].value
    said = [
        (
            f"The tree took {seconds:.1f} s; the paper's tree of the stuff labels took approximately {theirs:.0f} s on "
            "its machine."
        )
    ]
    if found:
        top = found[0]
        said.append(
            f"The most surprising leaf: {_together(top.present)} in {top.images:,.0f} images, where independent "
            "labels would "
            f"give {top.expected:,.1f}: {top.lift:,.3g} times as many."
        )
    return said


def _together(labels: tuple[str, ...]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _table(found: list[Surprise]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.leaf, _together(one.present), one.absent, one.images, one.expected, one.lift) for one in found[:NAMED]
    ]
    columns = (
        Column("leaf", "whole"),
        Column("labels that are present"),
        Column("labels that are absent", "whole"),
        Column("images", "whole"),
        Column("expected of independent labels", "number", 3, short=True),
        Column("times as many", "number", 3, short=True),
    )
    notes = (
        (
            "The paper names three leaves of its tree of stuff labels: cardboard, wall-other, stairs and ground-other; "
            "railing, "
            "skyscraper and ground-other; blanket and mirror-stuff. Things are other labels, so the leaves cannot "
            "agree."
        ),
        (
            f"Leaves of at least {FEWEST_IMAGES} images with at least one label present, those furthest above "
            "independence first."
        ),
    )
    return Table("surprises", "The most surprising leaves", columns, tuple(rows), notes)


def _times(tree: Any, seconds: float) -> Table:
    columns = (Column("what"), Column("stuff labels", "number", 1, paper=True), Column("thing labels", "number", 1))
    rows = (
        ("leaves", QUOTED["coco stuff, leaves"].value, float(tree.n_leaves_)),
        ("seconds of one tree", QUOTED["coco stuff, seconds of a tree"].value, seconds),
    )
    return Table("times", "The tree, the paper's and ours", columns, rows)
