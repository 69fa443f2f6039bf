"""Model files: readable, whole or absent, and refused in one sentence when they are not ours."""

import copy
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sparsedensity import Domain, Feature, GreedyTree, Histogram, LeafSparseTree, __version__, load
from sparsedensity.datasets import titanic
from sparsedensity.errors import ModelFileError, SparseDensityError
from sparsedensity.report import from_file
from sparsedensity.structures import Cells, RuleList, Tree, files
from sparsedensity.structures.rules import Condition

Document = dict[str, Any]
Change = Callable[[Document], Any]


@pytest.fixture(scope="module")
def tree() -> GreedyTree:
    return GreedyTree().fit(titanic())


@pytest.fixture(scope="module")
def histogram() -> Histogram:
    return Histogram().fit(titanic())


@pytest.fixture(scope="module")
def profiles() -> LeafSparseTree:
    return LeafSparseTree(leaf="profile", search="greedy", honest=0.5).fit(titanic())


@pytest.fixture
def document(tree, tmp_path) -> Document:
    tree.save(tmp_path / "whole.json")
    whole: Document = read(tmp_path / "whole.json")
    return whole


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def refused(path: Path, *says: str) -> str:
    """Load a file that must be refused in one sentence that names it; return the sentence."""
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert isinstance(caught.value, SparseDensityError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.path == path
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message.removeprefix(str(path))) < 250
    for phrase in says:
        assert phrase in message
    return message


