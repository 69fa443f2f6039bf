"""Where does a row end? Trees and rule lists walked by encoded rows."""

from sparsedensity.kernels import bare, kernel

LEAF = -1


@bare
def leaf_of(row, feature, offset, child):
    """Walk one encoded row from the root to its leaf."""
    node = 0
    while feature[node] != LEAF:
        node = child[offset[node] + row[feature[node]]]
    return node


@kernel
def route_tree(codes, feature, offset, child, number, out):
    """The leaf number of every row."""
    for row in range(codes.shape[0]):
        out[row] = number[leaf_of(codes[row], feature, offset, child)]


@bare
def obeys(row, feature, low, high, begin, end):
    """Whether one encoded row satisfies the conditions begin..end."""
    for condition in range(begin, end):
        code = row[feature[condition]]
        if code < low[condition] or code > high[condition]:
            return False
    return True


@kernel
def route_rules(codes, start, feature, low, high, out):
    """The number of the first rule that each row obeys; the number of rules if it obeys none."""
    rules = start.shape[0] - 1
    for row in range(codes.shape[0]):
        rule = 0
        while rule < rules and not obeys(codes[row], feature, low, high, start[rule], start[rule + 1]):
            rule += 1
        out[row] = rule
