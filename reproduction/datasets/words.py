"""Words for the codes of published tables, as their publishers describe them."""

from __future__ import annotations

import polars as pl

COLOURS = {
    "b": "buff", "c": "cinnamon", "e": "red", "g": "grey", "h": "chocolate", "k": "black", "n": "brown", "o": "orange",
    "p": "pink", "r": "green", "u": "purple", "w": "white", "y": "yellow",
}  # fmt: skip
STALK_SURFACES = {"f": "fibrous", "k": "silky", "s": "smooth", "y": "scaly"}
MUSHROOM = {
    "class": {"e": "edible", "p": "poisonous"},
    "cap-shape": {"b": "bell", "c": "conical", "f": "flat", "k": "knobbed", "s": "sunken", "x": "convex"},
    "cap-surface": {"f": "fibrous", "g": "grooves", "s": "smooth", "y": "scaly"},
    "cap-color": COLOURS,
    "bruises": {"f": "no", "t": "yes"},
    "odor": {
        "a": "almond", "c": "creosote", "f": "foul", "l": "anise", "m": "musty", "n": "none", "p": "pungent",
        "s": "spicy", "y": "fishy",
    },
    "gill-attachment": {"a": "attached", "d": "descending", "f": "free", "n": "notched"},
    "gill-spacing": {"c": "close", "d": "distant", "w": "crowded"},
    "gill-size": {"b": "broad", "n": "narrow"},
    "gill-color": COLOURS,
    "stalk-shape": {"e": "enlarging", "t": "tapering"},
    "stalk-root": {"b": "bulbous", "c": "club", "e": "equal", "r": "rooted", "u": "cup", "z": "rhizomorphs"},
    "stalk-surface-above-ring": STALK_SURFACES,
    "stalk-surface-below-ring": STALK_SURFACES,
    "stalk-color-above-ring": COLOURS,
    "stalk-color-below-ring": COLOURS,
    "veil-type": {"p": "partial", "u": "universal"},
    "veil-color": COLOURS,
    "ring-number": {"n": "none", "o": "one", "t": "two"},
    "ring-type": {
        "c": "cobwebby", "e": "evanescent", "f": "flaring", "l": "large", "n": "none", "p": "pendant", "s": "sheathing",
        "z": "zone",
    },
    "spore-print-color": COLOURS,
    "population": {
        "a": "abundant", "c": "clustered", "n": "numerous", "s": "scattered", "v": "several", "y": "solitary",
    },
    "habitat": {
        "d": "woods", "g": "grasses", "l": "leaves", "m": "meadows", "p": "paths", "u": "urban", "w": "waste",
    },
}  # fmt: skip
"""The values of UCI Mushroom, by column."""


def mushroom_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Mushrooms with words for letters, and blanks in the names of columns.

    >>> mushroom_in_words(pl.DataFrame({"odor": ["f", "n"], "cap-color": ["e", "n"]})).rows()
    [('foul', 'red'), ('none', 'brown')]
    """
    return frame.select(
        pl.col(name).replace_strict(MUSHROOM[name], return_dtype=pl.String).alias(name.replace("-", " "))
        for name in frame.columns
    )


def labels_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels as yes and no instead of 1 and 0.

    >>> labels_in_words(pl.DataFrame({"cat": [0, 1]})).rows()
    [('no',), ('yes',)]
    """
    return frame.select(pl.all().replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String))


def bank_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Clients of the bank, with names that say what three columns count.

    >>> bank_in_words(pl.DataFrame({"campaign": ["1"], "previous": ["0"], "poutcome": ["unknown"]})).columns
    ['calls now', 'calls before', 'outcome before']
    """
    return frame.rename({"campaign": "calls now", "previous": "calls before", "poutcome": "outcome before"})


def compas_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """People of COMPAS with words for the signs of CORELS, and blanks in the names of columns.

    >>> compas_in_words(pl.DataFrame({"juvenile-crimes": ["=0", ">0"], "priors": ["=1", ">3"]})).rows()
    [('none', '1'), ('some', 'over 3')]
    """
    words = {"=0": "none", ">0": "some", "=1": "1", ">3": "over 3", ">45": "over 45"}
    return frame.select(pl.col(name).replace(words).alias(name.replace("-", " ")) for name in frame.columns)