def test_a_model_file_is_json_that_a_person_can_read(tree, tmp_path):
    path = tmp_path / "model.json"
    tree.save(path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert list(document)[:4] == ["format", "version", "library", "model"]
    assert (document["format"], document["version"], document["library"]) == ("sparsedensity model", 1, __version__)
    assert document["parameters"] == tree.get_params()
    assert document["search"]["log_posterior"] == tree.log_posterior_
    assert document["search"]["method"] == "greedy"
    assert [feature["name"] for feature in document["domain"]] == ["class", "sex", "age"]
    assert [leaf["weight"] for leaf in document["leaves"]] == [leaf.weight for leaf in tree.leaves_]
    assert [leaf["conditions"] for leaf in document["leaves"]] == [
        [str(condition) for condition in leaf.conditions] for leaf in tree.leaves_
    ]
    split = document["structure"]["tree"][0]
    assert split["split"] in ("class", "sex", "age")
    assert text.endswith("}\n")


def test_words_of_all_languages_are_written_as_they_are(tmp_path):
    Histogram().fit(pd.DataFrame({"Größe": ["klein", "größer", "最大"]})).save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert "Größe" in text
    assert "最大" in text


def test_a_path_may_be_text_or_a_path(tree, tmp_path):
    tree.save(str(tmp_path / "model.json"))
    assert load(str(tmp_path / "model.json")).leaves_ == load(tmp_path / "model.json").leaves_


def test_saving_twice_gives_the_same_bytes(tree, tmp_path):
    for name in ("one", "two"):
        tree.save(tmp_path / name)
    load(tmp_path / "one").save(tmp_path / "three")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()


class TestNotAModel:
    def test_a_missing_file(self, tmp_path):
        refused(tmp_path / "nowhere.json", "does not exist")
        refused(tmp_path / "no" / "where.json", "does not exist")

    def test_a_directory(self, tmp_path):
        refused(tmp_path, "is a directory")

    def test_a_path_through_a_file(self, tmp_path):
        (tmp_path / "file").write_text("x")
        refused(tmp_path / "file" / "model.json", "cannot be read")

    @pytest.mark.parametrize("content", [b"", b"hello", b"{", b'{"format": "spars', b"\n\n"])
    def test_text_that_is_not_json(self, tmp_path, content):
        path = tmp_path / "model.json"
        path.write_bytes(content)
        refused(path, "damaged or not a model file", "not valid JSON")

    def test_bytes_that_are_not_text(self, tmp_path):
        path = tmp_path / "model.json"
        path.write_bytes(b"\x80\x04\x95pickle")
        refused(path, "not a model file", "UTF-8")

    @pytest.mark.parametrize("content", ["[]", "3", "null", '"text"', "{}", '{"format": "other", "version": 1}'])
    def test_the_json_of_another_program(self, tmp_path, content):
        path = tmp_path / "model.json"
        path.write_text(content)
        refused(path, "JSON but not a model saved by sparsedensity")

    def test_json_that_is_nested_without_end(self, tmp_path):
        path = tmp_path / "model.json"
        path.write_text("[" * 200_000)
        refused(path, "damaged or not a model file")

    def test_a_newer_version(self, tmp_path, document):
        path = tmp_path / "newer.json"
        path.write_text(json.dumps({**document, "version": 3, "library": "9.9"}))
        refused(path, "newer sparsedensity", "9.9", "version 3", "Upgrade")

    @pytest.mark.parametrize("version", [None, "1", 0, -1, 1.5, [], True])
    def test_a_version_that_is_none(self, tmp_path, document, version):
        path = tmp_path / "model.json"
        path.write_text(json.dumps({**document, "version": version}))
        refused(path, "damaged", "version", repr(version))

    @pytest.mark.parametrize("name", [None, "ForestOfDensities", ["GreedyTree"], 3, {}])
    def test_a_model_of_an_unknown_kind(self, tmp_path, document, name):
        path = tmp_path / "model.json"
        path.write_text(json.dumps({**document, "model": name}))
        refused(path, "unknown kind", repr(name), "GreedyTree, Histogram")

    @pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
    def test_a_truncated_file(self, tmp_path, document, share):
        path = tmp_path / "model.json"
        text = json.dumps(document)
        path.write_text(text[: int(share * len(text))])
        refused(path, "damaged", "not valid JSON")


def _nodes(document: Document) -> list[Any]:
    nodes: list[Any] = document["structure"]["tree"]
    return nodes


def _split(document: Document) -> Any:
    return next(node for node in _nodes(document) if "split" in node)


def _cycle(document: Document) -> None:
    """Two splits that lead to each other beside a root that is a leaf; every node is led to once."""
    leads = [[{"values": ["male"], "node": a}, {"values": ["female"], "node": b}] for a, b in ((2, 3), (1, 4))]
    document["structure"]["tree"] = [
        {"node": 0, "leaf": 0},
        {"node": 1, "split": "sex", "branches": leads[0]},
        {"node": 2, "split": "sex", "branches": leads[1]},
        {"node": 3, "leaf": 1},
        {"node": 4, "leaf": 2},
    ]
    document["leaves"] = document["leaves"][:3]


def _lead_to_root(document: Document) -> None:
    _split(document)["branches"][0]["node"] = 0


def _share_a_value(document: Document) -> None:
    first, second, *_ = _split(document)["branches"]
    second["values"] = second["values"] + first["values"][:1]


DAMAGES: dict[str, tuple[Change, tuple[str, ...]]] = {
    "a node is removed": (lambda d: _nodes(d).pop(), ("do not form a tree",)),
    "all nodes are removed": (lambda d: _nodes(d).clear(), ("do not form a tree",)),
    "a node is added": (lambda d: _nodes(d).append({"node": 99, "leaf": 9}), ("do not form a tree",)),
    "a node leads back to the root": (_lead_to_root, ("do not form a tree",)),
    "nodes go round in a circle": (_cycle, ("do not form a tree",)),
    "a branch leads nowhere": (lambda d: _split(d)["branches"][0].update(node=999), ("do not form a tree",)),
    "a branch leads to text": (lambda d: _split(d)["branches"][0].update(node="x"), ("not structured like a model",)),
    "a value is unknown": (lambda d: _split(d)["branches"][0]["values"].append("4th"), ("has no value '4th'",)),
    "a value is a list": (lambda d: _split(d)["branches"][0]["values"].append([[]]), ("not structured like a model",)),
    "a value is lost": (lambda d: _split(d)["branches"][0]["values"].pop(), ("does not divide the values",)),
    "a value is in two branches": (_share_a_value, ("does not divide the values",)),
    "a split is on an unknown column": (lambda d: _split(d).update(split="deck"), ("'deck'",)),
    "a branch is lost": (lambda d: _split(d).pop("branches"), ("lacks 'branches'",)),
    "weights are too few": (lambda d: d["leaves"].pop(), ("weights", "do not fit")),
    "weights are too many": (lambda d: d["leaves"].append(d["leaves"][0]), ("weights", "do not fit")),
    "a weight is negative": (lambda d: d["leaves"][0].update(weight=-1), ("weights", "do not fit")),
    "a weight is infinite": (lambda d: d["leaves"][0].update(weight=np.inf), ("weights", "do not fit")),
    "a weight is NaN": (lambda d: d["leaves"][0].update(weight=np.nan), ("weights", "do not fit")),
    "a weight is text": (lambda d: d["leaves"][0].update(weight="x"), ("not structured like a model", "'x'")),
    "a weight is lost": (lambda d: d["leaves"][0].pop("weight"), ("lacks 'weight'",)),
    "all weights are 0": (lambda d: [leaf.update(weight=0) for leaf in d["leaves"]], ("weights", "do not fit")),
    "the leaves are lost": (lambda d: d.pop("leaves"), ("lacks 'leaves'",)),
    "the structure is lost": (lambda d: d.pop("structure"), ("lacks 'structure'",)),
    "the structure is a list": (lambda d: d.update(structure=[]), ("not structured like a model",)),
    "the domain is lost": (lambda d: d.pop("domain"), ("lacks 'domain'",)),
    "the domain is empty": (lambda d: d.update(domain=[]), ("at least one feature",)),
    "the domain is text": (lambda d: d.update(domain="titanic"), ("damaged",)),
    "a feature is lost": (lambda d: d["domain"].pop(0), ("damaged",)),
    "a feature stands twice": (lambda d: d["domain"].append(d["domain"][0]), ("'class'",)),
    "a feature has no values": (lambda d: d["domain"][0].update(values=[]), ("'class'",)),
    "a feature is of an unknown kind": (lambda d: d["domain"][0].update(kind="fuzzy"), ("'class'", "'fuzzy'")),
    "a feature has a value twice": (lambda d: d["domain"][0]["values"].append("1st"), ("'class'", "twice")),
    "a parameter is nonsense": (lambda d: d["parameters"].update(pseudocount=-1), ("pseudocount", "-1")),
    "a parameter is a wrong word": (lambda d: d["parameters"].update(density="mode"), ("density", "'mode'")),
    "a parameter is unknown": (lambda d: d["parameters"].update(colour="red"), ("colour",)),
    "the parameters are lost": (lambda d: d.pop("parameters"), ("lacks 'parameters'",)),
    "the log posterior is text": (lambda d: d["search"].update(log_posterior="high"), ("log_posterior", "'high'")),
    "the log posterior is lost": (lambda d: d["search"].pop("log_posterior"), ("lacks 'log_posterior'",)),
    "the kind of table is unknown": (lambda d: d.update(frame="excel"), ("'excel'",)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused_and_the_damage_named(damage, document, tmp_path):
    change, says = DAMAGES[damage]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    load(path)
    changed = copy.deepcopy(document)
    change(changed)
    path.write_text(json.dumps(changed), encoding="utf-8")
    refused(path, "is damaged", *says)


def _values(document: Document) -> Document:
    values: Document = document["leaves"][0]["values"]
    return values


def _swap_leaves(document: Document) -> None:
    one, other = document["leaves"][:2]
    one["values"], other["values"] = other["values"], one["values"]
    one["weight"], other["weight"] = other["weight"], one["weight"]


PROFILE_DAMAGES: dict[str, tuple[Change, tuple[str, ...]]] = {
    "the values of a leaf are lost": (lambda d: d["leaves"][1].pop("values"), ("lacks 'values'",)),
    "a column is lost": (lambda d: _values(d).pop("sex"), ("lacks the values of 'sex'",)),
    "a column is unknown": (lambda d: _values(d).update(deck={"A": 1}), ("'deck' is not one of its columns",)),
    "a value is unknown": (lambda d: _values(d)["age"].update(old=1), ("'age' has no value 'old'",)),
    "a weight is negative": (lambda d: _values(d)["age"].update(adult=-3), ("'age' has -3 at 'adult'",)),
    "a weight is text": (lambda d: _values(d)["age"].update(adult="x"), ("'age' has 'x' at 'adult'",)),
    "a weight is infinite": (lambda d: _values(d)["age"].update(adult=np.inf), ("'age' has inf at 'adult'",)),
    "a weight is lost": (lambda d: _values(d)["sex"].popitem(), ("leaf 0", "do not fit")),
    "a value that the leaf does not allow has weight": (_swap_leaves, ("leaf", "do not fit")),
    "the values are a list": (lambda d: d["leaves"][0].update(values=[]), ("damaged",)),
    "the structure is no tree": (lambda d: d.update(structure={"rules": []}, leaves=d["leaves"][:1]), ("damaged",)),
    "a parameter is nonsense": (lambda d: d["parameters"].update(profile_probability=1), ("profile_probability",)),
    "the background is lost": (lambda d: d.pop("background"), ("lacks 'background'",)),
    "the background does not add up": (lambda d: d["background"]["sex"].update(male=0.9), ("add up to 1",)),
    "the background lacks a value": (lambda d: d["background"]["sex"].pop("male"), ("add up to 1",)),
}


@pytest.mark.parametrize("damage", PROFILE_DAMAGES)
def test_a_damaged_model_with_profiles_is_refused_and_the_damage_named(damage, profiles, tmp_path):
    path = tmp_path / "model.json"
    profiles.save(path)
    document = read(path)
    change, says = PROFILE_DAMAGES[damage]
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, "is damaged", *says)
    assert damage.startswith("the background") or from_file.read(path) is None


def test_a_file_keeps_the_weights_of_profiles_by_column_and_value(profiles, tree, tmp_path):
    path = tmp_path / "model.json"
    profiles.save(path)
    document = read(path)
    assert document["version"] == 2
    for leaf in document["leaves"]:
        assert list(leaf["values"]) == ["class", "sex", "age"]
        assert all(sum(by_value.values()) == leaf["weight"] for by_value in leaf["values"].values())
        assert all(weight > 0 for by_value in leaf["values"].values() for weight in by_value.values())
    tree.save(path)
    assert read(path)["version"] == 1


def test_values_of_every_kind_keep_their_weights(tmp_path):
    """Texts that look like other values, truth values, numbers, bins, calendar periods and missing values."""
    rng = np.random.default_rng(0)
    odd = np.array(["null", "1", '"1"', "[0, 1]", "true", "", "plain", None], object)
    table = pd.DataFrame(
        {
            "odd": rng.choice(odd, 300),
            "flag": rng.random(300) < 0.3,
            "whole": rng.integers(0, 4, 300),
            "size": np.where(rng.random(300) < 0.1, np.nan, rng.gamma(2, 3, 300)),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), unit="D"),
        }
    )
    weights = rng.random(300)
    model = LeafSparseTree(leaf="profile", search="greedy", prior="paper").fit(table, sample_weight=weights)
    model.save(tmp_path / "m.json")
    back, shown = load(tmp_path / "m.json"), from_file.read(tmp_path / "m.json")
    assert (back.density_.profiles.weights == model.density_.profiles.weights).all()
    assert (back.score_samples(table) == model.score_samples(table)).all()
    assert (back.unusualness(table) == model.unusualness(table)).all()
    assert back.leaves_ == model.leaves_
    assert shown.report().profiles.inside == pytest.approx(model.density_.profiles.inside)


