"""Rebuilds every picture of the README and the guide: ``make pictures``."""

from pathlib import Path

from sparsedensity import LeafSparseTree, datasets
from sparsedensity.report import path_svg

HERE = Path(__file__).parent


def pictures():
    """Every picture by its file name."""
    people = datasets.load("titanic")
    tree = LeafSparseTree().fit(people)
    passengers = people.filter(people["class"] != "crew")
    return {
        "titanic.svg": tree.to_svg(),
        "path.svg": path_svg.render(tree.sparsity_path(people)),
        "compare.svg": tree.compare(passengers, source="the passengers alone").to_svg(),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / name).write_text(picture + "\n", encoding="utf-8", newline="\n")
