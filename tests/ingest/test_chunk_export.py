from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from deia.ingest.checked_source import checked
from deia.ingest.chunk_export import NAMESPACE, exported, xml_files
from deia.ingest.ingesting import ingest
from deia.ingest.library_store import Library
from deia.ingest.source import FolderSource, described

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deia.fast_json import Json

API = {"openapi": "3", "paths": {"/a": {"get": {"$ref": "#/x]]>"}}, "/b": {"get": 1}}}


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[list[dict[str, Json]]]:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "api.json").write_text(json.dumps(API, indent=1), encoding="utf-8")
    (folder / "a.md").write_text("# A & B\n\nWords \x1b[0m.\n", encoding="utf-8")
    with Library(str(tmp_path / "library")) as library:
        source = FolderSource(path=str(folder), name="docs")
        for name in ("docs", "other"):
            ingest(library, library.register(checked(described(source).but(name=name, collection=name))))
        yield list(exported(library, "docs"))


def test_each_chunk_of_the_source_tells_its_place_its_parent_and_its_children(rows: list[dict[str, Json]]) -> None:
    found = {row["id"]: row for row in rows}
    assert set(found) == {
        "docs:a.md#0:passage", "docs:openapi:key", "docs:paths:section", "docs:paths./a:path", "docs:paths./b:path",
    }  # fmt: skip
    holder, path = found["docs:paths:section"], found["docs:paths./a:path"]
    assert holder["children"] == ["docs:paths./a:path", "docs:paths./b:path"]
    assert (path["parent_id"], path["level"], path["type"], path["path"]) == (
        "docs:paths:section",
        1,
        "json",
        "api.json",
    )
    assert path["metadata"] == {"references": ["#/x]]>"]}
    assert found["docs:a.md#0:passage"]["lines"] == [1, 3]


def test_xml_holds_what_json_holds_whatever_is_in_the_text(rows: list[dict[str, Json]]) -> None:
    files = dict(xml_files(rows, "docs"))
    assert list(files) == [*(f"chunk_{n:03}.xml" for n in range(1, len(rows) + 1)), "metadata.xml"]
    for row, content in zip(rows, files.values(), strict=False):
        chunk = ET.fromstring(content)  # noqa: S314 - our own
        assert chunk.get("id") == row["id"]
        assert (chunk.get("escaped") == "true") == ("\x1b" in str(row["content"]))
        assert chunk.findtext(f"{{{NAMESPACE}}}content") == str(row["content"]).replace("\x1b", "\\u001b")
        children = chunk.find(f"{{{NAMESPACE}}}children")
        assert children is not None
        assert [item.text for item in children] == row["children"]
    assert f"<chunks>{len(rows)}</chunks>" in files["metadata.xml"]