CELL_DAMAGES: dict[str, Callable[[list[Any]], Any]] = {
    "a cell is outside the domain": lambda cells: cells[0].__setitem__(0, 99),
    "a cell is negative": lambda cells: cells[0].__setitem__(0, -1),
    "a cell is not whole": lambda cells: cells[0].__setitem__(0, 0.5),
    "a cell is text": lambda cells: cells[0].__setitem__(0, "x"),
    "a cell stands twice": lambda cells: cells.__setitem__(1, cells[0]),
    "a cell is too short": lambda cells: cells[0].pop(),
    "all cells are too short": lambda cells: [cell.pop() for cell in cells],
    "a cell is removed": lambda cells: cells.pop(),
}


@pytest.mark.parametrize("damage", CELL_DAMAGES)
def test_a_damaged_histogram_is_refused(damage, histogram, tmp_path):
    path = tmp_path / "model.json"
    histogram.save(path)
    document = read(path)
    CELL_DAMAGES[damage](document["structure"]["cells"])
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, "is damaged")


class TestStructures:
    domain = Domain(
        (
            Feature.nominal("a", ("x", "y", "z"), missing=True),
            Feature.ordinal("b", (True, False)),
            Feature.continuous("f", (0, 0.1, 2.5), missing=True),
            Feature.continuous("i", (0, 5, 9), integer=True),
            Feature.continuous("c", (4,)),
        )
    )

    def there_and_back(self, structure):
        text = json.dumps(files.structure_to_json(structure), allow_nan=False)
        return files.structure_from_json(json.loads(text), self.domain)

    def test_a_domain_comes_back(self):
        text = json.dumps(files.domain_to_json(self.domain), allow_nan=False)
        assert files.domain_from_json(json.loads(text)) == self.domain

    def test_a_tree_comes_back(self):
        tree = Tree.leaf(self.domain).split(0, 2, [{0, 2}, {1}]).split(1, 0, [{0, 3}, {1}, {2}]).split(2, 1, [{0}, {1}])
        twin = self.there_and_back(tree)
        assert twin.regions == tree.regions
        assert twin.splits() == tree.splits()

    def test_a_rule_list_comes_back(self):
        rules = RuleList.of(self.domain, [[Condition(0, 3, 3), Condition(1, 0, 0)], [Condition(3, 0, 1)]])
        assert self.there_and_back(rules).rules == rules.rules
        assert self.there_and_back(RuleList.of(self.domain, [])).n_rules == 0

    def test_rules_on_values_that_are_not_neighbours_are_refused(self):
        broken = {"rules": [[{"feature": "a", "values": ["x", "z"]}]]}
        with pytest.raises(ValueError, match="not neighbours"):
            files.structure_from_json(broken, self.domain)
        with pytest.raises(ValueError, match="'a'"):
            files.structure_from_json({"rules": [[{"feature": "a", "values": []}]]}, self.domain)

    def test_cells_come_back(self):
        cells = Cells(self.domain, np.array([[0, 1, 2, 1, 0], [3, 0, 0, 0, 0]], self.domain.code_type))
        twin = self.there_and_back(cells)
        assert twin.codes.tolist() == cells.codes.tolist()
        assert twin.codes.dtype == cells.codes.dtype


