from __future__ import annotations

import gc
import os
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog import carry_over, document_store
from deia.compile.catalog.build_catalog import CatalogReport, build_catalog
from deia.errors import ArtefactError
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import FORMAT, HEADER, NEW_WORDS, Catalog, open_catalog
from deia.search.pipeline import ranking, search
from deia.search.stored_document import Blocks

OURS = f'"format": {FORMAT}, "byteorder": "{sys.byteorder}"'
BLOCKS = '"block": 9, "text_bytes": 9'
NO_SIZES = [
    f"{{{OURS}}}",
    f'{{{OURS}, {BLOCKS}, "sizes": 3}}',
    *(
        f'{{{OURS}, {wrong}, "sizes": {{}}}}'
        for wrong in (
            '"block": 0, "text_bytes": 9', '"block": -1, "text_bytes": 9', '"block": 2.5, "text_bytes": 9',
            '"block": true, "text_bytes": 9', '"block": "9", "text_bytes": 9', '"text_bytes": 9', '"block": 9',
            '"block": 9, "text_bytes": -1', f'"block": 9, "text_bytes": 1{"0" * 400}',
            '"block": 9, "text_bytes": Infinity',
        )
    ),
]  # fmt: skip
TOPICS = "netlify postgres kubernetes redis nginx vercel docker github stripe terraform".split()


def commons(count: int) -> list[Document]:
    """Return documents that differ in a few words."""
    return [document(n, f"How to mend {TOPICS[n % 10]} number{n} when it fails") for n in range(count)]


def document(number: int, text: str) -> Document:
    """Return one document."""
    return Document(path=f"bok/d{number:03}.md", title=f"Note {number}", text=f"# Head\n\n{text}\n")


def build(folder: Path, documents: list[Document], *, previous: Path | None = None) -> CatalogReport:
    """Compile a catalog, incrementally if there is a previous one."""
    folder.mkdir()
    return build_catalog(
        [], documents, [], [], str(folder), previous=str(previous) if previous else None, incremental_from=10
    )


def opened(folder: Path) -> Catalog:
    """Open a compiled catalog."""
    return open_catalog(str(folder))


def best(folder: Path, text: str) -> list[str]:
    """Return the ranking of documents for a query."""
    return ranking(opened(folder), text, limit=20, tiers=())


def test_a_compile_reports_what_it_did(tmp_path: Path) -> None:
    report = build(tmp_path / "a", commons(30))
    assert report == CatalogReport(documents=30, chunks=30, compiled=30, tiers=("static",))
    assert len(opened(tmp_path / "a")) == 30


def test_two_compiles_of_one_commons_answer_alike_in_any_order(tmp_path: Path) -> None:
    documents = commons(40)
    build(tmp_path / "a", documents)
    build(tmp_path / "b", documents[::-1])
    for text in ("mend redis", "number7", "when it fails"):
        first, second = (ranking(opened(tmp_path / name), text, limit=40) for name in "ab")
        assert first == second
    names = [name for name in os.listdir(tmp_path / "a") if name not in ("keyword", HEADER)]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_an_unchanged_commons_is_carried_over(tmp_path: Path) -> None:
    build(tmp_path / "a", commons(40))
    report = build(tmp_path / "b", commons(40), previous=tmp_path / "a")
    assert (report.incremental, report.compiled, report.removed) == (True, 0, 0)
    assert best(tmp_path / "b", "redis") == best(tmp_path / "a", "redis")


def test_only_what_changed_is_compiled_again(tmp_path: Path) -> None:
    documents = commons(100)
    build(tmp_path / "a", documents)
    changed = [
        *documents[:5],
        document(5, "Watch the quokkas instead"),
        *documents[6:50],
        *documents[51:],
        document(200, "Fresh zebras"),
    ]
    report = build(tmp_path / "b", changed, previous=tmp_path / "a")
    assert (report.incremental, report.compiled, report.removed, report.documents) == (True, 2, 1, 100)
    assert best(tmp_path / "b", "quokkas") == ["bok/d005.md"]
    assert best(tmp_path / "b", "zebras") == ["bok/d200.md"]
    assert "bok/d005.md" not in best(tmp_path / "b", "number5")
    assert best(tmp_path / "b", "number50") == []
    assert search(opened(tmp_path / "b"), Query(text="qoukkas instead")).searched_for == "quokkas instead"
    assert best(tmp_path / "a", "number5") == ["bok/d005.md"], "the previous catalog is left as it was"


def test_changes_upon_changes_add_up(tmp_path: Path) -> None:
    documents = commons(100)
    build(tmp_path / "0", documents)
    for turn in range(1, 4):
        documents = [*documents[:turn], document(turn, f"Round of marmots{turn} twentyword"), *documents[turn + 1 :]]
        report = build(tmp_path / str(turn), documents, previous=tmp_path / str(turn - 1))
        assert (report.incremental, report.compiled, report.chunks) == (True, 1, 100)
    assert best(tmp_path / "3", "twentyword") == ["bok/d001.md", "bok/d002.md", "bok/d003.md"]
    assert {stored.entry.id for stored in opened(tmp_path / "3").documents(doc.path for doc in documents)} == {
        doc.path for doc in documents
    }
    assert set(dict(opened(tmp_path / "3").vocabularies()[1].words())) == {"round", "twentyword"}


