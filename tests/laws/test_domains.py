"""Laws of features, domains and regions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity.domain import Bin, Domain, Feature
from sparsedensity.errors import DataError
from sparsedensity.region import Region
from tests import naive
from tests.strategies import domains, features

labels = st.one_of(st.text(max_size=5), st.booleans(), st.integers(-5, 5), st.floats(-5, 5))


@given(domains(), st.data())
def test_a_split_keeps_the_volume(domain, data):
    whole = domain.everything()
    feature = data.draw(st.integers(0, len(domain) - 1))
    some = data.draw(st.sets(st.integers(0, domain.sizes[feature] - 1)))
    parts = whole.only(feature, some), whole.only(feature, whole.allowed[feature] - some)
    assert sum(part.volume(domain) for part in parts) == pytest.approx(whole.volume(domain))


@given(domains(), st.data())
def test_a_region_has_the_volume_of_its_points(domain, data):
    allowed = tuple(frozenset(data.draw(st.sets(st.integers(0, size - 1)))) for size in domain.sizes)
    region = Region(allowed)
    inside = [p for p in naive.points(domain) if all(c in codes for c, codes in zip(p, allowed, strict=True))]
    expected = naive.volume(domain, inside)
    assert region.volume(domain) == pytest.approx(expected)
    assert region.log_volume(domain) == (pytest.approx(math.log(expected)) if expected else -math.inf)


@given(domains(), st.data())
def test_only_narrows_one_feature_and_never_widens(domain, data):
    feature = data.draw(st.integers(0, len(domain) - 1))
    codes = st.sets(st.integers(0, domain.sizes[feature] - 1))
    some, others = data.draw(codes), data.draw(codes)
    both = domain.everything().only(feature, some).only(feature, others)
    assert both == domain.everything().only(feature, others).only(feature, some)
    assert both.allowed[feature] == some & others
    assert all(both.allowed[i] == set(range(size)) for i, size in enumerate(domain.sizes) if i != feature)


@given(domains(), st.data())
def test_a_mask_says_which_values_a_region_allows(domain, data):
    region = Region(tuple(frozenset(data.draw(st.sets(st.integers(0, size - 1)))) for size in domain.sizes))
    mask = region.mask(domain)
    assert len(mask) == sum(domain.sizes)
    for feature, codes in enumerate(region.allowed):
        assert set(np.flatnonzero(mask[domain.span(feature)]).tolist()) == codes


@given(domains())
def test_the_domain_knows_its_volume_and_its_points(domain):
    every = naive.points(domain)
    assert domain.log_volume == pytest.approx(math.log(naive.volume(domain, every)), abs=1e-12)
    assert domain.log_points == pytest.approx(math.log(len(every)), abs=1e-12)
    assert domain.everything().log_volume(domain) == pytest.approx(domain.log_volume, abs=1e-12)
    assert np.exp(domain.log_points) == pytest.approx(math.prod(domain.sizes))


@given(domains())
def test_values_stand_feature_after_feature(domain):
    for i, feature in enumerate(domain):
        assert tuple(domain.measures[domain.span(i)]) == feature.measures
        assert domain.index(feature.name) == i
        assert domain[feature.name] is feature
    assert domain.starts[-1] == len(domain.measures) == sum(domain.sizes)


@given(features())
def test_missing_is_the_last_value_and_measures_the_mean(feature):
    if feature.missing is None:
        assert None not in feature.values
        assert feature.known == feature.values
    else:
        assert feature.missing == feature.size - 1
        assert feature.measures[-1] == pytest.approx(sum(feature.measures[:-1]) / (feature.size - 1))
    assert feature.size == len(feature.values) == len(feature.measures)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=6), st.sampled_from([0.3, 1.0, 7.0]))
def test_bins_tile_the_range_and_measure_their_width(cuts, unit):
    feature = Feature.continuous("x", [cut * unit for cut in cuts])
    edges = sorted({cut * unit for cut in cuts})
    if len(edges) == 1:
        assert feature.values == (Bin(edges[0], edges[0]),)
        assert feature.measures == (1.0,)
    else:
        assert feature.edges.tolist() == edges
        assert feature.values == tuple(itertools.pairwise(edges))
        assert sum(feature.measures) == pytest.approx(edges[-1] - edges[0])


@given(st.lists(st.integers(-40, 40).map(lambda k: k / 4), min_size=2, max_size=5, unique=True))
def test_a_bin_of_whole_numbers_measures_how_many_it_holds(edges):
    feature = Feature.continuous("x", edges, integer=True)
    numbers = [k for k in range(-20, 20) if min(edges) <= k < max(edges)]
    for value, width in zip(feature.values, feature.measures, strict=True):
        if isinstance(value, Bin) and value.low < value.high:
            assert width == sum(value.low <= k < value.high for k in numbers)
    if len(numbers) > 1:
        assert sum(feature.measures) == len(numbers)


@given(st.floats(0.001, 1000))
def test_changing_the_unit_changes_no_share_of_the_volume(unit):
    edges = (0.0, 1.0, 4.0, 4.5)
    before, after = (Feature.continuous("x", [e * k for e in edges], missing=True) for k in (1, unit))
    assert np.array(after.measures) / sum(after.measures) == pytest.approx(
        np.array(before.measures) / sum(before.measures)
    )


@given(st.lists(labels, min_size=1, max_size=6, unique_by=lambda x: (isinstance(x, bool), x)))
def test_every_label_has_its_own_code(values):
    feature = Feature.nominal("x", values, missing=True)
    assert [feature.code(value) for value in [*values, None]] == list(range(len(values) + 1))


def test_a_value_given_twice_is_refused():
    with pytest.raises(DataError, match="twice"):
        Feature.nominal("x", ("a", "b", "a"))
    assert Feature.nominal("x", (1, True)).size == 2


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(DataError, match="'x'"):
        Domain((Feature.nominal("x", "ab"), Feature.nominal("x", "cd")))


def test_codes_are_as_small_as_they_can_be():
    sizes = {256: np.uint8, 257: np.uint16, 65_535: np.uint16}
    for size, kind in sizes.items():
        assert Domain((Feature.nominal("x", range(size)),)).code_type == kind
    with pytest.raises(DataError, match="65,535"):
        Feature.nominal("x", range(65_536))


def test_the_paper_computes_a_volume_of_24():
    domain = Domain(
        (
            Feature.nominal("x1", (1, 2, 3, 4, 5, 6, 7)),
            Feature.nominal("x2", (100, 101, 102, 103)),
            Feature.nominal("x3", (10, 11, 12, 13, 14, 15)),
            Feature.nominal("x4", (8, 9, 10)),
        )
    )
    region = domain.everything()
    for name, values in (("x1", (4, 5, 6)), ("x2", (100, 101)), ("x1", (4, 5)), ("x3", (10, 15))):
        feature = domain.index(name)
        region = region.only(feature, [domain[name].code(value) for value in values])
    assert region.volume(domain) == 24
    assert region.log_volume(domain) == pytest.approx(math.log(24))


def test_volumes_beyond_all_floats_have_a_log_and_emptiness_stays_empty():
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(10)) for i in range(400)))
    assert domain.log_volume == pytest.approx(400 * math.log(10))
    assert domain.everything().volume(domain) == math.inf
    nothing = domain.everything().only(399, ())
    assert nothing.log_volume(domain) == -math.inf
    assert nothing.volume(domain) == 0


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: Feature.nominal(3, ("a",)), "must be a string"),  # type: ignore[arg-type]
        (lambda: Feature("x", "odd", ("a",), (1.0,)), "kind"),  # type: ignore[arg-type]
        (lambda: Feature.nominal("x", ()), "no values"),
        (lambda: Feature.nominal("x", ("a", "a")), "twice"),
        (lambda: Feature.nominal("x", ("a", None, "b")), "missing=True"),  # type: ignore[arg-type]
        (lambda: Feature.ordinal("x", (1.0, float("nan"))), "missing=True"),
        (lambda: Feature("x", "nominal", ("a", "b"), (1.0,)), "measure above 0"),
        (lambda: Feature("x", "nominal", ("a", "b"), (1.0, 0.0)), "measure above 0"),
        (lambda: Feature.continuous("x", ("low", "high")), "numbers for bin edges"),  # type: ignore[arg-type]
        (lambda: Feature.continuous("x", (0, float("inf"))), "finite bin edges"),
        (lambda: Domain((Feature.nominal("x", "ab"),))[5], "no column 5"),
        (lambda: Domain((Feature.nominal("x", "ab"),))["y"], "no column 'y'"),
    ],
)
def test_a_domain_that_makes_no_sense_is_refused_in_one_sentence(make, phrase):
    with pytest.raises(ValueError, match=phrase):
        make()
