"""Counting rows: the only loops that read them."""

from sparsedensity.kernels import kernel


@kernel
def value_weights(codes, weights, rows, start, out):
    """Add the weight of some rows to every value they hold."""
    for i in range(rows.shape[0]):
        row = rows[i]
        weight = weights[row]
        for feature in range(codes.shape[1]):
            out[start[feature] + codes[row, feature]] += weight


@kernel
def divide_rows(codes, rows, feature, part, out, filled):
    """Write rows into one run per part, each in its old order; filled[p] is where part p is written next."""
    for i in range(rows.shape[0]):
        row = rows[i]
        where = part[codes[row, feature]]
        out[filled[where]] = row
        filled[where] += 1


@kernel
def part_sizes(codes, rows, feature, part, out):
    """How many rows go to each part."""
    for i in range(rows.shape[0]):
        out[part[codes[rows[i], feature]]] += 1
