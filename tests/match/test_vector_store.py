from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.vectors import Encoder, VectorWriter
from deia.errors import ArtefactError
from deia.match import vector_store as module
from deia.match.tiers import TIERS, open_tier
from deia.match.vector_store import ABOUT, CODES, SIGNS, STARTS, Vectors

STATIC = open_tier("static")
TEXTS = [
    ("Backups", ["Restore the database from last night's dump.", "Test a restore every month."]),
    ("Certificates", ["The TLS certificate expired and browsers refuse the site."]),
    ("Pods", ["A container restarts again and again.", "", "Look at the logs of the previous container."]),
]


def write(folder: Path) -> Vectors:
    """Write the vectors of TEXTS with a hole after the first document."""
    writer = VectorWriter(str(folder), "static")
    for number, (title, texts) in enumerate(TEXTS):
        writer.put_coded(Encoder("static").of([title], [texts]))
        if number == 0:
            writer.leave_out()
    writer.close()
    return Vectors(str(folder), tier="static", dimensions=STATIC.dimensions)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    return write(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(params=["plain", "numpy"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test as in a cold process, and as in one that has loaded numpy."""
    if request.param == "plain":
        monkeypatch.delitem(sys.modules, "numpy")
        monkeypatch.setattr(module, "OFTEN", 10**9)
    return str(request.param)


def test_passages_are_numbered_consecutively_and_removed_documents_have_none(stored: Vectors) -> None:
    assert len(stored) == 6
    assert [stored.passage(number, 0) for number in (0, 2, 3)] == [0, 2, 3]
    assert [stored.place(passage) for passage in range(6)] == [(0, 0), (0, 1), (2, 0), (3, 0), (3, 1), (3, 2)]


def test_the_nearest_passage_is_the_paraphrase(stored: Vectors, either_way: str) -> None:
    vector = STATIC.encode("my ssl cert is no longer valid")
    assert stored.near(vector, most=1) == [2]
    cosines = STATIC.similarities(vector, stored.passages(range(6)))
    assert max(range(6), key=cosines.__getitem__) == 2
    assert stored.near(vector, most=50) == list(range(6))


def test_a_search_can_be_limited_to_some_documents(stored: Vectors, either_way: str) -> None:
    vector = STATIC.encode("my ssl cert is no longer valid")
    assert stored.near(vector, most=1, among={0, 3})[0] in {0, 1, 3, 4, 5}
    assert stored.near(vector, most=9, among={3}) == [3, 4, 5]
    assert stored.near(vector, most=9, among=set()) == []


def test_a_zero_vector_is_near_nothing(stored: Vectors, either_way: str) -> None:
    assert stored.near(STATIC.encode(""), most=5) == []


def test_numpy_does_not_change_the_result(stored: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [STATIC.encode(text) for text in ("restore a dump", "container logs", "browser", "a b c d")]
    fast = [stored.near(vector, most=3) for vector in questions]
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(module, "OFTEN", 10**9)
    assert [stored.near(vector, most=3) for vector in questions] == fast


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12))
@settings(max_examples=60)
def test_the_smallest_numbers_are_selected_and_ties_go_to_the_first(distances: list[int], most: int) -> None:
    expected = sorted(sorted(range(len(distances)), key=lambda place: (distances[place], place))[:most])
    assert module._least(distances, most) == expected
    assert module._least(np.array(distances, "u2"), most) == expected


def test_a_large_catalog_without_lists_is_not_scanned(stored: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SCANNED", 5)
    assert stored.near(STATIC.encode("restore a dump"), most=3) == []


def test_raw_returns_what_was_written(stored: Vectors, tmp_path: Path) -> None:
    writer = VectorWriter(str(tmp_path), "static")
    for documents in (range(2), range(2, 3), range(3, 4)):
        writer.copy(stored, documents)
    writer.close()
    copied = Vectors(str(tmp_path), tier="static", dimensions=STATIC.dimensions)
    assert copied.passages(range(6)) == stored.passages(range(6))
    assert copied.documents(range(4)) == stored.documents(range(4))
    assert [copied.place(passage) for passage in range(6)] == [stored.place(passage) for passage in range(6)]


@pytest.mark.parametrize("name", [CODES, SIGNS, ABOUT, STARTS])
def test_the_error_for_truncated_files_says_what_to_do(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    path = tmp_path / f"static.{name}"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ArtefactError, match="deia compile"):
        Vectors(str(tmp_path), tier="static", dimensions=STATIC.dimensions)
    path.unlink()
    with pytest.raises(ArtefactError, match="deia compile"):
        Vectors(str(tmp_path), tier="static", dimensions=STATIC.dimensions)


def test_a_tier_is_opened_once_and_an_unknown_one_is_an_error() -> None:
    assert open_tier("static") is STATIC
    assert "static" in TIERS
    with pytest.raises(KeyError):
        open_tier("telepathy")


def test_names_are_split_before_encoding() -> None:
    assert STATIC.encode("KubePodCrashLooping") == STATIC.encode("Kube Pod Crash Looping")
