"""What can be read by address: `deia://index`, `schema`, `document/ID`, `cluster/ID`, `telemetry/summary`.

A document is returned as its plain text, because the client asked for it by name; everything else is JSON. Clients that
follow an address are told when a compile changed what is there; one that is gone is forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from deia import fast_json
from deia.commons.write.index_store import ENTRY_FIELDS
from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.folders import events_folder
from deia.graph.schema import read_schema
from deia.ledger.tail import read_ledger
from deia.ledger.trigger_usage import count_usage
from deia.records import ACTIONS, MODES, ROLES, STANCES, STATUSES, URGENCIES, Record
from deia.search.find_document import ids
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.read_tools import brief, count_clusters
from deia.serve.server.tool_schemas import TOOLS

SCHEME = "deia://"
JSON, MARKDOWN = "application/json", "text/markdown"
EVENTS = 20_000  # the most recent events, which a summary counts
NAMED = 20  # questions and triggers that a summary lists
COMPLETED = 100  # values that the protocol allows a completion to offer
MOST_DOCUMENTS = 5_000  # that the index resource lists; the tool list_documents has pages
Context: TypeAlias = ServerRequestContext[Any, Any]  # the SDK's parameters: a lifespan and a request, both unused

MOST_FOLLOWED = 2_000  # addresses that can be followed in total
MOST_OF_USER = 200  # that a user can follow
Admit: TypeAlias = Callable[[Context, str], Awaitable[None]]  # raises MCPError if an address may not be followed now
GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError, RuntimeError)


class Address(Record):
    """An address, or a pattern of addresses, with what it holds."""

    path: str
    description: str
    content_type: str = JSON
    of_the_whole: bool = False  # whether it reports what all have asked


class Content(Record):
    """What an address holds."""

    text: str
    content_type: str = JSON


FIXED = (
    Address(path="index", description="Every document by cluster, as the index describes it."),
    Address(path="schema", description="The fields of an entry, a trigger and a lesson, and the types in the graph."),
    Address(
        path="telemetry/summary", description="The numbers of questions, answers, firings and verdicts.",
        of_the_whole=True,
    ),
)  # fmt: skip
PATTERNS = (
    Address(path="document/{id}", description="A document's text.", content_type=MARKDOWN),
    Address(path="cluster/{id}", description="A cluster and its documents."),
)


def read_resource(desk: Desk, address: str, *, log: bool = True) -> Content:
    """Return what is at an address; `log` is whether reading a document is logged."""
    path = address.removeprefix(SCHEME) if address.startswith(SCHEME) else ""
    if path in {page.path for page in fixed_addresses(desk)}:
        return Content(text=fast_json.dumps(PAGES[path](desk)))
    kind, _, name = path.partition("/")
    if kind == "document" and name:
        return _document(desk, unquote(name), log=log)
    if kind == "cluster" and name:
        return Content(text=fast_json.dumps(_cluster(desk, unquote(name))))
    known = ", ".join(SCHEME + known.path for known in (*fixed_addresses(desk), *PATTERNS))
    raise QueryError(f"there is nothing at {address[:200]!r}", fix=f"Known are: {known}.")


def fixed_addresses(desk: Desk) -> list[Address]:
    """Return the addresses that always exist; those that report what others asked are not everybody's."""
    return [address for address in FIXED if desk.shows_reports or not address.of_the_whole]


def _document(desk: Desk, name: str, *, log: bool) -> Content:
    catalog = desk.librarian.open_catalog()
    document = catalog.document(name)
    if document is None:
        raise QueryError(f"there is no document {name[:200]!r}", fix=f"All documents are listed at {SCHEME}index.")
    if log:
        desk.librarian.log("read", {"doc": document.entry.id, "via": "mcp"})
    return Content(text=catalog.text(document), content_type=MARKDOWN)


def _cluster(desk: Desk, name: str) -> dict[str, Json]:
    catalog = desk.librarian.open_catalog()
    cluster = next((cluster for cluster in count_clusters(catalog) if cluster["id"] == name), None)
    if cluster is None:
        raise QueryError(f"there is no cluster {name[:200]!r}", fix=f"Known are: {', '.join(catalog.clusters)}.")
    members = catalog.keyword.listed(filters={"cluster": name}, limit=MOST_DOCUMENTS)
    return {**cluster, "members": [brief(document) for document in catalog.documents(members)]}


def _index(desk: Desk) -> dict[str, Json]:
    catalog = desk.librarian.open_catalog()
    names = list(ids(catalog))
    return {
        "commons": os.path.basename(desk.root), "built_at": "" if desk.collections else catalog.built_at,
        "documents_total": len(names),
        "clusters": count_clusters(catalog),
        "documents": [brief(document) for document in catalog.documents(sorted(names)[:MOST_DOCUMENTS])],
    }  # fmt: skip


