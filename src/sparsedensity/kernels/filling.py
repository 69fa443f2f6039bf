"""Arrays overwritten by a loop: an assignment to a slice takes ten times as long to compile."""

from sparsedensity.kernels import bare


@bare
def fill(values, begin, number):
    """Overwrite an array from a place on."""
    for i in range(begin, values.size):
        values[i] = number
