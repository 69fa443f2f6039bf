"""Laws of fitted models, from labels in to answers out: what users see equals a sum over points."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sparsedensity
from sparsedensity import GreedyTree, Histogram, datasets
from sparsedensity.domain import Bin
from sparsedensity.errors import DataError
from tests import naive
from tests.strategies import data_in, domains, positive

MODELS = st.sampled_from(["posterior", "ise", "histogram"])


def spoken(feature, code):
    """A value as a user would write it; a bin by a number inside."""
    value = feature.values[code]
    if not isinstance(value, Bin):
        return value
    return int(value.low) if feature.integer else (value.low + value.high) / 2


def records(domain, rows):
    return [{f.name: spoken(f, code) for f, code in zip(domain, row, strict=True)} for row in rows]


@st.composite
def fitted(draw):
    """A fitted model, its domain, the data, and the density at every point worked out naively."""
    domain = draw(domains())
    rows, kind, a = draw(data_in(domain)), draw(MODELS), draw(positive)
    density = draw(st.sampled_from(["mean", "empirical"]))
    if kind == "histogram":
        model = Histogram(pseudocount=a, density=density, domain=domain)
    else:
        model = GreedyTree(kind, pseudocount=a, density=density, domain=domain, expected_leaves=draw(positive))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparsedensity.errors.DataWarning)
        model.fit(records(domain, [row for row, _ in rows]), sample_weight=[weight for _, weight in rows])
    if kind == "histogram":
        return model, domain, rows, naive.histogram(domain, rows, a if density == "mean" else 0.0)
    tree = model.structure_
    if density == "mean":
        return model, domain, rows, naive.density_of(tree, naive.mean_probabilities(tree, rows, a))
    return model, domain, rows, naive.density_of(tree, naive.empirical_probabilities(tree, rows))


def logs_of(numbers):
    return np.array([math.log(number) if number > 0 else -math.inf for number in numbers])


@given(fitted())
def test_scores_are_log_densities_that_integrate_to_1(case):
    model, domain, rows, expected = case
    every = naive.points(domain)
    found = model.score_samples(records(domain, every))
    assert found == pytest.approx(logs_of(expected[point] for point in every), abs=1e-9)
    assert math.fsum(
        math.exp(log) * naive.measure(domain, p) for p, log in zip(every, found, strict=True)
    ) == pytest.approx(1)
    weights = [weight for _, weight in rows]
    likelihood = math.fsum(weight * math.log(expected[row]) for row, weight in rows)
    found = model.score(records(domain, [row for row, _ in rows]), sample_weight=weights)
    assert found == pytest.approx(likelihood, rel=1e-9, abs=1e-7)


@given(fitted())
def test_unusualness_is_the_mass_that_is_denser(case):
    model, domain, _, expected = case
    every = naive.points(domain)
    found = dict(zip(every, model.unusualness(records(domain, every)).tolist(), strict=True))
    assert found == pytest.approx(naive.unusualness(domain, expected), abs=1e-9)


@st.composite
def spoken_events(draw, domain):
    """An event in a user's words, and for every feature the share of each value in it."""
    event, shares = {}, []
    for feature in domain:
        asked, own = draw(_asked(feature)), [1.0] * feature.size
        if asked is not ...:
            event[feature.name], own = asked
        shares.append(own)
    return event, shares


@st.composite
def _asked(draw, feature):
    if draw(st.booleans()):
        return ...
    if feature.missing is not None and draw(st.integers(0, 3)) == 0:
        return None, [0.0] * (feature.size - 1) + [1.0]
    if feature.kind != "continuous":
        codes = draw(st.sets(st.integers(0, feature.size - 1), min_size=1))
        labels = [feature.values[code] for code in sorted(codes)]
        asked = labels[0] if len(labels) == 1 and draw(st.booleans()) else labels
        return asked, [float(code in codes) for code in range(feature.size)]
    intervals = draw(st.lists(_intervals(feature), min_size=1, max_size=3))
    asked = intervals[0] if len(intervals) == 1 and draw(st.booleans()) else intervals
    return asked, [_overlap(feature, value, intervals) for value in feature.values]


@st.composite
def _intervals(draw, feature):
    low = draw(st.integers(-10, 60)) / (1 if feature.integer else 2)
    return low, low + draw(st.integers(0, 30)) / (1 if feature.integer else 3)


def _overlap(feature, value, intervals):
    """The share of a bin in a union of intervals: between two neighbouring ends all is in or all is out."""
    if value is None:
        return 0.0
    if feature.integer:
        numbers = range(int(value.low), int(value.high))
        return sum(any(low <= number <= high for low, high in intervals) for number in numbers) / len(numbers)
    ends = sorted({value.low, value.high, *(min(max(end, value.low), value.high) for own in intervals for end in own)})
    inside = [b - a for a, b in itertools.pairwise(ends) if any(low <= (a + b) / 2 <= high for low, high in intervals)]
    return math.fsum(inside) / (value.high - value.low)


@given(fitted(), st.data())
def test_the_probability_of_an_event_in_words_is_a_sum_over_points(case, data):
    model, domain, _, expected = case
    event, shares = data.draw(spoken_events(domain))
    assert model.probability(event) == pytest.approx(naive.probability(domain, expected, shares), abs=1e-12)


