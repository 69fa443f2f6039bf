"""The terms of a list posterior (`ListTerms` of the posteriors) as the kernels of lists add them up."""

import math

import numpy as np

from sparsedensity.kernels import bare, kernel


@bare
def leaf_term(terms, weight, volume):
    """lnG(n_l + a) - lnG(a) - n_l ln V_l; minus infinity if the volume of some rows is too small to tell from 0."""
    if weight <= 0:
        return 0.0
    if volume <= 0:
        return -np.inf
    if terms.of_weight.shape[0] > 1:
        return terms.of_weight[np.int64(weight)] - weight * math.log(volume)
    return math.lgamma(weight + terms.pseudocount) - terms.log_gamma - weight * math.log(volume)


@bare
def length_term(terms, rules):
    """What the number of rules alone adds to the log posterior."""
    return terms.of_length[rules].log_prior + terms.of_length[rules].log_evidence


@bare
def log_available(terms, unused):
    """Ln of the sum of the rates of the sizes that still have an unused antecedent."""
    total = 0.0
    for c in range(1, unused.shape[0]):
        if unused[c] > 0:
            total += math.exp(terms.of_size[c].log_rate)
    return math.log(total) if total > 0 else 0.0


@bare
def log_prior(terms, sizes, unused):
    """The log prior of a list whose rules have these sizes; what is unused after it stays in `unused`."""
    for c in range(unused.shape[0]):
        unused[c] = terms.of_size[c].antecedents
    available = log_available(terms, unused)
    total = terms.of_length[sizes.shape[0]].log_prior
    for j in range(sizes.shape[0]):
        c = sizes[j]
        total += terms.of_size[c].log_rate - available - math.log(unused[c])
        unused[c] -= 1
        if unused[c] <= 0:
            available = log_available(terms, unused)
    return total


@bare
def fit(weight, volume):
    """What a leaf would add if its density were known: n ln (n / V)."""
    return weight * math.log(weight / volume) if weight > 0 else 0.0


@bare
def surplus(terms, weight, leaves):
    """The most by which so many leaves can exceed their sum of n ln (n / V).

    lnG(n + a) - lnG(a) - n ln n + n is concave in n for a >= 1/2, so equal leaves have most of it; a smaller
    pseudocount has less.
    """
    if weight <= 0:
        return 0.0
    a, each = max(terms.pseudocount, 0.5), weight / leaves
    return leaves * (math.lgamma(each + a) - math.lgamma(a) - each * math.log(each) + each) - weight


@kernel
def most_evidence(terms, weight, out):
    """What no list of 0, 1, .. rules exceeds, but for its rules and its sum of n ln (n / V)."""
    for rules in range(out.shape[0]):
        out[rules] = length_term(terms, rules) + surplus(terms, weight, rules + 1.0)
