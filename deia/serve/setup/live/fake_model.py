"""A scripted model on loopback, which a host or a framework talks to instead of a real one.

It needs no key and reaches nothing. It remembers the requests that it was sent, so that one can see what a model would
have read. It ends with the block that started it, and after too many requests it only says that it is done.

    with FakeModel([Step(shell="ls")]) as model:
        …  # start something that talks to model.url
    model.requests[0].spoken
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from deia.records import Record
from deia.serve.setup.live import model_request

PIECE = 24  # characters in an event of a stream
TOKENS = 10  # of an answer
LOOPBACK = "127.0.0.1"
MOST_REQUESTS = 60  # a host that loops is answered no more calls
MOST_BYTES = 64 * 1024 * 1024  # of a body, unpacked
PATIENCE = 30.0  # seconds in which a request must arrive
GZIP_OR_ZLIB = 47  # the window bits with which zlib finds out itself
MODELS = ("claude-sonnet-4-5", "claude-opus-4-1", "gpt-5", "gpt-5-codex", "gpt-4.1", "gemini-2.5-flash", "fake")
NOTED = ("telemetry", "event", "log", "metric")  # in the path of what a host reports; it is thrown away


class Answer(Record):
    """An answer: whole, and as events, each with its name and its data."""

    whole: Mapping[str, object]
    events: tuple[tuple[str, Mapping[str, object]], ...]
    end: str = ""  # what ends the stream


def answer_to(request: model_request.Request, act: model_request.Act) -> Answer:
    """Return an act as the answer to a request."""
    return WRITERS[request.protocol](request, act, uuid.uuid4().hex[:20])


def _pieces(text: str) -> Iterator[str]:
    yield from (text[at : at + PIECE] for at in range(0, len(text), PIECE))


# --- Anthropic's Messages ---


def _anthropic(request: model_request.Request, act: model_request.Act, mark: str) -> Answer:
    usage = {
        "input_tokens": act.tokens,
        "output_tokens": TOKENS,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    block: dict[str, object]
    empty: dict[str, object]
    if act.tool is None:
        stop, block, empty = "end_turn", {"type": "text", "text": act.text}, {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(act.text)]
    else:
        stop, block = "tool_use", {"type": "tool_use", "id": f"toolu_{mark}", "name": act.tool.name, "input": act.input}
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(act.input))]
    whole = {
        "id": f"msg_{mark}", "type": "message", "role": "assistant", "model": request.model, "content": [block],
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[tuple[str, dict[str, object]]] = [
        ("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        *(("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    return Answer(whole=whole, events=tuple((name, {"type": name, **data}) for name, data in events))


# --- OpenAI's Responses ---


def _responses(request: model_request.Request, act: model_request.Act, mark: str) -> Answer:
    item = _item(act, mark)
    whole = {
        "id": f"resp_{mark}", "object": "response", "created_at": int(time.time()), "status": "completed",
        "model": request.model, "output": [item], "error": None, "incomplete_details": None, "instructions": None,
        "metadata": {}, "parallel_tool_calls": False, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": act.tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": act.tokens + TOKENS,
        },
    }  # fmt: skip
    events: list[tuple[str, dict[str, object]]] = [
        ("response.created", {"response": {**whole, "output": [], "status": "in_progress", "usage": None}}),
        *_item_events(act, item),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    numbered = ((name, {"type": name, "sequence_number": at, **data}) for at, (name, data) in enumerate(events))
    return Answer(whole=whole, events=tuple(numbered))


def _item(act: model_request.Act, mark: str) -> dict[str, object]:
    """Return the item of an output: a message, or a call in the form that the tool's kind asks for."""
    if act.tool is None:
        return {
            "type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed",
            "content": [_part(act.text)],
        }  # fmt: skip
    call = {"id": f"fc_{mark}", "call_id": f"call_{mark}", "status": "completed"}
    if act.tool.kind == "local_shell":
        words = ["bash", "-lc", str(act.input.get("command", ""))]
        return {"type": "local_shell_call", **call, "action": {"type": "exec", "command": words, "env": {}}}
    if act.tool.kind == "custom":
        text = next(iter(act.input.values()), "")
        return {"type": "custom_tool_call", **call, "name": act.tool.name, "input": text}
    if act.tool.name == "tool_search":
        return {"type": "tool_search_call", **call, "execution": "client", "arguments": act.input}
    group = {"namespace": act.tool.namespace} if act.tool.namespace else {}
    return {
        "type": "function_call", **call, "name": act.tool.name, "arguments": json.dumps(act.input), **group,
    }  # fmt: skip


