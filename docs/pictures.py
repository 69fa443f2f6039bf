"""Rebuilds every picture of the README and the guide: ``make pictures``."""

from pathlib import Path

from sparsedensity import LeafSparseTree, compare, datasets
from sparsedensity.report import path_svg

HERE = Path(__file__).parent


def pictures() -> dict[str, str]:
    """Every picture by its file name."""
    people = datasets.load("titanic")
    tree = LeafSparseTree().fit(people)
    women, men = (people.filter(people["sex"] == sex).drop("sex") for sex in ("female", "male"))
    return {
        "titanic.svg": tree.to_svg(),
        "path.svg": path_svg.render(tree.sparsity_path(people)),
        "compare.svg": compare(women, men, names=("the women", "the men")).to_svg(),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / name).write_text(picture + "\n", encoding="utf-8", newline="\n")
