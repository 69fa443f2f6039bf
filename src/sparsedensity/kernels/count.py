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
def leaf_value_weights(codes, weights, leaves, start, out):
    """Add the weight of every row to every value it holds, in the line of its leaf."""
    for row in range(codes.shape[0]):
        for feature in range(codes.shape[1]):
            out[leaves[row], start[feature] + codes[row, feature]] += weights[row]
