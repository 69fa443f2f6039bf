"""What is believed of trees, as data that every compiled search reads; each formula stands here once.

A split of a region of weight n into b children gains ``head(n, b) + sum of piece(child) - term(region)``. What the
numbers of leaves and of features used add beyond that are tables. The type of the leaf model chooses the compiled
terms, so that a search is compiled for each model without asking which one it is:

* models that spread the records of a leaf evenly need its weight and its share of the volume only (:class:`Uniform`);
* any other model brings a compiled function of the weights at all values of all features (:func:`leaf_model`).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import bare, by_type, inner, kernel, record, whole

FEATURE = record("start stop ordered missing")
"""A feature: the places of its values among all values, whether they have an order, the place of missing (or -1)."""
VALUE = record("key", floats="measure")
"""A value: its measure, and a random number. The key of a region is the exclusive or of those of its values."""
BRANCHES = record(floats="adds total")
"""What a split into b children adds, and the pseudocounts of all of them, as their parent's Dirichlet sees them."""


class Space(NamedTuple):
    """A domain: its features, and the values of one feature after the other."""

    features: np.ndarray
    values: np.ndarray


class Belief(NamedTuple):
    """A posterior of trees."""

    pseudocount: float
    log_gammas: np.ndarray
    """LnG(k + a) for whole numbers k from 0 on, as most weights are."""
    most_added: float
    """What a split adds at most beside what it tells of the rows."""
    branches: np.ndarray
    """By the number of children of a split."""
    by_leaves: np.ndarray
    """What each number of leaves adds."""
    by_features: np.ndarray
    """What each number of features used adds; empty if features cost nothing."""
    most_branches: int
    leaf: Any
    """The data of the leaf model."""


class Uniform(NamedTuple):
    """The paper's leaf: records are spread evenly over its volume, so its term is -n ln V."""


class SquaredError(NamedTuple):
    """What a leaf takes off the integrated squared error, n_l^2 / (n^2 V_l): DET's criterion, no posterior."""

    scale: float
    """One over the squared total weight and the volume of the region that is split."""


