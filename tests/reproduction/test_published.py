"""Published sets: from the files that were published to the table that the paper used.

The published files are not in this repository. Small samples in their format are written here; where the paper's
tables are at hand, whole files are made from them.
"""

import dataclasses
import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pooch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paper_data import PAPER as FOLDER
from reproduction import datasets
from reproduction.datasets import prepare
from reproduction.datasets.census import SIZES
from reproduction.datasets.digest import digest
from reproduction.datasets.places import find, home, places
from reproduction.datasets.published import PUBLISHED
from reproduction.paper import DATA_SETS
from sparsedensity.errors import DataError

MUSHROOMS = """\
p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u
e,x,s,y,t,a,f,c,b,k,e,?,s,s,w,w,p,w,o,p,n,n,g

"""
BANK = """\
"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"
58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"
29;"technician";"single";"secondary";"no";-1;"yes";"no";"unknown";5;"may";151;3;-1;1;"unknown";"no"
60;"technician";"single";"secondary";"no";10000;"yes";"no";"unknown";5;"may";151;2;-1;7;"unknown";"no"
"""
TELCO = """\
customerID,gender,tenure,MonthlyCharges,TotalCharges,Churn
7590-VHVEG,Female,1,29.85,29.85,No
5575-GNVDE,Male,34,56.95,1889.5,No
4472-LVYGI,Female,0,52.55, ,No
3668-QPYBK,Male,72,118.75,8684.8,Yes
"""
PROPUBLICA = """\
id,name,sex,age,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,c_charge_degree,priors_count
1,a,Male,69,0,1,0,0,0,F,0
2,b,Male,46,0,1,0,0,0,F,0
3,c,Male,45,0,3,0,1,4,M,4
4,d,Female,20,1,3,0,0,1,F,1
5,e,Female,21,0,3,2,0,3,F,3
"""
COCO = {
    "info": {"year": 2017, "notes": "] } , [ {"},
    "images": [{"id": 9}, {"id": 4}, {"id": 5}],
    "licenses": [],
    "annotations": [
        {"segmentation": [[1.5, 2]], "image_id": 9, "bbox": [], "category_id": 18, "id": 1, "iscrowd": 0},
        {"segmentation": {"counts": [1]}, "image_id": 4, "category_id": 1, "id": 2, "iscrowd": 1},
        {"segmentation": [], "image_id": 9, "category_id": 18, "id": 3},
        {"segmentation": [], "image_id": 9, "category_id": 2, "id": 4},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}, {"id": 2, "name": "bicycle"}],
}


def prepared(name):
    """One of the paper's tables, every value as text."""
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there: set PAPER_DATA to the folder of the paper's tables")
    return pl.read_csv(path, infer_schema=False)


def file(text):
    return io.BytesIO(text.encode())


