"""Every file is written whole or not at all; what was there before stays until then."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import sparsedensity
from sparsedensity import writing
from sparsedensity.cli import app
from sparsedensity.errors import OutputError, ParameterError, SparseDensityError
from sparsedensity.evaluation.finished import ResultFile

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and signals of POSIX")
NOT_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
OLD = "what was there before"
PACKAGE = Path(sparsedensity.__file__).parent


@pytest.fixture
def model(titanic, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    titanic.save(path)
    return path


@pytest.fixture
def full(monkeypatch):
    """A disk that is full when a file is complete."""

    def refuse(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", refuse)


COMMANDS = {
    "fit -o": ["fit", "titanic", "-m", "greedy", "-o", "OUT.json"],
    "fit --report": ["fit", "titanic", "-m", "greedy", "--report", "OUT.html"],
    "report": ["report", "titanic", "-m", "greedy", "--cv", "0", "-o", "OUT.html"],
    "show": ["show", "MODEL", "--as", "svg", "-o", "OUT.svg"],
    "path --plot": ["path", "titanic", "-m", "greedy", "--cv", "0", "--plot", "OUT.png"],
    "score": ["score", "MODEL", "titanic", "-o", "OUT.csv"],
    "score as Parquet": ["score", "MODEL", "titanic", "-o", "OUT.parquet"],
    "score --top": ["score", "MODEL", "titanic", "--top", "3", "-o", "OUT.csv"],
    "sample": ["sample", "MODEL", "-o", "OUT.csv"],
    "datasets": ["datasets", "titanic", "-o", "OUT.parquet"],
    "compare --svg": ["compare", "MODEL", "titanic", "--svg", "OUT.svg"],
    "compare --html": ["compare", "MODEL", "titanic", "--html", "OUT.html"],
    "evaluate --csv": ["evaluate", "titanic", "-m", "greedy", "--cv", "2", "--jobs", "1", "--csv", "OUT.csv"],
}


def run(arguments, folder, model):
    """Run a command in this process; its outcome, and the file it writes."""
    named = [part.replace("OUT", str(folder / "out")).replace("MODEL", str(model)) for part in arguments]
    output = next(Path(part) for part, given in zip(named, arguments, strict=True) if given.startswith("OUT"))
    output.write_text(OLD)
    return CliRunner().invoke(app, named), output


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_full_disk_the_old_file_stays_and_one_sentence_says_why(name, model, tmp_path, full):
    outcome, output = run(COMMANDS[name], tmp_path, model)
    assert isinstance(outcome.exception, SparseDensityError)
    assert "cannot be written: No space left on device." in str(outcome.exception)
    assert output.read_text() == OLD
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_complete_takes_the_place_of_the_old_one(name, model, tmp_path):
    outcome, output = run(COMMANDS[name], tmp_path, model)
    assert outcome.exception is None, outcome.exception
    assert output.read_bytes() != OLD.encode()
    assert list(tmp_path.iterdir()) == [output]


def test_pictures_and_pages_from_python_are_written_whole_too(titanic, tmp_path, full):
    for write in (titanic.to_svg, titanic.to_html):
        (tmp_path / "old").write_text(OLD)
        with pytest.raises(OutputError, match="No space left on device"):
            write(tmp_path / "old")
        assert (tmp_path / "old").read_text() == OLD


def test_nothing_in_the_package_writes_a_file_but_through_the_one_door():
    in_place = re.compile(
        r"\.write_text\(|\.write_bytes\(|\.write_csv\(\w|\.write_parquet\(|savefig\(|open\([^)]*[\"']w"
    )
    door = re.compile(r"writing\.|\(part\)|into = part")
    for file in PACKAGE.rglob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        direct = [line for line in lines if in_place.search(line) and not door.search(line)]
        assert file.name in ("writing.py", "data.py") or direct == [], file


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting a small disk takes root on Linux")
@pytest.mark.parametrize("name", ["show", "score", "score as Parquet", "fit -o"])
def test_on_a_disk_that_is_truly_full_nothing_is_lost(name, model, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk may be mounted here")
    try:
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(b"x" * 100_000)
        os.truncate(disk / "filler", (disk / "filler").stat().st_size - 4096)  # room for the old file
        outcome, output = run(COMMANDS[name], disk, model)
        assert "cannot be written: No space left on device." in str(outcome.exception)
        assert output.read_text() == OLD
        assert sorted(disk.iterdir()) == [disk / "filler", output]
    finally:
        subprocess.run(["umount", disk], check=True)


@NOT_ROOT
def test_a_folder_that_may_not_be_written_is_said_in_one_sentence(titanic, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match=r"cannot be written: Permission denied\.$"):
            titanic.to_svg(tmp_path / "a.svg")
    finally:
        tmp_path.chmod(0o700)


KILLED = """
import os, sys
from sparsedensity import writing
with writing.replacing(sys.argv[1]) as part:
    part.write_text("half of what is n")
    print("half", flush=True)
    os.read(0, 1)
