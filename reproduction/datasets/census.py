"""Something like the US Census of 1990, if the real file is absent: its columns, its values, a truth we know.

The names and the values are those of UCI's set: 68 features, 396 values. The rows are not people: they are drawn from
a density tree whose every split parts the common answers to a question, nine in ten, from the others. Inside a leaf all
that is still open is uniform, so that single columns are less lopsided than those of a true census.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity import Domain, Feature
from sparsedensity.datasets import Truth
from sparsedensity.datasets.truth import checked_rng
from sparsedensity.structures import Tree

CENSUS_ROWS = 2_458_285
COMMON_SHARE = (8.0, 1.0)
"""The share of the common answers at a split is drawn from this beta distribution: nine in ten on average."""

SIZES = {
    "dAge": 8, "dAncstry1": 12, "dAncstry2": 12, "iAvail": 5, "iCitizen": 5, "iClass": 10, "dDepart": 6, "iDisabl1": 3,
    "iDisabl2": 3, "iEnglish": 5, "iFeb55": 2, "iFertil": 14, "dHispanic": 10, "dHour89": 6, "dHours": 6, "iImmigr": 11,
    "dIncome1": 5, "dIncome2": 2, "dIncome3": 2, "dIncome4": 2, "dIncome5": 2, "dIncome6": 2, "dIncome7": 2,
    "dIncome8": 2, "dIndustry": 13, "iKorean": 2, "iLang1": 3, "iLooking": 3, "iMarital": 5, "iMay75880": 2,
    "iMeans": 13, "iMilitary": 5, "iMobility": 3, "iMobillim": 3, "dOccup": 9, "iOthrserv": 2, "iPerscare": 3,
    "dPOB": 7, "dPoverty": 3, "dPwgt1": 4, "iRagechld": 5, "dRearning": 6, "iRelat1": 14, "iRelat2": 10,
    "iRemplpar": 16, "iRiders": 9, "iRlabor": 7, "iRownchld": 2, "dRpincome": 6, "iRPOB": 14, "iRrelchld": 2,
    "iRspouse": 7, "iRvetserv": 12, "iSchool": 4, "iSept80": 2, "iSex": 2, "iSubfam1": 4, "iSubfam2": 4,
    "iTmpabsnt": 4, "dTravtime": 7, "iVietnam": 2, "dWeek89": 3, "iWork89": 3, "iWorklwk": 3, "iWWII": 2,
    "iYearsch": 18, "iYearwrk": 8, "dYrsserv": 3,
}  # fmt: skip
"""How many values each feature has; they are 0, 1, 2, .. but for the three below."""
CODED = {
    "dAncstry2": tuple(range(1, 13)),
    "iRemplpar": (0, 111, 112, 113, 114, 121, 122, 133, 134, 141, 211, 212, 213, 221, 222, 223),
    "iRPOB": (10, 21, 22, 23, 24, 31, 32, 33, 34, 35, 36, 40, 51, 52),
}


def census_like(rows: int = CENSUS_ROWS, seed: int = 0, leaves: int = 400) -> Truth:
    """Rows drawn from a density tree over the features of the US Census of 1990.

    >>> truth = census_like(rows=1000)
    >>> truth.frame.shape, sum(truth.domain.sizes), truth.tree.n_leaves
    ((1000, 68), 396, 400)
    """
    rng = checked_rng(seed, rows=rows, leaves=leaves)
    domain = Domain(tuple(Feature.nominal(name, CODED.get(name, range(size))) for name, size in SIZES.items()))
    tree, probabilities = _grow(domain, leaves, rng)
    return Truth(_draw(tree, probabilities, rows, rng), domain, tree, np.array(probabilities))


def _grow(domain: Domain, leaves: int, rng: np.random.Generator) -> tuple[Tree, list[float]]:
    """Split the leaf of most mass on a random feature, into its common values and the others, again and again."""
    allowed = [{feature: np.arange(size) for feature, size in enumerate(domain.sizes)}]
    splits: list[Any] = [None]
    order = itertools.count()
    heap = [(-1.0, next(order), 0)]
    while len(heap) < leaves:
        mass, _, node = heapq.heappop(heap)
        feature = int(rng.choice([f for f, values in allowed[node].items() if len(values) > 1]))
        values = rng.permutation(allowed[node][feature])
        common = int(rng.integers(1, 1 + len(values) // 2))
        share = float(rng.beta(*COMMON_SHARE))
        groups = (np.sort(values[:common]), np.sort(values[common:]))
        splits[node] = (feature, [(group.tolist(), len(splits) + i) for i, group in enumerate(groups)])
        for group, part in zip(groups, (share, 1 - share), strict=True):
            heapq.heappush(heap, (mass * part, next(order), len(splits)))
            allowed.append({**allowed[node], feature: group})
            splits.append(None)
    tree = Tree.of_splits(domain, splits)
    return tree, [-mass for mass, _, _ in sorted(heap, key=lambda leaf: tree.leaf_number[leaf[2]])]


def _draw(tree: Tree, probabilities: list[float], rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Rows leaf by leaf, then shuffled: a leaf is a box, so that all its rows and columns are drawn at once."""
    codes = np.empty((rows, len(tree.domain)), tree.domain.code_type)
    ends = np.cumsum(rng.multinomial(rows, probabilities))
    for region, leaf in zip(tree.regions, np.split(codes, ends[:-1]), strict=True):
        sides = [sorted(values) for values in region.allowed]
        sizes = [len(side) for side in sides]
        starts = np.cumsum([0, *sizes[:-1]])
        drawn = rng.integers(0, sizes, leaf.shape, dtype=codes.dtype)
        np.take(np.concatenate(sides).astype(codes.dtype), starts + drawn, out=leaf)
    return codes[rng.permutation(rows)]
