"""Every tool, resource and prompt, called by the official client of both protocol generations."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from deia.serve.server.read_tools import PROMPTS
from deia.serve.server.tool_schemas import COMPAT_TOOLS, TOOLS
from deia.trust import distrust, trust

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from mcp import Client

    from tests.serve.server.conftest import Place, Served

    Given = Any

ERAS = [{}, {"mode": "legacy"}]


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


async def good(client: Client, name: str, **arguments: Given) -> dict[str, Any]:
    """Call a tool that must succeed; give its structured content."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    assert text_of(result)
    found: dict[str, Any] = result.structured_content
    return found


async def refused(client: Client, name: str, **arguments: Given) -> str:
    """Call a tool that must refuse; give what it says."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert "Traceback" not in text_of(result)
    return text_of(result)


async def read(client: Client, address: str) -> str:
    (content,) = (await client.read_resource(address)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


@pytest.mark.parametrize("options", ERAS)
def test_both_generations_of_the_protocol_are_served(served: Served, options: dict[str, Any]) -> None:
    async def use(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools][: len(TOOLS)] == [one.name for one in TOOLS]
        answer = await good(client, "query_global_commons", query="how do I delete a site?", detail="full")
        assert answer["documents"]["primary"][0]["id"] == "site-checklist"
        assert "> Save the domain records first." in answer["context"]

    served.run(use, **options)


def test_a_document_is_read_whole_or_in_part_by_id_or_path(served: Served) -> None:
    async def use(client: Client) -> None:
        whole = await good(client, "read_document", document="site-checklist")
        assert whole["text"].startswith("> # Before a site is deleted")
        assert whole["lines"] == [6, 10]
        part = await good(client, "read_document", document="bok/hosting/site-checklist.md", lines="8")
        assert (part["text"], part["lines"]) == ("> Save the domain records first.", [8, 8])
        assert "Did you mean site-checklist" in await refused(client, "read_document", document="site-checklst")
        assert "6-10" in await refused(client, "read_document", document="site-checklist", lines="90")
        assert "12-30" in await refused(client, "read_document", document="site-checklist", lines="all")
        for path in ("../../etc/passwd", "/etc/passwd", "bok/../../x", "\x00", "x" * 1900):
            assert "there is no document" in await refused(client, "read_document", document=path)

    served.run(use)


def test_a_conversation_is_checked_anew_each_time_unless_it_has_an_id(served: Served) -> None:
    async def use(client: Client) -> None:
        said = ["User: I will delete the shop site now"]
        for _ in range(2):
            found = await good(client, "check_triggers", conversation=said)
            assert [one["trigger"] for one in found["fired"]] == ["site-delete"]
            assert "Save the domain records" in found["context"]
        first = await good(client, "check_triggers", conversation=said, conversation_id="one")
        again = await good(client, "check_triggers", conversation=said, conversation_id="one")
        assert (len(first["fired"]), again["fired"]) == (1, [])
        call = [{"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {
            "command": "shopctl site:delete"}}]}]  # fmt: skip
        assert (await good(client, "check_triggers", conversation=call))["fired"]
        assert (await good(client, "check_triggers", conversation=["User: hello"]))["fired"] == []

    served.run(use)


def test_documents_are_listed_by_filter_and_page(served: Served) -> None:
    async def use(client: Client) -> None:
        every = await good(client, "list_documents")
        assert every["documents"][0]["id"] == "site-checklist"
        assert {one["id"] for one in every["clusters"]} >= {"hosting", "queues"}
        assert {"path": "bok/hosting/", "documents": 2} in every["folders"]
        page = await good(client, "list_documents", cluster="hosting", limit=1, offset=1)
        assert ([one["id"] for one in page["documents"]], page["total"]) == (["site-rename"], 2)
        assert page["folders"] == [{"path": "bok/hosting/", "documents": 2}]
        assert "Known are: shopctl" in await refused(client, "list_documents", platform="nonesuch")

    served.run(use)


@pytest.mark.slow
def test_a_lesson_is_saved_found_changed_removed_and_brought_back(served: Served) -> None:
    root = served.place.root

    async def use(client: Client) -> None:
        lesson = {"title": "Rotating a certificate twice", "text": "The second rotation revokes the first."}
        saved = await good(client, "save_lesson", **lesson, tags=["tls"], trigger=True, urgency="high")
        ident = saved["id"]
        assert all((root / path).is_file() for path in saved["paths"])
        found = await good(client, "query_global_commons", query="rotating a certificate")
        assert found["documents"]["primary"][0]["id"] == ident
        assert "exists already" in await refused(client, "save_lesson", **lesson)
        place = await good(client, "suggest_location", text="rotating a certificate twice revokes the first")
        assert (place["category"], place["similar"][0]["id"]) == ("patterns", ident)
        changed = await good(
            client, "save_lesson", title="Rotating a certificate twice", text="Wait an hour between the two.",
            update=ident, summary="Wait between rotations.",
        )  # fmt: skip
        assert changed["updated"]
        read = await good(client, "read_document", document=ident)
        assert "> Wait an hour between the two." in read["text"]
        assert read["summary"] == "Wait between rotations."
        gone = await good(client, "remove_document", id=ident)
        assert f"trigger {ident}" in gone["named_by"]
        assert "there is no document" in await refused(client, "read_document", document=ident)
        await good(client, "remove_document", id=ident, undo=True)
        assert "Wait an hour" in (await good(client, "read_document", document=ident))["text"]
        assert "no document" in await refused(client, "remove_document", id="nonesuch")
        assert "no document" in await refused(client, "remove_document", id="nonesuch", undo=True)
        assert "text is empty" in await refused(client, "save_lesson", title="Empty", text="  ")

    served.run(use)
    assert "# the first that was written" in (root / "commons_index.yaml").read_text(encoding="utf-8")


def test_feedback_is_kept_for_what_there_is(served: Served) -> None:
    async def use(client: Client) -> None:
        for ident in ("site-checklist", "site-delete", "19a0c2-1f-0a3b"):
            assert (await good(client, "feedback", id=ident, verdict="useful", note="it helped"))["recorded"]
        assert "there is no document" in await refused(client, "feedback", id="nonesuch", verdict="noise")
        assert "one of useful" in await refused(client, "feedback", id="site-delete", verdict="great")

    served.run(use)
    events = "".join(path.read_text() for path in (served.place.root / "telemetry/events").glob("*.jsonl"))
    assert events.count('"verdict":"useful","note":"it helped"') == 3  # clients of other tests judge here, too


@pytest.mark.slow
def test_the_other_family_of_names_does_the_same(served: Served) -> None:
    async def use(client: Client) -> None:
        found = await good(client, "Librarian_SearchLibrary", query="purge a queue", limit=2)
        assert "Ask the other consumers first." in found["context"]
        read = await good(client, "Librarian_ReadFromLibrary", path="library://bok/queues/queue-purge.md")
        assert "Ask the other consumers" in read["text"]
        listed = await good(client, "Librarian_ListLibraryContents", path="bok/queues")
        assert [one["id"] for one in listed["documents"]] == ["queue-purge"]
        assert (await good(client, "Librarian_GetLibraryOverview"))["clusters"]
        assert (await good(client, "Librarian_SuggestLibraryLocation", content="purging queues"))[
            "category"
        ] == "queues"
        new = served.place.root / "bok/queues/new-one.md"
        new.write_text("# A queue without consumers\n\nIt grows.\n", encoding="utf-8")
        added = await good(client, "Librarian_AddToLibrary", title="A queue of queues", content="One.", path="queues")
        path = added["paths"][0]
        updated = await good(client, "Librarian_UpdateLibraryDoc", path=f"library://{path}", content="Two.")
        assert "summary" not in updated["next"], "nobody wrote the old one"
        assert "> Two." in (await good(client, "Librarian_ReadFromLibrary", path=path))["text"]
        await good(client, "save_lesson", update=added["id"], title="Queues", text="Three.", summary="Mine.")
        updated = await good(client, "Librarian_UpdateLibraryDoc", path=path, content="Four.")
        assert 'The summary was kept: "Mine.". To change it, pass summary to save_lesson' in updated["next"]
        assert (await good(client, "Librarian_RemoveFromLibrary", path=path))["removed"]
        assert {one.name for one in COMPAT_TOOLS} <= {tool.name for tool in (await client.list_tools()).tools}
        entered = await good(client, "Librarian_IndexDirectoryToLibrary", path="bok/queues")
        assert len(entered["added"]) == 1
        assert "folders of the project" in await refused(client, "Librarian_IndexDirectoryToLibrary", path="../..")

    served.run(use)


def test_every_resource_is_read(served: Served) -> None:
    async def use(client: Client) -> None:
        for resource in (await client.list_resources()).resources:
            assert json.loads(await read(client, resource.uri))
        assert len((await client.list_resource_templates()).resource_templates) == 2
        assert "Ask the other consumers first." in await read(client, "deia://document/queue-purge")
        members = json.loads(await read(client, "deia://cluster/hosting"))["members"]
        assert {one["id"] for one in members} >= {"site-checklist", "site-rename"}
        for address in ("deia://document/nonesuch", "deia://cluster/nonesuch", "deia://x", "deia://document/..%2Fx"):
            with pytest.raises(MCPError, match="there is no"):
                await client.read_resource(address)

    served.run(use)


def test_every_prompt_is_filled_in(served: Served) -> None:
    given = {
        "before-you-start": {"task": "delete the shop site"},
        "write-a-lesson": {"mistake": "I deleted the site without saving the records"},
        "review-plan": {"plan": "I will delete the shop site now"},
    }

    async def use(client: Client) -> None:
        assert {one.name for one in (await client.list_prompts()).prompts} == set(PROMPTS) == set(given)
        for name, arguments in given.items():
            (message,) = (await client.get_prompt(name, arguments)).messages
            assert isinstance(message.content, types.TextContent)
            assert "site-checklist" in message.content.text
        with pytest.raises(MCPError, match="task is missing"):
            await client.get_prompt("before-you-start", {})
        with pytest.raises(MCPError, match="there is no prompt"):
            await client.get_prompt("nonesuch", {})

    served.run(use)


def test_ids_are_completed(served: Served) -> None:
    async def use(client: Client) -> None:
        reference = types.ResourceTemplateReference(uri="deia://document/{id}")
        found = await client.complete(reference, {"name": "id", "value": "site-"})
        assert found.completion.values == ["site-checklist", "site-rename"]

    served.run(use)


def test_a_call_leaves_a_line_without_what_was_said(served: Served) -> None:
    async def use(client: Client) -> None:
        await good(client, "query_global_commons", query="a very private question")

    served.run(use)
    folder = served.place.environ["DEIA_STATE"]
    lines = "".join(path.read_text() for path in _below(folder, "audit"))
    assert '"name":"query_global_commons"' in lines
    assert "private" not in lines


def _below(folder: str, name: str) -> list[Path]:
    from pathlib import Path  # noqa: PLC0415 - for the checker it is imported above

    return list((Path(folder) / "people").glob(f"**/{name}/*.jsonl"))


# --- asking the person ---


def answering(answer: dict[str, Any], asked: list[str]) -> Callable[..., Awaitable[types.ElicitResult]]:
    async def callback(_context: object, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(**answer)

    return callback


@pytest.mark.parametrize("options", ERAS)
def test_a_change_waits_for_the_persons_yes(served: Served, options: dict[str, Any]) -> None:
    no: list[str] = []
    yes: list[str] = []

    async def decline(client: Client) -> None:
        assert "did not agree" in await refused(client, "remove_document", id="site-rename")
        await good(client, "read_document", document="site-rename")

    async def agree(client: Client) -> None:
        assert (await good(client, "remove_document", id="site-rename"))["removed"]
        await good(client, "remove_document", id="site-rename", undo=True)

    said_no = {"action": "accept", "content": {"proceed": False}}
    served.run(decline, elicitation_callback=answering(said_no, no), **options)
    said_yes = {"action": "accept", "content": {"proceed": True}}
    served.run(agree, elicitation_callback=answering(said_yes, yes), **options)
    assert (len(no), len(yes)) == (1, 1)
    assert "Renaming a site" in no[0]


@pytest.mark.parametrize(("code", "done"), [(types.METHOD_NOT_FOUND, True), (types.INTERNAL_ERROR, False)])
def test_a_question_that_could_not_be_put_is_no_yes(served: Served, code: int, *, done: bool) -> None:
    """A client that knows no questions after all has its own way of asking; one that failed to ask has not asked."""

    async def fail(_context: object, _params: types.ElicitRequestFormParams) -> types.ErrorData:
        return types.ErrorData(code=code, message="not put")

    async def remove(client: Client) -> None:
        result = await client.call_tool("remove_document", {"id": "site-rename"})
        assert result.is_error is not done
        if done:
            await good(client, "remove_document", id="site-rename", undo=True)
        else:
            assert "did not agree" in text_of(result)

    served.run(remove, elicitation_callback=fail, mode="legacy")


@pytest.mark.filterwarnings("ignore:resources/subscribe")  # of the older generation, which is what is tested
def test_who_follows_an_address_hears_that_it_changed(served: Served) -> None:
    heard: list[str] = []
    came = asyncio.Event()

    async def listen(message: Any) -> None:
        root = getattr(message, "root", message)
        if isinstance(root, types.ResourceUpdatedNotification):
            heard.append(str(root.params.uri))
            came.set()

    async def use(client: Client) -> None:
        await client.subscribe_resource("deia://document/queue-purge")
        await client.subscribe_resource("deia://document/site-checklist")
        document = served.place.root / "bok/queues/queue-purge.md"
        document.write_text(document.read_text(encoding="utf-8") + "\nAnd wait.\n", encoding="utf-8")
        await asyncio.wait_for(came.wait(), 20)

    served.run(use, mode="legacy", message_handler=listen)
    assert heard == ["deia://document/queue-purge"]


def test_who_listens_hears_that_it_changed(served: Served) -> None:
    address = "deia://document/queue-purge"

    async def use(client: Client) -> None:
        async with client.listen(resource_subscriptions=[address]) as events:
            document = served.place.root / "bok/queues/queue-purge.md"
            document.write_text(document.read_text(encoding="utf-8") + "\nAnd ask.\n", encoding="utf-8")
            async with asyncio.timeout(20):
                event = await anext(aiter(events))
            assert event == ResourceUpdated(uri=address)

    served.run(use)


# --- on standard input and output ---


@pytest.mark.slow
def test_the_first_answer_from_nothing_is_whole_and_progress_is_told(raw_place: Place) -> None:
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def main() -> None:
        async with raw_place.client("--read-only") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert "save_lesson" not in names
            result = await client.call_tool("query_global_commons", {"query": "delete a site"}, progress_callback=hear)
            assert result.structured_content["documents"]["primary"][0]["id"] == "site-checklist"
            assert "there is no tool 'save_lesson'" in await refused(client, "save_lesson", title="x", text="y")

    asyncio.run(main())
    assert told
    assert told == sorted(told)


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_a_kill(place: Place) -> None:
    line = place.start("mcp")
    assert line.stdin is not None
    assert line.stdout is not None
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lesson = {"name": "save_lesson", "arguments": {"title": "Kill minus nine", "text": "It stays."}}
    for number, (method, params) in enumerate((("initialize", opening), ("tools/call", lesson)), 1):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        line.stdin.write(json.dumps(message).encode() + b"\n")
        line.stdin.flush()
        assert not json.loads(line.stdout.readline())["result"].get("isError")
    line.kill()
    line.communicate()

    async def main() -> None:
        async with place.client() as client:
            assert "> It stays." in (await good(client, "read_document", document="kill-minus-nine"))["text"]

    asyncio.run(main())


@pytest.mark.slow
def test_a_source_that_changes_is_answered_from_soon(place: Place) -> None:
    async def main() -> None:
        async with place.client(mode="legacy") as client:
            await good(client, "query_global_commons", query="delete a site")
            (place.root / "bok/late.md").write_text("# Zebra crossings\n\nZebras first.\n", encoding="utf-8")
            for _ in range(100):
                answer = await good(client, "query_global_commons", query="zebra crossings")
                if answer["matched"] is True:
                    return
                await asyncio.sleep(0.1)
            raise AssertionError("it was never seen")

    asyncio.run(main())


@pytest.mark.slow
def test_a_commons_that_is_trusted_meanwhile_counts_in_full_at_the_next_call_and_no_longer_after_that(
    raw_place: Place,
) -> None:
    raw_place.environ["DEIA_TRUST"] = ""

    async def form_of(client: Client) -> str:
        checked = await good(client, "check_triggers", conversation=["User: I will delete the shop site now"])
        (fired,) = checked["fired"]
        return str(fired["action"])

    async def main() -> None:
        async with raw_place.client() as client:
            assert "cluster 'queues' is unknown" in await refused(client, "list_documents", cluster="queues")
            assert await form_of(client) == "note"
            trust(str(raw_place.root), raw_place.environ)
            assert (await good(client, "list_documents", cluster="queues"))["total"] == 1
            assert await form_of(client) == "warn"
            distrust(str(raw_place.root), raw_place.environ)
            assert "cluster 'queues' is unknown" in await refused(client, "list_documents", cluster="queues")

    asyncio.run(main())


def test_a_commons_that_cannot_be_opened_once_it_is_trusted_stays_as_it_was(raw_place: Place) -> None:
    raw_place.environ["DEIA_TRUST"] = ""
    (raw_place.root / "deia.toml").write_text("hold = [\n", encoding="utf-8")

    async def main() -> None:
        async with raw_place.client() as client:
            await good(client, "query_global_commons", query="delete a site")
            trust(str(raw_place.root), raw_place.environ)
            await good(client, "query_global_commons", query="delete a site")

    asyncio.run(main())
    events = [path.read_text(encoding="utf-8") for path in raw_place.root.glob("telemetry/events/*.jsonl")]
    assert any('"event":"error"' in text and "not valid TOML" in text for text in events)
