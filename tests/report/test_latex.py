"""LaTeX sources: whole, and safe whatever the labels."""

import re
import shutil
import subprocess

import pytest

from sparsedensity import GreedyTree, Histogram, SparseRuleList
from sparsedensity.report import latex
from tests.report.models import hostile_model, hostile_rows, rules_report


def bare(source):
    """The source without what is escaped, so that what is left means something to LaTeX."""
    return re.sub(r"\\[\\{}$&#%_]", "", source)


def documents(people):
    return {
        "tree": GreedyTree().fit(people).to_latex(),
        "one leaf": GreedyTree(max_leaves=1).fit(people).to_latex(),
        "list": latex.render(rules_report()),
        "histogram": Histogram().fit(people).to_latex(),
        "hostile tree": hostile_model().to_latex(),
        "hostile list": SparseRuleList(max_rules=4).fit(hostile_rows()).to_latex(),
    }


@pytest.fixture(scope="module")
def sources(people):
    return documents(people)


@pytest.mark.parametrize("name", ["tree", "one leaf", "list", "histogram", "hostile tree", "hostile list"])
def test_brackets_match_and_nothing_is_left_unescaped(sources, name):
    text = bare(sources[name])
    body = text[text.index(r"\begin{document}") :]
    deep = {"{": 0, "[": 0}
    for c in body:
        if c in "{}":
            deep["{"] += 1 if c == "{" else -1
        elif c in "[]" and deep["{"] == 0:
            deep["["] += 1 if c == "[" else -1
        assert min(deep.values()) >= 0
    assert deep == {"{": 0, "[": 0}
    assert not set('$#%^~"\x1b\n\r\x00') & set(body.replace("\n", ""))
    assert body.count("&") == sources[name].count(" & ")


def test_a_tree_has_a_bracket_for_every_node(sources, titanic):
    assert sources["tree"].count("[{") == titanic.structure_.n_nodes
    assert sources["tree"].count(", density ") == titanic.n_leaves_
    assert r"\textbf{14.0 \%}, density 0.0701" in sources["tree"]


def test_a_list_has_a_line_for_every_rule(sources):
    lines = [line for line in sources["list"].splitlines() if line.endswith(r"\\")]
    assert [line.split(" & ")[0] for line in lines] == [
        "{if class is crew and sex is male}",
        "{else if fare is 10 to 50}",
        "{else if sex is female and fare is 50 to 100}",
        "{else}",
    ]


def test_special_characters_are_spelt_out():
    assert latex.escaped("a_b & 50% {x} #1 $ ~^\\") == (
        r"a\_b \& 50\% \{x\} \#1 \$ \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
    assert latex.escaped('--<">') == r"{-}{-}\textless{}\textquotedbl{}\textgreater{}"


@pytest.mark.parametrize("name", ["tree", "one leaf", "list", "histogram", "hostile tree", "hostile list"])
def test_it_compiles(sources, name, tmp_path):
    needs = ["kpsewhich", "forest.sty", "standalone.cls"]
    if not shutil.which("pdflatex") or subprocess.run(needs, check=False).returncode:
        pytest.skip("needs pdflatex with the package forest and the class standalone")
    latin = sources[name].encode("latin-1", "replace").decode("latin-1")  # other scripts need another engine
    (tmp_path / "model.tex").write_text(latin, encoding="utf-8")
    compiling = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "model.tex"]
    done = subprocess.run(compiling, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:]
