"""Compiled kernels are kept by the sources of all of them, and keeping them is never in the way."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sparsedensity.kernels

OURS = Path(sparsedensity.kernels.__file__).parent
CALLER = """
from sparsedensity.kernels import kernel
from sparsedensity.kernels.callee import step

@kernel
def run(x):
    return step(x)

@kernel
def first(pair):
    return pair[0] + step(0)
"""
PAIR = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    left: int\n    right: int\n"
# Loading a compiler takes a second, so a process runs several scripts, each as if it were the first.
DRIVER = """
import pathlib, sys
from sparsedensity import kernels
def write_callee(amount, decorator="@kernel"):
    text = f"from sparsedensity.kernels import inner, kernel\\n{decorator}\\ndef step(x):\\n    return x + {amount}\\n"
    pathlib.Path(kernels.__file__).with_name("callee.py").write_text(text)
write_callee(1)
for script in sys.argv[1:]:
    for name in [name for name in sys.modules if name.startswith(("sparsedensity", "stranger"))]:
        del sys.modules[name]
    exec(script, {"write_callee": write_callee})
"""
RUN = "from sparsedensity.kernels.caller import run; print(run(1), sum(run.stats.cache_hits.values()));"
FIRST = "from sparsedensity.kernels.caller import first; print(first({}), sum(first.stats.cache_hits.values()));"
COMPILED, LOADED = ["2", "0"], ["2", "1"]


class Toy:
    """A package of our name with two kernels in a folder of its own."""

    def __init__(self, root: Path):
        self.root, self.kernels, self.user = root, root / "sparsedensity" / "kernels", root / "user"
        self.said = ""
        self.kernels.mkdir(parents=True)
        (self.root / "sparsedensity" / "__init__.py").touch()
        for name in ("__init__.py", "cache.py", "compiling.py", "held.py", "linking.py"):
            shutil.copy(OURS / name, self.kernels)
        shutil.copy(OURS.parent / "errors.py", self.kernels.parent)
        (self.kernels / "caller.py").write_text(CALLER)

    def run(self, *scripts: str, **more: str) -> list[list[str]]:
        """What each script prints in one new process, in words."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        environment |= {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= dict.fromkeys(("HOME", "LOCALAPPDATA", "XDG_CACHE_HOME"), str(self.user))
        command = [sys.executable, "-c", DRIVER, *scripts]
        done = subprocess.run(command, env=environment | more, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.said = done.stderr
        return [line.split() for line in done.stdout.splitlines()]

    def folders(self, place: Path | None = None) -> list[Path]:
        return list((place or self.kernels / "__pycache__").rglob("sparsedensity-*"))


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.mark.parametrize("decorator", ["@kernel", "@inner"])
def test_an_edited_callee_in_another_file_gives_the_new_answer(toy: Toy, decorator: str) -> None:
    old, new = (f"write_callee({amount}, '{decorator}');" + RUN for amount in (1, 10))
    assert toy.run(old, old, new, new, old) == [COMPILED, LOADED, ["11", "0"], ["11", "1"], LOADED]


def test_a_folder_that_the_user_names_is_the_parent(toy: Toy, tmp_path: Path) -> None:
    assert toy.run(RUN, RUN, NUMBA_CACHE_DIR=str(tmp_path / "chosen")) == [COMPILED, LOADED]
    assert len(toy.folders(tmp_path / "chosen")) == 1
    assert not toy.folders()


def test_beside_sources_that_cannot_be_written_the_cache_is_the_users(toy: Toy) -> None:
    (toy.kernels / "__pycache__").touch()
    assert toy.run(RUN, RUN) == [COMPILED, LOADED]
    assert len(toy.folders(toy.user)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission")
def test_what_another_user_compiled_is_used_if_it_cannot_be_written(toy: Toy) -> None:
    assert toy.run(RUN) == [COMPILED]
    used = toy.folders()[0] / "used"
    used.unlink()
    used.symlink_to(toy.root / "nowhere" / "used")  # not even the administrator can touch that
    assert toy.run(RUN) == [LOADED]
    assert not toy.folders(toy.user)


def test_without_any_place_to_write_kernels_run_all_the_same(toy: Toy) -> None:
    (toy.kernels / "__pycache__").touch()
    toy.user.touch()
    assert toy.run(RUN, RUN) == [COMPILED, COMPILED]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a matter of POSIX")
def test_a_full_disk_ends_no_fit(toy: Toy) -> None:
    limit = "import resource; most = resource.getrlimit(resource.RLIMIT_FSIZE)[1];"
    full, freed = (f"{limit} resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, most));" for size in ("0", "most"))
    assert toy.run(full + RUN, freed + RUN, RUN) == [COMPILED, COMPILED, LOADED]
    assert toy.said.count("Compiled code cannot be kept in") == 1
    assert "NUMBA_CACHE_DIR" in toy.said


def test_a_damaged_file_is_replaced(toy: Toy) -> None:
    damage = f"import pathlib; [p.write_bytes(b'') for p in pathlib.Path({str(toy.kernels)!r}).rglob('*.nb?')];"
    assert toy.run(RUN, RUN, damage + RUN, RUN) == [COMPILED, LOADED, COMPILED, LOADED]


def test_what_is_kept_loads_without_what_compiling_needs(toy: Toy) -> None:
    compiler = "import sys; print('numba.np.arraymath' in sys.modules);"
    assert toy.run(RUN + compiler) == [COMPILED, ["True"]]
    assert toy.run(RUN + compiler) == [LOADED, ["False"]]


def test_a_kernel_compiles_after_another_was_loaded(toy: Toy) -> None:
    assert toy.run(RUN) == [COMPILED]
    assert toy.run(RUN + FIRST.format("(1.5, 2)")) == [LOADED, ["2.5", "0"]]


def test_old_folders_go_and_the_last_few_stay(toy: Toy) -> None:
    toy.run(*(f"write_callee({amount}); import sparsedensity.kernels.caller" for amount in range(8)))
    assert len(toy.folders()) == 5


def test_code_for_a_strangers_named_tuple_is_not_kept(toy: Toy) -> None:
    (toy.root / "stranger.py").write_text(PAIR)
    (toy.kernels / "pairs.py").write_text(PAIR)
    bare, nested = (FIRST.format(pair) for pair in ("Pair(1, 2)", "(1, (0.5, Pair(1, 2)))"))
    strange, ours = (f"from {name} import Pair;" for name in ("stranger", "sparsedensity.kernels.pairs"))
    assert toy.run(strange + bare, strange + bare, strange + nested, strange + nested) == [COMPILED] * 4
    assert toy.run(ours + bare, ours + bare, ours + nested, ours + nested) == [COMPILED, LOADED] * 2


def test_a_strangers_kernel_is_not_kept(toy: Toy) -> None:
    (toy.root / "stranger.py").write_text(CALLER)
    strange = RUN.replace("sparsedensity.kernels.caller", "stranger")
    assert toy.run(strange, strange) == [COMPILED, COMPILED]


def test_is_compiled_tells_now_and_before(toy: Toy) -> None:
    ask = "from sparsedensity.kernels import caller, is_compiled; print(is_compiled(caller.run));"
    assert toy.run(ask + RUN + ask, ask) == [["False"], COMPILED, ["True"], ["True"]]


@pytest.mark.parametrize("decorator", ["@kernel", "@inner"])
def test_a_numba_whose_insides_are_not_known_compiles_alone(toy: Toy, decorator: str) -> None:
    (toy.kernels / "pairs.py").write_text(PAIR)
    unknown = "import numba; numba.version_info = numba.version_info._replace(short=(0, 999));"
    callee = f"write_callee(1, '{decorator}'); from sparsedensity.kernels.pairs import Pair;"
    ours = "import sys; print('sparsedensity.kernels.linking' in sys.modules);"
    run = callee + RUN + FIRST.format("Pair(1, 2)") + ours
    assert toy.run(unknown + run, run) == [COMPILED, COMPILED, ["False"], LOADED, LOADED, ["False"]]


def test_all_compiled_code_of_ours_is_in_the_folder_that_the_cache_goes_by() -> None:
    compiling = re.compile(r"^\s*(from|import) numba|^\s*@(kernel|inner|njit|jit|overload)\b", re.MULTILINE)
    outside = [path for path in OURS.parent.rglob("*.py") if OURS not in path.parents]
    assert len(outside) > 50
    assert [path for path in outside if compiling.search(path.read_text(encoding="utf-8"))] == []


COMPILED_TWICE = """
import numpy as np
from numba import njit
from sparsedensity import LeafSparseTree, datasets
from sparsedensity.kernels import divisions

@njit
def sort(cells, m):
    divisions.sort_by_density(cells, m)

LeafSparseTree(max_leaves=4, search="greedy").fit(datasets.titanic())
cells = np.zeros(40, divisions.CELL)
cells["order"], cells["density"] = np.random.default_rng(0).permutation(40), np.arange(40)
sort(cells, 40)
print(cells["order"].tolist() == list(range(39, -1, -1)))
"""


def test_a_strangers_code_calls_a_loop_of_ours_that_a_kernel_was_compiled_with(tmp_path: Path) -> None:
    """Inside a kernel a loop may get its arguments in other ways: nobody else must find it there by its name."""
    command, environment = [sys.executable, "-c", COMPILED_TWICE], os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr
