"""The fake model over HTTP, in each protocol that a host or a framework may speak with it."""

from __future__ import annotations

import gzip
import http.client
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.setup.live.fake_model import FakeModel, answer_to
from deia.serve.setup.live.model_request import (
    DONE,
    SHELLS,
    Act,
    Step,
    next_act,
    protocol_of,
    read_request,
    shell_input,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COMMAND = "terraform destroy -auto-approve"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
ANTHROPIC, RESPONSES, CHAT = "/v1/messages", "/v1/responses", "/v1/chat/completions"
GEMINI, GEMINI_STREAM = "/v1beta/models/g:generateContent", "/v1beta/models/g:streamGenerateContent?alt=sse"
PATHS = (ANTHROPIC, RESPONSES, CHAT, GEMINI)


def tools(path: str, name: str = "Bash") -> list[dict[str, Any]]:
    """Return a shell as each protocol describes it."""
    if path == ANTHROPIC:
        return [{"name": name, "input_schema": SCHEMA}]
    if path == RESPONSES:
        return [{"type": "function", "name": name, "parameters": SCHEMA}]
    if path == CHAT:
        return [{"type": "function", "function": {"name": name, "parameters": SCHEMA}}]
    return [{"functionDeclarations": [{"name": name, "parametersJsonSchema": SCHEMA}]}]


def conversation(path: str, *results: str) -> dict[str, Any]:
    """Return what is said so far: a wish, and for each result the call that it belongs to."""
    if path == GEMINI:
        contents: list[Any] = [{"role": "user", "parts": [{"text": "Clean up."}]}]
        for result in results:
            contents.append({"role": "model", "parts": [{"functionCall": {"name": "Bash", "args": {}}}]})
            answer = {"functionResponse": {"name": "Bash", "response": {"output": result}}}
            contents.append({"role": "user", "parts": [answer]})
        return {"contents": contents}
    items: list[Any] = [{"role": "user", "content": "Clean up."}]
    for number, result in enumerate(results):
        mark = f"c{number}"
        if path == ANTHROPIC:
            called = {"type": "tool_use", "id": mark, "name": "Bash", "input": {}}
            block = {"type": "tool_result", "tool_use_id": mark, "content": [{"type": "text", "text": result}]}
            items += [{"role": "assistant", "content": [called]}, {"role": "user", "content": [block]}]
        elif path == CHAT:
            function = {"name": "Bash", "arguments": "{}"}
            called = {"id": mark, "type": "function", "function": function}
            items += [
                {"role": "assistant", "tool_calls": [called]},
                {"role": "tool", "tool_call_id": mark, "content": result},
            ]
        else:
            items.append({"type": "function_call", "call_id": mark, "name": "Bash", "arguments": "{}"})
            items.append({"type": "function_call_output", "call_id": mark, "output": result})
    return {"input" if path == RESPONSES else "messages": items}


def post(model: FakeModel, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, body, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def ask(model: FakeModel, path: str, body: Mapping[str, Any]) -> Any:
    status, text = post(model, path, json.dumps(body).encode())
    assert status == 200
    return json.loads(text)


def events(text: str) -> list[dict[str, Any]]:
    """Return the data of a stream's events, each of which must be named as its data says, or have no name."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        if lines["data"] != "[DONE]":
            found.append(json.loads(lines["data"]))
            assert lines.get("event", found[-1].get("type")) == found[-1].get("type")
    return found


def called(path: str, whole: Any) -> tuple[str, Any]:
    """Return the tool and the input of the call in an answer."""
    if path == ANTHROPIC:
        return whole["content"][0]["name"], whole["content"][0]["input"]
    if path == RESPONSES:
        return whole["output"][0]["name"], json.loads(whole["output"][0]["arguments"])
    if path == CHAT:
        function = whole["choices"][0]["message"]["tool_calls"][0]["function"]
        return function["name"], json.loads(function["arguments"])
    call = whole["candidates"][0]["content"]["parts"][0]["functionCall"]
    return call["name"], call["args"]


@pytest.mark.parametrize("path", PATHS)
def test_the_shell_of_the_request_is_called_as_often_as_the_script_says(path: str) -> None:
    with FakeModel([Step(shell=COMMAND), Step(shell=COMMAND)]) as model:
        for results in ((), ("held",)):
            whole = ask(model, path, {**conversation(path, *results), "tools": tools(path)})
            assert called(path, whole) == ("Bash", {"command": COMMAND})
        last = ask(model, path, {**conversation(path, "held", "gone"), "tools": tools(path)})
    assert DONE in texts(last)
    assert [[result.text for result in request.results] for request in model.requests] == [
        [],
        ["held"],
        ["held", "gone"],
    ]
    assert {result.tool for request in model.requests for result in request.results} == {"Bash"}


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_says_the_same_in_several_pieces(path: str) -> None:
    sentence = "I looked at all of it, and it is done as you asked me to."
    body = {**conversation(path), "tools": tools(path), "stream": True}
    asked = GEMINI_STREAM if path == GEMINI else path
    with FakeModel([Step(text=sentence)]) as model:
        status, text = post(model, asked, json.dumps(body).encode())
    assert status == 200
    pieces = events(text)
    deltas: Callable[[Any], str] = {
        ANTHROPIC: lambda event: event.get("delta", {}).get("text", ""),
        RESPONSES: lambda event: event["delta"] if event["type"] == "response.output_text.delta" else "",
        CHAT: lambda event: event["choices"][0]["delta"].get("content") or "",
        GEMINI: lambda event: event["candidates"][0]["content"]["parts"][0]["text"],
    }[path]
    parts = [part for event in pieces if (part := deltas(event))]
    assert len(parts) > 1
    assert "".join(parts) == sentence


@pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES, CHAT])
def test_a_streamed_call_comes_to_the_input_of_a_whole_one(path: str) -> None:
    body = {**conversation(path), "tools": tools(path), "stream": True}
    with FakeModel([Step(shell=COMMAND)]) as model:
        _, text = post(model, path, json.dumps(body).encode())
    parts: Callable[[Any], str] = {
        ANTHROPIC: lambda event: event.get("delta", {}).get("partial_json", ""),
        RESPONSES: lambda event: event["delta"] if event["type"].endswith("arguments.delta") else "",
        CHAT: lambda event: "".join(
            call["function"]["arguments"] for call in event["choices"][0]["delta"].get("tool_calls", ())
        ),
    }[path]
    assert json.loads("".join(parts(event) for event in events(text))) == {"command": COMMAND}


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "chunked"])
def test_a_body_may_be_packed_or_come_in_chunks(encoding: str) -> None:
    raw = json.dumps(conversation(CHAT)).encode()
    packed = {"gzip": gzip.compress(raw), "deflate": zlib.compress(raw)}.get(encoding, raw)
    with FakeModel([]) as model:
        connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
        if encoding == "chunked":
            connection.request(
                "POST", CHAT, iter([raw[:20], raw[20:]]), encode_chunked=True, headers={"transfer-encoding": "chunked"}
            )
        else:
            connection.request("POST", CHAT, packed, headers={"content-encoding": encoding})
        assert connection.getresponse().status == 200
        connection.close()
    assert "Clean up." in model.requests[0].spoken


def test_the_description_of_a_tool_is_nothing_that_is_spoken() -> None:
    body = {**conversation(CHAT), "tools": tools(CHAT, name="a_shell_of_its_own")}
    request = read_request(CHAT, body)
    assert request is not None
    assert "a_shell_of_its_own" not in request.spoken
    assert [tool.name for tool in request.tools] == ["a_shell_of_its_own"]


def test_a_tool_that_is_offered_late_is_searched_for_first() -> None:
    script = [Step(tool="query_global", input={"question": "what?"})]
    searcher = {"name": "ToolSearch", "input_schema": {"properties": {"query": {"type": "string"}}}}
    wanted = {
        "name": "mcp__deia__query_global_commons",
        "input_schema": {"properties": {"question": {"type": "string"}}},
    }
    with FakeModel(script) as model:
        first = ask(model, ANTHROPIC, {**conversation(ANTHROPIC), "tools": [searcher]})
        assert called(ANTHROPIC, first) == ("ToolSearch", {"query": "query_global"})
        second = ask(model, ANTHROPIC, {**conversation(ANTHROPIC), "tools": [searcher, wanted]})
    assert called(ANTHROPIC, second) == ("mcp__deia__query_global_commons", {"question": "what?"})


@pytest.mark.parametrize(
    ("properties", "wanted"),
    [
        ({"command": {"type": "string"}}, {"command": COMMAND}),
        ({"cmd": {"type": "string"}}, {"cmd": COMMAND}),
        ({"command": {"type": "array"}}, {"command": ["bash", "-lc", COMMAND]}),
        ({"commands": {"type": ["array", "null"]}}, {"commands": [COMMAND]}),
        ({"something": {}}, {"command": COMMAND}),
    ],
)
def test_a_shell_gets_its_command_in_the_form_that_it_asks_for(properties: dict[str, Any], wanted: object) -> None:
    request = read_request(ANTHROPIC, {"tools": [{"name": "sh", "input_schema": {"properties": properties}}]})
    assert request is not None
    assert shell_input(request.tools[0], COMMAND) == wanted


@pytest.mark.parametrize("kind", ["local_shell", "custom"])
def test_the_kinds_of_tools_of_codex_are_called_in_their_own_form(kind: str) -> None:
    body = {"tools": [{"type": kind, **({"name": "shell"} if kind == "custom" else {})}], "input": "Clean up."}
    with FakeModel([Step(shell=COMMAND)]) as model:
        item = ask(model, RESPONSES, body)["output"][0]
    assert item["type"] == ("local_shell_call" if kind == "local_shell" else "custom_tool_call")
    assert COMMAND in texts(item)


def test_a_request_without_tools_is_answered_and_takes_no_step() -> None:
    with FakeModel([Step(shell=COMMAND)]) as model:
        assert "ok" in texts(ask(model, CHAT, conversation(CHAT)))
        assert called(CHAT, ask(model, CHAT, {**conversation(CHAT), "tools": tools(CHAT)}))


def test_a_host_that_loops_is_given_no_more_calls_and_no_more_is_kept() -> None:
    with FakeModel([Step(shell=COMMAND)], most_requests=3) as model:
        answers = [ask(model, CHAT, {**conversation(CHAT), "tools": tools(CHAT)}) for _ in range(5)]
    assert [DONE in texts(answer) for answer in answers] == [False, False, False, True, True]
    assert len(model.requests) == 3


def test_it_lists_models_and_passes_over_what_hosts_report() -> None:
    with FakeModel([]) as model:
        connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
        for method, path, status in (
            ("GET", "/v1/models", 200), ("GET", "/elsewhere", 404), ("HEAD", "/", 200),
            ("POST", "/v1/messages/count_tokens", 200), ("POST", "/api/telemetry", 200), ("POST", "/elsewhere", 404),
        ):  # fmt: skip
            connection.request(method, path, "{}" if method == "POST" else None)
            answer = connection.getresponse()
            text = answer.read()
            assert (path, answer.status) == (path, status)
            assert method == "HEAD" or json.loads(text) is not None
        connection.close()
    assert model.requests == []
    assert "POST /elsewhere" in model.other


@pytest.mark.parametrize(
    "body", [b"", b"no JSON", b"[1]", b'{"messages": 3, "tools": [1, {"name": []}]}', b"\xff", b"[" * 99999]
)
@pytest.mark.parametrize("path", [*PATHS, GEMINI_STREAM])
def test_no_body_ends_the_server(path: str, body: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with FakeModel([Step(shell=COMMAND)]) as model:
        status, _ = post(model, path, body)
        assert status in {200, 400, 404}
        assert post(model, path, b"{}", {"content-encoding": "gzip"})[0] == 400
        assert post(model, path, json.dumps(conversation(CHAT)).encode())[0] == 200
    assert capfd.readouterr().err == ""


KINDS = ["function", "namespace", "tool_use", "tool_result", "function_call", "function_call_output", *SHELLS[:3]]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from([
            "type", "name", "id", "call_id", "content", "role", "parts", "functionResponse", "functionDeclarations",
            "tool_calls", "function", "tools", "input_schema", "parameters", "properties", "required", "enum", "output",
            "command", "response", "tool_use_id",
        ]), inner, max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.slow
@given(
    path=st.sampled_from([*PATHS, GEMINI_STREAM]),
    body=st.dictionaries(
        st.sampled_from(["messages", "input", "contents", "tools", "stream", "model", "system"]), JSON
    ),
    step=st.sampled_from([Step(shell=COMMAND), Step(tool="a", input={"b": 1}), Step(text="x")]),
)
def test_every_body_of_a_request_has_an_answer_that_is_json(path: str, body: dict[str, Any], step: Step) -> None:
    request = read_request(path, body)
    assert request is not None
    answer = answer_to(request, next_act([step], request))
    assert json.loads(json.dumps([answer.whole, answer.events]))
    assert isinstance(request.spoken, str)


@given(st.text())
def test_no_path_raises(path: str) -> None:
    assert protocol_of(path) in {"", "anthropic", "responses", "chat", "gemini"}


def test_a_text_that_is_nested_too_deep_is_cut_off() -> None:
    deep: Any = "bottom"
    for _ in range(2000):
        deep = [deep]
    assert texts(deep) == ""
    request = read_request(CHAT, {"messages": deep, "tools": tools(CHAT)})
    assert request is not None
    assert next_act([], request) == Act(text=DONE)
