"""Runs cases one after another in a process of its own, and says after each how it ended."""

import json
import sys
import traceback
import warnings

import numpy as np
from sklearn.exceptions import NotFittedError

from sparsedensity.errors import LONGEST, CacheWarning, DataWarning, SearchWarning, SparseDensityError
from tests.fuzz.cases import FAMILIES, warm_up


def outcome(family, seed):
    """``fine``, ``refused`` in a sentence, or what went wrong."""
    rng = np.random.default_rng([seed, sorted(FAMILIES).index(family)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        for ours in (DataWarning, SearchWarning, CacheWarning):
            warnings.simplefilter("ignore", ours)
        try:
            FAMILIES[family](rng)
        except (SparseDensityError, NotFittedError) as error:
            sentence = str(error)
            sound = sentence and len(sentence) <= LONGEST
            return "refused" if sound else f"not a sentence: {sentence[:1000]!r}"
        except KeyboardInterrupt:
            raise
        except BaseException:  # a panic of Polars is no Exception
            return traceback.format_exc(limit=-6)
    return "fine"


def main():
    """Read pairs of family and seed line by line; answer each in a line of JSON."""
    warm_up()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        family, seed = line.split()
        print(json.dumps(outcome(family, int(seed))), flush=True)


if __name__ == "__main__":
    main()
