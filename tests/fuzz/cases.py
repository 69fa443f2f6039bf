"""Families of attacks: each makes one case from a generator of random numbers and runs it.

A case may end well or with an error of ours; whatever is fitted or loaded must answer every question.
"""

import gzip
import io
import json
import math
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from sparsedensity import Domain, datasets, load
from sparsedensity.cli.options import ModelOptions
from sparsedensity.estimators import ESTIMATORS
from sparsedensity.report import from_file, text
from sparsedensity.scalars import MOST, is_number
from tests.fuzz.oddities import EVERYTHING, FLOATS, MISSING, NUMBERS, TEXTS, column, name, pick, setting

BRIEF = {"iterations": 30, "restarts": 2, "time_limit": 1.0}
"""Searches that take no longer than they must."""
LARGE = 10**5
MODELS = (*ESTIMATORS, "LeafSparseTree profile", "BranchSparseTree profile")
SPECIAL_BYTES = (
    b"\0",
    b"\xff",
    b'"',
    b",",
    b"\n",
    b"\r",
    b";",
    b"\t",
    b"\xef\xbb\xbf",
    b"1e999",
    b"NaN",
    b"-",
    b"'",
    b"\xc3",
)


@cache
def people():
    """A small table with texts and numbers of all kinds."""
    some = datasets.load("titanic")[::40]
    ages = np.random.default_rng(0).normal(30, 10, some.height).round(2)
    return some.with_columns(pl.Series("years", ages), pl.Series("number", np.arange(some.height) % 7))


def quick(kind, **settings):
    """An estimator whose search is brief unless the settings say otherwise."""
    known = kind().get_params(deep=False)
    return kind(**{**{key: value for key, value in BRIEF.items() if key in known}, **settings})


def made(model, **settings):
    """An estimator of every kind: one of ours, some with the leaves that are named after it."""
    kind, *leaf = model.split()
    return quick(ESTIMATORS[kind], **dict(zip(["leaf"], leaf, strict=False)), **settings)


@cache
def fitted(model):
    """A model of every kind."""
    return made(model).fit(people())


def ask_everything(model, X, rng):
    """Put every question to a model; answers are numbers."""
    logs = model.score_samples(X)
    assert not np.isnan(logs).any(), "a log density is nan"
    assert np.isfinite(model.log_posterior_), "the log posterior is not finite"
    probabilities = [leaf.probability for leaf in model.leaves_]
    assert math.isclose(sum(probabilities), 1.0, rel_tol=1e-6), f"probabilities sum to {sum(probabilities)}"
    model.apply(X), model.unusualness(X), model.score(X), model.explain(X[:3])
    model.sample(int(rng.integers(0, 5)), random_state=0)
    model.to_text(), model.to_svg(), model.to_html(), model.to_mermaid(), model.to_graphviz()
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        assert load(Path(folder) / "model.json").to_text() == model.to_text(), "the saved model is another"


def csv(rng):
    """The bytes of a CSV file, damaged."""
    data = _damaged(people().write_csv().encode(), rng)
    packed = rng.random() < 0.1
    _read_and_fit(_damaged(gzip.compress(data, mtime=0), rng) if packed else data, "csv.gz" if packed else "csv", rng)


def parquet(rng):
    """The bytes of a Parquet file, damaged."""
    file = io.BytesIO()
    people().write_parquet(file, compression=pick(rng, ("uncompressed", "zstd", "snappy")))
    _read_and_fit(_damaged(file.getvalue(), rng), "parquet", rng)


