"""A server that offers a part of the commons gives nothing away of the rest, by whatever way it is asked."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.serve.server.conftest import end_server, make_place, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp import Client

    from tests.serve.server.conftest import Place, Served

HIDDEN = ("queue", "purge", "consumers", "orchid")
MORE = {
    "triggers/queues.yaml": """\
- id: queue-purge-orchid
  title: Purging a queue
  status: test
  urgency: high
  action: warn
  message: Purging takes the messages of all consumers.
  documents: [{id: queue-purge, mode: summary_only, reason: Ask first}]
  when: {any: [{phrase: "{purge|empty} … orchid"}]}
- id: without-a-document-orchid
  title: A trigger that names no document
  status: test
  urgency: high
  action: warn
  message: Nobody said whose orchid this is.
  when: {any: [{phrase: "{water|sell} … orchid"}]}
""",
}


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server that offers one of two clusters, of a commons in which the two are tied together."""
    place = make_place(tmp_path_factory.mktemp("part"))
    index = place.root / "commons_index.yaml"
    text = index.read_text(encoding="utf-8").replace("related_docs: [site-checklist]",
                                                     "related_docs: [site-checklist, queue-purge]")  # fmt: skip
    text += """\
query_patterns:
  - query_keywords: [orchid, site]
    natural_language: ["how do I purge the orchid queue of a site?"]
    primary_cluster: queues
    common_docs: [queue-purge]
  - query_keywords: [site]
    natural_language: ["what is lost with a site?"]
    primary_cluster: hosting
    common_docs: [site-checklist]
"""
    text = text.replace("    description: Where sites live\n", "    description: Where sites live\n"
                        "    related_clusters: [queues]\n")  # fmt: skip
    index.write_text(text, encoding="utf-8")
    for name, content in MORE.items():
        (place.root / name).write_text(content, encoding="utf-8")
    running = start_server(place, "--collection", "hosting", "--compat", "agent-library", "--rate", "0")
    yield running
    assert end_server(running) == 0


def assert_nothing_of_the_rest(told: Any, *, said: str = "") -> None:
    """Look for words that only the rest has; those that the asker said are said back."""
    text = (told if isinstance(told, str) else json.dumps(told, default=str)).lower()
    assert [word for word in HIDDEN if word in text and word not in said] == [], text


@pytest.mark.slow
def test_no_tool_gives_anything_away(part: Served) -> None:
    async def use(client: Client) -> None:
        asked = "how do I purge the orchid queue?"
        calls: list[tuple[str, dict[str, Any], str]] = [
            ("query_global_commons", {"query": asked, "detail": "full"}, asked),
            ("query_global_commons", {"query": "site", "detail": "full"}, ""),
            ("query_global_commons", {"query": "", "urgency": "high"}, ""),
            ("query_global_commons", {"query": "que puge", "mode": "keywords"}, ""),
            ("query_global_commons", {"query": "what is lost with a site", "detail": "full"}, ""),
            ("query_global_commons", {"query": "x", "cluster": "que"}, ""),
            ("query_global_commons", {"query": "x", "platform": "no"}, ""),
            ("list_documents", {}, ""),
            ("list_documents", {"cluster": "nonesuch"}, ""),
            ("read_document", {"document": "bok/hosting/site-rename.md"}, ""),
            ("read_document", {"document": "qu-purg"}, ""),
            ("check_triggers", {"conversation": ["User: I will empty the bed and sell it"]}, ""),
            ("suggest_location", {"text": "emptying what waits for others"}, ""),
            ("Librarian_SearchLibrary", {"query": "messages of all"}, ""),
            ("Librarian_ListLibraryContents", {"path": "bok/"}, ""),
            ("Librarian_GetLibraryOverview", {}, ""),
        ]
        for name, given, said in calls:
            assert_nothing_of_the_rest((await client.call_tool(name, given)).model_dump(mode="json"), said=said)
        listed = await client.call_tool("list_documents", {})
        assert listed.structured_content["total"] == 2
        assert [(one["id"], one["documents"]) for one in listed.structured_content["clusters"]] == [("hosting", 2)]

    part.run(use)


