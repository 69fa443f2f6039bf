"""``python -m tests.fuzz``: attack for so many seconds; what went wrong is printed with the seed that repeats it."""

import argparse
import sys
import time

from tests.fuzz.campaign import attack
from tests.fuzz.cases import FAMILIES
from tests.fuzz.worker import outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed; a new one by default")
    parser.add_argument("--only", choices=FAMILIES, action="append", help="a family of attacks; repeatable")
    parser.add_argument("--repeat", action="store_true", help="run the one case of the seed here, and show its end")
    given = parser.parse_args()
    families = given.only or list(FAMILIES)
    if given.repeat:
        print(*(f"{family}: {outcome(family, given.seed)}" for family in families), sep="\n")
        return
    tally = attack(families, given.seed, seconds=given.seconds)
    print(*tally.wrong, tally, sep="\n")
    sys.exit(bool(tally.wrong))


main()
