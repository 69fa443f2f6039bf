"""What scikit-learn asks of an estimator: a model with its manners."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from sparsedensity.models import DensityModel
from sparsedensity.models.plain import Model


class Estimator(Model, DensityMixin, BaseEstimator):
    """A plain model with scikit-learn's manners: ``get_params``, ``set_params``, ``clone`` and its own refusals."""

    def check_fitted(self) -> None:
        """Refuse a question that only a fitted model answers, in scikit-learn's words."""
        check_is_fitted(self)


class DensityEstimator(Estimator, DensityModel):
    """A density over a table of categories as a scikit-learn estimator."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _html_repr(self) -> str:
        """What a notebook shows: the picture of a fitted model, scikit-learn's diagram of one that is not."""
        from sparsedensity.report import svg

        if hasattr(self, "density_"):
            return svg.in_notebook(self.to_svg())
        diagram: str = super()._html_repr()
        return diagram
