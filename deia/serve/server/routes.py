"""What a server answers at each path: MCP at `/mcp`, hook events at `/hooks/HOST`, `/search?q=…`, `/upload` and others.

`/hooks/git` brings a source of the library up to date for a repository's webhook; `/metrics` is for Prometheus.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qsl

import deia
from deia import files
from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.serve.hooks.run import HOSTS
from deia.serve.server import limits
from deia.serve.server.account import Asked
from deia.serve.server.allowances import LimitError
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import SEARCH_TOOL
from deia.serve.server.dispatch import answer, find_tool, prepare
from deia.serve.server.git_webhook import GitWebhook
from deia.serve.server.hook_events import EXIT, Hooks
from deia.serve.server.library_tools import index_source, start
from deia.serve.server.metrics import CONTENT_TYPE
from deia.serve.server.tool_schemas import UPLOAD_TOOL

HOOKS, GIT_HOOK = "/hooks/", "/hooks/git"
PAGE = "/page"  # what a browser opens; below it, the page checks a token of its own
SHORT = {"q": "query"}  # parameters of /search with another name than that of the tool
MOST_PARAMETERS = 20
MOST_DIGITS = 9
READ_ONLY = "Set DEIA_TOKEN, and omit --read-only and --collection."
NO_ADMIN = "this needs the scope admin"
USAGE = f"the paths are /mcp, {HOOKS}HOST, {GIT_HOOK}, /search, /upload, /page, /metrics, /health and /ready"
Plain: TypeAlias = tuple[int, Mapping[str, Json], str]  # of an answer without MCP: its status, its value and its text


class Routes:
    """Routes the requests of one asker by path; hooks and metrics are only for administrators."""

    def __init__(
        self, assembled: Assembled, mcp_app: limits.App, hooks: Hooks, *, is_admin: bool = True,
        page: limits.App | None = None, git: GitWebhook | None = None, gauges: Callable[[], Mapping[str, float]] = dict,
    ) -> None:  # fmt: skip
        self._assembled, self._hooks, self._lifespan, self._mcp = assembled, hooks, mcp_app, limits.Sessions(mcp_app)
        self._page, self._is_admin, self._gauges = page, is_admin, gauges
        optional = {PAGE: page, GIT_HOOK: git}
        self._paths: Mapping[str, limits.App] = {
            "/mcp": self._mcp, "/health": self._health, "/ready": self._ready, "/metrics": self._metrics,
            "/search": self._search, "/upload": self._upload,
            **{path: app for path, app in optional.items() if app is not None},
        }  # fmt: skip

    @property
    def has_collections(self) -> bool:
        """Whether only collections are offered."""
        return bool(self._assembled.desk.collections)

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request."""
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif path in self._paths:
            await self._paths[path](scope, receive, send)
        elif path.startswith(HOOKS):
            await self._hook(scope, receive, send)
        elif self._page is not None and path.startswith(f"{PAGE}/"):
            await self._page(scope, receive, send)
        else:
            await limits.respond(send, 404, {"error": USAGE})

    async def _health(self, _scope: limits.Scope, _receive: limits.Receive, send: limits.Send) -> None:
        health: Mapping[str, Json] = {"ok": True, "name": "deia", "version": deia.__version__}
        await limits.respond(send, 200, {**health, "process": files.process(), "page": self._page is not None})

    async def _ready(self, _scope: limits.Scope, _receive: limits.Receive, send: limits.Send) -> None:
        desk, thread = self._assembled.desk, self._assembled.desk_thread
        ready = await thread.run(desk.is_compiled)
        behind = await thread.run(desk.changed_source) if ready and self._is_admin else ""
        trouble = self._assembled.recompiler.trouble if self._is_admin else ""
        status: dict[str, Json] = {"ready": ready, "behind": behind, "trouble": trouble}
        await limits.respond(send, 200 if ready else 503, status)

    async def _metrics(self, _scope: limits.Scope, _receive: limits.Receive, send: limits.Send) -> None:
        if not self._is_admin:
            await limits.respond(send, 403, {"error": NO_ADMIN})
            return
        ready = await self._assembled.desk_thread.run(self._assembled.desk.is_compiled)
        text = self._assembled.account.books.metrics.text({"deia_ready": float(ready), **self._gauges()})
        await limits.respond(send, 200, text.encode(), ((b"content-type", CONTENT_TYPE),))

    async def _plain(
        self,
        scope: limits.Scope,
        send: limits.Send,
        method: str,
        usage: str,
        reply: Callable[[Mapping[str, str]], Awaitable[Plain]],
    ) -> None:
        """Answer one of the requests that call a tool without MCP, for curl and scripts."""
        began, account = time.perf_counter(), self._assembled.account
        if scope["method"] != method:
            await limits.respond(send, 405, {"error": usage})
            return
        asked, text, retry = Asked(kind=scope["path"].lstrip("/"), name=method), "", 0
        try:
            parameters = _parameters(scope.get("query_string", b""))
            asked = asked.but(arguments=parameters)
            account.admit(asked)
            status, value, text = await reply(parameters)
        except LimitError as error:
            status, value, retry = 429, {"error": error.message, "fix": error.fix}, error.seconds
        except DeiaError as error:
            status, value = 400, {"error": error.message, "fix": error.fix}
        await limits.respond(send, status, value, retry=retry)
        outcome = "ok" if status < 400 else "limited" if retry else "refused"
        await account.write(asked, outcome=outcome, began=began, fields=value if text else None, text=text)

    async def _search(self, scope: limits.Scope, _receive: limits.Receive, send: limits.Send) -> None:
        await self._plain(scope, send, "GET", "GET /search?q=WORDS", self._found)

    async def _upload(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        async def take_in(parameters: Mapping[str, str]) -> Plain:
            return await self._taken_in(parameters, receive)

        await self._plain(scope, send, "POST", "POST a file to /upload?name=FILE", take_in)

    async def _found(self, parameters: Mapping[str, str]) -> Plain:
        """Return what the search tool answers."""
        desk, tools = self._assembled.desk, self._assembled.handlers.tools

        def ask() -> Plain:
            values: dict[str, Json] = {SHORT.get(name, name): text for name, text in parameters.items()}
            if not values:
                raise QueryError("there is no question", fix="Ask: /search?q=WORDS")
            limit = str(values.get("limit", ""))
            if limit.isascii() and limit.isdecimal() and len(limit) <= MOST_DIGITS:
                values["limit"] = int(limit)
            reply = answer(desk, prepare(desk, find_tool(tools, SEARCH_TOOL), values))
            return 200, reply.fields, reply.text

        await self._assembled.recompiler.wait_until_compiled()
        return await self._assembled.desk_thread.run(ask)

    async def _taken_in(self, parameters: Mapping[str, str], receive: limits.Receive) -> Plain:
        """Register an uploaded file; return its source once taking it in has begun."""
        if all(tool.name != UPLOAD_TOOL for tool in self._assembled.handlers.tools):
            return 403, {"error": "clients of this server can only read", "fix": READ_ONLY}, ""
        content, desk = await limits.read_body(receive), self._assembled.desk
        if content is None:
            return 413, {"error": f"the file did not arrive whole; it may have at most {limits.MOST_BODY} bytes"}, ""

        def take() -> Plain:
            values = dict(parameters)
            name, collection = values.pop("name", ""), values.pop("collection", "")
            if values or not name:
                raise QueryError("an upload has a name, and may have a collection", fix="Post to /upload?name=FILE")
            reply = index_source(desk, source=name, collection=collection, content=content)
            start(desk, reply.source)
            return 202, reply.fields, reply.text

        return await self._assembled.desk_thread.run(take)

    async def _hook(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        began, host = time.perf_counter(), scope["path"].removeprefix(HOOKS)
        if not self._is_admin:  # an event makes the server look at files of its own machine
            await limits.respond(send, 403, {"error": NO_ADMIN})
            return
        if scope["method"] != "POST" or host not in HOSTS:
            hosts = ", ".join(HOSTS)
            await limits.respond(send, 404, {"error": f"POST an event to {HOOKS}HOST; HOST is one of {hosts}"})
            return
        if self._assembled.desk.collections:  # events are checked against all triggers of the event's own commons
            await limits.respond(send, 403, {"error": "a server that offers only collections does not answer hooks"})
            return
        event = await limits.read_body(receive)
        if event is None:
            return
        answer = await self._hooks.answer(host, event)
        timing = f"deia;dur={answer.seconds * 1000:.3f}".encode()
        headers = ((b"content-type", answer.content_type), (EXIT, b"%d" % answer.code), (b"server-timing", timing))
        await limits.respond(send, 200, answer.body, headers)
        await self._assembled.account.write(Asked(kind="hook", name=host), outcome=answer.outcome, began=began)


def _parameters(query_string: bytes) -> dict[str, str]:
    """Return the parameters of a request; raise QueryError if they cannot be read."""
    try:
        return dict(parse_qsl(query_string.decode("ascii"), errors="strict", max_num_fields=MOST_PARAMETERS))
    except ValueError as error:
        raise QueryError("the parameters cannot be read", fix="Write them as name=WORDS, encoded as UTF-8.") from error
