from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from deia.compile.catalog import ivf_lists as sorting
from deia.compile.catalog import vectors as writing
from deia.compile.catalog.vectors import Encoder, VectorWriter
from deia.errors import ArtefactError
from deia.match import ivf as reading
from deia.match import vector_store as module
from deia.match.ivf import GROUPED, LISTS
from deia.match.tiers import open_tier
from deia.match.vector_store import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TOPICS = (
    "certificate expired browser refuses tls",
    "restore database backup dump postgres",
    "container restarts crash loop kubernetes pod",
    "delete site netlify deploy production",
    "rotate secret password vault token",
)
DETAILS = "morning evening server client cluster region owner ticket warning customer release".split()
QUESTIONS = ("my ssl cert is no longer valid", "bring back the db from a dump", "pod keeps restarting")
COUNT = 400


def texts(count: int = COUNT) -> list[str]:
    """Return passages on a few subjects, no two alike."""
    return [f"{TOPICS[n % 5]} {DETAILS[n % 11]} {DETAILS[n // 11 % 11]} {DETAILS[n // 121]}" for n in range(count)]


@pytest.fixture(autouse=True)
def _small_catalogs_have_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LISTED_FROM", 100)
    monkeypatch.setattr(sorting, "LISTED_FROM", 100)


def add(writer: VectorWriter, passages: Sequence[str]) -> None:
    """Write documents of one passage each."""
    writer.put_coded(Encoder("static").of([text[:20] for text in passages], [[text] for text in passages]))


def opened(folder: Path) -> Vectors:
    """Open the vectors in a folder."""
    return Vectors(str(folder), tier="static", dimensions=open_tier("static").dimensions)


def written(folder: Path, passages: Sequence[str]) -> Vectors:
    """Write vectors into a folder and open them."""
    folder.mkdir()
    writer = VectorWriter(str(folder), "static")
    add(writer, passages)
    writer.close()
    return opened(folder)


def nearest(vectors: Vectors, question: str, most: int) -> list[int]:
    """Return the passages nearest to a query, best first, as a search ranks them."""
    tier = open_tier("static")
    vector = tier.encode(question)
    near = vectors.near(vector, most=most)
    cosines = tier.similarities(vector, vectors.passages(near))
    return [passage for _, passage in sorted(zip(cosines, near, strict=True), reverse=True)]


def test_every_passage_is_in_one_list(tmp_path: Path) -> None:
    lists = written(tmp_path / "a", texts()).lists
    assert lists is not None
    assert len(lists) == 20, "as many as the root of the passages"
    assert sorted(passage for members in lists.members() for passage in members) == list(range(COUNT))


def test_a_small_catalog_has_no_lists(tmp_path: Path) -> None:
    assert written(tmp_path / "a", texts(50)).lists is None


def test_all_lists_together_give_what_a_scan_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = written(tmp_path / "a", texts())
    monkeypatch.setattr(writing, "LISTED_FROM", COUNT)
    scanned = written(tmp_path / "b", texts())
    assert scanned.lists is None
    for question in QUESTIONS:
        everything = range(COUNT)
        assert listed.near(open_tier("static").encode(question), most=COUNT) == list(everything)
        assert nearest(listed, question, COUNT) == nearest(scanned, question, COUNT)


def test_a_few_lists_hold_the_nearest_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = written(tmp_path / "a", texts())
    exact = [nearest(vectors, question, COUNT)[:10] for question in QUESTIONS]
    monkeypatch.setattr(reading, "PROBED", 8)
    for question, wanted in zip(QUESTIONS, exact, strict=True):
        near = nearest(vectors, question, COUNT)
        assert len(near) < COUNT, "not everything was read"
        assert len({*wanted} & {*near[:10]}) >= 9


def test_lists_of_near_copies_do_not_make_a_question_read_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = written(tmp_path / "a", [*texts(), *["exactly the same words"] * 300])
    asked = [open_tier("static").encode(text) for text in (QUESTIONS[0], "exactly the same words")]
    monkeypatch.setattr(reading, "MOST_READ", 200)
    near = [vectors.near(vector, most=1_000) for vector in asked]
    assert 200 <= len(near[0]) < 600
    assert set(range(COUNT, COUNT + 300)) <= set(near[1])


def test_with_and_without_numpy_the_same_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = written(tmp_path / "a", texts())
    monkeypatch.setattr(reading, "PROBED", 5)
    asked = [open_tier("static").encode(question) for question in QUESTIONS]
    fast = [vectors.near(vector, most=15) for vector in asked]
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(module, "OFTEN", 10**9)
    assert [vectors.near(vector, most=15) for vector in asked] == fast


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        written(tmp_path / name, texts())
    for name in (LISTS, GROUPED):
        assert (tmp_path / "a" / f"static.{name}").read_bytes() == (tmp_path / "b" / f"static.{name}").read_bytes()


def test_what_stays_keeps_its_list_and_what_is_new_is_sorted_in(tmp_path: Path) -> None:
    before = written(tmp_path / "a", texts())
    folder = tmp_path / "b"
    folder.mkdir()
    writer = VectorWriter(str(folder), "static")
    writer.copy(before, range(10))
    add(writer, ["a certificate that expired", "nothing of what was said before"])
    writer.leave_out()
    writer.copy(before, range(13, COUNT))
    writer.close()
    after = opened(folder)
    assert before.lists is not None
    assert after.lists is not None
    assert after.lists.middles == before.lists.middles
    moved = {number: number for number in range(10)} | {number: number - 1 for number in range(13, COUNT)}
    for old, new in zip(before.lists.members(), after.lists.members(), strict=True):
        assert {moved[number] for number in old if number in moved} == {*new} - {10, 11}
    assert sorted(passage for members in after.lists.members() for passage in members) == list(range(COUNT - 1))
    assert 10 in nearest(after, "the certificate has expired", 30)


def test_lists_that_became_too_few_are_made_anew(tmp_path: Path) -> None:
    before = written(tmp_path / "a", texts(101))
    folder = tmp_path / "b"
    folder.mkdir()
    writer = VectorWriter(str(folder), "static")
    writer.copy(before, range(101))
    add(writer, texts(700))
    writer.close()
    lists = opened(folder).lists
    assert lists is not None
    assert len(lists) == 28


@pytest.mark.parametrize("name", [LISTS, GROUPED])
@pytest.mark.parametrize("left", [0, 3, -1])
def test_torn_lists_are_refused_with_the_cure(tmp_path: Path, name: str, left: int) -> None:
    written(tmp_path / "a", texts())
    path = tmp_path / "a" / f"static.{name}"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ArtefactError, match="deia compile"):
        opened(tmp_path / "a")
    if name == GROUPED:
        path.unlink()
        with pytest.raises(ArtefactError, match="deia compile"):
            opened(tmp_path / "a")
