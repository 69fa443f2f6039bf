"""Texts and files as they were approved. ``UPDATE_GOLDEN=1 pytest tests/golden`` writes them anew: read the diff."""

import json
import os
import runpy
from pathlib import Path

import numpy as np
import pytest

from sparsedensity import GreedyTree, Histogram, LeafSparseTree, datasets, load
from sparsedensity.models.saving import MODELS
from sparsedensity.report import graphviz, latex, mermaid, svg, text
from tests.report.models import kinds_report, rules_report

HERE = Path(__file__).parent


def approved(name, found):
    """Hold a text against the approved one."""
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found + "\n", encoding="utf-8", newline="\n")
    assert found + "\n" == path.read_text(encoding="utf-8")


def body(words):
    """A rendered model without the lines that say how long the search took."""
    before, _, after = words.partition("\nSearch:")
    rest = after.splitlines()[1:]
    while rest and rest[0].startswith(" "):
        rest = rest[1:]
    return "\n".join([*before.splitlines(), *rest])


def mixed_rows():
    """Numbers, an order, a missing value, a label that would wreck a terminal, and a very long one."""
    rng = np.random.default_rng(5)
    sizes = ["small", "medium", "large"]
    odd = ["plain", "red\x1b[31m\nline", "a very long label that goes on and on " * 3]
    return [
        {
            "fare": None if i % 17 == 0 else float(rng.gamma(2 if i % 3 else 6, 9)),
            "age": int(rng.integers(0, 90)),
            "size": sizes[min(2, int(rng.integers(0, 3)) + i % 2)],
            "what": odd[0] if i % 5 else odd[1 + i % 2],
        }
        for i in range(400)
    ]


def fitted():
    size = ["small", "medium", "large"]
    return {
        "titanic": GreedyTree().fit(datasets.load("titanic")),
        "mixed": GreedyTree(kinds={"size": size}, max_leaves=12).fit(mixed_rows()),
        "histogram": Histogram(kinds="nominal").fit(datasets.load("simulated")),
        "profiles": LeafSparseTree(leaf="profile", search="greedy").fit(datasets.load("titanic")),
    }


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.mark.parametrize("name", ["titanic", "mixed", "histogram"])
@pytest.mark.parametrize("width", [80, 120])
def test_a_model_reads_as_approved(models, name, width):
    shown = body(models[name].to_text(width=width))
    assert max(map(len, shown.splitlines())) <= width
    assert shown.replace("\n", "").isprintable()
    approved(f"{name}-{width}.txt", shown)


@pytest.mark.parametrize("name", ["titanic", "mixed", "histogram", "profiles"])
def test_a_saved_model_reads_as_approved(models, name, tmp_path):
    models[name].save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    document["library"] = "*"
    document["search"]["seconds"] = 0
    for leaf in document["leaves"]:
        for key in ("probability", "density", "log_volume"):
            leaf[key] = None if leaf[key] is None else float(f"{leaf[key]:.9g}")
        leaf["interval"] = [float(f"{end:.6g}") for end in leaf["interval"]]
    document["search"]["log_posterior"] = float(f"{document['search']['log_posterior']:.9g}")
    approved(f"{name}.json", json.dumps(document, indent=1, ensure_ascii=False))


@pytest.mark.parametrize("name", ["titanic", "mixed", "histogram", "profiles"])
def test_an_approved_file_still_loads(models, name):
    rows = mixed_rows() if name == "mixed" else datasets.load("simulated" if name == "histogram" else "titanic")
    assert load(HERE / f"{name}.json").score(rows) == pytest.approx(models[name].score(rows))


@pytest.mark.parametrize("path", sorted((HERE / "earlier").glob("*.json")), ids=lambda path: path.stem)
def test_a_file_that_an_earlier_version_wrote_still_says_the_same(path, tmp_path):
    """They were written before 0.1.0, from the first commit on, and are never written anew."""
    said = json.loads(path.read_text(encoding="utf-8"))
    model = load(path)
    leaves = [leaf.as_dict() for leaf in model.leaves_]
    for number in ("weight", "probability", "log_volume"):
        assert [leaf[number] for leaf in leaves] == pytest.approx([leaf[number] for leaf in said["leaves"]])
    assert type(model).__name__ == said["model"]
    assert model.log_posterior_ == said["search"]["log_posterior"]
    assert model.sample(5, random_state=0) is not None
    model.save(tmp_path / "again.json")
    assert load(tmp_path / "again.json").to_text() == model.to_text()


def test_earlier_files_are_of_every_kind_and_version():
    said = [json.loads(path.read_text(encoding="utf-8")) for path in (HERE / "earlier").glob("*.json")]
    assert {document["version"] for document in said} == {1, 2}
    assert {document["model"] for document in said} == set(MODELS)


def test_the_pictures_of_the_documentation_are_those_the_library_draws():
    """``make pictures`` draws them anew."""
    docs = HERE.parents[1] / "docs"
    for name, picture in runpy.run_path(str(docs / "pictures.py"))["pictures"]().items():
        assert picture + "\n" == (docs / name).read_text(encoding="utf-8"), name


def test_a_rule_list_reads_as_approved():
    approved("rules-80.txt", text.render(rules_report(), width=80))


@pytest.mark.parametrize("width", [80, 120])
def test_kinds_of_records_read_as_approved(width):
    shown = text.render(kinds_report(), width=width)
    assert max(map(len, shown.splitlines())) <= width
    approved(f"kinds-{width}.txt", shown)


@pytest.mark.parametrize("render", [mermaid.render, graphviz.render, latex.render])
def test_kinds_for_other_programs_are_as_approved(render):
    approved(f"kinds.{render.__module__.rpartition('.')[2]}", render(kinds_report()))


@pytest.mark.parametrize("name", ["titanic", "mixed", "histogram", "rules", "kinds"])
def test_a_picture_is_as_approved(models, name):
    made = {"rules": rules_report, "kinds": kinds_report}
    report = made[name]() if name in made else models[name].report()
    approved(f"{name}.svg", svg.render(report))