FAR_UP = 9.0
"""From here on Stirling's series is exact enough."""
NOTHING = -1.0e300
"""The gain of a division that cannot be made."""
PACKAGE = __name__.partition(".")[0] + "."
EVEN = (Uniform, SquaredError)
"""The leaf models that need only the weight and the share of the volume of a child."""
TERMS: dict[type, Callable[..., Any]] = {}
"""The compiled terms of all other leaf models, by the type of their data."""
PARTS: dict[type, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""For those that know more of the parts of a region than of any region: how they look at it, and the term of a part."""
PREPARED: dict[type, Any] = {}
"""What is made of the data of a leaf model before a search, by their type."""
BOUNDED: set[type] = {Uniform}
"""The leaf models whose terms are at most the log of a density of the rows."""


def leaf_model(
    data: type, *, bounded: bool = False, prepared: Any = None, parts: Any = None
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Register the term of a leaf model: what a region and the rows in it add to the log posterior.

    The function is compiled. It gets the data of the model (a NamedTuple of numbers and arrays), the weight in the
    region at every value of every feature, a number above 0 for every value that is allowed there, and the
    :class:`Space`. ``bounded`` says that the term is at most the log of a density of the rows in the region, so that
    the bound which any table has holds for it too. If a type is given as ``prepared``, the function gets what its
    ``of`` makes of the data and the space instead of the data: whatever depends on no region is computed once.
    ``parts`` are two more functions, for many parts of one region: the first gets the data, what is allowed in the
    region, the space, a number that tells regions apart (or -1), and the feature that is divided; the second, after it,
    what the term of a part gets, and the feature. All functions may note what they know in arrays of the data.
    """

    def register(function: Callable[..., float]) -> Callable[..., float]:
        TERMS[prepared or data] = inner(function)
        if parts is not None:
            PARTS[prepared or data] = parts
        if prepared is not None:
            PREPARED[data] = prepared
        if bounded:
            BOUNDED.add(data)
        return function

    return register


def is_even(leaf: Any) -> bool:
    """Whether a leaf model needs no more than weights and volumes."""
    return isinstance(leaf, EVEN)


def prepare(leaf: Any, space: Space) -> Any:
    """The data of a leaf model as its compiled function gets them."""
    prepared = PREPARED.get(type(leaf))
    return leaf if prepared is None else prepared.of(leaf, space)


def model_of(belief: Any) -> type:
    """The leaf model of a belief, as the compiler sees it: by its type."""
    model: type = dict(zip(belief.fields, belief.types, strict=True))["leaf"].instance_class
    return model


@bare
def log_gamma(x):
    """Stirling's series, after shifting small arguments up; relative error below 1e-13."""
    shift, shifted = 1.0, 0.0
    while x < FAR_UP:
        shift *= x
        x += 1.0
    if shift != 1.0:
        shifted = math.log(shift)
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + stirling_tail(x) - shifted


@bare
def log_rising(x, by):
    """LnG(x + by) - lnG(x): far up, where the two would cancel, from the difference of their series."""
    if x < FAR_UP:
        return log_gamma(x + by) - log_gamma(x)
    bend = (x - 0.5) * math.log1p(by / x) - by
    return by * math.log(x + by) + bend + (stirling_tail(x + by) - stirling_tail(x))


@bare
def stirling_tail(x):
    """What Stirling's series adds to (x - 1/2) ln x - x and its constant, from 9 on."""
    y = 1.0 / (x * x)
    return (1 / 12.0 - y * (1 / 360.0 - y * (1 / 1260.0 - y * (1 / 1680.0 - y / 1188.0)))) / x


def head(belief, weight, b):
    """What the weight of a region and its number of children add to the gain of a split."""


@by_type(head)
def _head(belief, weight, b):
    def dirichlet(belief, weight, b):
        return belief.branches[b].adds - evidence(belief, weight + belief.branches[b].total - belief.pseudocount)

    def squared_error(belief, weight, b):
        return -belief.leaf.scale * weight * weight

    return squared_error if model_of(belief) is SquaredError else dirichlet


@bare
def evidence(belief, weight):
    """What the weight of a child adds to the gain of a split: lnG(n_c + a)."""
    whole = np.int64(weight)
    if whole == weight and whole < belief.log_gammas.size:
        return belief.log_gammas[whole]
    return log_gamma(weight + belief.pseudocount)


def piece(belief, weight, share):
    """What a child with some weight and share of the volume adds to the gain of a split, for even leaf models.

    The term of the region itself is left out on both sides: with shares of its volume it is 0.
    """


@by_type(piece)
def _piece(belief, weight, share):
    def uniform(belief, weight, share):
        return evidence(belief, weight) - weight * math.log(share)

    def squared_error(belief, weight, share):
        return belief.leaf.scale * weight * weight / share

    return squared_error if model_of(belief) is SquaredError else uniform


def term(leaf, counts, allowed, space):
    """The term of a region by its weights at all values, for leaf models that are not even."""


@by_type(term)
def _term(leaf, counts, allowed, space):
    compiled = TERMS[leaf.instance_class]

    def call(leaf, counts, allowed, space):
        return compiled(leaf, counts, allowed, space)

    def call_with_tuples(leaf, counts, allowed, space):
        return compiled(whole(leaf), counts, allowed, whole(space))

    return call if compiled.py_func.__module__.startswith(PACKAGE) else call_with_tuples


def ready(leaf, allowed, space, name, f):
    """Look at a region that is divided along a feature, if that helps to take the terms of its parts."""


@by_type(ready)
def _ready(leaf, allowed, space, name, f):
    def call(leaf, allowed, space, name, f):
        look(leaf, allowed, space, name, f)

    def nothing(leaf, allowed, space, name, f):
        return None

    look, _ = PARTS.get(leaf.instance_class, (None, None))
    return nothing if look is None else call


def part_term(leaf, counts, allowed, space, f):
    """The term of a part of a region that is divided along a feature."""


@by_type(part_term)
def _part_term(leaf, counts, allowed, space, f):
    def call(leaf, counts, allowed, space, f):
        return of_part(leaf, counts, allowed, space, f)

    def as_any(leaf, counts, allowed, space, f):
        return term(leaf, counts, allowed, space)

    _, of_part = PARTS.get(leaf.instance_class, (None, None))
    return as_any if of_part is None else call


@kernel
def log_risings(x, by, out):
    """:func:`log_rising` of many numbers."""
    for i in range(out.size):
        out[i] = log_rising(x[i], by[i])


@kernel
def terms(leaf, counts, allowed, space, out):
    """The terms of several regions: a row of counts and of allowed values each."""
    for region in range(out.size):
        out[region] = term(leaf, counts[region], allowed[region], space)
