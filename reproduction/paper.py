"""What the paper prints, as data: its three tables, and the numbers of its text and captions.

Nothing here is ours, and nothing is mended: if two tables of the paper differ, both are kept. ``printed`` is what
the table calls the set. Every number is held against the paper's source by a test.

>>> RUN_TIMES["titanic"].leaf_best, BEST["titanic"].leaves
(0.324, 11)
"""

from __future__ import annotations

from typing import NamedTuple


class PaperSet(NamedTuple):
    """A row of the table of data sets, and what we have of it."""

    name: str
    title: str
    """As printed."""
    rows: int
    train_rows: int
    validation_rows: int
    features: int
    pairs: int
    """Feature-value pairs: the values of all features, counted together."""
    loaded: str | None = None
    """What :func:`reproduction.datasets.load` calls it; ``None`` if it has no loader."""
    stand_in: str | None = None
    """Something like it, of known truth, in case it is not available."""
    first_rows: int | None = None
    """How many rows of that are taken, if not all."""


class RunTime(NamedTuple):
    """A row of the table of run times: seconds for the best parameters, and for trying all of them."""

    name: str
    printed: str
    train_rows: int
    pairs: int
    leaf_best: float
    branch_best: float
    list_best: float
    leaf_all: float
    branch_all: float
    list_all: float


class BestPriors(NamedTuple):
    """A row of the table of best parameters: priors, and the size of the model that they led to."""

    name: str
    printed: str
    train_rows: int
    pairs: int
    expected_leaves: int
    leaves: int
    expected_branches: int
    branch_leaves: int
    expected_rules: int
    expected_conditions: int
    rules: int


class SingleMachine(NamedTuple):
    """Seconds of one average run on one machine (Intel i7-6700, 3.40 GHz), from the text below the run times."""

    name: str
    printed: str
    leaf: float
    branch: float
    list: float


class Quoted(NamedTuple):
    """A number of the text, with the words it stands in, as the source of the paper has them."""

    value: float
    words: str


_DATA_SETS = (
    PaperSet("balance", "Balance", 625, 531, 94, 4, 20, "balance"),
    PaperSet("bank_full", "Bank Full", 45_211, 38_429, 6782, 12, 51, "bank_full"),
    PaperSet("car", "Car", 1728, 1468, 260, 6, 21, "car"),
    PaperSet("chess_krkp", "Chess (King-Rook vs. King-Pawn)", 3196, 2716, 480, 36, 73, "chess_krkp"),
    PaperSet("coco_stuff_thing", "COCO stuff+thing labels hierarchy", 1_677_309, 1_607_458, 69_582, 4, 206),
    PaperSet("coco_stuff", "COCO stuff labels", 123_280, 118_280, 5000, 91, 182),
    PaperSet("coco_thing", "COCO thing labels", 122_218, 117_266, 4952, 80, 160, "coco_thing"),
    PaperSet("compas", "COMPAS", 7210, 6489, 721, 7, 19, "compas"),
    PaperSet("connect4", "Connect 4", 67_557, 57_423, 10_134, 42, 126, "connect4"),
    PaperSet("crime", "Crime", 3739, 3178, 561, 6, 24, stand_in="housebreaks"),
    PaperSet("heloc", "HELOC", 10_459, 8890, 1569, 23, 195, "heloc"),
    PaperSet("mushroom", "Mushroom", 5644, 4797, 847, 23, 100, "mushroom"),
    PaperSet("nursery", "Nursery", 12_960, 11_016, 1944, 8, 27, "nursery"),
    PaperSet("telco_churn", "Telco Customer Churn", 7032, 5977, 1055, 19, 73, "telco_churn"),
    PaperSet("titanic", "Titanic", 2201, 1761, 440, 3, 8, "titanic"),
    PaperSet(
        "us_census_1990_1m",
        "US Census 1990 (1m)",
        1_150_000,
        1_000_000,
        150_000,
        68,
        396,
        "us_census_1990",
        "census_like",
        1_150_000,
    ),
    PaperSet(
        "us_census_1990", "US Census 1990", 2_458_285, 2_089_542, 368_743, 68, 396, "us_census_1990", "census_like"
    ),
)