def frame(rng):
    """A table of odd types in any container."""
    rows = int(rng.integers(0, 30))
    columns = [column(rng, rows) for _ in range(int(rng.integers(0, 5)))]
    names = [name(rng) if rng.random() < 0.3 else f"c{i}" for i in range(len(columns))]
    X = _contained(rng, names, columns, rows)
    weights = None if rng.random() < 0.7 else [pick(rng, (*NUMBERS[:6], 0.5, 1e-9, 1e300)) for _ in range(rows)]
    kind = pick(rng, MODELS)
    settings = {} if rng.random() < 0.7 else {"missing": pick(rng, ("drop", "error"))}
    settings |= {} if rng.random() < 0.7 else {"unknown": pick(rng, ("nearest", "error"))}
    model = made(kind, **settings).fit(X, sample_weight=weights)
    used = X if settings.get("missing") is None else people()
    if used is X:
        ask_everything(model, X, rng)


def parameters(rng):
    """Odd values for the parameters of an estimator and of its methods."""
    kind = pick(rng, list(ESTIMATORS.values()))
    defaults = kind().get_params(deep=False)
    names = [pick(rng, list(defaults)) for _ in range(int(rng.integers(1, 3)))]
    settings = {name: setting(rng, defaults[name]) for name in names}
    if "leaf" in defaults and rng.random() < 0.6:
        prior = pick(rng, (None, "paper", "calibrated"))
        settings = {"leaf": "profile", "prior": prior, **profile_numbers(rng), **settings}
    model = quick(kind, **settings).fit(people())
    ask_everything(model, people(), rng)


def profile_numbers(rng):
    """A pull to the table and a probability of a profile that are allowed, but at the ends of what is."""
    pulls, probabilities = (2, 1e-100, 1e-9, 1e9, 1e100), (0.5, 0, 5e-324, 1e-9, 1 - 2**-53)
    return {"profile_pseudocount": pick(rng, pulls), "profile_probability": pick(rng, probabilities)}


def questions(rng):
    """Odd questions to a good model."""
    model = fitted(pick(rng, MODELS))
    names = (*model.domain_.names, *TEXTS[:5], 0, None)
    event = {pick(rng, names): pick(rng, (*EVERYTHING, "3rd", ["1st", "crew"], (0, 20))) for _ in range(2)}
    nearly = (*NUMBERS, *FLOATS, *model.domain_.names, None)
    odd, other = (pick(rng, nearly if rng.random() < 0.5 else EVERYTHING) for _ in range(2))
    asked = pick(
        rng,
        (
            lambda: model.probability(pick(rng, (event, odd))),
            lambda: model.conditional(pick(rng, (*names, odd)), event),
            lambda: model.conditional([pick(rng, names), pick(rng, names)], pick(rng, (None, event))),
            lambda: model.sample(odd, random_state=other) if not LARGE < _number(odd) < 2**31 else None,
            lambda: model.score_samples(odd),
            lambda: model.compare(people(), sample_weight=odd),
            lambda: model.compare(odd),
            lambda: model.explain(odd),
            lambda: model.score(people(), sample_weight=odd),
            lambda: model.cut(odd) if model.unit else None,
            lambda: model.sparsity_path(people(), cv=odd) if model.unit and not _number(odd) > 5 else None,
            lambda: model.near_optimal(odd, other) if hasattr(model, "near_optimal") else None,
            lambda: Domain.infer(people(), kinds=odd, bins=other),
            lambda: Domain.infer(people(), kinds={pick(rng, names): odd}, bins={pick(rng, names): other}),
            lambda: datasets.load(odd),
            lambda: datasets.load("housebreaks", rows=odd) if not LARGE < _number(odd) <= MOST else None,
            lambda: load(odd),
        ),
    )
    with np.errstate(all="ignore"):
        asked()


def _number(value):
    """What a value counts as; whoever asks for millions of rows gets them, however long that takes."""
    return value if is_number(value) else 0


def model_file(rng):
    """A model file with an entry changed, or with damaged bytes."""
    model = fitted(pick(rng, MODELS))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        if rng.random() < 0.2:
            path.write_bytes(_damaged(path.read_bytes(), rng))
        else:
            document = json.loads(path.read_text(encoding="utf-8"))
            for _ in range(int(rng.integers(1, 3))):
                _change(document, rng)
            path.write_text(json.dumps(document, default=str), encoding="utf-8", errors="surrogatepass")
        shown = from_file.read(path)
        if shown is not None:
            text.render(shown.report())
        read = load(path)
        read.set_params(n_jobs=None)
        read.to_text(), read.to_html(), read.sample(3, random_state=0), read.score_samples(people())
        read.save(path)


