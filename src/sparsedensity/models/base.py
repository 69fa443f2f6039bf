"""What all models share: ``fit``, and one line for each question that a file of its own answers.

A model is its parameters, what it believes (:meth:`DensityModel.posterior`) and how it searches
(:meth:`DensityModel.learn`); all else is here.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.domain import Domain
from sparsedensity.engines import Engine
from sparsedensity.errors import ParameterError
from sparsedensity.ingest.decode import Frame
from sparsedensity.models import answers
from sparsedensity.models.events import Event, column_of, conditional, event_weights
from sparsedensity.models.evidence import gather
from sparsedensity.models.explaining import explain
from sparsedensity.models.fitting import fit_table
from sparsedensity.models.folds import HeldOut
from sparsedensity.models.parameters import check_word, jobs_of
from sparsedensity.models.plain import Model
from sparsedensity.posterior import Posterior
from sparsedensity.posterior.base import exact_intervals
from sparsedensity.report import text
from sparsedensity.report.comparison import Comparison
from sparsedensity.report.importance import Importance
from sparsedensity.report.made import write_picture
from sparsedensity.report.model import Leaf, Report, leaves_of, report_of
from sparsedensity.report.words import counted
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Structure
from sparsedensity.table import Floats, Table


@dataclass(eq=False, repr=False, kw_only=True)
class DensityModel(Model):
    """A density over a table of categories, made of a few leaves: what all models share.

    Parameters
    ----------
    density
        ``"mean"`` is the posterior mean and never 0, ``"empirical"`` the share of the rows.
    kinds
        The kind of a column: ``"nominal"``, ``"ordinal"``, ``"continuous"``, or a list of its values in order. One
        word for all columns that it suits: ``kinds="nominal"`` is what the paper does.
    bins
        Bins of continuous columns: a number (equal widths), ``"quantile"``, ``"quantile:5"``, or by column one of
        these or a list of edges.
    domain
        A declared :class:`Domain`; inferred from the data by default.
    missing
        A missing value is a category of its own (``"category"``), drops its row (``"drop"``) or is an error.
    unknown
        A value outside the domain of a column that some leaf uses has density 0 (``"zero"``), goes to the outermost
        bin if it is a number or a date (``"nearest"``) or is an error. Other columns ignore it; profiles use all.
    n_jobs
        Threads for searching and scoring; -1 for all cores.
    progress
        Show progress on a terminal when it takes longer than a second.
    """

    title: ClassVar[str]
    """What the model is called in reports."""
    unit: ClassVar[str | None] = None
    """What the sizes on its path are counted in; ``None`` if there is one size only."""
    from_rows: ClassVar[tuple[str, ...]] = ()
    """What the posterior knows from the rows: it is saved with the model."""

    density: Literal["mean", "empirical"] = "mean"
    kinds: Any = None
    bins: Any = 10
    domain: Domain | None = None
    missing: Literal["category", "drop", "error"] = "category"
    unknown: Literal["zero", "nearest", "error"] = "zero"
    n_jobs: int | None = None
    progress: bool = False

    domain_: Domain = field(init=False)
    posterior_: Posterior = field(init=False)
    found_: Found = field(init=False)
    density_: Density = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)
    frame_: Frame = field(init=False)
    """The kind of table to give back."""
    weighted_: bool = field(init=False)
    rows_: Table | None = field(default=None, init=False)
    """The rows it was searched on, if they are few enough to be held."""
    held_out_: HeldOut | None = field(default=None, init=False)
    """How rows were kept from the search, if the model is honest."""
    held_: Table | None = field(default=None, init=False)
    """The rows that were kept from the search, if they are few enough to be held."""
    archive_: Mapping[int, Structure] | None = field(default=None, init=False)
    """The best structure of every size, once it was asked for."""

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        check_word("density", self.density, ("mean", "empirical"))
        if not isinstance(self.progress, bool | np.bool_):
            raise ParameterError("progress", self.progress, "True or False")
        jobs_of(self.n_jobs)

    @abstractmethod
    def posterior(self, domain: Domain) -> Posterior:
        """What is believed before any row is seen."""

    @abstractmethod
    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[Posterior, Found]:
        """Choose the structure."""

    def learn_fold(self, engine: Engine, effort: float) -> Found:
        """Choose the structures of all sizes for one fold, at a share of the effort of a fit if that saves time."""
        return self.learn(engine, [])[1]

    def held_out(self, weights: Floats | None) -> HeldOut | None:
        """Which rows to keep from the search: none, unless the model is honest."""
        return None

    def learn_beyond(self, engine: Engine, limit: int) -> Found | None:
        """A quick look from the fitted structure under another limit, if that can be had."""
        return None

    def choose(self, engine: Engine, found: Found) -> Structure:
        """The structure that a fit to the rows of a fold would choose, given what the search of the fold found."""
        return found.structure

    def every_size(self, engine: Engine, found: Found) -> Mapping[int, Structure]:
        """The best structure of every size; a model from a file has none, so they are learned again."""
        return found.archive or self.learn_fold(engine, 1.0).archive

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the density of a table.

        Parameters
        ----------
        X
            A pandas, Polars or PyArrow table, a NumPy array, a list of records or a list of rows; or a table that is
            elsewhere: a Polars lazy frame, a DuckDB relation, a Spark, Dask or Ibis table. Its rows stay there.
        y
            Ignored; there for scikit-learn.
        sample_weight
            One weight per row, or the column that holds it, so that a table of counts is a data set. Rows of weight 0
            are left out.

        Examples
        --------
        >>> from sparsedensity import GreedyTree
        >>> GreedyTree().fit([{"sex": "female"}, {"sex": "male"}], sample_weight=[470, 1731]).n_leaves_
        2
        """
        self.check_parameters()
        fit_table(self, X, sample_weight)
        return self

    @property
    def structure_(self) -> Any:
        """The tree, rule list or cells."""
        return self.search_.structure

    @property
    def search_(self) -> Found:
        """How the structure was found."""
        self.check_fitted()
        return self.found_

    @property
    def log_posterior_(self) -> float:
        """The log posterior of the structure."""
        return self.search_.log_posterior

    @property
    def n_leaves_(self) -> int | float:
        """The number of leaves."""
        return int(self.structure_.n_leaves)

    @cached_property
    def leaves_(self) -> tuple[Leaf, ...]:
        """Every leaf with its name, conditions, weight, probability, volume, density, interval and, if any, traits."""
        self.check_fitted()
        structure, weights = self.structure_, self.density_.weights
        if self.held_out_ is None:
            return leaves_of(self.density_, self.posterior_.intervals(structure, weights))
        return leaves_of(self.density_, exact_intervals(weights, structure.log_volumes))

    def score_samples(self, X: Any) -> Any:
        """The log density of every row, minus infinity outside the domain; for lazy frames see :meth:`apply`."""
        return answers.place_anywhere(self, X).log_densities

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The log-likelihood: the sum of the log densities of all rows, weighed as in :meth:`fit`."""
        return answers.score(self, X, sample_weight)

    def unusualness(self, X: Any) -> Any:
        """For every row the share of the model's mass that is denser: 0 is the most common there is, 1 the rarest.

        With profiles and more than 100,000 possible records it is estimated from as many draws of the model, always the
        same ones: the standard error is at most 0.0016. For lazy frames see :meth:`apply`; with profiles
        a query rounds it to 0.001, and to two percent of what is left to 1.

        >>> from sparsedensity import GreedyTree, datasets
        >>> tree = GreedyTree().fit(datasets.load("titanic"))
        >>> tree.unusualness([{"class": "1st", "sex": "female", "age": "child"}]).round(3).tolist()
        [0.996]
        """
        return answers.place_anywhere(self, X).unusualness

    def apply(self, X: Any) -> Any:
        """The number of the leaf of every row; -1 for a row outside the domain.

        An array; of a lazy frame (Polars, DuckDB, Spark, Dask, Ibis) the frame with a new column, ``leaf``. Its rows
        stay where they are, and nothing warns of unknown values, of which infinity is one. Only the columns that the
        model asks for must be there. Likewise ``log_density`` of :meth:`score_samples`, and ``unusualness``.
        """
        return answers.place_anywhere(self, X).leaves

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """New rows drawn from the model, in the kind of table it was fitted on."""
        self.check_fitted()
        return answers.sample(self, n_samples, random_state)

    def probability(self, event: Event) -> float:
        """The probability of an event: for some columns the values they take.

        ``{"class": "3rd", "age": ["child"]}`` names values, ``{"fare": (10, 20)}`` an interval of a continuous
        column (of whole numbers both ends count), ``None`` a missing value. Other columns may take any value.

        >>> from sparsedensity import GreedyTree, datasets
        >>> tree = GreedyTree().fit(datasets.load("titanic"))
        >>> round(tree.probability({"class": ["1st", "2nd"], "age": "child"}), 4)
        0.0135
        """
        self.check_fitted()
        return self.density_.probability(event_weights(self.domain_, event))

    def conditional(self, features: str | Sequence[str], given: Event | None = None) -> dict[Any, float]:
        """The distribution of one or more columns, given an event.

        Keys are values for one column and tuples of values for several, as :meth:`probability` takes them: bins are
        (low, high), whole numbers with both ends included, and missing is None.

        >>> from sparsedensity import GreedyTree, datasets
        >>> tree = GreedyTree().fit(datasets.load("titanic"))
        >>> {sex: round(share, 2) for sex, share in tree.conditional("sex", given={"class": "crew"}).items()}
        {'female': 0.03, 'male': 0.97}
        """
        self.check_fitted()
        return conditional(self.density_, features, given or {})

    def marginal(self, feature: str) -> dict[Any, float]:
        """The distribution of one column under the model, by value as in :meth:`conditional`.

        >>> from sparsedensity import GreedyTree, datasets
        >>> ages = GreedyTree().fit(datasets.load("titanic")).marginal("age")
        >>> {age: round(share, 3) for age, share in ages.items()}
        {'adult': 0.948, 'child': 0.052}
        """
        self.check_fitted()
        column_of(self.domain_, feature)  # one name: several would give tuples
        return conditional(self.density_, feature, {})

    def importance(self, X: Any = None, sample_weight: Any = None) -> Importance:
        """How much each column matters: what the log-likelihood per row loses when the splits on it are merged.

        Merged means that the density is averaged over the column, by measure: every record gets the mean density of
        the records that differ from it in this column alone. Without rows the loss is that of the records which the
        model expects (never below 0, and 0 for a column that no leaf uses); with rows, best those that the model has
        not seen, it is their mean, and negative if the column misleads. Rows outside the domain do not count. If there
        is too much to add up, 20,000 records are drawn from the model, and ``exact`` is False.

        >>> from sparsedensity import GreedyTree, datasets
        >>> print(GreedyTree().fit(datasets.load("titanic")).importance())
               nats per row  times as dense
        age          0.5262            1.69
        sex          0.2679            1.31
        class        0.2256            1.25
        """
        self.check_fitted()
        return answers.importance(self, X, sample_weight)

    def explain(self, X: Any) -> Any:
        """For every row the path in words, how unusual it is, and which single change would make it most ordinary.

        With profiles it also lists its values, those that speak most against it first (``factors``). Of a lazy frame as
        in :meth:`apply`, with a text on the leaf, ``explanation``, beside the numbers: no changes, and no factors.

        >>> from sparsedensity import GreedyTree, datasets
        >>> tree = GreedyTree().fit(datasets.load("titanic"))
        >>> print(tree.explain([{"class": "1st", "sex": "female", "age": "child"}])[0].change)
        with age adult it would be 77.8 times as common
        """
        self.check_fitted()
        return explain(self, X)

    def compare(self, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
        """Where another table differs from the one the model was fitted to, leaf by leaf.

        The comparison has a p-value only if the model is honest. :func:`sparsedensity.compare` compares two tables.

        >>> from sparsedensity import GreedyTree, datasets
        >>> people = datasets.load("titanic")
        >>> crew = people.filter(people["class"] == "crew")
        >>> GreedyTree(honest=0.5).fit(people).compare(crew).p_value < 0.001
        True
        """
        self.check_fitted()
        return answers.compare(self, X, sample_weight, source)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as JSON that a person can read; :func:`sparsedensity.load` reads it back."""
        from sparsedensity.models.saving import save

        self.check_fitted()
        save(self, path)

    def report(self) -> Report:
        """Plain data about the fitted model, for renderers."""
        title, seed = f"{self.title} with {self.size_in_words()}", getattr(self, "random_state", None)
        searched = None if self.held_out_ is None else self.held_out_.searched
        told = (self.leaves_, self.density_, self.search_, self.posterior_)
        return report_of(title, *told, weighted=self.weighted_, searched=searched, seed=seed)

    def size_in_words(self) -> str:
        """How much there is to read."""
        return counted(int(self.n_leaves_), "leaf", "leaves")

    def to_text(self, width: int | None = None) -> str:
        """The model in words, in the width of the terminal."""
        return text.render(self.report(), width=width)

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture: the tree or list with bars beside its leaves; written to a file if a path is given.

        The file also says, in its metadata, which version made it, when, with which seed and by which command.
        """
        from sparsedensity.report import svg

        report = self.report()
        return write_picture(svg.render(report), path, report.seed)

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
        from sparsedensity.report import html

        report = self.report()
        if X is not None:
            report = replace(report, evidence=gather(self, X, sample_weight, cv=cv, source=source))
        return text.written(html.render(report), path)

    def to_mermaid(self) -> str:
        """The model as Mermaid source, for wikis, issues and slides."""
        from sparsedensity.report import mermaid

        return mermaid.render(self.report())

    def to_graphviz(self) -> str:
        """The model as Graphviz source, for ``dot``."""
        from sparsedensity.report import graphviz

        return graphviz.render(self.report())

    def to_latex(self) -> str:
        """The model as a LaTeX document: a tree drawn by the package ``forest``, a list as a table."""
        from sparsedensity.report import latex

        return latex.render(self.report())

    def plot(self, ax: Any = None) -> Any:
        """Draw the picture with matplotlib; returns the axes."""
        from sparsedensity.report import plot

        return plot.render(self.report(), ax)