def test_a_word_that_only_removed_texts_had_is_no_word_of_the_catalog(tmp_path: Path) -> None:
    ovens = [document(200, "The quibbledorf oven"), document(201, "The oven is hot")]
    build(tmp_path / "a", [*commons(100), *ovens])
    report = build(tmp_path / "b", [*commons(100), ovens[1]], previous=tmp_path / "a")
    assert report.incremental
    index = opened(tmp_path / "b").keyword
    (rare, shared) = index.stems(["quibbledorf", "oven"])
    assert (index.frequency(rare), index.frequency(shared)) == (0, 1)
    assert not search(opened(tmp_path / "b"), Query(text="quibbledorf")).documents


def linked(folder: Path) -> set[str]:
    """Return the files of a catalog's documents that another catalog has, too."""
    names = [name for name in os.listdir(folder) if name.startswith("documents-")]
    return {name for name in names if (folder / name).stat().st_nlink > 1}


def test_only_the_blocks_in_which_documents_changed_are_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_store, "SMALLEST_BLOCK", 10)
    documents = commons(35)
    build(tmp_path / "a", documents)
    changed = [*documents[:12], document(12, "Watch the quokkas"), *documents[13:]]
    assert build(tmp_path / "c", changed, previous=tmp_path / "a").incremental
    assert linked(tmp_path / "c") == {"documents-0.txt", "documents-2.txt"}
    assert best(tmp_path / "c", "quokkas") == ["bok/d012.md"]
    assert b"quokkas" not in (tmp_path / "a" / "documents-1.txt").read_bytes()


CHANGES = st.lists(st.tuples(st.sampled_from("+-~"), st.integers(0, 350), st.text("ab é\n", max_size=40)), max_size=4)


@given(st.lists(CHANGES, min_size=1, max_size=3), st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_after_any_changes_every_document_is_as_in_a_catalog_that_is_compiled_whole(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, int, str]]], block: int
) -> None:
    folder = tmp_path_factory.mktemp("changes")
    held = {one.path: one for one in commons(300)}  # so many that twelve changes are few
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_store, "SMALLEST_BLOCK", block)
        build(folder / "0", [*held.values()])
        for turn, changes in enumerate(rounds, 1):
            for kind, number, text in changes:
                one = document(number, text)
                if kind == "-":
                    held.pop(one.path, None)
                elif (kind == "~") == (one.path in held):
                    held[one.path] = one
            assert build(folder / str(turn), [*held.values()], previous=folder / str(turn - 1)).incremental
    catalog = opened(folder / str(len(rounds)))
    stored = {stored.entry.path: catalog.text(stored) for stored in catalog.documents(catalog.ids())}
    assert stored == {path: one.text for path, one in held.items()}
    build(folder / "whole", [*held.values()])
    assert catalog.length == pytest.approx(opened(folder / "whole").length)


def test_a_block_with_a_hole_is_linked_like_others_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_store, "SMALLEST_BLOCK", 10)
    build(tmp_path / "a", commons(100))
    left = [one for one in commons(100) if one.path not in ("bok/d005.md", "bok/d045.md")]
    for name, before, written in (("b", "a", {0, 3}), ("c", "b", set[int]())):
        assert build(tmp_path / name, left, previous=tmp_path / before).incremental
        names = {f"documents-{block}.txt" for block in range(8) if block not in written}
        assert linked(tmp_path / name) >= names - {"documents-7.txt"}
    assert len(opened(tmp_path / "c")) == 98


def test_files_of_a_catalog_are_closed_as_soon_as_nobody_has_it(tmp_path: Path) -> None:
    build(tmp_path / "a", commons(20))
    catalog = opened(tmp_path / "a")
    catalog.document("bok/d003.md")
    folder = catalog.folder
    gc.disable()
    try:
        del catalog
        assert not [one for one in gc.get_objects() if isinstance(one, Catalog) and one.folder == folder]
    finally:
        gc.enable()


def test_a_catalog_that_grew_beyond_its_blocks_is_compiled_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_store, "SMALLEST_BLOCK", 1)
    monkeypatch.setattr(document_store, "BLOCKS", 32)
    monkeypatch.setattr(carry_over, "MOST_BLOCKS", 34)
    for turn, count in enumerate((32, 33, 34, 35, 36)):
        report = build(tmp_path / str(turn), commons(count), previous=tmp_path / str(turn - 1) if turn else None)
        assert report.incremental == (turn not in (0, 4))
        assert report.documents == count


