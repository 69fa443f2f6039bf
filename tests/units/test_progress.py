"""What a terminal shows while something takes long."""

import time

from sparsedensity.models.progress import Line


def test_the_seconds_of_a_line_go_on_while_nobody_says_more():
    line = Line("pass 3 over all rows", time.perf_counter() - 7.0)
    assert str(line.__rich__()) == "pass 3 over all rows, 7 s"
    line.begin -= 60.0
    assert str(line.__rich__()) == "pass 3 over all rows, 67 s"


def test_brackets_in_the_name_of_a_table_are_shown_as_they_are():
    assert str(Line("reading [a].csv").__rich__()) == "reading [a].csv, 0 s"
