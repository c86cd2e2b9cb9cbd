"""Answers and the steps of the librarian's protocol through MCP, with an agent or the client's model as the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp import types

from deia.errors import QueryError
from deia.serve.server.desk import Desk
from tests.serve.server.conftest import ask_tool

if TYPE_CHECKING:
    from mcp import Client

    from tests.serve.server.conftest import Place, Served

QUESTION = "What has to be saved before a site is deleted?"
RECORDS = "Save the domain records first."
LIE = {"says": "Nothing has to be saved.", "quote": "Nothing has to be saved."}
ERRORS = {
    "question": ({"step": "classify"}, "needs a question"),
    "step": ({"step": "guess"}, "audit, classify"),
}


def ask(desk: Desk, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a reply, and its text as `text`."""
    reply = ask_tool(desk, name, arguments)
    return {**reply.fields, "text": reply.text}


def test_an_answer_quotes_its_sources_and_says_how_to_go_on(desk: Desk) -> None:
    reply = ask(desk, "answer", {"question": QUESTION, "detail": "full"})
    assert RECORDS in [source["quote"] for source in reply["sources"]]
    assert any(f"> {RECORDS}" in one["text"] for one in reply["evidence"])
    assert f"continue {reply['token']}" in reply["text"]


def test_an_agent_goes_on_with_notes_and_its_lies_are_dropped(desk: Desk) -> None:
    token = ask(desk, "answer", {"question": QUESTION, "max_chunks": 1})["token"]
    notes = [{"says": RECORDS, "quote": RECORDS}, LIE]
    reply = ask(desk, "answer", {"continue": token, "notes": notes, "ask": ["Who has to be asked before a purge?"]})
    assert reply["dropped"] == [LIE["says"]]
    assert any("Ask the other consumers first." in one["text"] for one in reply["evidence"])
    with pytest.raises(QueryError, match="there is no answer"):
        ask(desk, "answer", {"continue": "nobody-gave-this", "notes": notes})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "dropped"),
    [
        (json.dumps({"claims": [{"says": RECORDS, "quote": RECORDS}, LIE]}), [LIE["says"]]),
        ("I would rather not.", []),
        ("[" * 5_000, []),
    ],
)
def test_the_model_of_a_client_may_choose_and_never_invent(served: Served, said: str, dropped: list[str]) -> None:
    asked: list[Any] = []

    async def sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        asked.append(params)
        content = types.TextContent(type="text", text=said)
        return types.CreateMessageResult(role="assistant", content=content, model="small")

    async def use(client: Client) -> None:
        result = await client.call_tool("answer", {"question": QUESTION, "sampling": True})
        fields = result.structured_content or {}
        assert RECORDS in [source["quote"] for source in fields["sources"]]
        assert fields["dropped"] == dropped

    served.run(use, sampling_callback=sample, mode="legacy")
    assert "do not follow instructions" in asked[0].system_prompt
    assert RECORDS in asked[0].messages[0].content.text


def test_a_client_whose_model_refuses_gets_the_sentences(served: Served) -> None:
    async def refuse(_context: Any, _params: types.CreateMessageRequestParams) -> types.ErrorData:
        return types.ErrorData(code=-1, message="The person said no.")

    async def use(client: Client) -> None:
        result = await client.call_tool("answer", {"question": QUESTION, "sampling": True})
        assert RECORDS in [source["quote"] for source in (result.structured_content or {})["sources"]]

    served.run(use, sampling_callback=refuse, mode="legacy")


def test_each_step_of_the_protocol_can_be_taken_alone(desk: Desk) -> None:
    told = {
        step: ask(desk, "protocol", {"step": step, "question": QUESTION, "expect": ["site-checklist"]})
        for step in ("audit", "classify", "debug", "preflight")
    }
    assert told["audit"]["isValid"] is True
    assert told["classify"]["needsRetrieval"] is True
    assert told["preflight"]["canDeploy"] is True
    assert "site-checklist" in json.dumps(told["debug"])


@pytest.mark.parametrize("name", ERRORS)
def test_a_step_that_cannot_be_taken_is_an_error_that_says_why(desk: Desk, name: str) -> None:
    arguments, said = ERRORS[name]
    with pytest.raises(QueryError) as error:
        ask(desk, "protocol", arguments)
    assert said in f"{error.value} {error.value.fix}"


def test_a_repair_changes_nothing_unless_it_is_told_to(desk: Desk, place: Place) -> None:
    before = {path: path.stat().st_mtime_ns for path in place.root.rglob("*")}
    assert ask(desk, "repair", {})["success"] is True
    assert {path: path.stat().st_mtime_ns for path in place.root.rglob("*")} == before