_RUN_TIMES = (
    RunTime("balance", "Balance", 531, 20, 0.207, 1.036, 8.226, 0.587, 2.166, 82.402),
    RunTime("bank_full", "Bank Full", 38_429, 51, 19.652, 21.115, 31.340, 61.567, 42.971, 189.415),
    RunTime("car", "Car", 1468, 21, 0.276, 1.324, 7.123, 0.826, 2.610, 88.097),
    RunTime("chess_krkp", "Chess (King-Rook vs. King-Pawn)", 2716, 73, 2.808, 3.631, 58.269, 8.683, 7.147, 246.194),
    RunTime(
        "coco_stuff_thing",
        "COCO stuff+thing labels hierarchy",
        1_607_458,
        206,
        315.418,
        339.948,
        788.144,
        886.045,
        632.347,
        1175.841,
    ),
    RunTime("coco_stuff", "COCO staff labels", 118_280, 182, 119.142, 169.533, 1056.583, 382.756, 316.800, 1999.329),
    RunTime("coco_thing", "COCO things labels", 117_266, 160, 104.491, 127.561, 545.789, 278.445, 247.029, 1476.896),
    RunTime("compas", "COMPAS", 6489, 19, 1.225, 2.171, 14.503, 3.606, 4.345, 95.327),
    RunTime("connect4", "Connect 4", 57_423, 126, 53.692, 58.286, 404.347, 143.833, 111.995, 882.699),
    RunTime("crime", "Crime", 3178, 24, 1.393, 1.998, 24.709, 3.990, 3.933, 120.641),
    RunTime("heloc", "HELOC", 8890, 195, 19.402, 23.349, 111.346, 62.415, 48.889, 607.118),
    RunTime("mushroom", "Mushroom", 4797, 100, 5.317, 6.362, 31.890, 16.360, 12.685, 699.592),
    RunTime("nursery", "Nursery", 11_016, 27, 1.196, 4.418, 10.667, 3.587, 8.571, 106.414),
    RunTime("telco_churn", "Telco Customer Churn", 5977, 73, 6.405, 7.402, 138.462, 17.196, 14.860, 370.096),
    RunTime("titanic", "Titanic", 1761, 8, 0.324, 0.425, 7.323, 0.947, 0.804, 41.436),
    RunTime(
        "us_census_1990_1m",
        "US Census 1990 (1m)",
        1_000_000,
        396,
        3580.249,
        2813.563,
        8382.199,
        10602.726,
        6299.193,
        10145.797,
    ),
    RunTime(
        "us_census_1990",
        "US Census 1990",
        2_089_542,
        396,
        6216.533,
        8965.318,
        31199.718,
        19469.654,
        16118.220,
        39081.668,
    ),
)

_BEST = (
    BestPriors("balance", "Balance", 531, 20, 5, 2, 3, 40, 3, 1, 3),
    BestPriors("bank_full", "Bank Full", 38_429, 51, 8, 100, 2, 52, 5, 2, 8),
    BestPriors("car", "Car", 1468, 21, 8, 2, 3, 31, 3, 1, 4),
    BestPriors("chess_krkp", "Chess (King-Rook vs. King-Pawn)", 2716, 73, 5, 26, 3, 47, 7, 2, 8),
    BestPriors("coco_stuff_thing", "COCO stuff+thing labels hierarchy", 1_607_459, 206, 5, 202, 2, 208, 3, 2, 6),
    BestPriors("coco_stuff", "COCO stuff labels", 118_280, 182, 8, 32, 2, 41, 7, 2, 9),
    BestPriors("coco_thing", "COCO thing labels", 117_266, 160, 5, 47, 3, 29, 7, 1, 7),
    BestPriors("compas", "COMPAS", 6489, 19, 8, 22, 2, 32, 3, 1, 5),
    BestPriors("connect4", "Connect 4", 57_423, 126, 10, 47, 3, 42, 7, 2, 7),
    BestPriors("crime", "Crime", 3178, 24, 5, 20, 2, 40, 7, 1, 7),
    BestPriors("heloc", "HELOC", 8890, 195, 8, 84, 3, 93, 7, 1, 8),
    BestPriors("mushroom", "Mushroom", 4797, 100, 10, 52, 2, 73, 3, 1, 6),
    BestPriors("nursery", "Nursery", 11_016, 27, 8, 2, 3, 48, 3, 2, 2),
    BestPriors("telco_churn", "Telco Customer Churn", 5977, 73, 8, 41, 3, 73, 7, 1, 10),
    BestPriors("titanic", "Titanic", 1761, 8, 5, 11, 2, 13, 5, 1, 7),
    BestPriors("us_census_1990_1m", "US Census 1990 (1m)", 1_000_000, 396, 5, 78, 3, 82, 7, 1, 7),
    BestPriors("us_census_1990", "US Census 1990", 2_089_542, 396, 5, 100, 2, 105, 7, 1, 5),
)

