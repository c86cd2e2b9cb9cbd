"""The librarian over HTTP: MCP at `/mcp`, hook events at `/hooks/HOST`, `/search?q=…`, `/upload`, `/health`, `/ready`.

A browser is answered at `/page`, by whatever `deia.serve.page` makes of the parts of the server.

It listens on the loopback address by default, and on another only with a token. If the port is taken, the error says
by whom. A signal ends it cleanly.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Protocol, TypeAlias
from urllib.parse import parse_qsl

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

import deia
from deia import files
from deia.audit.state import server_note
from deia.errors import DeiaError, HostError, QueryError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.records import Record
from deia.serve.hooks.run import HOSTS
from deia.serve.server import limits
from deia.serve.server.assemble import Assembled, end_at_signals
from deia.serve.server.desk import SEARCH_TOOL, Desk
from deia.serve.server.dispatch import answer, find_tool, prepare
from deia.serve.server.hook_events import EXIT, Hooks
from deia.serve.server.library_tools import index_source, start
from deia.serve.server.tool_schemas import HOOK, Tool

PORT = 8765
LEAST_TOKEN = 16  # characters
GRACE = 3  # seconds that requests in progress may take at the end
IDENTIFY_TIMEOUT = 1.0  # seconds that another server on the port may take to say what it is
HOOKS = "/hooks/"
PAGE = "/page"  # what a browser opens; below it, the page checks a token of its own
MAKE_TOKEN = "export DEIA_TOKEN=$(openssl rand -hex 24)"  # noqa: S105 - how to make one
SHORT = {"q": "query"}  # parameters of /search with another name than that of the tool
MOST_PARAMETERS = 20
MOST_DIGITS = 9
UPLOAD_TOOL = "index_source"  # who is offered this tool may upload
READ_ONLY = "Set DEIA_TOKEN, and omit --read-only and --collection."
Plain: TypeAlias = tuple[int, Mapping[str, Json]]  # the status and the value of an answer without MCP


class Listening(Record):
    """Where to listen, and with which limits."""

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    names: tuple[str, ...] = ()  # other host names by which clients may address it
    rate: int = limits.RATE

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in limits.LOOPBACK or self.host.startswith("127.")

    @property
    def may_write(self) -> bool:
        """Whether clients may change the commons: any user of this machine can reach a server without a token."""
        return len(self.token) >= LEAST_TOKEN

    @property
    def url_host(self) -> str:
        """The address as it is written in a URL: an IPv6 address is in brackets."""
        bare = self.host.strip("[]")
        return f"[{bare}]" if ":" in bare else self.host


class Page(Protocol):
    """What answers a browser at `/page`."""

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request."""

    def end(self) -> None:
        """End the streams that browsers listen to."""

    def close(self) -> None:
        """Finish the task that is running and start no other."""


MakePage: TypeAlias = Callable[[Assembled], Page]


class _PageWhenAsked:
    """The page, made when a browser first asks for it: most servers are never asked."""

    def __init__(self, make: MakePage, assembled: Assembled) -> None:
        self._make, self._assembled = make, assembled
        self._page: Page | None = None

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        self._page = self._page or self._make(self._assembled)
        await self._page(scope, receive, send)

    def end(self) -> None:
        if self._page is not None:
            self._page.end()

    def close(self) -> None:
        if self._page is not None:
            self._page.close()


def serve_http(
    desk: Desk, tools: Sequence[Tool], listening: Listening, *, report: Callable[[str], None], commons: str = "",
    make_page: MakePage | None = None, on_listening: Callable[[str], None] = lambda _address: None,
) -> None:  # fmt: skip
    """Serve until a signal arrives; `report` is called with a line for people and `on_listening` with the address.

    If only this machine can reach the server and all of the commons is offered, `make_page` makes what answers a
    browser.
    """
    _require_token(listening)
    bound = _bind(listening)
    address = f"http://{listening.url_host}:{bound.getsockname()[1]}"
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    served = f"{', '.join(desk.collections)} of {desk.root}" if desk.collections else desk.root
    hooks = "" if desk.collections else f"; hooks at {address}{HOOKS}HOST"
    report(f"deia {deia.__version__} serves {served} at {address}/mcp{hooks}")
    note = server_note(os.environ, files.process())  # for `deia audit`
    files.keep(note, f"{desk.root}\n{address}/mcp".encode("utf-8", "surrogateescape"))
    on_listening(address)
    make_page = make_page if listening.is_loopback and not desk.collections else None
    try:
        asyncio.run(_serve(desk, tools, listening, bound, commons=commons, make_page=make_page))
    finally:
        files.remove(note)


