"""A few changed texts are compiled alone, with the same result as compiling everything; other changes are not."""

from __future__ import annotations

import json
import os
import shutil
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile import compiler
from deia.compile.compiler import Compiled, compile_commons
from deia.compile.manifest import read_manifest
from deia.knowledge import Query
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import search
from tests.derived import derived, private

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = 30
LATER = count(1_700_000_100)
WORDS = "anchor basket candle dragon ember falcon garnet harbour island jasmine".split()
TRIGGER = """\
- id: shop
  title: T
  urgency: high
  message: Careful.
  documents: [{id: d1, mode: full_context}]
  when: {any: [{phrase: sell shop}]}
"""
OUTLINE = "# Seven\n\n## What happens\n\nWhat goes wrong, and how it shows.\n"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MIN_DOCUMENTS", COUNT)


@pytest.fixture(scope="module")
def compiled_commons() -> Iterator[Path]:
    """Return a commons of thirty documents, changed long ago; the index lists all but one."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "commons"
        listed = [
            f"      - {{id: d{number}, path: bok/d{number}.md, title: Title {number}, keywords: [{word}]}}\n"
            for number, word in zip(range(COUNT - 1), cycle(WORDS), strict=False)
        ]
        write(root / "commons_index.yaml", 'version: "1.0"\nclusters:\n  all:\n    documents:\n' + "".join(listed))
        write(root / "triggers/shop.yaml", TRIGGER)
        for number in range(COUNT):
            write(root / f"bok/d{number}.md", f"# Heading {number}\n\nAbout {WORDS[number % 10]} number{number}.\n")
        yield root


@pytest.fixture
def root(compiled_commons: Path, tmp_path: Path) -> Path:
    """Return a compiled copy of that commons."""
    shutil.copytree(compiled_commons, tmp_path / "commons")
    compiled(tmp_path / "commons")
    return tmp_path / "commons"


def write(path: Path, text: str, *, when: float = 1_700_000_000.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (when, when))


def change(root: Path, path: str, text: str) -> None:
    write(root / path, text, when=next(LATER))  # one text of the same length after another is a change as well


def folder_of(root: Path) -> Path:
    return derived(root, private(root.parent))


def compiled(root: Path, heard: list[str] | None = None, *, force: bool = False) -> Compiled:
    environ = private(root.parent, DEIA_TIER="static")
    tell = heard.append if heard is not None else None
    return compile_commons(str(root), environ=environ, force=force, progress=tell, requested=True)


def catalog(root: Path) -> Catalog:
    return open_catalog(str(folder_of(root) / (folder_of(root) / "catalog").read_text()))


def shelf(root: Path) -> dict[str, Any]:
    opened = catalog(root)
    shelved = {name: opened.document(name) for name in opened.ids()}
    return {
        name: (document.entry, opened.text(document), tuple(document.passages))
        for name, document in shelved.items()
        if document
    }


def first(root: Path, text: str) -> str:
    answer = search(catalog(root), Query(text=text), tiers=("static",))
    return answer.primary[0].id if answer.primary else ""


def same_as_compiled_whole(root: Path) -> None:
    shelved, problems = shelf(root), read_manifest(str(folder_of(root))).problems
    compiled(root, force=True)
    assert shelved == shelf(root)
    assert problems == read_manifest(str(folder_of(root))).problems


# --- compiled alone ---


def test_a_changed_text_is_compiled_alone_and_found(root: Path) -> None:
    heard: list[str] = []
    change(root, "bok/d7.md", "# Heading 7\n\nNow about a quokka instead.\n")
    assert compiled(root, heard).written == ("catalog",)
    assert heard == ["indexing 1 changed document"]
    assert first(root, "quokka") == "d7"
    assert first(root, "number7") != "d7"
    assert compiled(root).written == ()
    same_as_compiled_whole(root)


def test_a_document_that_the_index_does_not_list_is_compiled_alone(root: Path) -> None:
    heard: list[str] = []
    change(root, f"bok/d{COUNT - 1}.md", f"# Heading {COUNT - 1}\n\nNow about a quokka instead.\n")
    compiled(root, heard)
    assert heard == ["indexing 1 changed document"]
    same_as_compiled_whole(root)


def test_changes_one_after_another_add_up(root: Path) -> None:
    for number, times in ((3, 1), (8, 2), (3, 3)):
        change(root, f"bok/d{number}.md", f"# Heading {number}\n\nQuokka {number} and more, {times * 'again '}.\n")
        assert compiled(root).written == ("catalog",)
    assert first(root, "quokka 8") == "d8"
    same_as_compiled_whole(root)


def test_what_is_wrong_with_a_changed_text_is_told_and_taken_back(root: Path) -> None:
    change(root, "bok/d7.md", OUTLINE)
    assert "unfilled-outline" in {problem.code for problem in compiled(root).problems}
    change(root, "bok/d7.md", "---\nplatform: [netlify\n---\n# Seven\n\nText.\n")
    codes = {problem.code for problem in compiled(root).problems}
    assert "unfilled-outline" not in codes
    assert "yaml-syntax" in codes
    same_as_compiled_whole(root)


# --- everything is read ---


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("bok/d7.md", "---\nurgency: high\n---\n# Heading 7\n\nText.\n"),
        ("bok/d7.md", "---\nplatform: netlify\n---\n# Heading 7\n\nText.\n"),
        ("bok/d7.md", "---\nrelated_docs: [d8]\n---\n# Heading 7\n\nText.\n"),
        ("bok/d7.md", ""),  # it has no summary any more
        (f"bok/d{COUNT - 1}.md", "# Another heading\n\nText.\n"),
        (f"bok/d{COUNT - 1}.md", "---\nid: named\n---\n# Heading 29\n\nText.\n"),
        ("bok/d1.md", "# Heading 1\n\nWhat a trigger puts forward.\n"),
        ("bok/new.md", "# New\n\nText.\n"),
        ("bok/d8.md", "# Heading 8\n\nThe Horizontal Quokka Autoscaler (HQA) is defined.\n"),
    ],
)
def test_what_more_depends_on_has_everything_read(root: Path, path: str, text: str) -> None:
    heard: list[str] = []
    change(root, path, text)
    assert "catalog" in compiled(root, heard).written
    assert "reading the commons" in heard
    same_as_compiled_whole(root)


@pytest.mark.parametrize("name", ["entries", "sources", "triggers", "manifest.json"])
@pytest.mark.parametrize("content", [b"", b"deia-entries-1 other\n", b"deia-sources-1 other\n", b"\xff\x00" * 40])
def test_a_torn_or_foreign_file_has_everything_read(root: Path, name: str, content: bytes) -> None:
    heard: list[str] = []
    (folder_of(root) / name).write_bytes(content)
    change(root, "bok/d7.md", "# Heading 7\n\nNow about a quokka instead.\n")
    compiled(root, heard)
    assert "reading the commons" in heard
    assert first(root, "quokka") == "d7"
    same_as_compiled_whole(root)


def test_a_damaged_row_of_the_changed_document_has_everything_read(root: Path) -> None:
    place = folder_of(root) / "entries"
    place.write_bytes(place.read_bytes().replace(b"bok/d7.md\t[", b"bok/d7.md\t{"))
    heard: list[str] = []
    change(root, "bok/d7.md", "# Heading 7\n\nNow about a quokka instead.\n")
    compiled(root, heard)
    assert "reading the commons" in heard
    same_as_compiled_whole(root)


def test_a_small_commons_keeps_no_entries_beside_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MIN_DOCUMENTS", COUNT + 1)
    change(root, "commons_index.yaml", (root / "commons_index.yaml").read_text() + "concepts: {k8s: [kubernetes]}\n")
    compiled(root)
    assert json.loads((folder_of(root) / "manifest.json").read_text())["entries"] == ""
    assert not (folder_of(root) / "entries").exists()


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, COUNT - 1), st.text(st.sampled_from("ab #\n-:*`(H)"), max_size=60)),
        min_size=1, max_size=3,
    )
)  # fmt: skip
def test_whatever_is_written_it_comes_to_compiling_everything(root: Path, edits: list[tuple[int, str]]) -> None:
    for number, text in edits:
        change(root, f"bok/d{number}.md", f"# Heading {number}\n\n{text}")
        compiled(root)
    same_as_compiled_whole(root)