_SINGLE_MACHINE = (
    SingleMachine("titanic", "Titanic", 0.276, 0.416, 6.928),
    SingleMachine("crime", "Crime", 0.1, 1.4, 12.28),
    SingleMachine("balance", "Balance", 0.202, 0.99, 7.544),
    SingleMachine("bank_full", "Bank Full", 20.218, 23.077, 23.722),
)

RUN_TIMES = {row.name: row for row in _RUN_TIMES}
"""Table "Run time analysis of three methods for different complexity data sets"."""
DATA_SETS = {row.name: row for row in _DATA_SETS}
"""Table "Data sets statistics". The rows of its COCO hierarchy do not add up: 1607458 + 69582 is not 1677309."""
BEST = {row.name: row for row in _BEST}
"""Table "Description of priors and the model complexities for models that maximized log-likelihood"."""
SINGLE_MACHINE = {row.name: row for row in _SINGLE_MACHINE}

TITANIC_EXPECTED_RULES = (2, 4, 7)
"""The expected rules of the paper's three lists of the Titanic, with 2 expected conditions and pseudocount 1."""

QUOTED = {
    "titanic 3rd-class children, probability": Quoted(
        0.038, "the probability of belonging to this leaf is $p(\\textrm{state})$ is 0.038"
    ),
    "titanic 3rd-class children, density": Quoted(0.019, "each with probability $0.038/2=0.019$"),
    "titanic adult women, density": Quoted(
        0.0491,
        "if the passenger is adult and female, then density is constant with respect to other variables at 0.0491",
    ),
    "titanic boys, density": Quoted(0.0072, "else if passenger is a child and male, density is constant at 0.0072"),
    "simulated, leaves": Quoted(6, "a data set that arises from a tree with 6 leaves, involving 3 features"),
    "simulated, leaves of DET": Quoted(3, "It produced a model that was too sparse, with only $3$ leaves"),
    "crime, leaves": Quoted(20, "This tree contains 20 leaves. It took around 1.4 seconds to create the tree"),
    "crime, seconds of a tree": Quoted(1.4, "It took around 1.4 seconds to create the tree"),
    "crime, bins of the histogram": Quoted(1440, "it would require $1440$ different markers (discrete states)"),
    "crime, not a residence": Quoted(2e-4, "the non-residential density has values less than $2 \\times 10^{-4}.$"),
    "crime, forced on a weekday": Quoted(0.0046, "(density 0.0046 if weekday and 0.2 if weekend"),
    "crime, forced on a weekend": Quoted(0.2, "(density 0.0046 if weekday and 0.2 if weekend"),
    "crime, ransacked through the door": Quoted(0.0042, "the door as the location of entry (density 0.0042)"),
    "crime, ransacked otherwise": Quoted(
        4.72e-4, "compared to wall, window, and basement (density $4.72 \\times 10^{-4}).$"
    ),
    "crime, unlocked": Quoted(
        0.0361, "unlocked windows and doors are the most common means of entry (density is 0.0361)"
    ),
    "crime, picked lock": Quoted(0.0011, "If the means of entry is picked lock, the density is 0.0011"),
    "crime, open area": Quoted(0.0068, "if the area is open, the density is 0.0068"),
    "coco stuff, leaves": Quoted(20, "This tree contains 20 leaves. It took approximately 25 seconds"),
    "coco stuff, seconds of a tree": Quoted(25, "It took approximately 25 seconds to create the tree"),
    "det, largest density on titanic": Quoted(12.71, "as large as $12.71$ for titanic data"),
    "det, lowest log-likelihood on crime": Quoted(396, "in the range [396, 13107] for crime data"),
    "det, highest log-likelihood on crime": Quoted(13107, "in the range [396, 13107] for crime data"),
}
"""What the text and the captions say, by what it is about."""