class TestAtomicSaving:
    def left_behind(self, folder: Path) -> list[str]:
        return sorted(path.name for path in folder.iterdir())

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
    def test_a_save_that_fails_half_way_leaves_the_old_file_whole(self, tree, tmp_path, monkeypatch, error):
        path = tmp_path / "model.json"
        tree.save(path)
        before = path.read_bytes()
        write = Path.write_text

        def write_half(self, text, *args, **kwargs):
            write(self, text[: len(text) // 2], *args, **kwargs)
            raise error

        monkeypatch.setattr(Path, "write_text", write_half)
        expected = ModelFileError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected) as caught:
            Histogram().fit(titanic()).save(path)
        if isinstance(error, OSError):
            assert str(caught.value) == f"{path} cannot be written: No space left on device."
        assert path.read_bytes() == before
        assert self.left_behind(tmp_path) == ["model.json"]

    def test_a_save_that_fails_at_the_last_step_leaves_the_old_file_whole(self, tree, tmp_path, monkeypatch):
        path = tmp_path / "model.json"
        tree.save(path)
        before = path.read_bytes()

        def refuse(self, target):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "replace", refuse)
        with pytest.raises(ModelFileError, match="cannot be written: Permission denied"):
            Histogram().fit(titanic()).save(path)
        assert path.read_bytes() == before
        assert self.left_behind(tmp_path) == ["model.json"]

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_may_not_be_written_is_named(self, tree, tmp_path):
        path = tmp_path / "locked" / "model.json"
        path.parent.mkdir()
        tree.save(path)
        before = path.read_bytes()
        path.parent.chmod(0o500)
        try:
            with pytest.raises(ModelFileError, match="cannot be written: Permission denied"):
                tree.save(path)
            assert path.read_bytes() == before
        finally:
            path.parent.chmod(0o700)

    def test_a_folder_that_is_not_there_is_named(self, tree, tmp_path):
        path = tmp_path / "no" / "model.json"
        with pytest.raises(ModelFileError) as caught:
            tree.save(path)
        assert str(caught.value) == f"{path} cannot be written: No such file or directory."
        (tmp_path / "file").write_text("x")
        with pytest.raises(ModelFileError, match="cannot be written: Not a directory"):
            tree.save(tmp_path / "file" / "model.json")

    def test_a_directory_is_not_overwritten(self, tree, tmp_path):
        with pytest.raises(ModelFileError, match="is a directory"):
            tree.save(tmp_path)
        assert self.left_behind(tmp_path) == []

    def test_a_model_that_json_cannot_hold_is_refused_and_nothing_is_written(self, tmp_path):
        path = tmp_path / "model.json"
        labels = pd.DataFrame({"a": pd.Categorical([1.0, np.inf])})
        with pytest.raises(ModelFileError, match="cannot be written"):
            Histogram().fit(labels).save(path)
        assert self.left_behind(tmp_path) == []

    def test_nothing_but_the_model_is_left_behind(self, tree, tmp_path):
        for _ in range(3):
            tree.save(tmp_path / "model.json")
        assert self.left_behind(tmp_path) == ["model.json"]


def test_a_density_beyond_every_float_is_saved_and_read_again(tmp_path):
    model = GreedyTree().fit(np.array([[0.0], [1e-323], [5e-310]]))
    model.save(tmp_path / "model.json")
    assert math.inf in [leaf.density for leaf in model.leaves_]
    assert load(tmp_path / "model.json").to_text() == model.to_text()


@pytest.mark.parametrize("flag", ["missing", "integer"])
def test_a_model_file_whose_flag_is_a_number_is_refused(tmp_path, flag):
    GreedyTree().fit(pd.DataFrame({"fare": [0.5, 1.5, 2.5]})).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    document["domain"][0][flag] = 10**12
    (tmp_path / "model.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match=f"'{flag}' of 'fare' is 1000000000000, not true or false"):
        load(tmp_path / "model.json")


def test_a_name_that_is_not_unicode_is_refused():
    with pytest.raises(SparseDensityError, match="not valid Unicode"):
        GreedyTree().fit([{"\ud800": "a"}, {"\ud800": "b"}])
