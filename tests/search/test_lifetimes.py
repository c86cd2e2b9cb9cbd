"""Tests of documents that no longer hold: they are marked and ranked lower, and checked by lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.commons.checks import lint
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.search.rendering.render import render, summary

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.answer import Answer

TEXT = "Draining the queue: pause the consumers, drain it, go on.\n"
FRONT = (
    "---\ntitle: Draining the queue\nexpires: soon\nsuperseded_by: nonesuch\nreview_after: 2026-02-30\n---\n\nText.\n"
)


def asked(folder: Path, *, on: str, **lifetime: str) -> Answer:
    folder.mkdir(exist_ok=True)
    entries = [
        Entry(id="old", path="bok/old.md", title="Draining the queue").but(**lifetime),
        Entry(id="new", path="bok/new.md", title="Queues, and draining them"),
        *(Entry(id=f"other-{at}", path=f"bok/{at}.md", title="Pumps, and a queue") for at in range(3)),
    ]
    documents = [
        Document(path=entry.path, title=entry.title, text=TEXT if at < 2 else "Pumps are vented.\n")
        for at, entry in enumerate(entries)
    ]
    build_catalog(entries, documents, [], [], str(folder), built_at="2026-01-01T00:00:00Z", sources=())
    return search(open_catalog(str(folder)), Query(text="draining the queue"), checked_at=f"{on}T10:00:00Z")


def test_a_document_that_holds_is_not_marked(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-01", valid_until="2026-03-01", review_after="2026-01-01")
    assert answer.primary[0].id == "old"
    assert "valid until" not in answer.primary[0].why_relevant
    assert "valid until" not in summary(answer)


def test_one_whose_last_day_is_over_comes_later_and_says_so(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-02", valid_until="2026-03-01")
    assert [result.id for result in answer.documents][:2] == ["new", "old"]
    old = next(result for result in answer.documents if result.id == "old")
    assert old.why_relevant.startswith("valid until 2026-03-01 only")
    for form in ("summary", "table", "full", "markdown", "xml"):
        assert "Draining the queue is valid until 2026-03-01 only." in render(answer, form).replace("\\", "")


def test_one_that_is_superseded_names_its_successor(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-02", superseded_by="new")
    assert [result.id for result in answer.documents][:2] == ["new", "old"]
    assert "superseded by new" in list(answer.documents)[1].why_relevant
    assert "Draining the queue is superseded by new." in summary(answer)


def test_lint_names_days_that_are_none_and_successors_that_there_are_not(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "deia.toml").write_text("", encoding="utf-8")
    (tmp_path / "bok/old.md").write_text(FRONT, encoding="utf-8")
    found = [problem.found for problem in lint(str(tmp_path), starter=False)]
    assert "`valid_until` of `old` is `soon`, which is no day." in found
    assert "`review_after` of `old` is `2026-02-30`, which is no day." in found
    assert any("`superseded_by` of `old`: there is no document `nonesuch`" in line for line in found)