def _part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": []}


def _item_events(act: model_request.Act, item: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the events that bring a message or a function's call piece by piece."""
    place = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        part = {**place, "content_index": 0}
        opened = {**item, "content": [], "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": opened}
        yield "response.content_part.added", {**part, "part": _part("")}
        for piece in _pieces(act.text):
            yield "response.output_text.delta", {**part, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**part, "text": act.text, "logprobs": []}
        yield "response.content_part.done", {**part, "part": _part(act.text)}
    elif item["type"] == "function_call":
        arguments = json.dumps(act.input)
        opened = {**item, "arguments": "", "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": opened}
        for piece in _pieces(arguments):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        yield "response.function_call_arguments.done", {**place, "name": item["name"], "arguments": arguments}


# --- OpenAI's Chat Completions ---


def _chat(request: model_request.Request, act: model_request.Act, mark: str) -> Answer:
    usage = {"prompt_tokens": act.tokens, "completion_tokens": TOKENS, "total_tokens": act.tokens + TOKENS}
    head = {"id": f"chatcmpl-{mark}", "created": int(time.time()), "model": request.model}
    message: dict[str, object]
    deltas: Sequence[Mapping[str, object]]
    if act.tool is None:
        stop, message = "stop", {"role": "assistant", "content": act.text}
        deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in _pieces(act.text))]
    else:
        function = {"name": act.tool.name, "arguments": json.dumps(act.input)}
        call = {"id": f"call_{mark}", "type": "function", "function": function}
        stop, message = "tool_calls", {"role": "assistant", "content": None, "tool_calls": [call]}
        opened = {**call, "index": 0, "function": {**function, "arguments": ""}}
        pieces = [{"index": 0, "function": {"arguments": piece}} for piece in _pieces(function["arguments"])]
        deltas = [{**message, "tool_calls": [opened]}, *({"tool_calls": [piece]} for piece in pieces)]
    choice = {"index": 0, "message": message, "finish_reason": stop, "logprobs": None}
    chunk = {**head, "object": "chat.completion.chunk"}
    chunks = [
        *({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage},
    ]
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}
    return Answer(whole=whole, events=tuple(("", chunk) for chunk in chunks), end="data: [DONE]\n\n")


# --- Gemini's ---


def _gemini(_request: model_request.Request, act: model_request.Act, mark: str) -> Answer:
    total = act.tokens + TOKENS
    usage = {"promptTokenCount": act.tokens, "candidatesTokenCount": TOKENS, "totalTokenCount": total}

    def chunk(part: Mapping[str, object], **ends: str) -> dict[str, object]:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **ends}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake", "responseId": mark}

    if act.tool is not None:
        whole = chunk({"functionCall": {"name": act.tool.name, "args": act.input}}, finishReason="STOP")
        return Answer(whole=whole, events=(("", whole),))
    *first, last = _pieces(act.text or " ")
    chunks = [*(chunk({"text": piece}) for piece in first), chunk({"text": last}, finishReason="STOP")]
    return Answer(whole=chunk({"text": act.text}, finishReason="STOP"), events=tuple(("", event) for event in chunks))