def test_passages_without_words_are_known_after_a_change_and_gone_with_their_document(tmp_path: Path) -> None:
    documents = commons(40)
    numbers = document(99, "\n".join(f"{n},{n / 7:.6f},{n / 3:.6f}" for n in range(4_000)))
    for name, texts, before in (("a", documents, None), ("b", [*documents, numbers], "a"), ("c", documents, "b")):
        report = build(tmp_path / name, texts, previous=tmp_path / before if before else None)
        assert report.incremental == bool(before)
        assert opened(tmp_path / name).keyword.worded == 40
    assert [opened(tmp_path / name).keyword.chunks > 80 for name in "abc"] == [False, True, False]
    assert len(opened(tmp_path / "b").keyword.begun_without_words) == 1


def test_many_changes_are_compiled_whole(tmp_path: Path) -> None:
    build(tmp_path / "a", commons(40))
    changed = [document(n, "all new") for n in range(40)]
    assert not build(tmp_path / "b", changed, previous=tmp_path / "a").incremental


@pytest.mark.parametrize("damage", [HEADER, NEW_WORDS, "documents-0.txt"])
def test_a_damaged_previous_catalog_is_not_carried_over(tmp_path: Path, damage: str) -> None:
    build(tmp_path / "a", commons(40))
    (tmp_path / "a" / damage).write_bytes(b"torn")
    report = build(tmp_path / "b", commons(40), previous=tmp_path / "a")
    assert (report.incremental, report.compiled) == (False, 40)


@pytest.mark.parametrize("damage", [HEADER, NEW_WORDS, "documents-0.txt", "documents.at", "patterns.json"])
def test_a_torn_catalog_is_refused_with_the_cure(tmp_path: Path, damage: str) -> None:
    build(tmp_path / "a", commons(3))
    path = tmp_path / "a" / damage
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArtefactError, match="deia compile"):
        opened(tmp_path / "a")


@pytest.mark.parametrize("places", [(0, 9, 2**62), (2**63, 2**63, 2**63), (9, 3, 9), (5, 6, 10**9)])
def test_a_place_beyond_the_block_is_told(tmp_path: Path, places: tuple[int, int, int]) -> None:
    build(tmp_path / "a", commons(3))
    path = tmp_path / "a" / "documents.at"
    path.write_bytes(struct.pack("3Q", *places) + path.read_bytes()[24:])
    catalog = opened(tmp_path / "a")
    for read in (catalog.id, catalog.path, catalog.document_at):
        with pytest.raises(ArtefactError, match="deia compile --force"):
            read(0)
    assert catalog.id(1) == "bok/d001.md"


@pytest.mark.parametrize("size", [1, 8, 16, 25])
def test_a_table_of_places_that_is_cut_is_told(tmp_path: Path, size: int) -> None:
    build(tmp_path / "a", commons(3))
    (tmp_path / "a" / "documents.at").write_bytes(bytes(size))
    with pytest.raises(ArtefactError, match="deia compile"):
        Blocks(str(tmp_path / "a"), 500)


@pytest.mark.parametrize("damage", [HEADER, "words.bin", "keyword/meta.json"])
def test_an_incomplete_catalog_is_refused_with_the_cure(tmp_path: Path, damage: str) -> None:
    build(tmp_path / "a", commons(3))
    (tmp_path / "a" / damage).unlink()
    with pytest.raises(ArtefactError, match="deia compile"):
        opened(tmp_path / "a")


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", '{"format": 99}', '{"format": 1, "byteorder": "middle"}', *NO_SIZES]
)
def test_a_foreign_catalog_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / HEADER).write_text(text)
    with pytest.raises(ArtefactError, match="deia compile"):
        opened(tmp_path)


def test_an_empty_commons_compiles_and_answers(tmp_path: Path) -> None:
    assert build(tmp_path / "a", []).chunks == 0
    assert search(opened(tmp_path / "a"), Query(text="anything at all")).matched is False


def test_the_first_of_entries_that_share_an_id_counts_and_one_without_is_left_out(tmp_path: Path) -> None:
    entries = [
        Entry(id="one", path="bok/1.md", title="First"),
        Entry(id="one", path="bok/2.md", title="Second"),
        Entry(id="", path="bok/3.md", title="Third"),
    ]
    report = build_catalog(entries, [], [], [], str(tmp_path))
    assert report.documents == 1
    assert open_catalog(str(tmp_path)).documents(["one"])[0].entry.title == "First"


ANY = st.text(st.characters(), max_size=40)


@given(st.lists(st.tuples(ANY, ANY, ANY), min_size=1, max_size=4, unique_by=lambda row: row[0]))
@settings(max_examples=15, deadline=None)
def test_no_content_is_too_strange_to_compile_and_to_give_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder = str(tmp_path_factory.mktemp("strange"))
    entries = [
        Entry(id=name, path=f"bok/{at}.md", title=title, tags=(text,)) for at, (name, title, text) in enumerate(rows)
    ]
    documents = [Document(path=f"bok/{at}.md", title=title, text=text) for at, (_, title, text) in enumerate(rows)]
    build_catalog(entries, documents, [], [], folder)
    catalog = open_catalog(folder)
    for number in range(catalog.numbers):
        (shelved,) = catalog.documents([catalog.id(number)])
        original = next(document for document in documents if document.path == shelved.entry.path)
        assert catalog.text(shelved) == original.text.encode("utf-8", "replace").decode()
