"""The scores of a table, part by part: it need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sparsedensity.cli.tables import Data
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.density.placed import Placed
    from sparsedensity.ingest.encode import Encoded, Unknown
    from sparsedensity.models import DensityModel


class ScoredTable:
    """A table as it is scored, and what its rows add up to; what is unknown to the model is said once, at the end."""

    def __init__(self, model: DensityModel, table: Data) -> None:
        self.model, self.table = model, table
        self.rows = self.outside = 0
        self.total = 0.0
        self._unknown: dict[str, Unknown] = {}

    def parts(self, *, keep_columns: bool = False) -> Iterator[pl.DataFrame]:
        """The leaf, log density and unusualness of the rows of each part; those outside the domain have leaf -1."""
        import polars as pl

        for part, placed, encoded in placed_parts(self.model, self.table):
            self._add_up(placed, encoded)
            scores = pl.DataFrame(
                {"leaf": placed.leaves, "log_density": placed.log_densities, "unusualness": placed.unusualness}
            )
            yield pl.concat([part, scores], how="horizontal") if keep_columns else scores
        self._warn()

    def totals(self) -> dict[str, Any]:
        """What all rows add up to."""
        for _ in self.parts():
            pass
        per_row = self.total / self.rows
        counts = {"rows": self.rows, "outside": self.outside}
        return {**counts, "log_likelihood": self.total, "log_likelihood_per_row": per_row}

    def _add_up(self, placed: Placed, encoded: Encoded) -> None:
        self.rows += len(placed.leaves)
        self.outside += int(encoded.outside.sum())
        self.total += float(placed.log_densities.sum())
        for found in encoded.unknown:
            known = self._unknown.setdefault(found.feature.name, found._replace(rows=0))
            self._unknown[found.feature.name] = known._replace(rows=known.rows + found.rows)

    def _warn(self) -> None:
        from sparsedensity.models.answers import warn_of_unknown

        who = "1 row lies" if self.outside == 1 else f"{self.outside:,} rows lie"
        warn_of_unknown(list(self._unknown.values()), who, self.model.unknown == "nearest")


def placed_parts(model: DensityModel, table: Data) -> Iterator[tuple[pl.DataFrame, Placed, Encoded]]:
    """The rows of a table part by part, and where a model puts them."""
    from sparsedensity.ingest import encode, open_source
    from sparsedensity.ingest.batches import batches_of
    from sparsedensity.models.answers import place

    nearest, strict, used = model.unknown == "nearest", model.unknown == "error", model.density_.used
    empty = True
    for part in batches_of(table.frame):
        if not part.height:
            continue
        empty = False
        known = open_source(part).known_to(model.domain_)
        encoded = encode(known, model.domain_, nearest=nearest, strict=strict, used=used)
        yield part, place(model, encoded), encoded
    if empty:
        raise DataError(f"{table.name} has no rows.")
