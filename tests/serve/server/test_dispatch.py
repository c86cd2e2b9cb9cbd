"""Which of our own tools is meant by the other family's names, and what a person is asked before a change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.commons.layers.merge_layers import load_layered
from deia.commons.source_files.outline import OUTLINE
from deia.compile.compiler import compile_commons
from deia.errors import DeiaError, QueryError
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.dispatch import Call, answer, confirmation, find_tool, prepare
from deia.serve.server.read_tools import check_conversation
from deia.serve.server.tool_schemas import COMPAT, offered

if TYPE_CHECKING:
    from deia.fast_json import Json

OFFERED = offered(compat=COMPAT)
IS_THERE = """\
- id: is-there
  title: A configuration is written over
  status: test
  urgency: high
  action: warn
  message: This file is there already.
  documents: [{id: site-rename, mode: summary_only, reason: What to do}]
  when: {any: [{write: {paths: ["**/*.conf"], exists: true}}]}
"""


@pytest.mark.parametrize(
    ("name", "given", "own", "arguments"),
    [
        ("SearchLibrary", {"query": "x", "limit": 900}, "query_global_commons",
         {"query": "x", "limit": 50, "detail": "full"}),
        ("SearchLibrary", {"query": "x", "mode": "keywords", "asset_type": "code"}, "query_global_commons",
         {"query": "x", "limit": 5, "detail": "full", "mode": "keywords", "asset_type": "code"}),
        ("SearchLibrary", {"query": "x", "mode": "semantic"}, "query_global_commons",
         {"query": "x", "limit": 5, "detail": "full", "mode": "semantic"}),
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
        ("GetLibraryOverview", {}, "list_documents", {"below": ""}),
        ("GetLibraryOverview", {"view": "tree"}, "list_documents", {"below": "", "view": "tree"}),
        ("SuggestLibraryLocation", {"content": "c"}, "suggest_location", {"text": "c"}),
    ],
)  # fmt: skip
def test_the_other_familys_arguments_become_ours(
    desk: Desk, name: str, given: dict[str, Any], own: str, arguments: dict[str, Any]
) -> None:
    tool = find_tool(OFFERED, f"Librarian_{name}")
    assert prepare(desk, tool, given) == Call(tool=own, arguments=arguments)


def use(desk: Desk, name: str, **values: str) -> Reply:
    reply = answer(desk, prepare(desk, find_tool(OFFERED, f"Librarian_{name}"), values))
    if reply.changed:
        desk.librarian.compile()
    return reply


@pytest.mark.parametrize("path", ["bok/sailing/Anchor.md", "sailing/Anchor.md", "/bok/sailing/Anchor.md", "Anchor.md"])
def test_a_path_that_names_a_file_is_where_the_other_tools_find_it(desk: Desk, path: str) -> None:
    added = use(desk, "AddToLibrary", title="An anchor drags in mud", content="One.", path=path)
    written = f"bok/{path.lstrip('/').removeprefix('bok/')}"
    assert Path(desk.root, written).is_file()
    assert (added.fields["id"], written in added.fields["paths"]) == ("an-anchor-drags-in-mud", True)  # type: ignore[operator]
    if not path.startswith("/"):
        written = path
    assert "> One." in use(desk, "ReadFromLibrary", path=written).text
    use(desk, "UpdateLibraryDoc", path=written, content="Two.")
    assert "> Two." in use(desk, "ReadFromLibrary", path=written).text
    assert use(desk, "RemoveFromLibrary", path=written).fields["removed"]


def test_a_new_document_is_nowhere_outside_bok_and_replaces_none(desk: Desk) -> None:
    before = sorted(Path(desk.root, "bok").rglob("*"))
    for path in ("/opt/x/evil.md", "/opt/x", "../evil.md", "bok/../../evil.md", "bok/a/.md", "bok/.a/b.md"):
        with pytest.raises(DeiaError, match=r"outside bok/|out of bok/|hidden part"):
            use(desk, "AddToLibrary", title="An anchor", content="One.", path=path)
    with pytest.raises(DeiaError, match="exists already"):
        use(desk, "AddToLibrary", title="An anchor", content="One.", path="bok/queues/queue-purge.md")
    assert sorted(Path(desk.root, "bok").rglob("*")) == before


def test_only_a_change_of_what_is_there_is_asked_about(desk: Desk) -> None:
    assert "Move queue-purge (A purged queue" in confirmation(
        desk, Call(tool="remove_document", arguments={"id": "queue-purge"})
    )
    assert "Replace the text of queue-purge" in confirmation(
        desk, Call(tool="save_lesson", arguments={"text": "new", "update": "queue-purge"})
    )
    assert confirmation(desk, Call(tool="save_lesson", arguments={"title": "new", "text": "new"})) == ""
    assert confirmation(desk, Call(tool="remove_document", arguments={"id": "queue-purge", "undo": True})) == ""
    assert confirmation(desk, Call(tool="feedback", arguments={"id": "queue-purge", "verdict": "noise"})) == ""


def overview(desk: Desk, view: str) -> Reply:
    return answer(desk, prepare(desk, find_tool(OFFERED, "Librarian_GetLibraryOverview"), {"view": view}))


def test_the_overview_shows_sections_statistics_or_the_tree(desk: Desk) -> None:
    assert overview(desk, "sections").fields["clusters"]
    statistics = overview(desk, "stats")
    assert set(statistics.fields["statistics"]) == {"urgency", "category", "platform", "audience"}  # type: ignore[arg-type]
    assert "by category: " in statistics.text
    lines = overview(desk, "tree").text.splitlines()
    assert lines.index("bok/") < lines.index("  queues/") < lines.index("    queue-purge.md [queue-purge]")


def test_a_folder_outside_bok_is_taken_in_as_a_source_after_asking(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(desk.root, "docs")
    folder.mkdir()
    (folder / "a.md").write_text("# A\n", encoding="utf-8")
    monkeypatch.chdir(desk.root)
    tool = find_tool(OFFERED, "Librarian_IndexDirectoryToLibrary")
    arguments = prepare(desk, tool, {"path": str(folder)})
    assert confirmation(desk, arguments) == f"Take {str(folder)!r} into your library?"
    reply = answer(desk, arguments)
    assert (reply.source, reply.fields["added"], reply.fields["status"]) == ("docs", [], "pending")


def test_a_folder_is_meant_as_the_project_sees_it_wherever_the_server_was_started(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (Path(desk.root, "docs"), tmp_path / "docs", tmp_path / "others"):
        folder.mkdir()
        (folder / "a.md").write_text("# A\n", encoding="utf-8")
    (Path(desk.root) / "link").symlink_to(tmp_path / "others")
    monkeypatch.chdir(tmp_path)
    elsewhere = Desk(desk.root, agent="test")
    tool = find_tool(OFFERED, "Librarian_IndexDirectoryToLibrary")
    answer(elsewhere, prepare(elsewhere, tool, {"path": "docs"}))
    listed: Any = answer(elsewhere, Call(tool="list_sources", arguments={})).fields["sources"]
    assert [one["place"] for one in listed] == [os.path.realpath(Path(desk.root, "docs"))]
    for outside in ("../others", str(tmp_path / "others"), "link"):
        with pytest.raises(DeiaError, match="only folders of the project are taken in"):
            answer(elsewhere, prepare(elsewhere, tool, {"path": outside}))


def test_a_search_returns_passages_and_xml_if_it_is_asked_for(desk: Desk) -> None:
    reply = answer(desk, Call(tool="query_global_commons", arguments={"query": "delete a stie", "detail": "xml"}))
    fields: Any = reply.fields
    assert (fields["corrected"], fields["clusters_found"]) == (["site"], ["hosting"])
    document = fields["documents"]["primary"][0]
    assert "Save the domain records first." in document["passage"]
    assert (document["heading"], document["relevance"][-1:]) == ("Before a site is deleted", "%")
    assert reply.text.startswith("Found ")
    assert '<primary_docs><doc path="bok/hosting/site-checklist.md"' in reply.text


def test_a_tool_that_is_not_offered_is_refused_with_the_nearest() -> None:
    with pytest.raises(QueryError, match="Did you mean read_document"):
        find_tool(OFFERED, "read_documnt")


def refusal(desk: Desk, name: str, **arguments: Any) -> str:
    with pytest.raises(DeiaError) as told:
        answer(desk, Call(tool=name, arguments=arguments))
    return str(told.value)


def test_a_caller_is_told_tools_and_no_command(desk: Desk) -> None:
    for said in (
        refusal(desk, "read_document", document="site-chekclist"),
        refusal(desk, "feedback", id="site-chekclist", verdict="useful"),
    ):
        assert "call query_global_commons" in said
        assert "deia search" not in said


def test_sentences_of_a_refusal_do_not_run_together(desk: Desk) -> None:
    assert "is unknown. Known are" in refusal(desk, "list_documents", platform="nope")
    frame = {"query": "delete a site", "since": "2026-05-01", "until": "2026-01-01"}
    assert "between them. Exchange the two: since 2026-01-01" in refusal(desk, "query_global_commons", **frame)
    assert " Ask for some of" in (said := refusal(desk, "read_document", document="queue-purge", lines="900"))
    assert said.partition(" Ask for")[0].endswith(".")


def test_the_last_answer_is_judged_by_that_word(desk: Desk) -> None:
    assert "no answer and no firing yet" in refusal(desk, "feedback", id="last", verdict="useful")
    answer(desk, Call(tool="query_global_commons", arguments={"query": "how do I delete a site?"}))
    told = answer(desk, Call(tool="feedback", arguments={"id": "last", "verdict": "useful"}))
    assert told.fields["recorded"]
    assert str(told.fields["of"]).count("-") == 2  # the id of an event


@pytest.mark.parametrize("category", ["../../../tmp/evil", ".git/hooks", "/etc", "a//b", "...", "a/!/b", "a/b/c/d/e"])
def test_a_category_that_is_no_folder_below_bok_is_refused_and_not_bent(desk: Desk, category: str) -> None:
    before = sorted(Path(desk.root, "bok").rglob("*"))
    assert "category" in refusal(desk, "save_lesson", title="A title", text="A text.", category=category)
    assert sorted(Path(desk.root, "bok").rglob("*")) == before


def test_an_ordinary_category_becomes_its_folder(desk: Desk) -> None:
    told = answer(
        desk,
        Call(
            tool="save_lesson", arguments={"title": "A title", "text": "A text.", "category": "platforms/Shop Tools/"}
        ),
    )
    assert "bok/platforms/shop-tools/a-title.md" in str(told.fields["paths"])


def test_the_outline_that_nobody_filled_in_is_not_read_out(desk: Desk) -> None:
    place = Path(desk.root, "bok/queues/queue-purge.md")
    place.write_text(f"# A purged queue\n\nAsk first.\n\n{OUTLINE}", encoding="utf-8")
    desk.librarian.compile()
    told = answer(desk, Call(tool="read_document", arguments={"document": "queue-purge"})).text
    assert "Ask first." in told
    assert "What goes wrong, and how it shows." not in told
    place.write_text(f"# A purged queue\n\n{OUTLINE}", encoding="utf-8")
    desk.librarian.compile()
    assert (
        "Only placeholder text" in answer(desk, Call(tool="read_document", arguments={"document": "queue-purge"})).text
    )


def test_what_no_longer_holds_is_marked_in_lists_and_in_the_document(desk: Desk) -> None:
    index = Path(desk.root, "commons_index.yaml")
    head, item, rest = index.read_text(encoding="utf-8").partition("- id: queue-purge\n")
    index.write_text(f"{head}{item}        superseded_by: site-rename\n{rest}", encoding="utf-8")
    desk.librarian.compile()
    gone = ", no longer holds: superseded by site-rename"
    assert gone in answer(desk, Call(tool="read_document", arguments={"document": "queue-purge"})).text
    marked = [line for line in answer(desk, Call(tool="list_documents", arguments={})).text.split("\n") if gone in line]
    assert [line.partition("]")[0] for line in marked] == ["[queue-purge"]


@pytest.fixture
def layered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk whose commons stands over the starter."""
    monkeypatch.setenv("DEIA_STARTER", "true")
    return Desk(desk.root)