def _schema(desk: Desk) -> dict[str, Json]:
    lesson = next(tool for tool in TOOLS if tool.name == "save_lesson").inputs.schema()
    named = read_schema({} if desk.collections else desk.librarian.settings.schema)
    counts = desk.librarian.graph_stats()
    graph = named.but(
        entity_types=tuple(dict.fromkeys((*named.entity_types, *counts.entity_types))),
        relation_types=tuple(dict.fromkeys((*named.relation_types, *counts.relation_types))),
    )
    trigger = {"action": ACTIONS, "status": STATUSES, "stance": STANCES, "who": ROLES, "mode": MODES}
    return {
        "entry": {"fields": list(ENTRY_FIELDS), "required": ["id", "path", "title", "summary", "keywords"]},
        "lesson": lesson,
        "urgency": list(URGENCIES),
        "trigger": {name: list(values) for name, values in trigger.items()},
        **graph.shown(),
    }


def _telemetry(desk: Desk) -> dict[str, Json]:
    ledger = read_ledger(events_folder(desk.root, os.environ), last=EVENTS)
    queries = [event for event in ledger.events if event.get("event", "query") == "query"]
    unanswered = [str(event.get("query", "")) for event in queries if not event.get("matched")]
    verdicts = Counter(str(event.get("verdict")) for event in ledger.events if event.get("event") == "feedback")
    usages = count_usage(ledger.events)
    return {
        "events": len(ledger.events), "broken_lines": ledger.broken, "queries": len(queries),
        "answered": sum(bool(event.get("matched")) for event in queries),
        "unanswered_last": [text for text in unanswered if text][-NAMED:],
        "firings": sum(usage.fired for usage in usages),
        "triggers": [usage.values() for usage in usages[:NAMED]], "feedback": verdicts,
    }  # fmt: skip


PAGES: Mapping[str, Callable[[Desk], Json]] = {"index": _index, "schema": _schema, "telemetry/summary": _telemetry}


def complete(desk: Desk, name: str, typed: str) -> list[str]:
    """Return ids of documents or clusters, or values of a filter, that begin with what was typed.

    Ids are quoted as in an address.
    """
    catalog = desk.librarian.open_catalog()
    if name == "id":
        known: list[str] = [*ids(catalog), *catalog.clusters]
    elif name in ("platform", "audience", "urgency", "cluster", "tag"):
        known = catalog.keyword.values(name)
    else:
        return []
    matching = sorted({value for value in known if value.lower().startswith(typed.lower())})
    return [quote(value, safe="") if name == "id" else value for value in matching[: COMPLETED + 1]]


class Subscribers:
    """The addresses that clients follow, a digest of their last content, and the sessions that follow them."""

    def __init__(self, desk_thread: DeskThread, *, most: int, admit: Admit) -> None:
        self._desk_thread, self._most, self._admit = desk_thread, most, admit
        self._streams: Counter[str] = Counter()  # how many follow an address over the stateless protocol
        self._digests: dict[str, str] = {}
        self._sessions: dict[str, list[ServerSession]] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self.is_closed = False

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Follow an address for a client of the handshake protocol."""
        address = str(params.uri)
        await self._follow(ctx, address)
        followers = self._sessions.setdefault(address, [])
        if all(_connection(session) is not _connection(ctx.session) for session in followers):
            followers.append(ctx.session)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Stop following an address."""
        followers = self._sessions.get(str(params.uri), [])
        followers[:] = [session for session in followers if _connection(session) is not _connection(ctx.session)]
        self._forget(str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve the stream of a client of the stateless protocol, as long as it listens."""
        addresses = {*map(str, params.notifications.resource_subscriptions or ())}
        self._streams.update(addresses)
        try:
            for address in addresses:
                await self._follow(ctx, address)
            if self.is_closed:  # the stream is opened and then closed properly, so that its client notices
                asyncio.get_running_loop().call_soon(self._listen.close)
            return await self._listen(ctx, params)
        finally:
            self._streams.subtract(addresses)
            for address in addresses:
                self._forget(address)

    async def notify(self) -> None:
        """Notify all clients that follow an address whose content changed."""
        for address, before in list(self._digests.items()):
            digest = await self._digest(address)
            if digest == before or address not in self._digests:
                continue
            self._digests[address] = digest
            await self._bus.publish(ResourceUpdated(uri=address))
            for session in list(self._sessions.get(address, ())):
                try:
                    await session.send_resource_updated(address)
                except GONE:
                    self._sessions[address].remove(session)

    def close(self) -> None:
        """Close the streams of all clients, and of those that open one later."""
        self.is_closed = True
        self._listen.close()

    async def _follow(self, ctx: Context, address: str) -> None:
        if address not in self._digests and len(self._digests) >= self._most:
            raise MCPError(code=types.INVALID_PARAMS, message=f"At most {self._most} addresses can be followed.")
        await self._admit(ctx, address)
        if address not in self._digests:
            self._digests[address] = await self._digest(address)

    def _forget(self, address: str) -> None:
        """Forget an address that nobody follows any more."""
        if not self._sessions.get(address) and self._streams[address] <= 0:
            del self._streams[address]
            self._sessions.pop(address, None)
            self._digests.pop(address, None)

    async def _digest(self, address: str) -> str:
        desk = self._desk_thread.desk
        try:
            content = await self._desk_thread.run(lambda: desk.retry(lambda: read_resource(desk, address, log=False)))
        except DeiaError:
            return ""
        return hashlib.sha256(content.text.encode("utf-8", "replace")).hexdigest()


def _connection(session: ServerSession) -> object:
    """Return what the requests of one client have in common; the SDK creates a session for each request."""
    return getattr(session, "_connection", session)