def _require_token(listening: Listening) -> None:
    if not listening.is_loopback and not listening.may_write:
        raise HostError(
            f"other machines can reach {listening.host}, and there is no token of at least {LEAST_TOKEN} characters",
            fix=f"Type: {MAKE_TOKEN}, or listen on 127.0.0.1.",
        )


def _bind(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # The protocol must be named: asyncio turns off the delay of small packets (40 ms) only on sockets that name it.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # on Windows this would let two servers use the same port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listening.host.strip("[]"), listening.port))
        bound.listen(256)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise HostError(_describe_owner(listening), fix="Use that one, or choose another --port.") from error
        raise HostError(f"cannot listen on {listening.url_host}:{listening.port}: {error.strerror}") from error
    return bound


def _describe_owner(listening: Listening) -> str:
    """Return an error message that says whether the port belongs to another deia or to another program."""
    url = f"http://{listening.url_host}:{listening.port}/health"
    try:
        with urllib.request.urlopen(url, timeout=IDENTIFY_TIMEOUT) as answer:
            health = answer.read(2_000).decode("utf-8", "replace")
    except (OSError, ValueError):
        health = ""
    owner = "another deia serve" if '"deia"' in health else "another program"
    return f"{owner} listens on {listening.url_host}:{listening.port} already"


async def _serve(
    desk: Desk, tools: Sequence[Tool], listening: Listening, bound: socket.socket, *, commons: str,
    make_page: MakePage | None,
) -> None:  # fmt: skip
    hooks = Hooks(commons=commons or ("" if listening.is_loopback else desk.root))
    tool_hooks = hooks if any(tool.name == HOOK for tool in tools) else None
    state = state_folder(os.environ)
    assembled = Assembled(desk, tools, state=state, transport="http", hooks=tool_hooks)
    await asyncio.to_thread(hooks.warm_up)
    page = _PageWhenAsked(make_page, assembled) if make_page else None
    app = application(assembled, hooks, listening, page)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=GRACE, server_header=False,
        http=limits.TimedProtocol, ws="none",
    )  # fmt: skip
    server = _Server(config)
    end_at_signals(server.end)
    tasks = [*assembled.keep_fresh(), asyncio.ensure_future(_end_streams(server, assembled, page))]
    try:
        await server.serve(sockets=[bound])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        hooks.close()
        assembled.close()
        if page is not None:
            page.close()


