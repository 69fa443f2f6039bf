"""A short campaign of attacks; ``make fuzz`` goes on for as long as one likes."""

from tests.fuzz.campaign import attack
from tests.fuzz.cases import FAMILIES

CASES = 60


def test_whatever_comes_in_no_traceback_and_no_hang_comes_out(capsys):
    tally = attack(FAMILIES, cases=CASES)
    with capsys.disabled():
        print(f"\n{tally}")
    assert tally.wrong == []
    assert sum(tally.ends.values()) == CASES * len(FAMILIES)