@given(fitted(), st.data())
def test_a_conditional_distribution_is_a_quotient_of_sums_over_points(case, data):
    model, domain, _, expected = case
    event, shares = data.draw(spoken_events(domain))
    features = data.draw(st.lists(st.sampled_from(domain.names), unique=True, min_size=1))
    joint = naive.joint(domain, expected, [domain.index(name) for name in features], shares)
    total = math.fsum(joint.values())
    if total < 1e-12:
        if total == 0:
            with pytest.raises(DataError, match="probability 0"):
                model.conditional(features, given=event)
        return
    found = model.conditional(features, given=event)
    assert sum(found.values()) == pytest.approx(1)
    assert list(found.values()) == pytest.approx([mass / total for mass in joint.values()], abs=1e-9)
    if len(features) == 1:
        assert list(model.conditional(features[0], given=event).values()) == pytest.approx(list(found.values()))


@given(fitted())
@settings(max_examples=25)
def test_samples_in_words_follow_the_densities(case):
    model, _, _, _ = case
    draws = 3000
    rows = model.sample(draws, random_state=7)
    assert len(rows) == draws
    leaves = model.apply(rows)
    assert (leaves >= 0).all()
    logs = model.score_samples(rows)
    assert np.isfinite(logs).all()
    masses = model.density_.probabilities
    counts = np.bincount(leaves, minlength=len(masses))
    assert counts[masses == 0].sum() == 0
    common = masses * draws >= 5
    hopes = np.append(masses[common], masses[~common].sum()) * draws
    seen = np.append(counts[common], counts[~common].sum())
    if hopes[-1] < 5:
        hopes, seen = np.append(hopes[:-2], hopes[-2:].sum()), np.append(seen[:-2], seen[-2:].sum())
    if len(hopes) > 1:
        assert stats.chisquare(seen, hopes / hopes.sum() * draws).pvalue > 1e-5
    else:
        assert seen.tolist() == [draws]


@given(fitted())
def test_leaves_tell_the_same_story_as_the_density(case):
    model, domain, rows, expected = case
    leaves = model.leaves_
    assert math.fsum(leaf.weight for leaf in leaves) == pytest.approx(math.fsum(weight for _, weight in rows))
    assert math.fsum(leaf.probability for leaf in leaves) == pytest.approx(1)
    every = naive.points(domain)
    numbers = dict(zip(every, model.apply(records(domain, every)).tolist(), strict=True))
    for leaf in leaves:
        own = [point for point in every if numbers[point] == leaf.number]
        if own:
            assert leaf.density == pytest.approx(expected[own[0]])
            assert leaf.log_volume == pytest.approx(math.log(naive.volume(domain, own)), abs=1e-9)
            assert leaf.probability == pytest.approx(math.fsum(expected[p] * naive.measure(domain, p) for p in own))
            low, high = leaf.interval
            assert 0 <= low <= high <= 1


@given(fitted())
@settings(max_examples=40)
def test_a_saved_model_answers_as_before(tmp_path_factory, case):
    model, domain, _, _ = case
    path = tmp_path_factory.mktemp("models") / "model.json"
    model.save(path)
    back = sparsedensity.load(path)
    every = records(domain, naive.points(domain))
    assert back.domain_ == domain
    assert back.log_posterior_ == model.log_posterior_
    assert (back.score_samples(every) == model.score_samples(every)).all()
    assert (back.apply(every) == model.apply(every)).all()
    assert (back.unusualness(every) == model.unusualness(every)).all()


@given(domains(), st.data(), positive)
@settings(max_examples=30)
def test_a_histograms_log_posterior_is_its_evidence(domain, data, a):
    rows = data.draw(data_in(domain))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparsedensity.errors.DataWarning)
        model = Histogram(pseudocount=a, domain=domain).fit(
            records(domain, [row for row, _ in rows]), sample_weight=[weight for _, weight in rows]
        )
    assert model.log_posterior_ == pytest.approx(naive.histogram_evidence(domain, rows, a), rel=1e-9, abs=1e-7)
    assert model.n_leaves_ == len(naive.points(domain))


# The paper's people ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Histogram, GreedyTree])
def test_the_children_of_the_3rd_class_are_79_of_2201_people(kind):
    """The introduction of the paper prints 0.038; the published table says 79 / 2201 = 0.036."""
    people = datasets.titanic()
    counted = people.filter((people["class"] == "3rd") & (people["age"] == "child")).height
    assert (counted, people.height) == (79, 2201)
    found = kind(density="empirical").fit(people).probability({"class": "3rd", "age": "child"})
    assert round(found, 3) == 0.036
    if kind is Histogram:
        assert found == pytest.approx(79 / 2201, rel=1e-12)


def test_a_leaf_spreads_its_mass_evenly_over_what_it_does_not_name():
    """The paper: where sex is not in the tree, each sex has half of the leaf's mass."""
    model = GreedyTree(density="empirical", max_leaves=2).fit(datasets.titanic())
    (split,) = [node.feature for node in model.structure_.walk() if not node.is_leaf]
    others = [feature for i, feature in enumerate(model.domain_) if i != split]
    for feature in others:
        assert list(model.conditional(feature.name).values()) == pytest.approx([1 / feature.size] * feature.size)
    held = naive.collapse((leaf, 1) for leaf in model.apply(datasets.titanic())[:, None].tolist())
    assert sorted(model.density_.probabilities) == pytest.approx(sorted(count / 2201 for count in held.values()))


def test_the_titanic_sums_to_1_over_its_16_cells():
    model = GreedyTree().fit(datasets.titanic())
    cells = naive.points(model.domain_)
    assert len(cells) == 16
    assert np.exp(model.score_samples(records(model.domain_, cells))).sum() == pytest.approx(1)
