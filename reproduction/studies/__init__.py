"""The studies, one per file, each a function ``study`` from a setting to what was found.

>>> sorted(STUDIES)[:3]
['coco', 'consistency', 'crime']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reproduction.study import Setting, Study


class StudyEntry(NamedTuple):
    """A study that can be asked for."""

    about: str
    parts: str = ""
    """The file of finished parts, if two studies share one."""


STUDIES = {
    "titanic": StudyEntry("the tree, the lists, and likelihood against sparsity for every method and fold"),
    "lists": StudyEntry("rule lists of the Titanic for 2, 4 and 7 expected rules, and shorter ones"),
    "simulated": StudyEntry("how often the tree of six leaves is found in half of the data"),
    "crime": StudyEntry("the housebreak story on data of known truth"),
    "coco": StudyEntry("the tree of the labels of COCO, and its most surprising leaves"),
    "consistency": StudyEntry("the distance to the true density as rows grow, for random true trees"),
    "det": StudyEntry("our tree at the size of DET's, and the leaves we need for its likelihood"),
    "runtime": StudyEntry("seconds of one fit and of the parameter search, on the paper's 17 sets", "grids"),
    "parameters": StudyEntry("the best prior, and the size of the model it leads to", "grids"),
}
"""Every study by name, in the order of the page: the short ones first."""


def study_of(name: str) -> Callable[[Setting], Study]:
    """The function of a study."""
    function: Callable[[Setting], Study] = importlib.import_module(f"{__name__}.{name}").study
    return function