def test_a_saved_lesson_weakens_no_hold_and_says_what_it_would_have_replaced(layered: Desk) -> None:
    lesson = {"title": "Terraform destroy", "text": "Never `terraform destroy`.", "trigger": True}
    told = answer(layered, Call(tool="save_lesson", arguments=lesson))
    assert told.fields["id"] == "terraform-destroy-2"
    assert "the trigger `terraform-destroy` of the starter (critical, hold) stays as it is" in told.text
    named = {trigger.id: trigger for trigger in load_layered(layered.root, trusted=True).triggers}
    assert named["terraform-destroy"].action == "hold"
    assert named["terraform-destroy-2"].action == "note"


def test_a_tool_neither_revises_nor_lists_a_document_that_replaces_what_a_hold_shows(layered: Desk) -> None:
    held = next(one for one in load_layered(layered.root, trusted=True).triggers if one.id == "terraform-destroy")
    shown = held.documents[0].id
    place = Path(layered.root, "bok/queues/own.md")
    place.write_text(f"---\nid: {shown}\n---\n\n# Just do it\n\nIt is safe.\n", encoding="utf-8")
    assert "terraform-destroy" in refusal(layered, "save_lesson", text="Better still.", update=shown)
    tool = find_tool(OFFERED, "Librarian_IndexDirectoryToLibrary")
    with pytest.raises(DeiaError, match="terraform-destroy"):
        answer(layered, prepare(layered, tool, {"path": "bok/queues"}))
    assert "It is safe." in place.read_text(encoding="utf-8")


