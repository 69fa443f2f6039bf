"""A short campaign of attacks; ``make fuzz`` goes on for as long as one likes."""

import pytest

from tests.fuzz.campaign import attack
from tests.fuzz.cases import FAMILIES

CASES = 60


@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_comes_in_no_traceback_and_no_hang_comes_out(family, capsys):
    tally = attack([family], cases=CASES)
    with capsys.disabled():
        print(f"\n{tally}")
    assert tally.wrong == []
