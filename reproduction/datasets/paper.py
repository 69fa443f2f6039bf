"""The 17 data sets of the paper, as its table prints them.

>>> from sparsedensity.datasets import PAPER
>>> [described.title for described in PAPER if described.name is None]
['COCO stuff+thing labels hierarchy', 'COCO stuff labels', 'Crime']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PaperSet:
    """One line of the paper's table of data sets, and what we have of it."""

    title: str
    """As printed."""
    rows: int
    train_rows: int
    validation_rows: int
    features: int
    pairs: int
    """Feature-value pairs: the values of all features, counted together."""
    name: str | None = None
    """What :func:`sparsedensity.datasets.load` calls it; ``None`` where it has no loader."""
    stand_in: str | None = None
    """Something like it, of known truth, for where it is not to be had."""
    options: Mapping[str, int] = field(default_factory=dict, hash=False)
    """What :func:`sparsedensity.datasets.load` is told beside the name, of the set or of its stand-in."""


PAPER = (
    PaperSet("Balance", 625, 531, 94, 4, 20, "balance"),
    PaperSet("Bank Full", 45211, 38429, 6782, 12, 51, "bank_full"),
    PaperSet("Car", 1728, 1468, 260, 6, 21, "car"),
    PaperSet("Chess (King-Rook vs. King-Pawn)", 3196, 2716, 480, 36, 73, "chess_krkp"),
    PaperSet("COCO stuff+thing labels hierarchy", 1677309, 1607458, 69582, 4, 206),
    PaperSet("COCO stuff labels", 123280, 118280, 5000, 91, 182),
    PaperSet("COCO thing labels", 122218, 117266, 4952, 80, 160, "coco_thing"),
    PaperSet("COMPAS", 7210, 6489, 721, 7, 19, "compas"),
    PaperSet("Connect 4", 67557, 57423, 10134, 42, 126, "connect4"),
    PaperSet("Crime", 3739, 3178, 561, 6, 24, stand_in="housebreaks"),
    PaperSet("HELOC", 10459, 8890, 1569, 23, 195, "heloc"),
    PaperSet("Mushroom", 5644, 4797, 847, 23, 100, "mushroom"),
    PaperSet("Nursery", 12960, 11016, 1944, 8, 27, "nursery"),
    PaperSet("Telco Customer Churn", 7032, 5977, 1055, 19, 73, "telco_churn"),
    PaperSet("Titanic", 2201, 1761, 440, 3, 8, "titanic"),
    PaperSet(
        "US Census 1990 (1m)", 1150000, 1000000, 150000, 68, 396, "us_census_1990", "census_like", {"rows": 1150000}
    ),
    PaperSet("US Census 1990", 2458285, 2089542, 368743, 68, 396, "us_census_1990", "census_like"),
)
"""In the order of the paper. Its COCO hierarchy does not add up: 1607458 + 69582 is not 1677309."""
