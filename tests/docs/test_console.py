"""The ``console`` blocks of the pages: every command of ours runs, in order, and prints what the page shows."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from sparsedensity import datasets
from tests.command import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A line that is typed, and what is printed below it."""
LEFT_ALONE = {"--install-completion"}
"""What would change the machine that the tests run on."""


def commands(page):
    """Every command of ours on a page, and what it prints; what a block calls beside it is not run."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for typed, printed in COMMAND.findall(_dedented(*block).replace("\\\n", " ")):
            program, *words = shlex.split(typed, comments=True)
            if program == "sparsedensity" and not LEFT_ALONE & {*words}:
                yield words, printed


def _dedented(indent, lines):
    return "".join(line.removeprefix(indent) for line in lines.splitlines(keepends=True))


RUN = [page for page in PAGES if any(commands(page))]


def write_tables(folder):
    """The tables that pages speak of, as if they were the reader's own."""
    people = datasets.load("titanic")
    counted = people.group_by("class", "sex", "age", maintain_order=True).len("count")
    tables = {"people": counted, "counts": counted.rename({"count": "n"}), "others": people, "huge": people}
    tables |= {"rows": people.head(2), "last_year": people.head(1200), "this_year": people.tail(1000)}
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    for name in ("orders", "logs"):
        (folder / name).mkdir()
        for number, part in enumerate((people.head(1200), people.tail(1001))):
            part.write_parquet(folder / name / f"{number}.parquet")


def shows(expected, printed):
    """Whether a page shows what was printed; three dots stand for anything, and blanks at the end for nothing."""
    want, got = ("\n".join(map(str.rstrip, text.strip("\n").splitlines())) for text in (expected, printed))
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_commands_print(page, tmp_path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words, expected in commands(page):
        done = run(*words, columns=80)
        typed = shlex.join(["sparsedensity", *words])
        assert done.returncode == 0, f"{typed}\n{done.stderr}"
        if expected.strip():
            assert shows(expected, done.stdout) or shows(expected, done.stdout + done.stderr), f"{typed}\n{done.stdout}"
