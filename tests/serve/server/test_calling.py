"""Which of our own tools is meant by the other family's names, and what a person is asked before a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from deia.errors import QueryError
from deia.serve.server.calling import find_tool, prepared, to_confirm
from deia.serve.server.desk import Desk
from deia.serve.server.tools import COMPAT, offered

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

OFFERED = offered(compat=COMPAT)


@pytest.fixture
def desk(place: Place, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("HOME", "DEIA_STATE", "DEIA_CACHE", "DEIA_STARTER"):
        monkeypatch.setenv(name, place.environ[name])
    monkeypatch.chdir(place.root)
    compile_commons(str(place.root), environ=place.environ)
    return Desk(str(place.root))


@pytest.mark.parametrize(
    ("name", "given", "own", "arguments"),
    [
        ("SearchLibrary", {"query": "x", "limit": 900}, "query_global_commons",
         {"query": "x", "limit": 50, "detail": "full"}),
        ("ReadFromLibrary", {"path": "library://bok/a.md", "lines": "3"}, "read_document",
         {"document": "bok/a.md", "lines": "3"}),
        ("AddToLibrary", {"title": "t", "content": "c", "path": "library://bok/nodes/"}, "save_lesson",
         {"title": "t", "text": "c", "category": "nodes"}),
        ("AddToLibrary", {"title": "t", "content": "c"}, "save_lesson", {"title": "t", "text": "c"}),
        ("UpdateLibraryDoc", {"path": "bok/queues/queue-purge.md", "content": "c", "title": "t"}, "save_lesson",
         {"title": "t", "text": "c", "update": "queue-purge"}),
        ("UpdateLibraryDoc", {"path": "bok/queues/queue-purge.md", "content": "c"}, "save_lesson",
         {"text": "c", "update": "queue-purge"}),
        ("RemoveFromLibrary", {"path": "queue-purge"}, "remove_document", {"id": "queue-purge"}),
        ("ListLibraryContents", {"path": "bok/queues", "limit": 3}, "list_documents",
         {"below": "bok/queues", "limit": 3}),
        ("GetLibraryOverview", {}, "list_documents", {}),
        ("SuggestLibraryLocation", {"content": "c"}, "suggest_location", {"text": "c"}),
    ],
)  # fmt: skip
def test_the_other_familys_arguments_become_ours(
    desk: Desk, name: str, given: dict[str, Any], own: str, arguments: dict[str, Any]
) -> None:
    tool = find_tool(OFFERED, f"Librarian_{name}")
    assert prepared(desk, tool, given) == (own, arguments)


def test_only_a_change_of_what_is_there_is_asked_about(desk: Desk) -> None:
    assert "Move queue-purge (A purged queue" in to_confirm(desk, "remove_document", {"id": "queue-purge"})
    assert "Replace the text of queue-purge" in to_confirm(desk, "save_lesson", {"update": "queue-purge"})
    assert to_confirm(desk, "save_lesson", {"title": "new"}) == ""
    assert to_confirm(desk, "remove_document", {"id": "queue-purge", "undo": True}) == ""
    assert to_confirm(desk, "feedback", {"id": "queue-purge"}) == ""


def test_a_tool_that_is_not_offered_is_refused_with_the_nearest() -> None:
    with pytest.raises(QueryError, match="Did you mean read_document"):
        find_tool(OFFERED, "read_documnt")
