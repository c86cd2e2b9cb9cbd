"""Who may send requests over HTTP, how large, how often and how slowly; checked before anything else reads a request.

The origin and the host name are checked, so that pages in a browser cannot ask the server (DNS rebinding). If there is
a token, every request must contain it. A refused request is answered with a status and a sentence.

Many clients never close their MCP session and would otherwise keep others out until it expires after half an hour: the
one that was idle longest makes room for the next, unless a request of it is in progress, which includes a stream of
changes. A client that begins requests and never ends them would keep the server's connections, so each must be complete
in bounded time.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, ClassVar, TypeAlias, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from deia import fast_json
from deia.fast_json import Json
from deia.serve.server.users import Directory

# The parts of an ASGI application; the specification leaves the values open.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
OPEN = ("/health",)  # paths that need no token; this one shows only that a server is running
MOST_BODY = 16_777_216  # bytes of one request; the largest are hook events with the result of a tool
RATE = 500  # requests per second from one address; a busy agent makes a few
BURST = 2.0  # seconds' worth of requests that may arrive at once
MOST_ADDRESSES = 4_096
MOST_SESSIONS = 2_000  # sessions; each takes about 40 KB
SPARE_SESSIONS = 100  # additional sessions that the SDK may have, for those with a request in progress
SESSION = b"mcp-session-id"
USER = "deia.user"  # in a request's scope: who it is from, unless that is the person whose server this is
SECONDS = 20.0  # from the beginning of a connection or from a later request's first byte to the end of its body
MOST_HALF_SENT = 2_000  # half-sent requests; beyond that, and a quarter of the open files, the oldest is dropped
MOST_HELD = 268_435_456  # bytes of all bodies that are being read


class Guard:
    """Wraps an application; if there is a `token`, every client must send it, except to `unguarded` paths.

    Those open nothing, or check a token of their own.
    """

    def __init__(  # noqa: PLR0913 - each is a limit of its own
        self, app: App, *, token: str = "", hosts: tuple[str, ...] = LOOPBACK, names: tuple[str, ...] = (),
        most: int = MOST_BODY, rate: int = RATE, unguarded: tuple[str, ...] = (), users: Directory | None = None,
    ) -> None:  # fmt: skip
        self._app, self._token, self._most, self._rate, self._users = app, token, most, rate, users
        self._unguarded = (*OPEN, *unguarded)
        self._hosts, self._names = (*hosts, *map(host_of, names)), names
        self._left: dict[str, tuple[float, float]] = {}  # address → requests left, and when they were counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        status, message = self._refusal(scope, headers)
        if status:
            await respond(send, status, {"error": message}, retry=1 if status == 429 else 0)
            return
        await self._app(scope, _limited(receive, self._most), send)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str]:
        """Return the status and message with which to refuse a request, or 0."""
        host = headers.get(b"host", b"").decode("latin-1")
        if "*" not in self._hosts and host_of(host) not in self._hosts:
            return 421, "this server does not have that name; use 127.0.0.1 or localhost"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not self._is_own(origin, host):
            return 403, "web pages of other servers may not use this one"
        if not self._has_room(str((scope.get("client") or ("",))[0])):
            return 429, f"at most {self._rate} requests per second are accepted"
        if not self._is_unguarded(scope["path"]) and not self._is_known(scope, headers):
            return 401, "send the token: Authorization: Bearer …"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 12 or int(length) > self._most:
            return 413, f"a request may have at most {self._most} bytes"
        return 0, ""

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page's origin is this server, under the name of the request or a name that was given to it.

        Another port is another server, also on this machine.
        """
        scheme, _, name = origin.lower().partition("://")
        return scheme in ("http", "https") and name in {host.lower(), *(own_name.lower() for own_name in self._names)}

    def _is_unguarded(self, path: str) -> bool:
        """Return whether a path needs no token of the server; one that ends in `/` stands for all below it."""
        return path in self._unguarded or any(path.startswith(name) for name in self._unguarded if name[-1] == "/")

    def _is_known(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether somebody may ask, after noting who it is if they are one of the users."""
        has_users = self._users is not None and self._users.is_used
        if not self._token and not has_users:
            return True
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            return False
        if self._token and hmac.compare_digest(token.strip(), self._token.encode()):
            return True
        user = self._users.find(token.strip()) if self._users is not None and has_users else None
        scope[USER] = user
        return user is not None

    def _has_room(self, address: str) -> bool:
        """Count a request and return whether its address is within the rate (a token bucket)."""
        if not self._rate:
            return True
        now = time.monotonic()
        most = self._rate * BURST
        left, at = self._left.get(address, (most, now))
        left = min(most, left + (now - at) * self._rate)
        if len(self._left) >= MOST_ADDRESSES:
            self._left.clear()
        self._left[address] = max(left - 1, 0), now
        return left >= 1


def host_of(name: str) -> str:
    """Return the host of `host:port`; an IPv6 address keeps its brackets, and whatever follows it but a port."""
    if name.startswith("["):
        address, bracket, rest = name.partition("]")
        is_port = not rest or (rest[0] == ":" and rest[1:].isdecimal())
        return f"{address}{bracket}{'' if is_port else rest}".lower()
    return name.partition(":")[0].lower()


def _limited(receive: Receive, most: int) -> Receive:
    """Return a receiver that disconnects if the body is longer than `most` bytes."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if size > most else message

    return limited


async def respond(
    send: Send, status: int, value: Mapping[str, Json] | bytes, headers: tuple[tuple[bytes, bytes], ...] = (), *,
    retry: int = 0,
) -> None:  # fmt: skip
    """Send a complete response: a value as JSON, or bytes unchanged; `retry` is the seconds until it may be asked."""
    body = value if isinstance(value, bytes) else fast_json.dumps(dict(value)).encode()
    kind = ((b"content-type", b"application/json"),) if body and not headers else headers
    later = ((b"retry-after", str(retry).encode()),) if retry else ()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *later, length]})
    await send({"type": "http.response.body", "body": body})