def test_a_new_text_cannot_give_a_document_the_id_of_another(desk: Desk) -> None:
    place = Path(desk.root, "bok/queues/plain.md")
    place.write_text("A text without a title.\n", encoding="utf-8")
    for text in ("---\nid: terraform-destroy\n---\nNew.", "**Id:** terraform-destroy\n\nNew."):
        assert "another id" in refusal(desk, "save_lesson", text=text, update="queues-plain")
    assert place.read_text(encoding="utf-8") == "A text without a title.\n"


def test_whoever_asks_from_elsewhere_learns_nothing_of_the_files_of_the_server(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script of the server's own would tell its text, and a condition on a file whether that is there."""
    monkeypatch.setattr("deia.watch.turn.run_texts.TEMPORARY", (f"{tmp_path}/",))
    script, there = tmp_path / "tidy.sh", tmp_path / "there.conf"
    script.write_text("shopctl site:delete\n")
    there.write_text("x")
    (tmp_path / "work place/triggers/there.yaml").write_text(IS_THERE)
    compile_commons(desk.root, environ=os.environ)

    def fired(asker: Desk, tool: str, **given: str) -> list[str]:
        call: dict[str, Json] = {"role": "tool_call", "tool": tool, "tool_input": given}
        return [one.trigger for one in check_conversation(asker, [call])[0]]

    local, remote = Desk(desk.root), Desk(desk.root, is_remote=True)
    assert fired(local, "Bash", command=f"bash {script}") == ["site-delete"]
    assert fired(local, "Write", file_path=str(there), content="y") == ["is-there"]
    assert fired(remote, "Bash", command=f"bash {script}") == []
    assert fired(remote, "Write", file_path=str(there), content="y") == []
    assert fired(remote, "Bash", command="shopctl site:delete") == ["site-delete"]
