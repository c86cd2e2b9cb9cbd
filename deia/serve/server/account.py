"""The account of one asker at a server: what they may still ask, and the line of the audit log for what they asked.

Of the arguments only a user's question is logged, without secrets, and what was shown: never a conversation or an
uploaded text. What the person asks whose machine it is stands in the log of their commons alone, as they have set that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence

from deia import files, spool
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX
from deia.match.keyword import filter_key
from deia.records import Record
from deia.redaction import redact
from deia.search.question.asset_filters import collection_names
from deia.search.rendering.llm_quotes import tokens
from deia.serve.server.allowances import Meter
from deia.serve.server.audit_trail import AuditTrail
from deia.serve.server.metrics import Metrics
from deia.serve.server.users import LOCAL, UNLIMITED
from deia.text import shorten

QUESTIONS = ("question", "query", "q", "document", "entity", "task", "mistake", "plan", "source", "path", "id", "uri")
MOST_QUESTION, MOST_NAME, MOST_ARGUMENT_NAME = 1_000, 200, 40  # characters
MOST_ARGUMENTS, MOST_RETURNED, DEEPEST = 20, 40, 6
BRIEF_TEXT, BRIEF_LIST = 80, 4  # what fits into a line however it is encoded: twelve bytes for a character
FULL, OFF = "full", "off"


class Books(Record):
    """Where a server writes down what was asked: its audit log, unless there is none, and its counts."""

    metrics: Metrics
    trail: AuditTrail | None
    transport: str
    texts: bool = True  # whether the audit log has the questions


class Asked(Record):
    """What somebody asked for: a tool, a resource, a prompt or a path, and its arguments."""

    kind: str
    name: str
    arguments: Mapping[str, Json] = {}
    client: str = ""


class Account:
    """The account of one asker; without a name it is the person whose machine it is, who has no limits."""

    def __init__(
        self, books: Books, *, name: str = LOCAL, collections: Sequence[str] = (), meter: Meter | None = None
    ) -> None:
        self.books, self.name, self.meter = books, name, meter or Meter(UNLIMITED)
        self._collections = tuple(collections)

    def admit(self, asked: Asked) -> None:
        """Count a request; raise LimitError if the asker has to wait."""
        self.meter.admit(self._concerned(asked.arguments))

    async def write(
        self, asked: Asked, *, outcome: str, began: float, fields: Mapping[str, Json] | None = None, text: str = ""
    ) -> None:
        """Write down an answer and charge for it; `began` is a reading of `time.perf_counter`."""
        seconds, cost = time.perf_counter() - began, tokens(text) if text else 0
        subs = _count((fields or {}).get("sub_questions"))
        collections, metrics = self._concerned(asked.arguments), self.books.metrics
        self.meter.charge(collections, sub_questions=subs, tokens=cost)
        metrics.add("deia_asked_total", kind=asked.kind, outcome=outcome, user=self.name)
        metrics.add("deia_sub_questions_total", subs, user=self.name)
        metrics.add("deia_answer_tokens_total", cost, user=self.name)
        metrics.observe(asked.kind, seconds)
        if (trail := self.books.trail) is not None:
            line: dict[str, Json] = {
                "ts": spool.timestamp(time.time()), "user": self.name, "transport": self.books.transport,
                "client": redact(asked.client[:MOST_NAME]), "what": asked.kind, "name": redact(asked.name[:MOST_NAME]),
                "given": sorted(str(name)[:MOST_ARGUMENT_NAME] for name in asked.arguments)[:MOST_ARGUMENTS],
                "collections": list(collections)[:MOST_ARGUMENTS],
                "question": _question(asked.arguments) if self.books.texts and self.name != LOCAL else "",
                "returned": list(dict.fromkeys(_paths(fields or {})))[:MOST_RETURNED], "sub_questions": subs,
                "tokens": cost, "outcome": outcome, "ms": round(seconds * 1000, 2), "process": files.process(),
            }  # fmt: skip

            def keep() -> None:
                if not trail.append(line) and not trail.append(_shortened(line)):
                    metrics.add("deia_audit_lost_total")

            await asyncio.shield(asyncio.wrap_future(trail.thread.submit(keep)))

    def _concerned(self, arguments: Mapping[str, Json]) -> tuple[str, ...]:
        """Return the collections of the library that a question names, or else what its asker is limited to."""
        named = arguments.get("collection")
        folders = collection_names(named) if isinstance(named, str) else []
        names = dict.fromkeys(filter_key(folder).partition("/")[0] for folder in folders)  # as the search compares them
        return tuple(f"{LIBRARY_PREFIX}{name}" for name in names if name) or self._collections


def _shortened(line: Mapping[str, Json]) -> dict[str, Json]:
    """Return a line of the audit log that was too long, with as much of its texts as always fits."""
    return {name: _cut(value) for name, value in line.items()} | {"shortened": True}


def _cut(value: Json) -> Json:
    if isinstance(value, list):
        return [_cut(item) for item in value[:BRIEF_LIST]]
    return value[:BRIEF_TEXT] if isinstance(value, str) else value


def _question(arguments: Mapping[str, Json]) -> str:
    value = next((arguments[name] for name in QUESTIONS if isinstance(arguments.get(name), str)), "")
    return shorten(redact(str(value)[: 2 * MOST_QUESTION]), MOST_QUESTION)


def _count(value: Json) -> int:
    return len(value) if isinstance(value, (list, tuple)) else 0


def _paths(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield the paths of documents that an answer names."""
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        if isinstance(path := value.get("path"), str):
            yield path[:MOST_NAME]
        for item in value.values():
            yield from _paths(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value[:MOST_RETURNED]:
            yield from _paths(item, depth + 1)