async def read_body(receive: Receive, *, most: int = MOST_BODY) -> bytes | None:
    """Return the body of a request, or None if it does not arrive whole or has more than `most` bytes."""
    parts, size = [], 0
    try:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            _held[0] += len(parts[-1])
            if size > most or _held[0] > MOST_HELD:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)
    finally:
        _held[0] -= size


_held = [0]  # bytes of the bodies that are being read


class Sessions:
    """Wraps the SDK's application and ends sessions in it as a client would."""

    def __init__(self, app: App, *, most: int = MOST_SESSIONS) -> None:
        self._app, self._most = app, most
        self._busy: dict[bytes, int] = {}  # session → requests in progress; the last to be answered is last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, after making room if it may open a session."""
        session = next((value for name, value in scope["headers"] if name.lower() == SESSION), b"")
        if session not in self._busy:
            await self._make_room()
            await self._app(scope, receive, self._recording(send))
            return
        self._busy[session] += 1
        try:
            await self._app(scope, receive, self._recording(send))
        finally:
            left = self._busy.pop(session, 0) - 1
            if left >= 0 and scope["method"] != "DELETE":
                self._busy[session] = left

    def _recording(self, send: Send) -> Send:
        async def send_and_record(message: Message) -> None:
            session = next((value for name, value in message.get("headers", ()) if name.lower() == SESSION), b"")
            if session and message.get("status") == 200:
                self._busy.setdefault(session, 0)
            await send(message)

        return send_and_record

    async def _make_room(self) -> None:
        while len(self._busy) >= self._most:
            idle = next((session for session, requests in self._busy.items() if not requests), b"")
            if not idle:
                return
            del self._busy[idle]
            await self._end(idle)

    async def _end(self, session: bytes) -> None:
        scope = {
            "type": "http", "method": "DELETE", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"",
            "headers": [(SESSION, session)], "http_version": "1.1", "scheme": "http", "root_path": "",
            "asgi": {"version": "3.0"},
        }  # fmt: skip

        async def empty_body() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def ignore(_answer: Message) -> None:
            """Do nothing: it does not matter whether the session still existed."""

        await self._app(scope, empty_body, ignore)


class TimedProtocol(H11Protocol):
    """Uvicorn's connection, which is dropped if a request is not complete in time."""

    half_sent: ClassVar[dict[TimedProtocol, asyncio.TimerHandle]] = {}  # the oldest first
    most_half_sent: ClassVar[int] = MOST_HALF_SENT

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the clock of a request that is incomplete, or stop it if it is complete."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif self not in self.half_sent:
            self.half_sent[self] = self.loop.call_later(SECONDS, self.transport.abort)
            if len(self.half_sent) > self.most_half_sent:
                next(iter(self.half_sent)).transport.abort()

    def _stop_waiting(self) -> None:
        timer = self.half_sent.pop(self, None)
        if timer is not None:
            timer.cancel()
