"""Limits the sessions of the handshake protocol over HTTP: the one that was idle longest makes room for the next.

Many clients never close their session and would otherwise keep others out until it expires after half an hour. A
session with a request in progress, which includes a stream of changes, is never ended.
"""

from __future__ import annotations

from deia.serve.server.limits import App, Message, Receive, Scope, Send

MOST = 500  # sessions; each takes about 40 KB
SPARE = 100  # additional sessions that the SDK may have, for those with a request in progress
SESSION = b"mcp-session-id"


class Sessions:
    """Wraps the SDK's application and ends sessions in it as a client would."""

    def __init__(self, app: App, *, most: int = MOST) -> None:
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
            """Send a message and record the session that it names."""
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
        await self._app(scope, _empty_body, _discard)


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_message: Message) -> None:
    """Ignore the answer: it does not matter whether the session still existed."""
