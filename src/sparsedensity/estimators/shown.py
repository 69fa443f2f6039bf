"""A fitted model shown: as text, picture, page, or source for other programs."""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import replace
from typing import Any

from sparsedensity.report import graphviz, html, mermaid, plot, svg, text
from sparsedensity.report.comparison import Comparison
from sparsedensity.report.model import Report


class ShownDensity:
    """Everything that draws a fitted model from its report."""

    @abstractmethod
    def report(self) -> Report:
        """Plain data about the fitted model, for renderers."""

    def to_text(self, width: int | None = None) -> str:
        """The model in words, in the width of the terminal."""
        return text.render(self.report(), width=width)

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture: the tree or list with bars beside its leaves; written to a file if a path is given."""
        return text.written(svg.render(self.report()), path)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        X: Any = None,
        *,
        sample_weight: Any = None,
        cv: int | None = 5,
        source: str = "",
    ) -> str:
        """The report as one self-contained page; written to a file if a path is given.

        With the table the model was fitted on, the page also shows its most unusual records, what each leaf holds,
        and, cross-validated in ``cv`` folds (``None`` for none), the sparsity path and how the model does against
        two baselines. ``source`` is what the table is called.
        """
        report = self.report()
        if X is not None:
            from sparsedensity.estimators.evidence import gather

            report = replace(report, evidence=gather(self, X, sample_weight, cv=cv, source=source))  # type: ignore[arg-type]
        return text.written(html.render(report), path)

    def compare(self, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
        """Where another table differs from the one the model was fitted to, leaf by leaf.

        >>> from sparsedensity import GreedyTree, datasets
        >>> people = datasets.load("titanic")
        >>> crew = people.filter(people["class"] == "crew")
        >>> GreedyTree().fit(people).compare(crew).p_value < 1e-6
        True
        """
        from sparsedensity.estimators.comparing import compare

        return compare(self, X, sample_weight, source)  # type: ignore[arg-type]

    def to_mermaid(self) -> str:
        """The model as Mermaid source, for wikis, issues and slides."""
        return mermaid.render(self.report())

    def to_graphviz(self) -> str:
        """The model as Graphviz source, for ``dot``."""
        return graphviz.render(self.report())

    def plot(self, ax: Any = None) -> Any:
        """Draw the picture with matplotlib; returns the axes."""
        return plot.render(self.report(), ax)

    def _html_repr(self) -> str:
        """What a notebook shows: the picture of a fitted model, scikit-learn's diagram of one that is not."""
        if not hasattr(self, "density_"):
            diagram: str = super()._html_repr()  # type: ignore[misc]
            return diagram
        return f'<div style="overflow:auto;max-height:45rem">{svg.render(self.report())}</div>'
