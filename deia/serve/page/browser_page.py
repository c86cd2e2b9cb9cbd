"""The page: one file for the browser, and behind it what answers its views, to sessions only.

The page's powers (edits, mutes, permissions) are those of the person at the terminal. So each request below `/page/`
carries the token of a session in a header, which no other site and no tool call has; the server's guard has checked the
host and the origin before. A thread of its own answers, over a desk that logs no question that is being typed.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import TypeAlias

from deia.errors import DeiaError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.serve.page import case_making, try_turn
from deia.serve.page.asked_values import Asked, name, read_asked
from deia.serve.page.sign_in import Sessions
from deia.serve.server import limits
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.http import read_body
from deia.serve.server.read_tools import DEFAULT_SWITCH_INTERVAL, SWITCH_INTERVAL
from deia.tables import text_beside

Fields: TypeAlias = Mapping[str, Json]
PATH = "/page"
# What answers each view, in the page's own thread.
VIEWS: Mapping[str, Callable[[Desk, Asked], Fields]] = {
    "try": try_turn.try_turn, "explain": try_turn.explain_trigger,
    "case": case_making.make_case, "mend": case_making.mend, "take-back": case_making.take_back,
}  # fmt: skip
SIGN_IN = "Type in a terminal: deia page"
HEADERS = (
    (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cross-origin-resource-policy", b"same-origin"),
)  # fmt: skip


@cache
def html() -> bytes:
    """Return the page."""
    return text_beside(__file__, ".html").encode()


@cache
def policy() -> bytes:
    """Return the content security policy: nothing but the page's own script and style, which are known by digest."""
    digests = {tag: _digest_of(html(), tag.encode()) for tag in ("script", "style")}
    parts = (
        "default-src 'self'", f"script-src '{digests['script']}'", f"style-src '{digests['style']}'",
        "img-src 'self' blob: data:", "object-src 'none'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    )  # fmt: skip
    return "; ".join(parts).encode()


def _digest_of(page: bytes, tag: bytes) -> str:
    inside = page.partition(b"<%s>" % tag)[2].partition(b"</%s>" % tag)[0]
    return f"sha256-{base64.b64encode(hashlib.sha256(inside).digest()).decode()}"


class BrowserPage:
    """What answers a browser; create it in the event loop that will run it."""

    def __init__(self, assembled: Assembled, *, commons: str = "") -> None:
        self._assembled = assembled
        self._sessions = Sessions(state_folder(os.environ))
        self._thread = DeskThread(Desk(commons or None, agent="page", ledger=False))
        self._paths: Mapping[str, Callable[[Asked], Awaitable[Fields]]] = {
            **{view: partial(self._view, reply) for view, reply in VIEWS.items()},
            "compiled": self._compiled,
        }  # fmt: skip

    def end(self) -> None:
        """End the streams that browsers listen to."""

    def close(self) -> None:
        """Finish the task that is running and start no other."""
        self._thread.close()

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request at `/page` or below."""
        headers = {key.lower(): value for key, value in scope["headers"]}
        if limits.host_of(headers.get(b"host", b"").decode("latin-1")) not in limits.LOOPBACK:
            await limits.respond(send, 421, {"error": "the page is only for this machine; use 127.0.0.1"})
        elif scope["path"] == PATH:
            await limits.respond(send, 200, html(), (*HEADERS, *self._of_html()))
        elif scope["method"] != "POST":
            await limits.respond(send, 405, {"error": f"open {PATH} in a browser"})
        else:
            await self._answer(scope["path"].removeprefix(f"{PATH}/"), headers, receive, send)

    def _of_html(self) -> tuple[tuple[bytes, bytes], ...]:
        return (b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", policy())

    async def _answer(
        self, path: str, headers: Mapping[bytes, bytes], receive: limits.Receive, send: limits.Send
    ) -> None:
        try:
            status, fields = await self._reply(path, headers, receive)
        except DeiaError as error:
            status, fields = 400, {"error": error.message, "fix": error.fix}
        await limits.respond(send, status, fields)

    async def _reply(self, path: str, headers: Mapping[bytes, bytes], receive: limits.Receive) -> tuple[int, Fields]:
        """Return the status and the value of an answer; only to sign in needs no session."""
        body = await read_body(receive)
        if body is None:
            return 413, {"error": "the request did not arrive whole"}
        if path == "sign-in":
            token = self._sessions.begin(name(read_asked(body), "once"))
            return (200, {"token": token}) if token else (401, {"error": "this address was used, or is too old"})
        if not self._sessions.knows(headers):
            return 401, {"error": "this tab is not signed in", "fix": SIGN_IN}
        if path == "sign-out":
            self._sessions.end(headers)
            return 200, {}
        if path not in self._paths:
            return 404, {"error": f"the page has no {path[:100]!r}"}
        return 200, await self._paths[path](read_asked(body))

    async def _view(self, reply: Callable[[Desk, Asked], Fields], asked: Asked) -> Fields:
        return await self._thread.run(lambda: _with_others(reply, self._thread.desk, asked))

    async def _compiled(self, _asked: Asked) -> Fields:
        """Answer once what was written is compiled."""
        await self._assembled.recompiler.bring_up_to_date()
        return {"trouble": self._assembled.recompiler.trouble}


def _with_others(reply: Callable[[Desk, Asked], Fields], desk: Desk, asked: Asked) -> Fields:
    """Return a reply; while it is worked out, hooks and clients of the server get their turn often."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        return reply(desk, asked)
    finally:
        sys.setswitchinterval(DEFAULT_SWITCH_INTERVAL)