FAMILIES = {family.__name__: family for family in (csv, parquet, frame, parameters, questions, model_file)}


def warm_up():
    """Compile what the cases use, so that none is taken for a hang."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in MODELS:
            ask_everything(fitted(kind), people(), np.random.default_rng(0))
        for search in ("anneal", "exact"):
            for kind in MODELS:
                if "search" in ESTIMATORS[kind.split()[0]]().get_params():
                    made(kind, search=search).fit(people()[:, :3])


def _read_and_fit(data, suffix, rng):
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{suffix}"
        path.write_bytes(data)
        options = ModelOptions(method=pick(rng, ("greedy", "histogram")), quiet=True, n_jobs=1)
        model, table = options.fit([str(path)])
        ask_everything(model, table.frame, rng)


def _damaged(data, rng):
    for _ in range(int(rng.integers(1, 5))):
        if not data:
            break
        at = int(rng.integers(len(data)))
        end = at + int(rng.integers(1, 40))
        some = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
        data = pick(
            rng,
            (
                data[:at] + some + data[at + len(some) :],
                data[:at] + pick(rng, SPECIAL_BYTES) + data[at:],
                data[:at] + data[end:],
                data[:at],
                data[:end] + data[at:],
                bytes([data[at] ^ 1 << int(rng.integers(8))]).join((data[:at], data[at + 1 :])),
            ),
        )
    return data


def _contained(rng, names, columns, rows):
    """Columns in any container; one that cannot hold them is none of our cases."""
    by_name = dict(zip(names, columns, strict=True))
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    dtype = pick(rng, ("category", "string", "Int64", "Float64", "boolean", object))
    containers = (
        lambda: pd.DataFrame(by_name),
        lambda: pd.DataFrame(by_name).convert_dtypes(),
        lambda: pd.DataFrame(by_name).astype(dtype),
        lambda: pd.DataFrame(np.array(columns, object).T.tolist(), columns=names),
        lambda: pl.DataFrame(by_name, strict=False),
        lambda: pl.DataFrame(by_name, strict=False).lazy(),
        lambda: pa.table({str(key): pa.array(values, from_pandas=True) for key, values in by_name.items()}),
        lambda: np.array(columns, object).T,
        lambda: np.array(columns).T,
        lambda: np.ma.masked_array(np.array(columns, float).T, mask=rng.random((rows, len(columns))) < 0.3),
        lambda: [list(row) for row in zip(*columns, strict=True)],
        lambda: records,
        lambda: [record if rng.random() < 0.9 else {} for record in records],
        lambda: pd.DataFrame(by_name).to_records(),
        lambda: pd.Series(columns[0]),
        lambda: by_name,
        lambda: iter(records),
        lambda: pick(rng, EVERYTHING),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pick(rng, containers)()
    except KeyboardInterrupt:
        raise
    except BaseException:  # Polars panics at some of them
        return records


def _change(document, rng):
    """Change one entry somewhere in a document."""
    while isinstance(document, dict | list) and document:
        keys = list(document) if isinstance(document, dict) else range(len(document))
        key = pick(rng, list(keys))
        deeper = document[key]
        if not isinstance(deeper, dict | list) or not deeper or rng.random() < 0.15:
            odd = [
                value
                for value in (*NUMBERS, *MISSING[:2], *TEXTS)
                if not isinstance(value, str) or "\ud800" not in value
            ]
            values = (*odd, 1e400, -1.0, 0.5, [], {}, [1], {"a": 1}, [[]], [None], deeper, [deeper])
            if rng.random() < 0.15:
                del document[key]
            else:
                document[key] = pick(rng, [value for value in values if value != 10**5000])
            return
        document = deeper
