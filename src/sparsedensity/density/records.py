"""The records that a density expects: those of a box one by one if they are few, else a fixed choice of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density.boxes import Boxes
from sparsedensity.table import Codes, Floats

MOST_LISTED = 100_000
"""Up to so many points of a domain are listed one by one."""


class Records(NamedTuple):
    """Records with the leaf and the mass of each; the masses add up to 1."""

    codes: Codes
    leaves: NDArray[np.int64]
    masses: Floats
    listed: bool
    """Whether these are all points with mass; if not, some were drawn."""


def expected_records(boxes: Boxes, probabilities: Floats, draws: int) -> Records:
    """Every point of a small domain; of a larger one seeded draws, from each box by its mass.

    A box of mass p has p times the draws, rounded up, so that the standard error of a share of the mass is at most
    0.5 / sqrt(draws); one that has no more points than draws is listed. The same density gives the same records.
    """
    masses = boxes.masses(probabilities, np.ones(len(boxes.domain.measures)))
    by_box = np.ceil(draws * masses).astype(np.int64)
    small = boxes.domain.log_points <= np.log(MOST_LISTED)
    listed = (masses > 0) & (small | (boxes.log_points <= np.log(np.maximum(by_box, 1))))
    drawn = np.repeat(np.arange(len(masses)), np.where(listed, 0, by_box))
    parts = [(boxes.draw_in(drawn, np.random.default_rng(0)), drawn, (masses / np.maximum(by_box, 1))[drawn])]
    for box in np.flatnonzero(listed).tolist():
        codes, shares = points_in(boxes, box)
        parts.append((codes, np.full(len(codes), box), masses[box] * shares))
    codes, places, each = map(np.concatenate, zip(*parts, strict=True))
    return Records(codes, boxes.leaf[places], each, listed=not len(drawn))


def points_in(boxes: Boxes, box: int) -> tuple[Codes, Floats]:
    """All points of a box, and the share of its mass at each."""
    domain = boxes.domain
    values = [np.flatnonzero(boxes.inside[box, domain.span(feature)]) for feature in range(len(domain))]
    shares, steps = np.ones(1), np.prod([len(codes) for codes in values])
    points = np.empty((steps, len(domain)), domain.code_type)
    for feature, codes in enumerate(values):
        steps //= len(codes)
        points[:, feature] = np.resize(np.repeat(codes, steps), len(points))
        shares = np.multiply.outer(shares, boxes.inside[box, domain.span(feature)][codes]).ravel()
    return points, shares
