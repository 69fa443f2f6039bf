"""Fetching, against a real server on this machine: what arrives is kept only whole and only if it is right."""

import dataclasses
import http.server
import json
import socket
import threading
import zipfile

import polars as pl
import pytest

from reproduction import datasets, listing
from reproduction.datasets import prepare
from reproduction.datasets.digest import digest
from reproduction.datasets.fetching import FetchError, download
from reproduction.datasets.published import PUBLISHED, PublishedFile, PublishedForm
from reproduction.paper import DATA_SETS
from sparsedensity.errors import DataError
from tests.reproduction.command import run

MUSHROOMS = "p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u\n"
ADDRESS = "/mushroom/agaricus-lepiota.data"
REAL_FORMS = PUBLISHED["mushroom"].forms


class Handler(http.server.BaseHTTPRequestHandler):
    """Gives what the test put on the server, in the way that the test asks for."""

    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        if self.path not in server.files:
            self.send_error(404)
            return
        content, way = server.files[self.path]
        if way == "redirect":
            self.send_response(302)
            self.send_header("Location", content.decode())
            self.end_headers()
            return
        if way == "never":
            server.closing.wait(10)
            return
        self.send_response(200)
        if way == "in chunks, cut off":
            self.send_header("Transfer-Encoding", "chunked")
        elif way != "without length":
            self.send_header("Content-Length", "long" if way == "nonsense" else str(len(content)))
        self.end_headers()
        if way == "in chunks, cut off":
            self.wfile.write(b"%x\r\n%b" % (len(content), content[: len(content) // 2]))
        else:
            self.wfile.write(content[: len(content) // 2] if way == "cut off" else content)

    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture
def server():
    """A server of files: put them into ``files`` by path."""
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.files, served.asked, served.closing = {}, [], threading.Event()
    served.address = f"http://127.0.0.1:{served.server_port}"
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    served.off = lambda: (served.closing.set(), served.shutdown(), served.server_close(), thread.join())
    yield served
    if thread.is_alive():
        served.off()


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The folder in which data are kept; nobody's own folders are seen, and no proxy."""
    monkeypatch.setenv("SPARSEDENSITY_DATA", str(tmp_path / "kept"))
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("SPARSEDENSITY_MIRROR", raising=False)
    return tmp_path / "kept"


@pytest.fixture
def small(server, monkeypatch):
    """Mushrooms of one row, published on our server."""
    table = pl.DataFrame([MUSHROOMS.strip().split(",")], schema=prepare.MUSHROOM, orient="row")
    form = PublishedForm((PublishedFile("agaricus-lepiota.data", (server.address + ADDRESS,)),), prepare.mushroom)
    record = dataclasses.replace(PUBLISHED["mushroom"], rows=1, pairs=23, digest=digest(table), forms=(form,))
    monkeypatch.setitem(PUBLISHED, "mushroom", record)
    return record


def put(server, content=MUSHROOMS, way="plainly", path=ADDRESS):
    server.files[path] = (content if isinstance(content, bytes) else content.encode(), way)


def names_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("way", ["plainly", "without length"])
def test_what_is_absent_is_fetched_checked_and_kept(way, server, small, kept, capsys):
    put(server, way=way)
    assert datasets.load("mushroom").shape == (1, 23)
    assert names_in(kept) == ["mushroom.parquet"]
    assert capsys.readouterr().err == f"fetching {server.address}{ADDRESS}\n"


def test_what_was_fetched_is_there_when_the_network_is_not(server, small, kept, capsys):
    put(server)
    datasets.load("mushroom")
    server.off()
    capsys.readouterr()
    assert datasets.here("mushroom")
    assert datasets.load("mushroom").height == 1
    assert capsys.readouterr().err == ""
    assert server.asked == [ADDRESS]


def test_a_folder_that_is_named_keeps_what_is_fetched(server, small, kept, tmp_path):
    put(server)
    datasets.load("mushroom", tmp_path / "mine")
    assert names_in(tmp_path / "mine") == ["mushroom.parquet"]
    assert not kept.exists()


def refused(phrases, kept):
    """Loading fails in one sentence or two, and nothing stays."""
    with pytest.raises(FetchError) as caught:
        datasets.load("mushroom")
    text = str(caught.value)
    assert text.startswith("mushroom is not on this machine and cannot be fetched: ")
    assert f"Put agaricus-lepiota.data, or mushroom.csv.gz into {kept}" in text
    assert "SPARSEDENSITY_DATA" in text
    for phrase in phrases:
        assert phrase in text
    assert "\n" not in text
    assert names_in(kept) == []
    assert not datasets.here("mushroom")


def test_a_file_that_is_gone_says_so_and_nothing_stays(server, small, kept):
    refused([f"{server.address}{ADDRESS} answers 404 Not Found."], kept)


@pytest.mark.parametrize("way", ["cut off", "in chunks, cut off", "nonsense"])
def test_a_transfer_that_breaks_off_or_makes_no_sense_says_so_and_nothing_stays(way, server, small, kept):
    put(server, MUSHROOMS * 10_000, way)
    refused([f"{server.address}{ADDRESS} cannot be fetched ("], kept)


def test_a_server_that_never_answers_is_given_up(server, small, kept, monkeypatch):
    monkeypatch.setattr("reproduction.datasets.fetching.PATIENCE", 0.2)
    put(server, way="never")
    refused([f"{server.address}{ADDRESS} cannot be fetched (ReadTimeout)."], kept)


def test_what_is_no_web_server_is_given_up(small, kept, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answering = threading.Thread(target=greet, args=(listening,))
        answering.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/agaricus-lepiota.data"
        form = PublishedForm((PublishedFile("agaricus-lepiota.data", (address,)),), prepare.mushroom)
        monkeypatch.setitem(PUBLISHED, "mushroom", dataclasses.replace(small, forms=(form,)))
        refused([f"{address} cannot be fetched ("], kept)
        answering.join()


def greet(listening):
    """Answer as a mail server does."""
    with listening.accept()[0] as line:
        line.recv(1 << 16)
        line.sendall(b"220 mail ready\r\n\r\n")


def test_content_that_is_not_what_was_published_says_what_differs_and_nothing_stays(server, small, kept):
    put(server, MUSHROOMS * 3)
    refused(["what arrived is not mushroom as the paper used it: it has 3 rows instead of 1."], kept)
    put(server, MUSHROOMS.replace("p,x", "e,x"))
    refused(["it has as many rows, columns and values, but others."], kept)
    put(server, "<html><body>Please log in</body></html>")
    refused(["what arrived "], kept)


def test_no_server_says_so_and_nothing_stays(server, small, kept):
    server.off()
    refused([f"{server.address}{ADDRESS} cannot be fetched (ConnectionError)."], kept)


def test_a_set_can_be_fetched_after_a_failure(server, small, kept):
    put(server, way="cut off")
    refused([], kept)
    put(server)
    assert datasets.load("mushroom").height == 1


@pytest.mark.parametrize("first", [None, "<html>We have moved</html>", MUSHROOMS * 2], ids=["gone", "a page", "wrong"])
def test_an_address_that_fails_gives_way_to_the_next(first, server, small, monkeypatch):
    twice = PublishedFile("agaricus-lepiota.data", (f"{server.address}/new.zip", server.address + ADDRESS))
    monkeypatch.setitem(
        PUBLISHED, "mushroom", dataclasses.replace(small, forms=(PublishedForm((twice,), prepare.mushroom),))
    )
    if first:
        put(server, first, path="/new.zip")
    put(server)
    assert datasets.load("mushroom").height == 1
    assert server.asked == ["/new.zip", ADDRESS]


def test_a_form_that_arrives_wrong_gives_way_to_the_next(server, small, monkeypatch):
    other = PublishedForm((PublishedFile("other.data", (f"{server.address}/other.data",)),), prepare.mushroom)
    monkeypatch.setitem(PUBLISHED, "mushroom", dataclasses.replace(small, forms=(*small.forms, other)))
    put(server, MUSHROOMS * 2)
    put(server, path="/other.data")
    assert datasets.load("mushroom").height == 1


def test_an_archive_with_several_files_is_fetched_once(server, monkeypatch, tmp_path):
    content = {"annotations": [{"image_id": 1, "category_id": 1}], "categories": [{"id": 1, "name": "person"}]}
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for part in ("train", "val"):
            archive.writestr(f"annotations/instances_{part}2017.json", json.dumps(content))
    put(server, (tmp_path / "both.zip").read_bytes(), path="/both.zip")
    files = tuple(
        PublishedFile(f"instances_{part}2017.json", (f"{server.address}/both.zip",)) for part in ("train", "val")
    )
    table = pl.DataFrame({"person": [1, 1]})
    record = dataclasses.replace(
        PUBLISHED["coco_thing"],
        rows=2,
        columns=1,
        pairs=1,
        digest=digest(table),
        forms=(PublishedForm(files, prepare.coco_thing),),
    )
    monkeypatch.setitem(PUBLISHED, "coco_thing", record)
    assert datasets.load("coco_thing").rows() == [(1,), (1,)]
    assert server.asked == ["/both.zip"]


def test_redirections_are_followed_within_the_web_only(server, small, kept, tmp_path):
    put(server, server.address + "/moved", "redirect")
    put(server, path="/moved")
    assert datasets.load("mushroom").height == 1
    for elsewhere in (f"file://{tmp_path}/secret", "ftp://127.0.0.1/secret"):
        put(server, elsewhere, "redirect", "/out")
        with pytest.raises(DataError, match="/out"):
            download(f"{server.address}/out", tmp_path / "to")
        assert names_in(tmp_path / "to") == []


@pytest.mark.parametrize("address", ["file:///etc/hosts", "ftp://127.0.0.1/a", "data:,a"])
def test_only_web_addresses_are_fetched(address, tmp_path):
    with pytest.raises(DataError, match="cannot be fetched"):
        download(address, tmp_path / "to")
    assert names_in(tmp_path / "to") == []


def test_a_folder_that_cannot_be_made_says_so(server, small, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("reproduction.datasets.home", lambda folder: tmp_path / "file" / "kept")
    with pytest.raises(FetchError, match=r"mushroom cannot be kept in .*SPARSEDENSITY_DATA"):
        datasets.load("mushroom")


def test_what_stands_in_is_named_where_a_set_cannot_be_had(server, monkeypatch):
    monkeypatch.setenv("SPARSEDENSITY_MIRROR", server.address)
    with pytest.raises(FetchError, match=r"404 Not Found.*census_like is something like it"):
        datasets.load("us_census_1990")


@pytest.mark.parametrize("mirrored", ["agaricus-lepiota.data", "mushroom.zip"])
def test_a_mirror_is_asked_for_the_files_by_their_names(mirrored, server, small, monkeypatch, tmp_path):
    monkeypatch.setitem(PUBLISHED, "mushroom", dataclasses.replace(small, forms=REAL_FORMS))
    monkeypatch.setenv("SPARSEDENSITY_MIRROR", f"{server.address}/mirror/")
    with zipfile.ZipFile(tmp_path / "mushroom.zip", "w") as archive:
        archive.writestr("agaricus-lepiota.data", MUSHROOMS)
    (tmp_path / "agaricus-lepiota.data").write_text(MUSHROOMS)
    put(server, (tmp_path / mirrored).read_bytes(), path=f"/mirror/{mirrored}")
    assert datasets.load("mushroom").height == 1
    assert server.asked[-1] == f"/mirror/{mirrored}"


def test_the_command_fetches_by_name_and_says_so_in_one_sentence(server, monkeypatch):
    monkeypatch.setenv("SPARSEDENSITY_MIRROR", server.address)
    done = run("datasets", "chess_krkp")
    assert done.returncode == 1
    assert done.stdout == ""
    *notes, error = done.stderr.splitlines()
    assert notes == [
        f"fetching {server.address}/kr-vs-kp.data",
        f"fetching {server.address}/chess%2Bking%2Brook%2Bvs%2Bking%2Bpawn.zip",
    ]
    assert error.startswith("error: chess_krkp is not on this machine and cannot be fetched: ")


@pytest.mark.parametrize("rows", ["many", "0"])
def test_the_command_checks_its_options_before_it_fetches(rows, server, monkeypatch):
    monkeypatch.setenv("SPARSEDENSITY_MIRROR", server.address)
    assert run("datasets", "chess_krkp", "--rows", rows).returncode == 2
    assert server.asked == []


def test_the_command_writes_a_set_out(tmp_path):
    assert run("datasets", "balance").stdout.splitlines()[1] == "1,1,1,1"
    for ending, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        assert run("datasets", "census_like", "--rows", "20", "-o", tmp_path / f"a.{ending}").returncode == 0
        assert read(tmp_path / f"a.{ending}").shape == (20, 68)


def test_the_check_goes_on_after_a_file_that_is_wrong(kept):
    kept.mkdir()
    (kept / "mushroom.csv").write_text("class,odor\np,a\n")
    outcome = {name: listing.outcome(DATA_SETS[name]) for name in ("mushroom", "nursery")}
    assert outcome["mushroom"].startswith(f"{kept / 'mushroom.csv'} is not mushroom as the paper used it: ")
    assert outcome["nursery"].startswith("agrees, ")


def test_the_command_lists_what_is_made_here_or_to_be_fetched(kept):
    kept.mkdir()
    (kept / "mushroom.csv").touch()
    lines = {line.split()[0]: line for line in run("datasets").stdout.splitlines()}
    assert list(lines) == ["name", *datasets.NAMES]
    for name, comes in {"titanic": "made", "mushroom": "here", "heloc": "to fetch"}.items():
        assert f"  {comes}  " in lines[name]


def test_the_command_counts_what_the_paper_counted():
    lines = run("datasets", "--check").stdout.splitlines()
    for line, outcome in {
        "connect4": "agrees, sha256 36f187c614bdd949",
        "crime": "no loader; housebreaks is like it",
        "us_census_1990": "not on this machine; census_like is like it",
    }.items():
        assert sum(DATA_SETS[line].title in text and text.endswith(outcome) for text in lines) in (1, 2)
    assert len(lines) == 1 + len(DATA_SETS)
