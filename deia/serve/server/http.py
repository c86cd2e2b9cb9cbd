"""The librarian over HTTP, for the person whose machine it is and for users with a token each.

A browser is answered at `/page`, by whatever `deia.serve.page` makes of the parts of the server; `routes` answers the
other paths.

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
import urllib.request
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Protocol, TypeAlias

import uvicorn

import deia
from deia import files
from deia.audit.state import server_note
from deia.errors import DeiaError, HostError
from deia.records import Record
from deia.serve.server import limits
from deia.serve.server.account import Account
from deia.serve.server.assemble import Assembled, books_of, end_at_signals
from deia.serve.server.desk import Desk
from deia.serve.server.git_webhook import GitWebhook
from deia.serve.server.hook_events import Hooks
from deia.serve.server.routes import GIT_HOOK, HOOKS, PAGE, Routes
from deia.serve.server.tenants import Opening, Tenants, mcp_app_of
from deia.serve.server.tool_schemas import HOOK, Tool
from deia.serve.server.users import ADMIN, Directory, User, directory_of
from deia.settings import secret

if sys.platform != "win32":
    import resource

PORT = 8765
LEAST_TOKEN = 16  # characters
BACKLOG = 2_048  # connections that may wait until they are accepted; the system may allow fewer
MOST_FILES = 8_192  # that the server opens; each client has one or two connections
GRACE = 3  # seconds that requests in progress may take at the end
PATIENCE = 5  # seconds after which a user who could not be answered may try again
IDENTIFY_TIMEOUT = 1.0  # seconds that another server on the port may take to say what it is
MAKE_TOKEN = "export DEIA_TOKEN=$(openssl rand -hex 24)"  # noqa: S105 - how to make one


class Listening(Record):
    """Where to listen, and with which limits."""

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = ""
    names: tuple[str, ...] = ()  # other host names by which clients may address it
    rate: int = limits.RATE
    for_users: tuple[Tool, ...] = ()  # the tools of which users are offered what their scopes and collections allow

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
    _require_token(listening, directory_of(desk.root))
    limits.TimedProtocol.most_half_sent = min(limits.MOST_HALF_SENT, _allow_many_files() // 4)
    bound = _bind(listening)
    address = f"http://{listening.url_host}:{bound.getsockname()[1]}"
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    served = f"{', '.join(desk.collections)} of {desk.root}" if desk.collections else desk.root
    hooks = "" if desk.collections else f"; hooks at {address}{HOOKS}HOST"
    note = server_note(os.environ, files.process())  # for `deia audit`
    files.keep(note, f"{desk.root}\n{address}/mcp".encode("utf-8", "surrogateescape"))
    make_page = make_page if listening.is_loopback and not desk.collections else None

    def tell() -> None:
        report(f"deia {deia.__version__} serves {served} at {address}/mcp{hooks}")
        on_listening(address)

    try:
        asyncio.run(_serve(desk, tools, listening, bound, commons=commons, make_page=make_page, tell=tell))
    finally:
        files.remove(note)


def _require_token(listening: Listening, users: Directory) -> None:
    if not listening.is_loopback and not listening.may_write and not (users.is_used and not listening.token):
        raise HostError(
            f"other machines can reach {listening.host}, and there is no token of at least {LEAST_TOKEN} characters",
            fix=f"Type: {MAKE_TOKEN}, or: deia user add NAME, or listen on 127.0.0.1.",
        )


def _allow_many_files() -> int:
    """Let the process open as many files as its clients need, where the system allows 256 or 1,024; return how many."""
    if sys.platform == "win32":  # which has no such limit
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):
        return soft
    return most


def _bind(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # The protocol must be named: asyncio turns off the delay of small packets (40 ms) only on sockets that name it.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # on Windows this would let two servers use the same port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listening.host.strip("[]"), listening.port))
        bound.listen(BACKLOG)
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
    make_page: MakePage | None, tell: Callable[[], None],
) -> None:  # fmt: skip
    hooks = Hooks(commons=commons or ("" if listening.is_loopback else desk.root))
    tool_hooks = hooks if any(tool.name == HOOK for tool in tools) else None
    assembled = Assembled(desk, tools, account=Account(books_of(desk, transport="http")), hooks=tool_hooks)
    await asyncio.to_thread(hooks.warm_up)
    page = _PageWhenAsked(make_page, assembled) if make_page else None
    users = directory_of(desk.root)
    app, tenants = application(assembled, hooks, listening, users, page)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=GRACE, server_header=False,
        http=limits.TimedProtocol, ws="none",
    )  # fmt: skip
    server = _Server(config)

    def end() -> None:
        """End after the requests in progress; that later ones are cut off is not logged as an error."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        server.should_exit = True
        assembled.handlers.subscribers.close()  # the streams of clients that listen would keep the server running
        tenants.end()
        if page is not None:
            page.end()

    end_at_signals(end)
    tasks = [*assembled.keep_fresh(), asyncio.ensure_future(tenants.keep(lambda: users.team))]
    try:
        tell()  # not before: whoever reads the address may press Ctrl-C at once
        await server.serve(sockets=[bound])
    except asyncio.CancelledError:  # by a Ctrl-C before `end` was there for it
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await tenants.close()
        hooks.close()
        assembled.close()
        if page is not None:
            page.close()