WRITERS: Mapping[str, Callable[[model_request.Request, model_request.Act, str], Answer]] = {
    model_request.ANTHROPIC: _anthropic,
    model_request.RESPONSES: _responses,
    model_request.CHAT: _chat,
    model_request.GEMINI: _gemini,
}


class Exchange(Record):
    """A request, and what the model answered."""

    request: model_request.Request
    act: model_request.Act


class FakeModel:
    """A model that follows a script, and the requests that it was sent."""

    def __init__(
        self, script: Sequence[model_request.Step], *, port: int = 0, most_requests: int = MOST_REQUESTS
    ) -> None:
        self.script = tuple(script)
        self.exchanges: list[Exchange] = []
        self.other: list[str] = []  # method and path of everything else that was asked
        self._most = most_requests
        self._lock = threading.Lock()
        self._server = _Server((LOOPBACK, port), _Handler)
        self._server.model = self

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens; the protocols add their own paths."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[model_request.Request]:
        """The requests to the model so far, in order."""
        return [exchange.request for exchange in self.exchanges]

    def answer(self, request: model_request.Request) -> Answer:
        """Return the answer to a request, which is remembered."""
        with self._lock:
            over = len(self.exchanges) >= self._most
            act = model_request.Act(text=model_request.DONE) if over else model_request.next_act(self.script, request)
            if not over:
                self.exchanges.append(Exchange(request=request, act=act))
        return answer_to(request, act)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: FakeModel

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a host that goes away in the middle of an answer is not our error."""


class _Handler(BaseHTTPRequestHandler):
    """Answers what hosts ask of a model's server."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the class above
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        self.server.model.other.append(f"GET {self.path}")
        if self.path.partition("?")[0].rstrip("/").endswith("/models"):
            self._send({"object": "list", "data": _models(), "models": _models(), "has_more": False})
        else:
            self._send({"error": {"message": "nothing here", "type": "not_found_error"}}, status=404)

    def do_POST(self) -> None:
        """Answer a request to the model, or one of the small questions around it."""
        try:
            body = json.loads(self._body() or b"{}")
        except (ValueError, RecursionError, zlib.error):
            self._send({"error": {"message": "not JSON", "type": "invalid_request_error"}}, status=400)
            return
        request = model_request.read_request(self.path, body)
        if request is None:
            self._answer_other()
            return
        answer = self.server.model.answer(request)
        if request.streams:
            self._stream(answer)
        else:
            self._send(answer.whole)

    def _answer_other(self) -> None:
        path = self.path.lower()
        self.server.model.other.append(f"POST {self.path}")
        if "count" in path:
            self._send({"input_tokens": 10, "totalTokens": 10})
        else:
            self._send({}, status=200 if any(word in path for word in NOTED) else 404)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(min(int(self.headers.get("content-length") or 0), MOST_BYTES))
        if self.headers.get("content-encoding", "") in {"gzip", "deflate"}:
            return zlib.decompressobj(GZIP_OR_ZLIB).decompress(raw, MOST_BYTES)
        return raw

    def _chunks(self) -> Iterator[bytes]:
        left = MOST_BYTES
        while (size := int(self.rfile.readline(80).strip() or b"0", 16)) > 0 and left > 0:
            yield self.rfile.read(min(size, left))
            left -= size
            self.rfile.readline(80)
        self.rfile.readline(80)

    def _send(self, value: Mapping[str, object], *, status: int = 200) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):  # whoever asked may be gone
            for name, data in answer.events:
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
            self.wfile.write(answer.end.encode())


def _models() -> list[dict[str, object]]:
    """Return the models in the words of all protocols at once."""
    return [
        {
            "id": name, "object": "model", "type": "model", "display_name": name, "name": f"models/{name}",
            "created": 1, "created_at": "2025-01-01T00:00:00Z", "owned_by": "fake",
            "supportedGenerationMethods": ["generateContent"],
        }
        for name in MODELS
    ]  # fmt: skip
