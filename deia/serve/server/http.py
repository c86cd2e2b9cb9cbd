"""The librarian over HTTP: MCP at `/mcp`, hook events at `/hooks/HOST`, `/health` and `/ready`.

Listens on loopback unless told otherwise, and elsewhere only with a token. Refuses a port that somebody has, and says
who; ends cleanly at a signal.
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
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

import deia
from deia import files
from deia.errors import HostError
from deia.folders import state_folder
from deia.records import Record
from deia.serve.hooks.run import HOSTS
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk
from deia.serve.server.hook_events import EXIT, Hooks
from deia.serve.server.host_blocks import TOKEN
from deia.serve.server.limits import LOOPBACK, RATE, Guard, host_of, respond
from deia.serve.server.mcp_sessions import MOST, SPARE, Sessions
from deia.serve.server.shutdown import end_at_signals
from deia.serve.server.tool_schemas import HOOK
from deia.settings import DOTENV

if TYPE_CHECKING:
    from deia.serve.server.limits import Receive, Scope, Send

PORT = 8765
LEAST_TOKEN = 16  # characters
GRACE = 3  # seconds for what is under way at the end
SAY_HELLO = 1.0  # seconds in which another server on the port may say who it is
HOOKS = "/hooks/"
REFUSED = "refused"


class Listening(Record):
    """Where to listen, and on which terms."""

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    names: tuple[str, ...] = ()  # by which it may be called besides
    rate: int = RATE

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK or self.host.startswith("127.")

    @property
    def called(self) -> str:
        """The address as it stands before a port: one of version 6 in brackets."""
        bare = self.host.strip("[]")
        return f"[{bare}]" if ":" in bare else self.host


def serve_http(
    desk: Desk,
    offered: Sequence[Mapping[str, Any]],
    listening: Listening,
    *,
    tell: Callable[[str], None],
    commons: str = "",
) -> None:
    """Serve until a signal comes; `tell` is given the address once it is known.

    Raises:
        HostError: the port is taken, or the terms are not safe.
    """
    _refuse_unsafe(listening)
    door = _bound(listening)
    shown = f"http://{listening.called}:{door.getsockname()[1]}"
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    what = f"{', '.join(desk.collections)} of {desk.root}" if desk.collections else desk.root
    hooks = "" if desk.collections else f"; hooks at {shown}{HOOKS}HOST"
    tell(f"deia {deia.__version__} serves {what} at {shown}/mcp{hooks}")
    asyncio.run(_serve(desk, offered, listening, door, commons=commons))


def _refuse_unsafe(listening: Listening) -> None:
    if not listening.is_loopback and len(listening.token) < LEAST_TOKEN:
        raise HostError(
            f"{listening.host} can be reached by others, and there is no token of at least {LEAST_TOKEN} characters",
            fix=f"Set {TOKEN} in the environment or in {DOTENV}, or listen on 127.0.0.1.",
        )


def _bound(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # The protocol is named, since asyncio sends small answers at once only on sockets that name it: 40 ms otherwise.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # there it would let two servers have one port
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((listening.host.strip("[]"), listening.port))
        door.listen(256)
    except OSError as error:
        door.close()
        if error.errno == errno.EADDRINUSE:
            raise HostError(_taken(listening), fix="Use that one, or choose another --port.") from error
        raise HostError(f"cannot listen on {listening.called}:{listening.port}: {error.strerror}") from error
    return door


def _taken(listening: Listening) -> str:
    """Say who has the port, if it is one of ours."""
    url = f"http://{listening.called}:{listening.port}/health"
    try:
        with urllib.request.urlopen(url, timeout=SAY_HELLO) as answer:
            told = answer.read(2_000).decode("utf-8", "replace")
    except (OSError, ValueError):
        told = ""
    who = "another deia serve" if '"deia"' in told else "another program"
    return f"{who} listens on {listening.called}:{listening.port} already"


async def _serve(
    desk: Desk, offered: Sequence[Mapping[str, Any]], listening: Listening, door: socket.socket, *, commons: str
) -> None:
    hooks = Hooks(commons=commons or ("" if listening.is_loopback else desk.root))
    by_tool = hooks if any(tool["name"] == HOOK for tool in offered) else None
    state = state_folder(os.environ)
    assembled = Assembled(desk, offered, audit_state=state, transport="http", hooks=by_tool)
    await asyncio.to_thread(hooks.warm_up)
    app = application(assembled, hooks, listening)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=GRACE, server_header=False
    )
    server = _Server(config)
    end_at_signals(server.end)
    keeping = asyncio.ensure_future(assembled.keeper.run())
    ending = asyncio.ensure_future(_end_streams(server, assembled))
    try:
        await server.serve(sockets=[door])
    finally:
        for task in (keeping, ending):
            task.cancel()
        await asyncio.gather(keeping, ending, return_exceptions=True)
        hooks.leave()
        assembled.leave()


class _Server(uvicorn.Server):
    """The HTTP server without its own word on signals: after a clean end the process leaves with 0."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ending = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to whoever runs this."""
        yield

    def end(self) -> None:
        """End when what is under way is done; whoever is cut off after that is no failure to write about."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True
        self.ending.set()


async def _end_streams(server: _Server, assembled: Assembled) -> None:
    """Tell those who listen to changes that the server ends; their streams would hold it up else."""
    await server.ending.wait()
    assembled.librarianship.subscribers.close()


def application(assembled: Assembled, hooks: Hooks, listening: Listening) -> Guard:
    """Give everything that is answered over HTTP as one application."""
    named = listening.is_loopback or bool(listening.names)
    names = (*LOOPBACK, host_of(listening.called), *listening.names) if named else ("*",)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard does that, for every path
    mcp_app = assembled.server.streamable_http_app(
        streamable_http_path="/mcp", transport_security=security, host=listening.host, max_sessions=MOST + SPARE
    )
    return Guard(_Paths(assembled, hooks, mcp_app), token=listening.token, hosts=names, rate=listening.rate)


class _Paths:
    """Which part answers which path; the hooks' first, since they are counted in fractions of a millisecond."""

    def __init__(self, assembled: Assembled, hooks: Hooks, mcp_app: Any) -> None:
        self._assembled, self._hooks, self._lifespan, self._mcp = assembled, hooks, mcp_app, Sessions(mcp_app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif path == "/mcp":
            await self._mcp(scope, receive, send)
        elif path.startswith(HOOKS):
            await self._hook(scope, receive, send, path.removeprefix(HOOKS))
        elif path == "/health":
            value = {"ok": True, "name": "deia", "version": deia.__version__, "process": files.process()}
            await respond(send, 200, value)
        elif path == "/ready":
            await self._ready(send)
        else:
            await respond(send, 404, {"error": f"there is /mcp, {HOOKS}HOST, /health and /ready"})

    async def _ready(self, send: Send) -> None:
        """Say whether there is something whole to answer from, and how fresh that is."""
        desk = self._assembled.desk
        ready = await self._assembled.clerk.do(desk.is_compiled)
        behind = await self._assembled.clerk.do(desk.stale) if ready else ""
        value = {"ready": ready, "behind": behind, "trouble": self._assembled.keeper.trouble}
        await respond(send, 200 if ready else 503, value)

    async def _hook(self, scope: Scope, receive: Receive, send: Send, host: str) -> None:
        began = time.perf_counter()
        if scope["method"] != "POST" or host not in HOSTS:
            known = ", ".join(HOSTS)
            await respond(send, 404, {"error": f"POST an event to {HOOKS}HOST; hosts are {known}"})
            return
        if self._assembled.desk.collections:  # events are judged by all triggers of the commons in which work is done
            await respond(send, 403, {"error": "a server that offers collections answers no hooks"})
            return
        event = await _body(receive)
        if event is None:
            return
        answered = await self._hooks.answer(host, event)
        timing = f"deia;dur={answered.seconds * 1000:.3f}".encode()
        headers = ((b"content-type", answered.kind), (EXIT, b"%d" % answered.code), (b"server-timing", timing))
        await respond(send, 200, answered.body, headers)
        self._assembled.audit.note("hook", host, outcome=answered.outcome, began=began)


async def _body(receive: Receive) -> bytes | None:
    """Give a request's body, or None where it never came to an end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
