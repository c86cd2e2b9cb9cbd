"""The page: one file for the browser, and the handlers behind its views, which answer only sessions.

The page's powers (edits, mutes, permissions) are those of the person at the terminal. So each request below `/page/`
carries the token of a session in a header, which no other site and no tool call has; the server's guard has checked the
host and the origin before. Threads of the page's own answer, over desks that do not log questions being typed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from itertools import count
from typing import TypeAlias

from deia import fast_json
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.ledger.tail import Follower
from deia.serve.page import (
    asking,
    case_making,
    file_editing,
    health_views,
    learning_views,
    lesson_views,
    live_views,
    plain_page,
    try_turn,
)
from deia.serve.page.asked_values import Asked, name, read_asked
from deia.serve.page.page_file import digest_of, html
from deia.serve.page.sign_in import Sessions
from deia.serve.server import limits
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.limits import read_body
from deia.serve.server.read_tools import DEFAULT_SWITCH_INTERVAL, SWITCH_INTERVAL

Fields: TypeAlias = Mapping[str, Json]
PATH, EVENTS, PLAIN = "/page", "/page/events", "/page/plain"
LOOK = 0.4  # seconds between two looks at the log
ALIVE = 15.0  # seconds of silence after which a stream says that it is there
MOST_SIGN_IN = 1_024  # bytes of a request that has no session yet
MOST_WAITING = 1_000  # tabs whose last request is known
# What answers each view: at once, as one types, or in a thread for what reads many files.
AT_ONCE: Mapping[str, Callable[[Desk, Asked], Fields]] = {
    "try": try_turn.try_turn, "explain": try_turn.explain_trigger,
    "facets": asking.facets, "ask": asking.ask, "trace": asking.trace, "document": asking.document,
    "judge": live_views.judge_event, "mute": live_views.mute,
    "unmute": live_views.unmute, "silences": live_views.silences, "allow": live_views.allow,
}  # fmt: skip
WITH_FILES: Mapping[str, Callable[[Desk, Asked], Fields]] = {
    "case": case_making.make_case, "mend": case_making.mend, "take-back": case_making.take_back,
    "names": lesson_views.names, "overview": lesson_views.overview, "lesson": lesson_views.lesson,
    "trigger": lesson_views.trigger_view,
    "graph": lesson_views.drawn_around, "text": file_editing.editable_text, "preview": file_editing.preview,
    "save": file_editing.save, "recent": live_views.recent, "noise": live_views.noise,
    "proposals": learning_views.proposals, "apply": learning_views.apply, "undo": learning_views.undo_applied,
    "state": health_views.state,
}  # fmt: skip
# Views asked at every keystroke: only the newest of a tab's waiting requests is worked out, others get an empty reply.
TYPED: Mapping[str, Fields] = {"try": try_turn.NOTHING, "ask": asking.NOTHING}
SIGN_IN = "Type in a terminal: deia page"
HEADERS = (
    (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cross-origin-resource-policy", b"same-origin"),
)  # fmt: skip


@cache
def policy() -> bytes:
    """Return the content security policy: nothing but the page's own script and style, which are known by digest."""
    parts = (
        "default-src 'self'", f"script-src '{digest_of('script')}'", f"style-src '{digest_of('style')}'",
        "img-src 'self' blob: data:", "object-src 'none'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    )  # fmt: skip
    return "; ".join(parts).encode()


class BrowserPage:
    """What answers a browser; create it in the event loop that will run it."""

    def __init__(self, assembled: Assembled, *, commons: str = "") -> None:
        self._assembled = assembled
        self._sessions, self._readers = (Sessions(state_folder(os.environ)) for _ in range(2))
        self._quick, self._slow = (DeskThread(Desk(commons or None, agent="page", ledger=False)) for _ in range(2))
        self._paths: Mapping[str, Callable[[Asked], Awaitable[Fields]]] = {
            **{view: partial(_view, self._quick, reply) for view, reply in AT_ONCE.items()},
            **{view: partial(_view, self._slow, reply) for view, reply in WITH_FILES.items()},
            "compiled": self._compiled, "doctor": self._doctor, "propose": self._propose, "problems": self._problems,
        }  # fmt: skip
        self._commands = health_views.Commands(commons)
        self._newest: dict[tuple[str, bytes, str], int] = {}  # by view, session and tab; the number of a request
        self._numbers = count()
        self._ending = asyncio.Event()
        self._warming: asyncio.Future[Fields] | None = None

    def end(self) -> None:
        """End the streams that browsers listen to, and the command that runs."""
        self._ending.set()
        self._commands.end()

    def close(self) -> None:
        """Finish the task that is running and start no other."""
        self._quick.close()
        self._slow.close()

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request at `/page` or below."""
        headers = {key.lower(): value for key, value in scope["headers"]}
        if limits.host_of(headers.get(b"host", b"").decode("latin-1")) not in limits.LOOPBACK:
            await limits.respond(send, 421, {"error": "the page is only for this machine; use 127.0.0.1"})
        elif scope["path"] == PATH:
            await limits.respond(send, 200, html(), _html_headers(policy()))
        elif scope["path"].startswith((f"{PLAIN}/", f"{PLAIN}?")) or scope["path"] == PLAIN:
            await self._plain(scope, send)
        elif scope["method"] != "POST":
            await limits.respond(send, 405, {"error": f"open {PATH} in a browser"})
        elif scope["path"] == EVENTS and self._sessions.knows(headers):
            await self._stream(headers, receive, send)
        else:
            await self._answer(scope["path"].removeprefix(f"{PATH}/"), headers, receive, send)

    async def _plain(self, scope: limits.Scope, send: limits.Send) -> None:
        """Answer a browser without JavaScript: a one-time token is exchanged for an address with a reader's key."""
        key, _, view = scope["path"].removeprefix(PLAIN).strip("/").partition("/")
        asked, headers = plain_page.read_query(scope["query_string"]), _html_headers(plain_page.policy())
        if not key and (token := self._readers.begin(asked.get("once", ""))):
            location = (b"location", f"{PLAIN}/{token}/{plain_page.LISTED[0]}".encode())
            await limits.respond(send, 303, b"", (*headers, location))
        elif not self._readers.admits(key):
            await limits.respond(send, 401, plain_page.refusal(), headers)
        elif scope["method"] != "GET" or view not in plain_page.VIEWS:
            await limits.respond(send, 404, {"error": f"the page has no {view[:100]!r}"})
        else:
            thread = self._slow
            status, page = await thread.run(lambda: plain_page.shown_view(thread.desk, view, asked))
            await limits.respond(send, status, page, headers)

    async def _answer(
        self, path: str, headers: Mapping[bytes, bytes], receive: limits.Receive, send: limits.Send
    ) -> None:
        try:
            status, fields = await self._reply(path, headers, receive)
        except DeiaError as error:
            status, fields = 400, {"error": error.message, "fix": error.fix}
        await limits.respond(send, status, fields)

    async def _reply(self, path: str, headers: Mapping[bytes, bytes], receive: limits.Receive) -> tuple[int, Fields]:
        """Return the status and the value of an answer; only signing in needs no session."""
        if path == "sign-in":
            return await self._sign_in(headers, receive)
        if not self._sessions.knows(headers):  # before anything that it sends is read
            return 401, {"error": "this tab is not signed in", "fix": SIGN_IN}
        body = await read_body(receive)
        if body is None:
            return 413, {"error": "the request did not arrive whole"}
        if path == "sign-out":
            self._sessions.end(headers)
            return 200, {}
        if path not in self._paths:
            return 404, {"error": f"the page has no {path[:100]!r}"}
        asked = read_asked(body)
        if path in TYPED:
            return 200, await self._newest_only(path, headers, asked)
        return 200, await self._paths[path](asked)

    async def _sign_in(self, headers: Mapping[bytes, bytes], receive: limits.Receive) -> tuple[int, Fields]:
        """Return the token of a new session; a stranger's request may be only as long as the page's own."""
        length = headers.get(b"content-length", b"0")
        is_long = not length.isdigit() or len(length) > 9 or int(length) > MOST_SIGN_IN
        body = None if is_long else await read_body(receive, most=MOST_SIGN_IN)
        if body is None:
            return 413, {"error": f"to sign in, a request may have at most {MOST_SIGN_IN} bytes"}
        token = self._sessions.begin(name(read_asked(body), "once"))
        if not token:
            return 401, {"error": "this address was used, or is too old"}
        warming = {"text": try_turn.WARMING}  # what the first keystroke would wait for is read now
        self._warming = asyncio.ensure_future(_view(self._quick, try_turn.try_turn, warming))
        return 200, {"token": token}

    async def _newest_only(self, view: str, headers: Mapping[bytes, bytes], asked: Asked) -> Fields:
        """Return the reply of a view, or an empty one if the same tab asks again before this is begun."""
        tab = view, headers.get(b"authorization", b""), name(asked, "tab")
        self._newest.pop(tab, None)
        number = self._newest[tab] = next(self._numbers)
        while len(self._newest) > MOST_WAITING:
            del self._newest[next(iter(self._newest))]

        def reply(desk: Desk, asked: Asked) -> Fields:
            """Return the reply, unless there is a newer request."""
            superseded = self._newest.get(tab, number) != number
            return {**TYPED[view], "superseded": True} if superseded else AT_ONCE[view](desk, asked)

        return await _view(self._quick, reply, asked)

    async def _stream(self, headers: Mapping[bytes, bytes], receive: limits.Receive, send: limits.Send) -> None:
        """Send each event of the log as it is written, until the browser, the session or the server ends."""
        head = (*HEADERS, (b"content-type", b"text/event-stream"))
        follower = await asyncio.to_thread(Follower, live_views.events_of(self._quick.desk))
        await send({"type": "http.response.start", "status": 200, "headers": [*head]})
        await send({"type": "http.response.body", "body": b": here\n\n", "more_body": True})
        gone = asyncio.ensure_future(_until_gone(receive))
        ending = asyncio.ensure_future(self._ending.wait())
        quiet = 0.0
        try:
            while not (await asyncio.wait([gone, ending], timeout=LOOK, return_when=asyncio.FIRST_COMPLETED))[0]:
                if not self._sessions.knows(headers):
                    break
                events = await asyncio.to_thread(follower.events)
                quiet = 0.0 if events else quiet + LOOK
                lines = [b"data: %s\n\n" % fast_json.dumps(live_views.shown_event(event)).encode() for event in events]
                if lines or quiet >= ALIVE:
                    quiet = 0.0
                    body = b"".join(lines) or b": here\n\n"
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            gone.cancel()
            ending.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _doctor(self, _asked: Asked) -> Fields:
        checked = await self._commands.run("doctor")
        return checked if isinstance(checked, Mapping) else {}

    async def _problems(self, _asked: Asked) -> Fields:
        """Answer with what `deia lint` and `deia trigger lint` find."""
        reports = [await self._commands.run(*words) for words in (("lint",), ("trigger", "lint"))]
        return {"problems": [problem for report in reports if isinstance(report, list) for problem in report]}

    async def _propose(self, asked: Asked) -> Fields:
        """Look for proposals, and answer with those that were found."""
        await self._commands.run("learn", "propose")
        return await _view(self._slow, learning_views.proposals, asked)

    async def _compiled(self, _asked: Asked) -> Fields:
        """Answer once what was written is compiled."""
        await self._assembled.recompiler.bring_up_to_date()
        return {"trouble": self._assembled.recompiler.trouble}


def _html_headers(allowed: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return (*HEADERS, (b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", allowed))


async def _view(thread: DeskThread, reply: Callable[[Desk, Asked], Fields], asked: Asked) -> Fields:
    return await thread.run(lambda: _with_others(reply, thread.desk, asked))


async def _until_gone(receive: limits.Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _with_others(reply: Callable[[Desk, Asked], Fields], desk: Desk, asked: Asked) -> Fields:
    """Return a reply; while it is worked out, hooks and other clients of the server often get their turn."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        return reply(desk, asked)
    finally:
        sys.setswitchinterval(DEFAULT_SWITCH_INTERVAL)
