"""Hypothesis strategies: small domains, tables, structures and priors."""

import numpy as np
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.structures import Condition, RuleList, Tree
from sparsedensity.table import Table

LETTERS = ("a", "b", "c", "d", "e", "f")

positive = st.one_of(st.sampled_from([0.5, 1.0, 2.0, 8.0]), st.floats(0.05, 30))
shares = st.floats(0.01, 0.99)
real_weights = st.one_of(st.integers(1, 30).map(float), st.floats(0.01, 50))


@st.composite
def features(draw, name="x", most=4, equal_measures=False):
    """A feature of any kind, with or without missing."""
    kinds = ["nominal", "ordinal"] if equal_measures else ["nominal", "ordinal", "real", "integer"]
    kind, size, missing = draw(st.sampled_from(kinds)), draw(st.integers(1, most)), draw(st.booleans())
    if kind == "nominal":
        return Feature.nominal(name, LETTERS[:size], missing=missing)
    if kind == "ordinal":
        return Feature.ordinal(name, LETTERS[:size], missing=missing)
    widths = draw(st.lists(st.integers(1, 20), min_size=size, max_size=size))
    unit = 1 if kind == "integer" else draw(st.sampled_from([0.1, 1.0, 3.7]))
    edges = [draw(st.integers(-5, 5)) * unit]
    for width in widths:
        edges.append(edges[-1] + width * unit)
    return Feature.continuous(name, edges, integer=kind == "integer", missing=missing)


@st.composite
def domains(draw, most_features=3, most_values=4, equal_measures=False):
    """A domain small enough to visit every point."""
    count = draw(st.integers(1, most_features))
    return Domain(tuple(draw(features(f"x{i}", most_values, equal_measures)) for i in range(count)))


def rows_of(domain):
    """One row of codes."""
    return st.tuples(*(st.integers(0, size - 1) for size in domain.sizes))


@st.composite
def data_in(draw, domain, weights=real_weights, most=25):
    """Rows with weights; rows may repeat."""
    return draw(st.lists(st.tuples(rows_of(domain), weights), min_size=1, max_size=most))


def table_of(domain, data):
    """The product's table of naive data."""
    codes = np.array([row for row, _ in data], domain.code_type).reshape(len(data), len(domain))
    return Table.of(domain, codes, np.array([weight for _, weight in data], np.float64))


@st.composite
def groups_of(draw, feature, codes):
    """A division of two or more codes into two or more groups; ordered values in runs, missing anywhere."""
    codes = sorted(codes)
    labels = draw(st.lists(st.integers(0, 3), min_size=len(codes), max_size=len(codes)))
    if feature.ordered:
        known = [code for code in codes if code != feature.missing]
        labels = sorted(labels[: len(known)]) + labels[len(known) :]
    if len(set(labels)) == 1:
        labels[-1] += 1
    return [{c for c, label in zip(codes, labels, strict=True) if label == own} for own in sorted(set(labels))]


@st.composite
def trees(draw, domain, most_splits=5):
    """A random tree: multiway splits, and the same feature split again further down."""
    tree = Tree.leaf(domain)
    for _ in range(draw(st.integers(0, most_splits))):
        places = [
            (leaf.index, feature, codes)
            for leaf in tree.leaves()
            for feature, codes in enumerate(leaf.region.allowed)
            if len(codes) > 1
        ]
        if not places:
            break
        node, feature, codes = draw(st.sampled_from(places))
        tree = tree.split(node, feature, draw(groups_of(domain[feature], codes)))
    return tree


@st.composite
def conditions_on(draw, domain, column, intervals=True):
    """A condition on one feature: a value, or a run of an ordered one."""
    feature = domain[column]
    low = draw(st.integers(0, feature.size - 1))
    if not intervals or not feature.ordered or low == feature.missing:
        return Condition(column, low, low)
    return Condition(column, low, draw(st.integers(low, len(feature.known) - 1)))


@st.composite
def rule_lists(draw, domain, most_rules=5, most_conditions=3):
    """A random list; later rules may be unreachable, which leaves them without volume."""
    rules = []
    for _ in range(draw(st.integers(0, most_rules))):
        columns = draw(st.sets(st.integers(0, len(domain) - 1), min_size=1, max_size=min(most_conditions, len(domain))))
        rule = tuple(draw(conditions_on(domain, column)) for column in sorted(columns))
        if rule not in rules:
            rules.append(rule)
    return RuleList.of(domain, rules)


@st.composite
def events_in(draw, domain):
    """For every feature the share of each value that lies in an event; bins may be cut."""
    share = st.sampled_from([0.0, 1.0, 1.0, 0.25, 0.7])
    return [draw(st.lists(share, min_size=size, max_size=size)) for size in domain.sizes]


def flat(event):
    """An event as the product reads it."""
    return np.array([share for own in event for share in own])
