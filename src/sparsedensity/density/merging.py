"""A density averaged over one column: how much mass has which density afterwards.

Boxes that differed in the column alone now lie on top of each other. The other columns are taken one at a time: points
that lie in the same boxes so far are one part, of which only the volume is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.structures import Cells
from sparsedensity.table import Floats

MOST_BYTES = 1 << 26
"""The most memory for the sets of boxes that parts lie in."""
PARTS_AT_ONCE = 1 << 12

Bits = NDArray[np.uint8]


class TooManyPartsError(Exception):
    """The averaged density has more parts than can be listed."""


class Averaged(NamedTuple):
    """Parts of the domain: the mass of each, and its log density. Parts without mass are left out."""

    masses: Floats
    logs: Floats


def average_boxes(domain: Domain, allowed: NDArray[np.bool_], logs: Floats, feature: int) -> Averaged:
    """Average over a feature; boxes are rows of truth values over all values, each with its log density."""
    span = domain.span(feature)
    measures = domain.measures[span]
    logs = logs + np.log(allowed[:, span] @ measures / measures.sum())
    log_shares, boxes = np.zeros(1), np.packbits(np.ones((1, len(allowed)), bool), axis=1)
    for other in range(len(domain)):
        if other != feature and not allowed[:, domain.span(other)].all():
            log_shares, boxes = _divided(domain, allowed, other, log_shares, boxes)
    starts = range(0, len(boxes), PARTS_AT_ONCE)
    averages = np.concatenate([_log_sums(boxes[start : start + PARTS_AT_ONCE], logs) for start in starts])
    return _with_mass(log_shares + domain.log_volume, averages)


def average_points(cells: Cells, logs: Floats, feature: int) -> Averaged:
    """Average a histogram over a feature; the last log density is that of every unoccupied point."""
    domain = cells.domain
    measures = domain.measures[domain.span(feature)]
    sides = np.log(measures)[cells.codes[:, feature].astype(np.int64)]
    others = np.delete(cells.codes, feature, axis=1)
    _, first, line = np.unique(others, axis=0, return_index=True, return_inverse=True)
    line = line.ravel()
    left = np.where(np.bincount(line) < len(measures), measures.sum() - np.bincount(line, np.exp(sides)), 0.0)
    with np.errstate(divide="ignore"):
        averages = np.log(left.clip(0.0)) + logs[-1]
    np.logaddexp.at(averages, line, logs[:-1] + sides)
    averages -= np.log(measures.sum())
    volumes = (cells.log_point_volumes(cells.codes) - sides)[first] + np.log(measures.sum())
    found = _with_mass(volumes, averages)
    rest = 1.0 - found.masses.sum()
    return Averaged(np.append(found.masses, rest), np.append(found.logs, logs[-1])) if rest > 1e-12 else found


def _divided(
    domain: Domain, allowed: NDArray[np.bool_], feature: int, log_shares: Floats, boxes: Bits
) -> tuple[Floats, Bits]:
    """Parts divided by the values of a feature; those that lie in the same boxes become one."""
    span = domain.span(feature)
    kinds, kind = np.unique(np.packbits(allowed[:, span].T, axis=1), axis=0, return_inverse=True)
    measures = domain.measures[span]
    sizes = np.log(np.bincount(kind.ravel(), measures) / measures.sum())
    if boxes.size * len(kinds) > MOST_BYTES:
        raise TooManyPartsError
    divided = (boxes[:, None] & kinds).reshape(-1, boxes.shape[1])
    words = divided.view(f"V{divided.shape[1]}").ravel()  # compared as a whole, several times as fast as byte by byte
    _, first, part = np.unique(words, return_index=True, return_inverse=True)
    shares = np.full(len(first), -np.inf)
    np.logaddexp.at(shares, part, (log_shares[:, None] + sizes).ravel())
    return shares, divided[first]


def _log_sums(boxes: Bits, logs: Floats) -> Floats:
    """The log of the summed densities of the boxes that each part lies in."""
    inside = np.unpackbits(boxes, axis=1, count=len(logs)).astype(bool)
    return np.asarray(np.logaddexp.reduce(np.where(inside, logs, -np.inf), axis=1))


def _with_mass(log_volumes: Floats, logs: Floats) -> Averaged:
    masses = np.exp(log_volumes + logs)
    return Averaged(masses[masses > 0], logs[masses > 0])
