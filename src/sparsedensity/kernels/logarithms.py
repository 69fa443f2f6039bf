"""Logarithms in plain arithmetic, without calls and branches: a loop over them does several numbers at a time."""

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import FAR_UP, stirling_tail

LN_2, REST_OF_LN_2 = 0.6931471803691238, 1.9082149292705877e-10
"""Ln 2 in two parts: whole multiples of the first are exact."""
FRACTION, ONE = 52, 1023
"""How many bits of a number stand behind its exponent, and the exponent that stands for 2^0."""
ROOT_HALF = int(np.float64(0.5**0.5).view(np.int64))


@bare
def natural_log(x):
    """Ln x of a positive number: its exponent, and 2 artanh s of the rest 1 + f, where s = f / (2 + f)."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - ROOT_HALF) >> FRACTION
    f = (bits - (exponent << FRACTION)).view(np.float64) - 1.0
    s, square = f / (2.0 + f), 0.5 * f * f
    z = s * s
    series = 1 / 9.0 + z * (1 / 11.0 + z * (1 / 13.0 + z * (1 / 15.0 + z * (1 / 17.0 + z * (1 / 19.0)))))
    series = z * (1 / 3.0 + z * (1 / 5.0 + z * (1 / 7.0 + z * series)))
    return exponent * LN_2 - ((square - (s * (square + 2.0 * series) + exponent * REST_OF_LN_2)) - f)


@bare
def log_gamma_far_up(x):
    """Stirling's series, which is exact enough from 9 on."""
    return (x - 0.5) * natural_log(x) - x + 0.9189385332046727 + stirling_tail(x)


@bare
def log_gammas_far_up(x, out):
    """Ln G of numbers from 9 on."""
    for i in range(out.size):
        out[i] = log_gamma_far_up(x[i])


@bare
def log_gammas(x, out):
    """Ln G of any positive numbers: all are shifted up as far as the smallest must be."""
    for i in range(out.size):
        y = x[i]
        shifted = y * (y + 1.0) * (y + 2.0) * (y + 3.0) * (y + 4.0) * (y + 5.0) * (y + 6.0) * (y + 7.0) * (y + 8.0)
        out[i] = log_gamma_far_up(y + FAR_UP) - natural_log(shifted)
