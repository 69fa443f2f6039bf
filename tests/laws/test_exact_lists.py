"""The exact search for rule lists against complete enumeration, and its bound against everything."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import ExactLists, run
from sparsedensity.search.antecedents import Antecedents
from tests.naive_lists import Scorer, best_list, every_antecedent, supported
from tests.strategies import data_in, domains, positive, table_of

kinds_of_conditions = st.sampled_from(["value", "interval"])
MOST_LISTS = 3_000
"""Problems of more lists are too slow to enumerate."""


def rounded(number):
    """A little more than a number: sums in another order differ by rounding."""
    return number + 1e-8 * max(1.0, abs(number))


def lists_of(antecedents, most):
    return sum(math.perm(antecedents, m) for m in range(most + 1))


@st.composite
def problems(draw):
    """A problem small enough to list every list: its scorer, its usable antecedents, and the most rules."""
    domain = draw(domains(most_features=3, most_values=3))
    rows = draw(data_in(domain))
    kind, most = draw(kinds_of_conditions), draw(st.integers(1, 3))
    least = draw(st.sampled_from([0.0, 0.0, 0.3, 5.5]))
    lam, eta, a, printed = draw(positive), draw(positive), draw(positive), draw(st.booleans())
    table = table_of(domain, rows)
    antecedents = Antecedents(table, most, kind, least)
    usable = supported(every_antecedent(domain, most, kind), rows, antecedents.least)
    assume(len(usable) == sum(antecedents.counts))
    longest = max(m for m in range(len(usable) + 1) if lists_of(len(usable), m) <= MOST_LISTS)
    limit = draw(st.integers(0, longest))
    free = limit == len(usable) and draw(st.booleans())
    posterior = SparseRules(antecedents.counts, lam, eta, a, printed)
    problem = Problem(MemoryEngine(table), posterior, None if free else limit + 1)
    return problem, antecedents, Scorer(domain, rows, usable, lam, eta, a, printed), usable, limit


@settings(max_examples=300, deadline=None)
@given(problems())
def test_the_proven_list_is_the_best_of_all_lists(given_problem):
    problem, antecedents, scorer, usable, limit = given_problem
    found = run(ExactLists(antecedents), problem)
    assert found.proven
    assert found.structure.n_rules <= limit
    assert all(map(antecedents.has, found.structure.rules))
    assert found.log_posterior == pytest.approx(best_list(scorer, usable, limit), rel=1e-9, abs=1e-9)
