"""Who may speak to a server over HTTP, how much and how often: checked before anything else looks at a request.

On loopback, a browser's page may not (origin and host are checked, against rebinding of names); elsewhere nobody may
without the token. Refuses with a status and a sentence, and keeps nothing of what it refused.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from deia import fast_json

if TYPE_CHECKING:
    Scope = Mapping[str, Any]
    Send = Callable[[Any], Awaitable[None]]
    Receive = Callable[[], Awaitable[Any]]
    App = Callable[[Any, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
OPEN = ("/health",)  # says nothing but that somebody is there
MOST_BODY = 16_777_216  # bytes of one request; a hook's event holds at most a tool's result
RATE = 500  # requests in a second, of one address; a busy agent makes a few
BURST = 2.0  # seconds' worth that may come at once
MOST_ADDRESSES = 4_096


class Guard:
    """Wraps an application; `token` is what everybody must show where there is one."""

    def __init__(
        self, app: App, *, token: str = "", hosts: tuple[str, ...] = LOOPBACK, most: int = MOST_BODY, rate: int = RATE
    ) -> None:
        self._app, self._token, self._hosts, self._most, self._rate = app, token, hosts, most, rate
        self._left: dict[str, tuple[float, float]] = {}  # address → requests left, and when that was counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        status, said = self._refusal(scope, headers)
        if status:
            await respond(send, status, {"error": said})
            return
        await self._app(scope, _limited(receive, self._most), send)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str]:
        if not self._is_known(headers.get(b"host", b"").decode("latin-1")):
            return 421, "this server is not called so; ask it by 127.0.0.1 or localhost"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not self._is_known(origin.partition("://")[2]):
            return 403, "pages of other origins may not ask this server"
        if self._token and scope["path"] not in OPEN and not self._shown(headers):
            return 401, "show the token: Authorization: Bearer …"
        if self._is_too_long(headers.get(b"content-length", b"0")):
            return 413, f"a request has at most {self._most} bytes"
        if not self._has_room(str((scope.get("client") or ("",))[0])):
            return 429, f"at most {self._rate} requests a second"
        return 0, ""

    def _is_known(self, name: str) -> bool:
        return "*" in self._hosts or host_of(name) in self._hosts

    def _shown(self, headers: Mapping[bytes, bytes]) -> bool:
        kind, _, shown = headers.get(b"authorization", b"").partition(b" ")
        return kind.lower() == b"bearer" and hmac.compare_digest(shown.strip(), self._token.encode())

    def _is_too_long(self, length: bytes) -> bool:
        return not length.isdigit() or len(length) > 12 or int(length) > self._most

    def _has_room(self, address: str) -> bool:
        """Count a request against what an address has left; it fills up again with time."""
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
    """Give the host of `host:port`, with an address of version 6 in its brackets."""
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].lower()


def _limited(receive: Receive, most: int) -> Receive:
    """Give a receiver that ends a body which is longer than it may be."""
    size = 0

    async def limited() -> Any:
        """Give the next part; of a body that is too long, an end of the connection."""
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if size > most else message

    return limited


async def respond(
    send: Send, status: int, value: Mapping[str, Any] | bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Send a whole response: a value as JSON, or bytes as they are."""
    body = value if isinstance(value, bytes) else fast_json.dumps(dict(value)).encode()
    kind = ((b"content-type", b"application/json"),) if body and not headers else headers
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*kind, length]})
    await send({"type": "http.response.body", "body": body})