"""


@POSIX
def test_a_kill_in_the_middle_of_writing_leaves_the_old_file(tmp_path):
    output = tmp_path / "model.json"
    output.write_text(OLD)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", KILLED, output], **pipes) as process:
        assert process.stdout.readline() == b"half\n"
        process.send_signal(signal.SIGKILL)
    assert output.read_text() == OLD
    writing.write_text("new", output)
    assert output.read_text() == "new"


@POSIX
def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text(OLD)
    target.chmod(0o640)
    link.symlink_to(target)
    writing.write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@POSIX
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    writing.write_text("new", tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@NOT_ROOT
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    (tmp_path / "locked").write_text(OLD)
    (tmp_path / "locked").chmod(0o400)
    with pytest.raises(OutputError, match="Permission denied"):
        writing.write_text("new", tmp_path / "locked")


@POSIX
def test_pipes_and_devices_are_written_as_they_are(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        writing.write_text("through", pipe)
        assert reader.stdout.read() == b"through"
    assert pipe.is_fifo()
    writing.write_text("away", "/dev/null")
    assert not Path("/dev/null").is_file()


@POSIX
def test_what_standard_output_is_redirected_to_is_not_replaced(model, tmp_path):
    file = tmp_path / "out.txt"
    with file.open("wb") as out:
        out.write(b"before\n")
        out.flush()
        done = subprocess.run(
            [sys.executable, "-m", "sparsedensity", "sample", model, "-n", "2", "-o", "/dev/stdout"],
            stdout=out, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "class,sex,age" in file.read_text()


def test_a_long_name_is_no_problem(tmp_path):
    output = tmp_path / ("n" * 240 + ".txt")
    writing.write_text("new", output)
    assert output.read_text() == "new"


def test_what_is_no_name_of_a_file_is_refused(titanic):
    with pytest.raises(ParameterError, match="path must be the name of a file"):
        titanic.to_svg(3.5)
    with pytest.raises(SparseDensityError, match="cannot be written"):
        titanic.to_svg("a\0b")


KILLED_EVALUATION = ["evaluate", "titanic", "-m", "greedy", "--cv", "4", "--jobs", "1", "-q", "--json", "--keep"]


@POSIX
def test_an_evaluation_that_was_killed_goes_on_where_it_stopped(tmp_path):
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    command = [sys.executable, "-m", "sparsedensity", *KILLED_EVALUATION]
    expected = subprocess.run([*command, whole], capture_output=True, text=True, check=True).stdout
    with subprocess.Popen([*command, killed], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not (killed.exists() and killed.read_bytes().count(b"\n") > 2):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    with killed.open("ab") as file:  # as if the kill had come in the middle of a line
        file.write(b'{"name": "Full hist')
    again = subprocess.run([*command, killed], capture_output=True, text=True, check=True).stdout

    def without_seconds(text):
        return re.sub(r'seconds": [^,\n}]*', "", text)

    assert without_seconds(again) == without_seconds(expected)


def test_a_full_disk_under_finished_folds_is_said_and_what_is_kept_stays(tmp_path, monkeypatch):
    kept = tmp_path / "folds.jsonl"
    results = ResultFile(kept, {"table": "titanic"})
    results.add("first", {"leaves": 9})

    def refuse(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(SparseDensityError, match="cannot be written: No space left on device"):
        results.add("second", {"leaves": 3})
    monkeypatch.undo()
    assert ResultFile(kept, {"table": "titanic"}).get("first") == {"leaves": 9}


def test_a_table_that_was_written_is_the_table(model, tmp_path):
    outcome, output = run(COMMANDS["datasets"], tmp_path, model)
    assert outcome.exception is None
    assert pl.read_parquet(output).height == 2201
