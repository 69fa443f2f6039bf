"""What labels hold is data: no spreadsheet computes it, and no terminal obeys it."""

import io
import re
import subprocess
import sys

import polars as pl
import pytest

from sparsedensity import GreedyTree

EVIL = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx")
SAFE = "plain"
ESCAPE = "\x1b]0;owned\x07\x1b[31mred\x9b2J"


def run(*arguments):
    command = [sys.executable, "-m", "sparsedensity", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def model(tmp_path):
    """A model whose labels and names are attacks."""
    rows = pl.DataFrame({"=cmd": [*EVIL, SAFE, ESCAPE] * 5, "n": [-1.5, 2.5] * 20})
    rows.write_csv(tmp_path / "evil.csv")
    GreedyTree().fit(rows).save(tmp_path / "model.json")
    return tmp_path / "model.json"


COMMANDS = {
    "sample": ("sample", "MODEL", "-n", 200, "--seed", 0),
    "score": ("score", "MODEL", "EVIL", "--keep-columns"),
    "top": ("score", "MODEL", "EVIL", "--top", 40),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_spreadsheet_gets_texts_and_no_formulas(name, model, tmp_path):
    places = {"MODEL": model, "EVIL": tmp_path / "evil.csv"}
    command = [places.get(part, part) for part in COMMANDS[name]]
    run(*command, "-o", tmp_path / "out.csv", "--spreadsheet")
    table = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert "'=cmd" in table.columns
    texts = set(table["'=cmd"])
    assert texts <= {*(f"'{evil}" for evil in EVIL), SAFE, ESCAPE}
    assert "-1.5" in table["n"].to_list() or name == "sample"
    run(*command, "-o", tmp_path / "raw.csv")
    raw = pl.read_csv(tmp_path / "raw.csv", infer_schema=False)
    assert set(raw["=cmd"]) <= {*EVIL, SAFE, ESCAPE}


def test_datasets_and_evaluations_are_made_for_a_spreadsheet_too(tmp_path):
    run("datasets", "titanic", "--spreadsheet", "-o", tmp_path / "t.csv")
    assert pl.read_csv(tmp_path / "t.csv").height == 2201
    found = run("evaluate", "titanic", "-m", "greedy", "--cv", 2, "--jobs", 1, "--spreadsheet", "--csv", "-", "-q")
    assert pl.read_csv(io.BytesIO(found)).height


def test_a_pipe_gets_the_labels_as_they_are(model):
    assert ESCAPE in run("sample", model, "-n", 200, "--seed", 0).decode()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
@pytest.mark.parametrize(
    "command",
    [
        ["sample", "MODEL", "-n", 200],
        ["score", "MODEL", "EVIL", "--keep-columns"],
        ["show", "MODEL"],
        ["show", "MODEL", "--json"],
        ["explain", "MODEL", "EVIL"],
        ["fit", "EVIL", "-m", "greedy"],
        ["fit", "EVIL", "-m", "greedy", "-o", "-"],
        ["fit", "EVIL", "--kind", f"{ESCAPE}=nominal"],
        ["show", f"{ESCAPE}.json"],
    ],
    ids=lambda command: " ".join(map(str, command)).replace(ESCAPE, "escape"),
)
def test_a_terminal_never_gets_what_steers_it_from_a_label(command, model, tmp_path):
    from tests.faults.terminal import Terminal

    places = {"MODEL": model, "EVIL": tmp_path / "evil.csv"}
    shown = Terminal(*(places.get(part, part) for part in command), answer_at_terminal=True)
    shown.end()
    assert not re.search("\x1b\\]0|\x07|\x1b\\[31mred|\x9b", shown.said)
    assert "red" in shown.said