@pytest.mark.parametrize("name", ["queue-purge", "bok/queues/queue-purge.md", "./bok/queues/../queues/queue-purge.md"])
def test_a_document_of_the_rest_is_not_there(part: Served, name: str) -> None:
    async def use(client: Client) -> None:
        for tool, key in (("read_document", "document"), ("Librarian_ReadFromLibrary", "path")):
            result = await client.call_tool(tool, {key: name})
            assert result.is_error
            assert_nothing_of_the_rest(result.model_dump(mode="json"), said=name)
        for address in (f"deia://document/{name}", "deia://cluster/queues", "deia://telemetry/summary"):
            with pytest.raises(MCPError, match="there is no") as caught:
                await client.read_resource(address)
            assert_nothing_of_the_rest(str(caught.value), said=f"{name} queues")

    part.run(use)


def test_no_trigger_of_the_rest_fires_and_none_without_a_document(part: Served) -> None:
    async def use(client: Client) -> None:
        for said in ("I will purge the orchid now", "I will sell the orchid now"):
            found = await client.call_tool("check_triggers", {"conversation": [f"User: {said}"]})
            assert found.structured_content["fired"] == []
        found = await client.call_tool("check_triggers", {"conversation": ["User: I will delete the shop site now"]})
        assert [one["trigger"] for one in found.structured_content["fired"]] == ["site-delete"]

    part.run(use)


def test_no_resource_prompt_or_completion_gives_anything_away(part: Served) -> None:
    async def use(client: Client) -> None:
        addresses = [str(one.uri) for one in (await client.list_resources()).resources]
        assert addresses == ["deia://index", "deia://schema"]
        for address in (*addresses, "deia://cluster/hosting", "deia://document/site-rename"):
            assert_nothing_of_the_rest((await client.read_resource(address)).model_dump(mode="json"))
        given = {
            "before-you-start": {"task": "empty what waits"}, "write-a-lesson": {"mistake": "emptied what waits"},
            "review-plan": {"plan": "I will empty what waits"},
        }  # fmt: skip
        for name, arguments in given.items():
            assert_nothing_of_the_rest((await client.get_prompt(name, arguments)).model_dump(mode="json"))
        from mcp_types import ResourceTemplateReference  # noqa: PLC0415 - for this test alone

        for name in ("id", "cluster", "platform", "tag", "audience"):
            reference = ResourceTemplateReference(uri="deia://document/{id}")
            found = await client.complete(reference, {"name": name, "value": ""})
            assert_nothing_of_the_rest(found.completion.values)

    part.run(use)


def test_it_writes_nothing_and_answers_no_hooks(part: Served) -> None:
    async def use(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"save_lesson", "remove_document", "feedback", "Librarian_IndexDirectoryToLibrary"}
        assert (await client.call_tool("save_lesson", {"title": "x", "text": "y"})).is_error

    part.run(use)
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": str(part.place.root),
             "prompt": "I will purge the orchid now"}  # fmt: skip
    status, body, _ = part.ask("/hooks/claude-code", body=json.dumps(event).encode())
    assert status == 403
    assert_nothing_of_the_rest(body.decode())


def test_what_changed_of_the_rest_is_not_named(part: Served) -> None:
    document = part.place.root / "bok/queues/orchid.md"
    document.write_text("# The orchid queue\n\nIt is purged on Mondays.\n", encoding="utf-8")

    async def use(client: Client) -> None:
        answer = await client.call_tool("query_global_commons", {"query": "delete a site"})
        assert_nothing_of_the_rest(answer.model_dump(mode="json"))

    part.run(use)
    assert_nothing_of_the_rest(part.ask("/ready")[1].decode())


@pytest.mark.slow
def test_a_collection_that_is_none_is_told_to_who_typed_it(place: Place) -> None:
    done = subprocess.run(
        place.command("serve", "--port", "0", "--collection", "nonesuch", "--collection", "bok/none/"), cwd=place.root,
        env=place.environ, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"There are no documents in the collection 'bok/none/', 'nonesuch'" in done.stderr
