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
import zlib
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from deia.records import Record
from deia.serve.setup.live.model_answer import Answer, answer_to
from deia.serve.setup.live.model_request import Request, read_request
from deia.serve.setup.live.model_script import DONE, Act, Step, next_act

LOOPBACK = "127.0.0.1"
MOST_REQUESTS = 60  # a host that loops is answered no more calls
MOST_BYTES = 64 * 1024 * 1024  # of a body, unpacked
PATIENCE = 30.0  # seconds in which a request must arrive
GZIP_OR_ZLIB = 47  # the window bits with which zlib finds out itself
MODELS = ("claude-sonnet-4-5", "claude-opus-4-1", "gpt-5", "gpt-5-codex", "gpt-4.1", "gemini-2.5-flash", "fake")
NOTED = ("telemetry", "event", "log", "metric")  # in the path of what a host reports; it is thrown away


class Exchange(Record):
    """A request, and what the model answered."""

    request: Request
    act: Act


class FakeModel:
    """A model that follows a script, and the requests that it was sent."""

    def __init__(self, script: Sequence[Step], *, port: int = 0, most_requests: int = MOST_REQUESTS) -> None:
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens; the protocols add their own paths."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """The requests to the model so far, in order."""
        return [exchange.request for exchange in self.exchanges]

    def answer(self, request: Request) -> Answer:
        """Return the answer to a request, which is remembered."""
        with self._lock:
            over = len(self.exchanges) >= self._most
            act = Act(text=DONE) if over else next_act(self.script, request)
            if not over:
                self.exchanges.append(Exchange(request=request, act=act))
        return answer_to(request, act)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: FakeModel

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a host that goes away in the middle of an answer is none of our errors."""


class _Handler(BaseHTTPRequestHandler):
    """Answers what hosts ask of a model's server."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the class above
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Answer that the server is here."""
        self._send({})

    def do_GET(self) -> None:
        """Answer with the models."""
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
        request = read_request(self.path, body)
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
        raw = b"".join(self._chunks()) if "chunked" in self.headers.get("transfer-encoding", "") else self._counted()
        if self.headers.get("content-encoding", "") in {"gzip", "deflate"}:
            return zlib.decompressobj(GZIP_OR_ZLIB).decompress(raw, MOST_BYTES)
        return raw

    def _counted(self) -> bytes:
        return self.rfile.read(min(int(self.headers.get("content-length") or 0), MOST_BYTES))

    def _chunks(self) -> Iterator[bytes]:
        left = MOST_BYTES
        while (size := int(self.rfile.readline(80).strip() or b"0", 16)) > 0 and left > 0:
            yield self.rfile.read(min(size, left))
            left -= size
            self.rfile.readline(80)
        self.rfile.readline(80)

    def _send(self, value: Mapping[str, Any], *, status: int = 200) -> None:
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


def _models() -> list[dict[str, Any]]:
    """Return the models in the words of all protocols at once."""
    return [
        {
            "id": name, "object": "model", "type": "model", "display_name": name, "name": f"models/{name}",
            "created": 1, "created_at": "2025-01-01T00:00:00Z", "owned_by": "fake",
            "supportedGenerationMethods": ["generateContent"],
        }
        for name in MODELS
    ]  # fmt: skip
