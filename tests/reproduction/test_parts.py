"""An interrupted study goes on where it stopped."""

import json

import pytest

from reproduction.parts import Parts
from sparsedensity.errors import DataError

HERE = {"version": "1", "quick": False}


def never():
    raise AssertionError("a finished part was computed again")


def test_a_finished_part_is_not_computed_again(tmp_path):
    file = tmp_path / "parts" / "study.jsonl"
    Parts(file, HERE).part("first", lambda: {"leaves": 9})
    again = Parts(file, HERE)
    assert again.part("first", never) == {"leaves": 9}
    assert again.part("second", lambda: {"leaves": 3}) == {"leaves": 3}
    assert Parts(file, HERE).part("second", never) == {"leaves": 3}


def test_what_is_interrupted_keeps_what_was_finished(tmp_path):
    file = tmp_path / "study.jsonl"
    parts = Parts(file, HERE)
    parts.part("first", lambda: {"x": 1.5})

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parts.part("second", interrupted)
    assert Parts(file, HERE).part("first", never) == {"x": 1.5}


def test_a_line_that_was_cut_off_is_a_part_that_is_not_finished(tmp_path):
    file = tmp_path / "study.jsonl"
    parts = Parts(file, HERE)
    parts.part("first", lambda: {"x": 1})
    parts.part("second", lambda: {"x": 2})
    parts.results.path.write_text(parts.results.path.read_text()[:-8])
    again = Parts(file, HERE)
    assert again.part("first", never) == {"x": 1}
    assert again.part("second", lambda: {"x": 3}) == {"x": 3}
    assert Parts(file, HERE).part("second", never) == {"x": 3}


def test_a_damaged_line_is_refused_in_one_sentence_and_measured_anew_when_asked(tmp_path):
    file = tmp_path / "study.jsonl"
    parts = Parts(file, HERE)
    parts.part("first", lambda: {"x": 1})
    parts.part("second", lambda: {"x": 2})
    header, _, second = parts.results.path.read_text().splitlines()
    for damaged in ('{"name": "fi', "[]", '{"name": "first"}'):
        parts.results.path.write_text(f"{header}\n{damaged}\n{second}\n")
        with pytest.raises(DataError, match=r"is damaged: line 2 is not a result\. Delete it, or .* --fresh"):
            Parts(file, HERE)
    assert Parts(file, HERE, fresh=True).part("first", lambda: {"x": 3}) == {"x": 3}


def test_parts_of_another_version_are_not_used_and_not_lost(tmp_path):
    file = tmp_path / "study.jsonl"
    Parts(file, HERE).part("first", lambda: {"x": 1})
    other = Parts(file, {**HERE, "version": "2"})
    assert other.part("first", lambda: {"x": 2}) == {"x": 2}
    assert Parts(file, HERE).part("first", never) == {"x": 1}


def test_fresh_parts_are_computed_again(tmp_path):
    file = tmp_path / "study.jsonl"
    Parts(file, HERE).part("first", lambda: {"x": 1})
    assert Parts(file, HERE, fresh=True).part("first", lambda: {"x": 2}) == {"x": 2}
    assert Parts(file, HERE).part("first", never) == {"x": 2}


def test_a_part_is_the_same_now_as_when_it_is_read_again(tmp_path):
    part = {"pair": (1, 2), "nothing": float("-inf")}
    first = Parts(tmp_path / "study.jsonl", HERE).part("first", lambda: part)
    assert (
        first
        == Parts(tmp_path / "study.jsonl", HERE).part("first", never)
        == {"pair": [1, 2], "nothing": -float("inf")}
    )


def test_the_seconds_of_earlier_parts_are_counted_once(tmp_path):
    file = tmp_path / "study.jsonl"
    parts = Parts(file, HERE)
    parts.part("first", dict)
    header, line = parts.results.path.read_text().splitlines()
    result = {**json.loads(line)["result"], "seconds": 5.0}
    parts.results.path.write_text(f"{header}\n{json.dumps({'name': 'first', 'result': result})}\n")
    again = Parts(file, HERE)
    assert again.seconds_before == 0.0
    again.part("first", never)
    again.part("first", never)
    assert again.seconds_before == 5.0


def test_a_file_beside_is_another_one_for_another_version(tmp_path):
    file = tmp_path / "parts" / "study.jsonl"
    mine = Parts(file, HERE).beside("folds")
    assert mine.parent.is_dir()
    assert mine == Parts(file, HERE).beside("folds") != Parts(file, {**HERE, "quick": True}).beside("folds")
    mine.write_text("folds")
    assert not Parts(file, HERE, fresh=True).beside("folds").exists()
    assert Parts().beside("folds") is None