@pytest.fixture(autouse=True)
def nothing_at_home(tmp_path, monkeypatch):
    """No test sees the folders of whoever runs it."""
    monkeypatch.delenv("SPARSEDENSITY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


# What is read


def test_mushrooms_that_miss_a_value_are_dropped_and_blank_lines_too():
    table = prepare.mushroom(file(MUSHROOMS))
    assert table.height == 1
    assert table.row(0)[:2] == ("p", "x")


def test_numbers_of_bank_clients_fall_into_ranges():
    table = prepare.bank_full(file(BANK))
    assert table.columns[:6] == ["age", "job", "marital", "education", "default", "balance"]
    assert table["age"].to_list() == ["50-59", "17-29", "60-99"]
    assert table["balance"].to_list() == ["2000-2999", "<0", ">=10000"]
    assert table["campaign"].to_list() == ["1", ">=3", "2"]
    assert table["previous"].to_list() == ["0", "1", ">=2"]


def test_customers_without_total_charges_are_dropped_before_bins_are_cut():
    table = prepare.telco_churn(file(TELCO))
    assert table.columns == ["gender", "tenure", "MonthlyCharges", "TotalCharges"]
    assert table["tenure"].to_list() == [0, 4, 9]
    assert table["TotalCharges"].to_list() == [0, 2, 9]


def test_propublica_s_counts_become_the_features_of_corels():
    table = prepare.compas_of_propublica(file(PROPUBLICA))
    assert table.rows() == [  # of two equal people one is not in CORELS
        ("Male", ">45", "=0", "=0", "=0", "=0", "Felony"),
        ("Male", "26-45", "=0", "=0", ">0", ">3", "Misdemeanor"),
        ("Female", "18-20", ">0", "=0", ">0", "=1", "Felony"),
        ("Female", "21-22", "=0", ">0", ">0", "2-3", "Felony"),
    ]


def test_corels_files_come_one_after_the_other_without_the_label():
    header = ",".join((*prepare.COMPAS, "recidivate-within-two-years"))
    row = "26-45,=0,=0,=0,>3,Felony"
    table = prepare.compas_of_corels(file(f"{header}\nMale,{row},1\n"), file(f"{header}\nFemale,{row},0\n"))
    assert table.columns == list(prepare.COMPAS)
    assert table["sex"].to_list() == ["Male", "Female"]


def test_every_image_with_a_thing_is_a_row_of_labels():
    table = prepare.coco_thing(file(json.dumps(COCO, indent=1)), file(json.dumps(COCO)))
    assert table.columns == ["bicycle", "dog", "person"]
    assert table.rows() == [(0, 0, 1), (1, 1, 0)] * 2


def test_the_census_loses_the_number_of_the_case():
    header, row = ",".join(("caseid", *SIZES)), ",".join(("10000", *("1" for _ in SIZES)))
    table = prepare.us_census_1990(file(f"{header}\n{row}\n{row}\n"))
    assert table.columns == list(SIZES)
    assert table.row(0) == (1,) * 68


numbers = st.lists(st.integers(-9, 900) | st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(numbers)
def test_ten_bins_are_those_of_pandas(values):
    values = np.array(values, np.float64)
    try:
        codes = pd.cut(pd.Series(values), 10, labels=False)
    except ValueError:  # so narrow a range that edges coincide
        return
    assert prepare.cut(values).tolist() == codes.tolist()


def test_whole_numbers_become_numbers_and_other_text_stays():
    table = prepare.typed(pl.DataFrame({"n": ["1", "-20"], "text": ["1", "x"], "padded": ["01", "1"], "i": [1, 300]}))
    assert table.dtypes == [pl.Int8, pl.String, pl.String, pl.Int16]


# What must come out


@pytest.mark.parametrize("record", PUBLISHED.values(), ids=lambda record: record.name)
def test_the_files_of_a_form_have_as_many_addresses_as_each_other(record):
    for form in record.forms:
        assert len({len(file.addresses) for file in form.files}) == len({len(file.names) for file in form.files}) == 1
        assert all(address.startswith(("https://", "http://")) for file in form.files for address in file.addresses)


@pytest.mark.parametrize("record", PUBLISHED.values(), ids=lambda record: record.name)
def test_the_counts_of_a_record_are_those_that_the_paper_prints(record):
    line = DATA_SETS[record.name]
    assert (record.rows, record.columns, record.pairs) == (line.rows, line.features, line.pairs)
    assert record.stand_in == line.stand_in


@pytest.mark.parametrize("record", PUBLISHED.values(), ids=lambda record: record.name)
def test_the_digest_of_a_record_is_that_of_the_paper_s_table(record):
    table = prepared(record.name if record.digest_rows is None else f"{record.name}_sample{record.digest_rows}")
    assert digest(table) == digest(prepare.typed(table).sample(fraction=1, shuffle=True, seed=0)) == record.digest


DIGESTS = {
    "balance": "8897640249d7f44df23bed8bcc731e921a0e619fc91ef176d8c9874a349f191a",
    "car": "424d4e4502f83707e3b81e82990f8aee19606636cb5ff3b39f34270686dac1dd",
    "nursery": "06db5dd7a5af52430964b58e2464b11bb8e93004dc3bde02b3a0c7d3c7d7e631",
    "connect4": "36f187c614bdd9495951c24d6fcde27366a84b626c36db3d76cf21c6cce1914e",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_generated_tables_have_the_digest_of_those_beside_the_paper(name):
    assert digest(datasets.load(name)) == DIGESTS[name]


@pytest.mark.skipif(sys.platform == "win32", reason="it runs a shell of Unix")
def test_the_digest_can_be_computed_in_a_shell(tmp_path):
    table = datasets.load("titanic").with_columns(pl.col("class").replace("crew", "équipage"))
    table.write_csv(tmp_path / "table.csv")
    command = "{ head -1 table.csv; tail -n +2 table.csv | LC_ALL=C sort; } | sha256sum"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == digest(table)


# Where it is read from


@pytest.fixture
def small(monkeypatch):
    """Mushrooms of one row, which is all that the sample has."""
    table = prepare.mushroom(file(MUSHROOMS))
    record = dataclasses.replace(PUBLISHED["mushroom"], rows=1, pairs=23, digest=digest(table))
    monkeypatch.setitem(PUBLISHED, "mushroom", record)
    return record


def write_zip(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)


def put_plain(folder):
    (folder / "agaricus-lepiota.data").write_text(MUSHROOMS)


def put_archive(folder):
    write_zip(folder / "mushroom.zip", **{"Index": "", "agaricus-lepiota.data": MUSHROOMS})


def put_archive_in_archive(folder):
    put_archive(folder)
    inner = (folder / "mushroom.zip").read_bytes()
    write_zip(folder / "mushroom.zip", **{"readme.txt": "", "more__inner.zip": inner})


def put_csv(folder):
    prepare.mushroom(file(MUSHROOMS)).write_csv(folder / "mushroom.csv")


def put_packed_csv(folder):
    put_csv(folder)
    (folder / "mushroom.csv.gz").write_bytes(gzip.compress((folder / "mushroom.csv").read_bytes()))
    (folder / "mushroom.csv").unlink()


def put_parquet(folder):
    prepare.mushroom(file(MUSHROOMS)).write_parquet(folder / "mushroom.parquet")


@pytest.mark.parametrize(
    "put",
    [put_plain, put_archive, put_archive_in_archive, put_csv, put_packed_csv, put_parquet],
    ids=lambda p: p.__name__,
)
def test_a_folder_may_hold_a_set_as_it_was_published_or_prepared(put, small, tmp_path):
    assert not datasets.here("mushroom", tmp_path)
    put(tmp_path)
    assert datasets.here("mushroom", tmp_path)
    assert datasets.load("mushroom", tmp_path).equals(prepare.mushroom(file(MUSHROOMS)))


def test_folders_are_asked_in_turn(small, tmp_path, monkeypatch):
    named, variable, cache = tmp_path / "named", tmp_path / "variable", pooch.os_cache("sparsedensity")
    monkeypatch.setenv("SPARSEDENSITY_DATA", str(variable))
    assert places(named) == (named, variable, cache)
    for place in (cache, variable, named):
        place.mkdir(parents=True)
        put_plain(place)
        assert find(small, places(named)).paths[0].parent == place


def test_what_is_fetched_is_kept_in_the_first_folder_that_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEDENSITY_DATA", str(tmp_path / "new" / "data"))
    assert home() == tmp_path / "new" / "data"
    (tmp_path / "file").touch()
    assert home(tmp_path / "file") == tmp_path / "new" / "data"


def test_one_of_two_files_is_not_enough(tmp_path):
    (tmp_path / "instances_val2017.json").write_text(json.dumps(COCO))
    assert not datasets.here("coco_thing", tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "phrase"),
    [
        ("agaricus-lepiota.data", MUSHROOMS * 2, "it has 2 rows instead of 1."),
        (
            "agaricus-lepiota.data",
            MUSHROOMS.replace("p,x", "e,x", 1),
            "it has as many rows, columns and values, but others.",
        ),
        ("agaricus-lepiota.data", "<html>Not here</html>\n", "cannot be read as mushroom: "),
        ("agaricus-lepiota.data", "", "cannot be read as mushroom: "),
        ("mushroom.zip", "<html>", "cannot be read as mushroom: File is not a zip file."),
        ("mushroom.parquet", "nonsense", "cannot be read as mushroom: "),
        (
            "mushroom.csv.gz",
            "class,odor\np,a\n",
            "it has 2 columns instead of 23, 2 feature-value pairs instead of 23.",
        ),
    ],
)
def test_a_file_that_is_not_what_was_published_says_what_differs(name, content, phrase, small, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        datasets.load("mushroom", tmp_path)
    assert str(tmp_path / name) in str(caught.value)
    assert phrase in str(caught.value)
    assert str(caught.value).endswith("Remove or replace it.")
    assert "\n" not in str(caught.value)


def test_an_archive_without_the_file_says_so(small, tmp_path):
    write_zip(tmp_path / "mushroom.zip", readme="")
    with pytest.raises(DataError, match=r"there is no agaricus-lepiota.data in it"):
        datasets.load("mushroom", tmp_path)


@pytest.mark.parametrize(
    ("field", "number", "phrase"),
    [((6, 8), 1, "is encrypted, password required"), ((8, 10), 99, "compression method is not supported")],
    ids=["under a password", "packed in another way"],
)
def test_an_archive_that_cannot_be_unpacked_says_so(field, number, phrase, small, tmp_path):
    put_archive(tmp_path)
    packed = bytearray((tmp_path / "mushroom.zip").read_bytes())
    for mark, place in zip((b"PK\3\4", b"PK\1\2"), field, strict=True):
        start = packed.rindex(mark)
        packed[start + place : start + place + 2] = number.to_bytes(2, "little")
    (tmp_path / "mushroom.zip").write_bytes(packed)
    with pytest.raises(DataError, match=f"cannot be read as mushroom: .*{phrase}.*Remove or replace it"):
        datasets.load("mushroom", tmp_path)


def refuse(path, **options):
    raise PermissionError(13, "Permission denied", str(path))


def test_a_folder_that_may_not_be_looked_into_holds_nothing(small, tmp_path, monkeypatch):
    put_plain(tmp_path)
    monkeypatch.setattr(Path, "is_file", refuse)
    assert not datasets.here("mushroom", tmp_path)
    monkeypatch.setattr(Path, "exists", refuse)
    assert home(tmp_path) == pooch.os_cache("sparsedensity")


def test_a_drive_that_is_not_there_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda path: False)
    assert home(tmp_path) == pooch.os_cache("sparsedensity")


def test_the_first_rows_of_a_published_set(small, tmp_path):
    put_plain(tmp_path)
    assert datasets.load("mushroom", tmp_path, rows=1).height == 1


# Whole files in their published form, made from the paper's tables


def published_mushroom(table, folder):
    more = table.with_columns(pl.lit("?").alias("stalk-root")).head(2480)
    pl.concat([more, table]).write_csv(folder / "agaricus-lepiota.data", include_header=False)


def published_chess_krkp(table, folder):
    text = table.with_columns(label=pl.lit("won")).write_csv(include_header=False)
    write_zip(folder / "chess+king+rook+vs+king+pawn.zip", **{"kr-vs-kp.data": text})


def published_compas(table, folder):
    for name, part in (("train", table.head(6489)), ("test", table.tail(721))):
        part.with_columns(label=pl.lit(1)).write_csv(folder / f"compas_{name}.csv")


def published_heloc(table, folder):
    rows = table.with_columns(pl.all().cast(pl.Int64) * 7 - 9)  # ten bins of the same values, if 0 and 9 occur
    rows.insert_column(0, pl.Series("RiskPerformance", ["Bad"] * rows.height)).write_csv(
        folder / "heloc_dataset_v1.csv"
    )


def published_telco_churn(table, folder):
    cut = ["tenure", "MonthlyCharges", "TotalCharges"]
    rows = table.with_columns(pl.col(cut).cast(pl.Float64) * 1.5, customerID=pl.lit("x"), Churn=pl.lit("No"))
    rows.write_csv(folder / "WA_Fn-UseC_-Telco-Customer-Churn.csv")


def published_bank_full(table, folder):
    lowest = {
        "age": pl.col("age").str.head(2),
        "balance": pl.col("balance").replace({"<0": "-1", ">=10000": "10000"}).str.replace(r"(\d)-.*", "$1"),
        "campaign": pl.col("campaign").str.strip_prefix(">="),
        "previous": pl.col("previous").str.strip_prefix(">="),
    }
    rows = table.with_columns(**lowest, y=pl.lit("no"), day=pl.lit("5"))
    text = rows.write_csv(separator=";", quote_style="always")
    inner = io.BytesIO()
    write_zip(inner, **{"bank.csv": "", "bank-full.csv": text})
    write_zip(folder / "bank+marketing.zip", **{"bank.zip": inner.getvalue(), "bank-additional.zip": _empty_zip()})


def _empty_zip():
    inner = io.BytesIO()
    write_zip(inner)
    return inner.getvalue()


def published_coco_thing(table, folder):
    categories = [{"id": 90 - i, "name": name} for i, name in enumerate(table.columns)]
    for part, rows in (("train", table.head(117266)), ("val", table.tail(4952))):
        labels = rows.cast(pl.Int8).to_numpy()
        found = [
            {"image_id": int(image) * 3, "category_id": 90 - int(column), "bbox": [0.5, 1]}
            for image, column in zip(*np.nonzero(labels), strict=True)
        ]
        content = {"info": {}, "annotations": found[::-1], "categories": categories}
        (folder / f"instances_{part}2017.json").write_text(json.dumps(content))


WHOLE = {
    "bank_full": published_bank_full,
    "chess_krkp": published_chess_krkp,
    "coco_thing": published_coco_thing,
    "compas": published_compas,
    "heloc": published_heloc,
    "mushroom": published_mushroom,
    "telco_churn": published_telco_churn,
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_published_file_becomes_the_paper_s_table(name, tmp_path):
    table = prepared(name)
    WHOLE[name](table, tmp_path)
    assert datasets.load(name, tmp_path).cast(pl.String).equals(table)


@pytest.mark.parametrize("name", WHOLE)
def test_the_paper_s_tables_are_read_as_they_are(name):
    table = prepared(name)
    assert datasets.load(name, FOLDER).cast(pl.String).equals(table)
    assert datasets.load(name, FOLDER, rows=10).height == 10
