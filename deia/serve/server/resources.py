"""What can be read by address: `deia://index`, `schema`, `document/ID`, `cluster/ID`, `telemetry/summary`.

Texts of documents are given as they are, since a client names what it reads; everything else is JSON. Refuses an
address that names nothing, and says what there is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from deia import fast_json
from deia.commons.write.index_store import ENTRY_FIELDS
from deia.errors import QueryError
from deia.folders import events_folder
from deia.ledger.tail import read_ledger
from deia.ledger.trigger_usage import count_usage
from deia.records import ACTIONS, MODES, ROLES, STANCES, STATUSES, URGENCIES, Record
from deia.search.find_document import ids
from deia.serve.server.desk import Desk
from deia.serve.server.read_tools import brief, clusters_of
from deia.serve.server.tool_schemas import TOOLS

SCHEME = "deia://"
JSON, MARKDOWN = "application/json", "text/markdown"
FIXED = (
    ("index", "Every document by cluster, with what the index says of it.", JSON),
    ("schema", "What an entry, a trigger and a lesson consist of.", JSON),
    ("telemetry/summary", "How often was asked, what was found, what fired, what was said of it.", JSON),
)
OF_THE_WHOLE = ("telemetry/summary",)  # the log is of all the commons: questions, triggers and counts
PATTERNS = (
    ("document/{id}", "A document's text.", MARKDOWN),
    ("cluster/{id}", "A cluster and its documents.", JSON),
)
EVENTS = 20_000  # the last so many that a summary counts
NAMED = 20
COMPLETED = 100  # what the protocol allows a completion to offer
MOST_DOCUMENTS = 5_000  # that the index resource lists; beyond that the tool pages


class Content(Record):
    """What an address holds."""

    text: str
    kind: str


def read_resource(desk: Desk, address: str, *, log: bool = True) -> Content:
    """Give what is at an address; `log` is whether the reading of a document counts as one.

    Raises:
        QueryError: nothing is.
    """
    path = address.removeprefix(SCHEME) if address.startswith(SCHEME) else ""
    if path in PAGES and path in {each[0] for each in fixed(desk)}:
        return Content(text=fast_json.dumps(PAGES[path](desk)), kind=JSON)
    kind, _, name = path.partition("/")
    if kind == "document" and name:
        return _document(desk, unquote(name), log=log)
    if kind == "cluster" and name:
        return Content(text=fast_json.dumps(_cluster(desk, unquote(name))), kind=JSON)
    known = ", ".join(SCHEME + each[0] for each in (*fixed(desk), *PATTERNS))
    raise QueryError(f"there is nothing at {address[:200]!r}", fix=f"There is: {known}.")


def fixed(desk: Desk) -> list[tuple[str, str, str]]:
    """Give the addresses that are always there; of a part of the commons, none that tells of the whole."""
    return [each for each in FIXED if not (desk.collections and each[0] in OF_THE_WHOLE)]


def _document(desk: Desk, name: str, *, log: bool) -> Content:
    catalog = desk.librarian.open_catalog()
    found = catalog.document(name)
    if found is None:
        raise QueryError(f"there is no document {name[:200]!r}", fix=f"See {SCHEME}index for those there are.")
    if log:
        desk.librarian.log("read", {"doc": found.entry.id, "via": "mcp"})
    return Content(text=catalog.text(found), kind=MARKDOWN)


def _cluster(desk: Desk, name: str) -> dict[str, Any]:
    catalog = desk.librarian.open_catalog()
    held = next((one for one in clusters_of(catalog) if one["id"] == name), None)
    if held is None:
        raise QueryError(f"there is no cluster {name[:200]!r}", fix=f"There are: {', '.join(catalog.clusters)}.")
    hits = catalog.keyword.listed(filters={"cluster": name}, limit=MOST_DOCUMENTS)
    return {**held, "members": [brief(one) for one in catalog.documents(hit.document for hit in hits)]}


def _index(desk: Desk) -> dict[str, Any]:
    catalog = desk.librarian.open_catalog()
    names = list(ids(catalog))
    documents = [brief(one) for one in catalog.documents(sorted(names)[:MOST_DOCUMENTS])]
    return {"commons": os.path.basename(desk.root), "built_at": catalog.built_at, "documents_total": len(names),
            "clusters": clusters_of(catalog), "documents": documents}  # fmt: skip


def _schema(_desk: Desk) -> dict[str, Any]:
    lesson = next(tool for tool in TOOLS if tool["name"] == "save_lesson")["inputSchema"]
    return {
        "entry": {"fields": list(ENTRY_FIELDS), "required": ["id", "path", "title", "summary", "keywords"]},
        "lesson": lesson,
        "urgency": list(URGENCIES),
        "trigger": {"action": list(ACTIONS), "status": list(STATUSES), "stance": list(STANCES),
                    "who": list(ROLES), "mode": list(MODES)},
    }  # fmt: skip


def _telemetry(desk: Desk) -> dict[str, Any]:
    ledger = read_ledger(events_folder(desk.root, os.environ), last=EVENTS)
    queries = [one for one in ledger.events if one.get("event", "query") == "query"]
    unanswered = [str(one.get("query", "")) for one in queries if not one.get("matched")]
    verdicts: dict[str, int] = {}
    for one in ledger.events:
        if one.get("event") == "feedback":
            verdicts[str(one.get("verdict"))] = verdicts.get(str(one.get("verdict")), 0) + 1
    used = count_usage(ledger.events)
    return {
        "events": len(ledger.events),
        "broken_lines": ledger.broken,
        "queries": len(queries),
        "answered": sum(bool(one.get("matched")) for one in queries),
        "unanswered_last": [text for text in unanswered if text][-NAMED:],
        "firings": sum(one.fired for one in used),
        "triggers": [one.values() for one in used[:NAMED]],
        "feedback": verdicts,
    }


PAGES: Mapping[str, Callable[[Desk], dict[str, Any]]] = {
    "index": _index,
    "schema": _schema,
    "telemetry/summary": _telemetry,
}


def complete(desk: Desk, name: str, typed: str) -> list[str]:
    """Offer ids of documents or clusters, or values of a filter, that begin so, as an address writes them."""
    catalog = desk.librarian.open_catalog()
    if name == "id":
        known: list[str] = [*ids(catalog), *catalog.clusters]
    elif name in ("platform", "audience", "urgency", "cluster", "tag"):
        known = catalog.keyword.values(name)
    else:
        return []
    fitting = sorted({one for one in known if one.lower().startswith(typed.lower())})
    return [quote(one, safe="") if name == "id" else one for one in fitting[: COMPLETED + 1]]