class _Server(uvicorn.Server):
    """The HTTP server without its own signal handlers, so that the process exits with 0 after a clean end."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ending = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the caller."""
        yield

    def end(self) -> None:
        """End after the requests in progress; that later ones are cut off is not logged as an error."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True
        self.ending.set()


async def _end_streams(server: _Server, assembled: Assembled, page: Page | None) -> None:
    """Close the streams of clients that listen to changes when the server ends, because they would keep it running."""
    await server.ending.wait()
    assembled.handlers.subscribers.close()
    if page is not None:
        page.end()


def application(assembled: Assembled, hooks: Hooks, listening: Listening, page: Page | None = None) -> limits.Guard:
    """Return the ASGI application that answers all paths."""
    restricted = listening.is_loopback or bool(listening.names)
    hosts = (*limits.LOOPBACK, limits.host_of(listening.url_host)) if restricted else ("*",)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard does it, for every path
    mcp_app = assembled.server.streamable_http_app(
        streamable_http_path="/mcp",
        transport_security=security,
        host=listening.host,
        max_sessions=limits.MOST_SESSIONS + limits.SPARE_SESSIONS,
    )
    paths = _Paths(assembled, hooks, mcp_app, page)
    unguarded = (PAGE, f"{PAGE}/") if page is not None else ()
    return limits.Guard(
        paths, token=listening.token, hosts=hosts, names=listening.names, rate=listening.rate, unguarded=unguarded
    )


class _Paths:
    """Routes requests by path."""

    def __init__(self, assembled: Assembled, hooks: Hooks, mcp_app: limits.App, page: Page | None) -> None:
        self._assembled, self._hooks, self._lifespan, self._mcp = assembled, hooks, mcp_app, limits.Sessions(mcp_app)
        self._page = page

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif path == "/mcp":
            await self._mcp(scope, receive, send)
        elif path.startswith(HOOKS):
            await self._hook(scope, receive, send, path.removeprefix(HOOKS))
        elif path == "/health":
            health: Mapping[str, Json] = {"ok": True, "name": "deia", "version": deia.__version__}
            await limits.respond(send, 200, {**health, "process": files.process(), "page": self._page is not None})
        elif self._page is not None and (path == PAGE or path.startswith(f"{PAGE}/")):
            await self._page(scope, receive, send)
        elif path == "/ready":
            await self._ready(send)
        elif path == "/search":
            await self._plain(scope, send, "GET", "GET /search?q=WORDS", self._search)
        elif path == "/upload":
            await self._plain(
                scope, send, "POST", "POST a file to /upload?name=FILE", lambda given: self._upload(given, receive)
            )
        else:
            usage = f"the paths are /mcp, {HOOKS}HOST, /search, /upload, /page, /health and /ready"
            await limits.respond(send, 404, {"error": usage})

    async def _ready(self, send: limits.Send) -> None:
        desk, thread = self._assembled.desk, self._assembled.desk_thread
        ready = await thread.run(desk.is_compiled)
        behind = await thread.run(desk.changed_source) if ready else ""
        status: dict[str, Json] = {"ready": ready, "behind": behind, "trouble": self._assembled.recompiler.trouble}
        await limits.respond(send, 200 if ready else 503, status)

    async def _plain(
        self,
        scope: limits.Scope,
        send: limits.Send,
        method: str,
        usage: str,
        reply: Callable[[bytes], Awaitable[Plain]],
    ) -> None:
        """Answer one of the requests that call a tool without MCP, for curl and scripts."""
        began = time.perf_counter()
        if scope["method"] != method:
            await limits.respond(send, 405, {"error": usage})
            return
        try:
            status, value = await reply(scope.get("query_string", b""))
        except DeiaError as error:
            status, value = 400, {"error": error.message, "fix": error.fix}
        await limits.respond(send, status, value)
        outcome = "ok" if status < 400 else "refused"
        self._assembled.call_log.write(scope["path"].lstrip("/"), method, outcome=outcome, began=began)

    async def _search(self, query_string: bytes) -> Plain:
        """Return what the search tool answers."""
        desk, tools = self._assembled.desk, self._assembled.handlers.tools

        def ask() -> Mapping[str, Json]:
            values: dict[str, Json] = {SHORT.get(name, name): text for name, text in _parameters(query_string).items()}
            if not values:
                raise QueryError("there is no question", fix="Ask: /search?q=WORDS")
            limit = str(values.get("limit", ""))
            if limit.isascii() and limit.isdecimal() and len(limit) <= MOST_DIGITS:
                values["limit"] = int(limit)
            return answer(desk, prepare(desk, find_tool(tools, SEARCH_TOOL), values)).fields

        return 200, await self._assembled.desk_thread.run(ask)

    async def _upload(self, query_string: bytes, receive: limits.Receive) -> Plain:
        """Return what was registered; taking the file in has begun then."""
        if all(tool.name != UPLOAD_TOOL for tool in self._assembled.handlers.tools):
            return 403, {"error": "clients of this server can only read", "fix": READ_ONLY}
        content, desk = await read_body(receive), self._assembled.desk
        if content is None:
            return 413, {"error": f"the file did not arrive whole; it may have at most {limits.MOST_BODY} bytes"}

        def take() -> Mapping[str, Json]:
            values = _parameters(query_string)
            name, collection = values.pop("name", ""), values.pop("collection", "")
            if values or not name:
                raise QueryError("an upload has a name, and may have a collection", fix="Post to /upload?name=FILE")
            reply = index_source(desk, source=name, collection=collection, content=content)
            start(desk, reply.source)
            return reply.fields

        return 202, await self._assembled.desk_thread.run(take)

    async def _hook(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send, host: str) -> None:
        began = time.perf_counter()
        if scope["method"] != "POST" or host not in HOSTS:
            hosts = ", ".join(HOSTS)
            await limits.respond(send, 404, {"error": f"POST an event to {HOOKS}HOST; HOST is one of {hosts}"})
            return
        if self._assembled.desk.collections:  # events are checked against all triggers of the event's own commons
            await limits.respond(send, 403, {"error": "a server that offers only collections does not answer hooks"})
            return
        event = await read_body(receive)
        if event is None:
            return
        answer = await self._hooks.answer(host, event)
        timing = f"deia;dur={answer.seconds * 1000:.3f}".encode()
        headers = ((b"content-type", answer.content_type), (EXIT, b"%d" % answer.code), (b"server-timing", timing))
        await limits.respond(send, 200, answer.body, headers)
        self._assembled.call_log.write("hook", host, outcome=answer.outcome, began=began)


def _parameters(query_string: bytes) -> dict[str, str]:
    """Return the parameters of a request; raise QueryError if they cannot be read."""
    try:
        return dict(parse_qsl(query_string.decode("ascii"), errors="strict", max_num_fields=MOST_PARAMETERS))
    except ValueError as error:
        raise QueryError("the parameters cannot be read", fix="Write them as name=WORDS, encoded as UTF-8.") from error


async def read_body(receive: limits.Receive, *, most: int = limits.MOST_BODY) -> bytes | None:
    """Return the body of a request, or None if it does not arrive whole or has more than `most` bytes."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)
