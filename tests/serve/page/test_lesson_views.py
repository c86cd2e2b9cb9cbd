"""The lessons and triggers with what covers them, and what a document belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import QueryError
from deia.serve.page.lesson_views import drawn_around, forget, lesson, names, overview, trigger_view

if TYPE_CHECKING:
    from deia.serve.server.desk import Desk


def test_the_overview_counts_what_covers_each_document_and_trigger(cased_desk: Desk) -> None:
    listed: Any = overview(cased_desk, {})
    documents = {one["id"]: one for one in listed["documents"]}
    assert (documents["site-checklist"]["triggers"], documents["queue-purge"]["triggers"]) == (1, 0)
    (trigger,) = listed["triggers"]
    assert (trigger["id"], trigger["fires"], trigger["silent"]) == ("site-delete", 2, 1)
    assert [cluster["id"] for cluster in listed["clusters"]] == ["hosting", "queues"]


def test_ids_are_offered_to_those_who_type_one(cased_desk: Desk) -> None:
    offered: Any = names(cased_desk, {})
    assert offered["ids"] == ["site-delete"]
    assert sorted(offered["documents"]) == ["queue-purge", "site-checklist", "site-rename"]


def test_a_trigger_is_shown_as_it_is_written_with_its_cases_run(cased_desk: Desk) -> None:
    shown: Any = trigger_view(cased_desk, {"id": "site-delete"})
    assert shown["source"].startswith("- id: site-delete")
    assert shown["source"].endswith('command: "shopctl site:delete"')
    assert [case["holds"] for case in shown["cases"]] == [True, True, True]
    assert shown["editable"] is True
    with pytest.raises(QueryError, match="no trigger"):
        trigger_view(cased_desk, {"id": "no-such"})


def test_a_lesson_knows_its_triggers_and_the_questions_that_must_find_it(cased_desk: Desk) -> None:
    index = Path(cased_desk.root, "commons_index.yaml")
    pattern = "query_patterns:\n  - natural_language: [what to save]\n    common_docs: [site-checklist]\n"
    index.write_text(index.read_text() + pattern)
    forget(cased_desk.root)
    shown: Any = lesson(cased_desk, {"id": "site-checklist"})
    assert [one["id"] for one in shown["triggers"]] == ["site-delete"]
    assert (shown["golden"], shown["paths"], shown["editable"]) == (["what to save"], [], True)


def test_a_neighbourhood_is_a_picture_and_a_text(cased_desk: Desk) -> None:
    drawn: Any = drawn_around(cased_desk, {"id": "bok/hosting/site-checklist.md"})
    assert drawn["svg"].startswith("<svg")
    assert "site-delete" in drawn["tree"]
    with pytest.raises(QueryError):
        drawn_around(cased_desk, {"id": "xyzzy"})


def test_a_file_that_was_written_is_read_again(cased_desk: Desk) -> None:
    overview(cased_desk, {})
    Path(cased_desk.root, "triggers/sites.cases.yaml").write_text("site-delete:\n  fires: [delete the site]\n")
    assert overview(cased_desk, {})["triggers"][0]["fires"] == 2  # type: ignore[index, call-overload]
    forget(cased_desk.root)
    assert overview(cased_desk, {})["triggers"][0]["fires"] == 1  # type: ignore[index, call-overload]