class _Server(uvicorn.Server):
    """The HTTP server without its own signal handlers, so that the process exits with 0 after a clean end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the caller."""
        yield


class _Entrance:
    """Passes a request on to whatever answers the one it is from."""

    def __init__(self, own: Routes, tenants: Tenants, users: Directory) -> None:
        self._own, self._tenants, self._users = own, tenants, users

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        user = scope.get(limits.USER)
        if user is None:
            await self._own(scope, receive, send)
            return
        if self._own.has_collections:
            await limits.respond(send, 403, {"error": "a server that offers only collections has no users"})
            return
        try:
            tenant = await self._tenants.of(user, self._users.team)
        except DeiaError:  # it may name what this user may not know
            await limits.respond(send, 503, {"error": "the server cannot answer this user now"}, retry=PATIENCE)
            return
        await tenant(scope, receive, send)


def application(
    assembled: Assembled, hooks: Hooks, listening: Listening, users: Directory, page: Page | None = None
) -> tuple[limits.Guard, Tenants]:
    """Return the ASGI application that answers all paths, and what answers the users in it."""
    restricted = listening.is_loopback or bool(listening.names)
    hosts = (*limits.LOOPBACK, limits.host_of(listening.url_host)) if restricted else ("*",)
    desk, (hook_secret, _) = assembled.desk, secret("hook_secret", environ=os.environ)
    git = GitWebhook(desk.root, hook_secret) if hook_secret and not desk.collections else None

    def for_user(user: User, own: Assembled, app: limits.App) -> Routes:
        return Routes(own, app, hooks, is_admin=user.may(ADMIN) and not user.collections, gauges=gauges)

    def gauges() -> Mapping[str, float]:
        return {"deia_users": len(users.team.users), "deia_users_open": len(tenants)}

    tenants = Tenants(
        Opening(
            root=desk.root, tools=listening.for_users, books=assembled.account.books,
            host=listening.host, make=for_user,
        )
    )  # fmt: skip
    own = Routes(
        assembled, mcp_app_of(assembled, listening.host), hooks, page=page, git=git, gauges=gauges
    )  # fmt: skip
    unguarded = (*((PAGE, f"{PAGE}/") if page is not None else ()), *((GIT_HOOK,) if git is not None else ()))
    guard = limits.Guard(
        _Entrance(own, tenants, users), token=listening.token, hosts=hosts, names=listening.names, rate=listening.rate,
        unguarded=unguarded, users=users,
    )  # fmt: skip
    return guard, tenants
