"""Exported chunks taken in again: the same to the byte, and nothing that somebody else wrote does any harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.ingest.checked_source import checked
from deia.ingest.chunk_export import NAMESPACE, exported, xml_files
from deia.ingest.ingesting import Outcome, ingest
from deia.ingest.library_store import Library
from deia.ingest.reading import ReadingError
from deia.ingest.source import FolderSource, described, typed
from deia.ingest.source_kinds.from_chunks import rebuilt, xml_row
from tests.ingest.chunkers.test_definitions import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE chunk [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + f']><chunk xmlns="{NAMESPACE}" id="x"><content>&j;</content></chunk>'
)
PROSE = "\n\n# A & B\n\nWords \x1b[0m ]]> of <it>.\n\n## Deeper\n\n" + "One more sentence stands here. " * 120
ROW: dict[str, Any] = {
    "id": "docs:a.md#0:passage", "parent_id": None, "children": [], "level": 0, "path": "a.md", "title": "A",
    "type": "markdown", "lines": [1, 1], "page": None, "heading": "A", "metadata": {}, "content": "words",
}  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(str(tmp_path / "library")) as opened:
        yield opened


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text(PROSE, encoding="utf-8")
    (folder / "deep/long.txt").write_text("A line that goes on and on. " * 400, encoding="utf-8")
    (folder / "plain").write_text("no ending\n", encoding="utf-8")
    (folder / "empty.md").write_text("", encoding="utf-8")
    api = {"openapi": "3", "paths": {f"/{n}": {"get": {"$ref": "#/x]]>", "long": "x" * n}} for n in range(400)}}
    (folder / "api.json").write_text(json.dumps(api, indent=1), encoding="utf-8")
    for language, ending in {"python": "py", "cpp": "cpp", "java": "java"}.items():
        (folder / f"sample.{ending}").write_text(SAMPLES[language]["source"] * 60, encoding="utf-8")
    return folder


def chunks_of(library: Library, name: str) -> list[bytes]:
    return [json.dumps(row).encode() for row in exported(library, name)]


def take_in(library: Library, place: Path, name: str = "") -> Outcome:
    source = typed(str(place), kind="chunks").but(name=name, collection="docs")
    return ingest(library, library.register(checked(source)))


@pytest.mark.parametrize("strategy", ["", "hierarchical", "by_sentence", "fixed_chars"])
def test_lines_of_json_come_back_as_they_were(library: Library, docs: Path, tmp_path: Path, strategy: str) -> None:
    chunker: dict[str, Any] = {"strategy": strategy, "max_chars": 200, "overlap_chars": 40} if strategy else {}
    source = described(FolderSource(path=str(docs), name="docs")).but(chunker=chunker)
    ingest(library, library.register(checked(source)))
    before = chunks_of(library, "docs")
    assert any(json.loads(row)["parent_id"] for row in before)
    (tmp_path / "docs.jsonl").write_bytes(b"\n".join(before) + b"\n")
    with Library(str(tmp_path / "other")) as other:
        outcome = take_in(other, tmp_path / "docs.jsonl")
        assert (outcome.error, outcome.failed, outcome.documents) == ("", 0, library.sources()[0].documents)
        assert chunks_of(other, "docs") == before
        assert take_in(other, tmp_path / "docs.jsonl").read == 0
    path = "api.json"
    text = library.kept(next(one.content for one in library.documents() if one.id.endswith(path))).text
    rows = json.dumps([json.loads(row) for row in before if json.loads(row)["path"] == path]).encode()
    if not strategy:  # what is cut inside lines has no lines of its own
        assert rebuilt(path, rows)[0].text.split("\n")[1:20] == text.split("\n")[1:20]


def test_xml_comes_back_as_it_was(library: Library, docs: Path, tmp_path: Path) -> None:
    (docs / "returns.json").write_text(json.dumps({"a": "x\ry", "b": "\r\n"}), encoding="utf-8")
    ingest(library, library.register(checked(described(FolderSource(path=str(docs), name="docs")))))
    before = dict(xml_files(exported(library, "docs"), "docs"))
    (tmp_path / "xml").mkdir()
    for name, content in before.items():
        (tmp_path / "xml" / name).write_bytes(content.encode())
    with Library(str(tmp_path / "other")) as other:
        assert take_in(other, tmp_path / "xml", "docs").error == ""
        assert dict(xml_files(exported(other, "docs"), "docs")) == before


def test_a_folder_of_lines_is_taken_in_with_a_folder_for_each_file(
    library: Library, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "served").mkdir()
    for name in ("docs", "manuals"):
        source = described(FolderSource(path=str(docs), name=name))
        ingest(library, library.register(checked(source)))
        (tmp_path / "served" / f"{name}.jsonl").write_bytes(b"\n".join(chunks_of(library, name)))
    with Library(str(tmp_path / "other")) as other:
        outcome = take_in(other, tmp_path / "served")
        assert (outcome.error, outcome.failed, outcome.documents) == ("", 0, len(library.documents()))
        names = {document.id for document in other.documents()}
        assert {"library:docs/docs/a.md", "library:docs/manuals/a.md"} <= names


def test_odd_names_of_files_and_documents_are_taken_as_they_can_be_shown(library: Library, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    rows = [{**ROW, "path": path} for path in ("b.md", "x/", "", "\ud800.md")]
    lines = b"\n".join(json.dumps(row).encode() for row in rows)
    Path(os.fsdecode(os.fsencode(tmp_path / "served") + b"/caf\xe9.jsonl")).write_bytes(lines)
    (tmp_path / "served" / ".jsonl").write_bytes(lines)
    outcome = take_in(library, tmp_path / "served")
    assert (outcome.error, outcome.documents) == ("", 4)
    Path(os.fsdecode(os.fsencode(tmp_path / "served") + b"/caf\xe9.jsonl")).write_bytes(lines.split(b"\n")[0])
    assert take_in(library, tmp_path / "served").removed == 3


def test_lines_beside_xml_are_not_of_the_export(library: Library, docs: Path, tmp_path: Path) -> None:
    ingest(library, library.register(checked(described(FolderSource(path=str(docs), name="docs")))))
    (tmp_path / "xml").mkdir()
    for name, content in xml_files(exported(library, "docs"), "docs"):
        (tmp_path / "xml" / name).write_bytes(content.encode())
    (tmp_path / "xml" / "log.jsonl").write_text('{"not": "a chunk"}\n', encoding="utf-8")
    with Library(str(tmp_path / "other")) as other:
        assert take_in(other, tmp_path / "xml", "docs").error == ""


def test_a_folder_without_chunks_is_an_error(library: Library, docs: Path) -> None:
    assert "there are no chunks in" in take_in(library, docs).error


@given(content=st.text(), symbol=st.text(), heading=st.text())
def test_no_text_is_lost_in_xml(content: str, symbol: str, heading: str) -> None:
    row = {**ROW, "id": f"docs:{symbol}:key", "symbol": symbol, "heading": heading, "content": content}
    (_, file), _ = xml_files([row], "docs")
    again = xml_row(file.encode("utf-8", "replace"))
    assert {name: again[name] for name in ("id", "symbol", "heading", "content")} == {
        "id": row["id"], "symbol": symbol, "heading": heading, "content": content,
    }  # fmt: skip
    assert dict(xml_files([{**again, "parent_id": None, "children": []}], "docs"))["chunk_001.xml"] == file


def test_characters_that_xml_cannot_hold_come_back(library: Library, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "a\x0cb \x1b[0m \x01 \ufffe \\u000c \\ C:\\new\n"
    (tmp_path / "docs/a.md").write_text(f"# Head \x0c\n\n{text}", encoding="utf-8")
    (tmp_path / "docs/b.csv").write_text("a,b\n\x01x,\\\n", encoding="utf-8")
    (tmp_path / "docs/c.md").write_text("a \\ stands alone", encoding="utf-8")
    ingest(library, library.register(checked(described(FolderSource(path=str(tmp_path / "docs"), name="docs")))))
    before = list(exported(library, "docs"))
    (tmp_path / "xml").mkdir()
    for name, content in xml_files(before, "docs"):
        (tmp_path / "xml" / name).write_bytes(content.encode())
        assert name == "metadata.xml" or ('escaped="true"' in content) == ("alone" not in content)
    with Library(str(tmp_path / "other")) as other:
        assert take_in(other, tmp_path / "xml", "docs").error == ""
        assert list(exported(other, "docs")) == before


def test_an_older_export_means_its_backslashes_as_they_are() -> None:
    content = f'<chunk xmlns="{NAMESPACE}" id="x"><content><![CDATA[\\u000c \\\\]]></content></chunk>'
    assert xml_row(content.encode())["content"] == "\\u000c \\\\"


@pytest.mark.parametrize("declared", [LAUGHS, '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'])
def test_a_document_type_is_refused_before_anything_expands(library: Library, tmp_path: Path, declared: str) -> None:
    (tmp_path / "xml").mkdir()
    (tmp_path / "xml/chunk_001.xml").write_text(declared, encoding="utf-8")
    outcome = take_in(library, tmp_path / "xml")
    assert "no exported chunk" in outcome.error
    assert ET.fromstring("<x/>").tag == "x"  # noqa: S314 - the parser is as it was


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"null", b"\xff", b'{"path": 5}', b'{"id": "x"}', b"[" * 100_000, b'{"path": []}', b"<chunk/>"],
)  # fmt: skip
def test_what_is_no_chunk_is_told_with_its_line(library: Library, tmp_path: Path, line: bytes) -> None:
    (tmp_path / "x.jsonl").write_bytes(json.dumps(ROW).encode() + b"\n" + line + b"\n")
    outcome = take_in(library, tmp_path / "x.jsonl")
    assert "x.jsonl:2" in outcome.error
    assert outcome.documents == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"parent_id": "docs:a.md#0:passage"}, {"parent_id": "nobody"}, {"lines": [0, 1]}, {"lines": [2, 1]},
        {"lines": [1]},
        {"lines": [1, 10**12]}, {"lines": [10**12, 10**12]}, {"lines": "12"}, {"level": -1}, {"level": None},
        {"page": 10**30}, {"page": [1]}, {"content": None}, {"metadata": 5}, {"metadata": "ab"}, {"lines": [1e999, 1]},
    ],
)  # fmt: skip
def test_chunks_that_do_not_fit_together_cost_their_document_alone(
    library: Library, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    rows = [{**ROW, **wrong}, {**ROW, "id": "docs:b.md#0:passage", "path": "b.md"}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    outcome = take_in(library, tmp_path / "x.jsonl")
    assert (outcome.error, outcome.failed, outcome.documents) == ("", 1, 1)


def failed_notes(library: Library) -> list[str]:
    return [note for _, state, note in library.notes(library.sources()[0].source.name) if state == "failed"]


def test_what_is_wrong_with_a_document_is_told_with_line_field_what_was_found_and_what_is_wanted(
    library: Library, tmp_path: Path
) -> None:
    second = {**ROW, "id": "second", "parent_id": "nobody", "lines": [4, 2], "level": "top", "page": None}
    del second["heading"]
    rows = [ROW, {**ROW, "path": "b.md"}, second]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    outcome = take_in(library, tmp_path / "x.jsonl")
    assert (outcome.error, outcome.failed, outcome.documents) == ("", 1, 1)
    (note,) = failed_notes(library)
    assert note == (
        "x.jsonl:3: lines: found [4, 2], wanted its first and its last line, counted from 1, such as [3, 9]; "
        "x.jsonl:3: level: found 'top', wanted a whole number from 0 to 4,999,999; "
        "x.jsonl:3: heading: found nothing, wanted a text; "
        "x.jsonl:3: parent_id: found 'nobody', wanted the id of a chunk before it in the same document. "
        "Write it as deia source export does."
    )


def test_of_very_many_problems_the_first_are_told_and_how_many_more_there_are(library: Library, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text((json.dumps({**ROW, "content": None}) + "\n") * 30, encoding="utf-8")
    take_in(library, tmp_path / "x.jsonl")
    (note,) = failed_notes(library)
    assert note.count("content: found null, wanted a text") == 10
    assert "; and 20 more." in note


def test_what_was_found_is_told_without_secrets(library: Library, tmp_path: Path) -> None:
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    (tmp_path / "x.jsonl").write_text(json.dumps({**ROW, "level": key}), encoding="utf-8")
    take_in(library, tmp_path / "x.jsonl")
    (note,) = failed_notes(library)
    assert "level: found" in note
    assert key not in note


def test_all_lines_that_are_no_chunks_are_told_at_once(library: Library, tmp_path: Path) -> None:
    lines = [json.dumps(ROW), "{", '{"id": "x"}', json.dumps({**ROW, "level": -1})]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    error = take_in(library, tmp_path / "x.jsonl").error
    assert "x.jsonl:2: this is no exported chunk" in error
    assert "x.jsonl:3: path: found nothing, wanted a text" in error
    assert "x.jsonl:4: level: found -1, wanted a whole number" in error


@pytest.mark.parametrize("form", ["missing", "null"])
def test_fields_that_may_be_missing_may_be_null_too(library: Library, tmp_path: Path, form: str) -> None:
    optional = ("title", "type", "kind", "symbol", "updated", "page", "parent_id", "metadata")
    row = {name: value for name, value in ROW.items() if name not in optional}
    row |= dict.fromkeys(optional) if form == "null" else {}
    (tmp_path / "x.jsonl").write_text(json.dumps(row), encoding="utf-8")
    outcome = take_in(library, tmp_path / "x.jsonl")
    assert (outcome.error, outcome.failed, outcome.documents) == ("", 0, 1)
    (chunk,) = exported(library, library.sources()[0].source.name)
    assert (chunk["kind"], chunk["symbol"], chunk["title"], chunk["type"]) == ("", "", "a.md", "text")


def test_secrets_and_paths_of_a_stranger_are_no_more_than_text(library: Library, tmp_path: Path) -> None:
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    row = {**ROW, "path": "../../../etc/passwd", "content": f"STRIPE_KEY={key}\n\0\ud800", "type": "../x"}
    (tmp_path / "x.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert take_in(library, tmp_path / "x.jsonl").documents == 1
    (document,) = library.documents()
    assert (document.id, document.type) == ("library:docs/../../../etc/passwd", "text")
    text = library.kept(document.content).text
    assert key not in text
    assert text.encode()
    assert library.original(document.id) == ""


@given(st.lists(st.fixed_dictionaries({name: st.none() | st.integers() | st.text() | st.just(value)
                                       for name, value in ROW.items()}), min_size=1))  # fmt: skip
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_rows_do_more_than_be_refused(rows: list[dict[str, Any]]) -> None:
    try:
        reading, chunks = rebuilt("a.md", json.dumps(rows).encode())
    except ReadingError:
        return
    assert len(chunks) == len(rows)
    assert reading.text is not None


@given(st.binary())
def test_no_bytes_are_xml_by_accident(content: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        xml_row(content)


def test_rows_nested_as_deep_as_can_be_read_cost_their_document_at_most(library: Library, tmp_path: Path) -> None:
    for depth in (300, *range(880, 1000)):
        nested = '{"a": ' * depth + "1" + "}" * depth
        rows = [ROW, {**ROW, "id": "docs:b.md#0:passage", "path": "b.md", "metadata": 0}]
        text = "\n".join(map(json.dumps, rows)).replace('"metadata": 0', f'"metadata": {nested}')
        (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
        outcome = take_in(library, tmp_path / "x.jsonl")
        assert outcome.error or (outcome.failed, outcome.documents) == (1, 1), depth
    with pytest.raises(ReadingError):
        rebuilt("a.md", b"[" * 5000 + b"]" * 5000)


def test_lines_that_no_text_of_the_chunks_could_fill_are_refused() -> None:
    rows = [ROW, {**ROW, "id": "docs:a.md#1:passage", "lines": [100_000, 100_000]}]
    with pytest.raises(ReadingError):
        rebuilt("a.md", json.dumps(rows).encode())
    rows[1]["lines"] = [9_000, 9_000]
    assert rebuilt("a.md", json.dumps(rows).encode())[0].text.count("\n") == 8_999
