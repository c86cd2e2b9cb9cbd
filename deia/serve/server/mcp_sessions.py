"""How many clients of the handshake protocol may be remembered over HTTP: the one idle longest makes room for the next.

Many clients never say that they leave, and would otherwise keep everybody else out until their half hour is over. A
session with a request under way, a stream of changes among them, is never ended. Refuses to know what is said in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deia.serve.server.limits import App, Receive, Scope, Send

MOST = 500  # a session takes some 40 KB
SPARE = 100  # that the protocol's library may hold besides: those in which something is under way
SESSION = b"mcp-session-id"


class Sessions:
    """Wraps the protocol's application, and ends sessions in it as a client would."""

    def __init__(self, app: App, *, most: int = MOST) -> None:
        self._app, self._most = app, most
        self._busy: dict[bytes, int] = {}  # session → requests under way; who was answered last stands last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, after making room where it may open a session."""
        session = next((value for name, value in scope["headers"] if name.lower() == SESSION), b"")
        if session not in self._busy:
            await self._make_room()
            await self._app(scope, receive, self._noting(send))
            return
        self._busy[session] += 1
        try:
            await self._app(scope, receive, self._noting(send))
        finally:
            left = self._busy.pop(session, 0) - 1
            if left >= 0 and scope["method"] != "DELETE":
                self._busy[session] = left

    def _noting(self, send: Send) -> Send:
        async def noting(message: Any) -> None:
            """Take note of the session that an answer names."""
            named = next((value for name, value in message.get("headers", ()) if name.lower() == SESSION), b"")
            if named and message.get("status") == 200:
                self._busy.setdefault(named, 0)
            await send(message)

        return noting

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
        await self._app(scope, _nothing, _unheard)


async def _nothing() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Any) -> None:
    """Hear nobody: whether the session was there any more does not matter."""
