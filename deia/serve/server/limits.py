"""Who may send requests over HTTP, how large and how often; checked before anything else reads a request.

The origin and the host name are checked, so that pages in a browser cannot ask the server (DNS rebinding). If there is
a token, every request must contain it. A refused request is answered with a status and a sentence.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from deia import fast_json
from deia.fast_json import Json

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


class Guard:
    """Wraps an application; if there is a `token`, every client must send it."""

    def __init__(
        self, app: App, *, token: str = "", hosts: tuple[str, ...] = LOOPBACK, names: tuple[str, ...] = (),
        most: int = MOST_BODY, rate: int = RATE,
    ) -> None:  # fmt: skip
        self._app, self._token, self._most, self._rate = app, token, most, rate
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
            await respond(send, status, {"error": message})
            return
        await self._app(scope, _limited(receive, self._most), send)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str]:
        """Return the status and message with which to refuse a request, or 0."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_known(host):
            return 421, "this server does not have that name; use 127.0.0.1 or localhost"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not self._is_own(origin, host):
            return 403, "web pages of other servers may not use this one"
        if self._token and scope["path"] not in OPEN and not self._has_token(headers):
            return 401, "send the token: Authorization: Bearer …"
        if self._is_too_long(headers.get(b"content-length", b"0")):
            return 413, f"a request may have at most {self._most} bytes"
        if not self._has_room(str((scope.get("client") or ("",))[0])):
            return 429, f"at most {self._rate} requests per second are accepted"
        return 0, ""

    def _is_known(self, name: str) -> bool:
        return "*" in self._hosts or host_of(name) in self._hosts

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page's origin is this server, under the name of the request or a name that was given to it.

        Another port is another server, also on this machine.
        """
        scheme, _, name = origin.lower().partition("://")
        return scheme in ("http", "https") and name in {host.lower(), *(given.lower() for given in self._names)}

    def _has_token(self, headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token.encode())

    def _is_too_long(self, length: bytes) -> bool:
        return not length.isdigit() or len(length) > 12 or int(length) > self._most

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
    """Return the host of `host:port`; an IPv6 address keeps its brackets."""
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].lower()


def _limited(receive: Receive, most: int) -> Receive:
    """Return a receiver that disconnects if the body is longer than `most` bytes."""
    size = 0

    async def limited() -> Message:
        """Return the next message."""
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if size > most else message

    return limited


async def respond(
    send: Send, status: int, value: Mapping[str, Json] | bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Send a complete response: a value as JSON, or bytes unchanged."""
    body = value if isinstance(value, bytes) else fast_json.dumps(dict(value)).encode()
    kind = ((b"content-type", b"application/json"),) if body and not headers else headers
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*kind, length]})
    await send({"type": "http.response.body", "body": body})
