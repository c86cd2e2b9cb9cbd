"""Ask: the search as one types, what made a document rank where it does, and the document itself.

Nothing that is typed here is logged. The parts of a score are a document's ranks by words, by meaning and by links,
from the trace that `deia debug` shows.
"""

from __future__ import annotations

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.fast_json import Json
from deia.knowledge import Result
from deia.search.answer import relevance
from deia.search.find_document import look_up
from deia.serve.page.asked_values import Asked, name, text
from deia.serve.server.desk import Desk

FILTERS = ("platform", "audience", "urgency", "cluster", "tag")
SHOWN = 10  # documents
MOST_QUESTION = 4_000  # characters
MOST_VALUES = 500  # of a filter
RANKINGS = ("by_words", "by_meaning", "by_links", "fused")
NOTHING: dict[str, Json] = {  # the reply to a question that is blank
    "results": [], "matched": False, "confidence": "low", "probability": 0.0, "reason": "", "suggestions": [],
    "searched_for": "", "audit": {"kind": "", "tier": "", "understood": "", "warnings": []},
}  # fmt: skip
FIELDS = ("id", "path", "title", "summary", "why_relevant", "action", "urgency", "heading", "passage", "page")


def facets(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return the values that each filter can have."""
    index = desk.librarian.open_catalog().keyword
    return {filter_name: [*index.values(filter_name)[:MOST_VALUES]] for filter_name in FILTERS}


def ask(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return the documents that answer a question, each with its passage."""
    question = text(asked, "question", most=MOST_QUESTION).strip()
    filters = {filter_name: name(asked, filter_name) or None for filter_name in FILTERS}
    if not question:
        return {**NOTHING}
    answer = desk.librarian.query(
        question, limit=SHOWN, platform=filters["platform"], audience=filters["audience"], urgency=filters["urgency"],
        cluster=filters["cluster"], tag=filters["tag"],
    )  # fmt: skip
    return {
        "results": [_result(result) for result in answer.documents], "matched": answer.matched,
        "confidence": answer.confidence, "probability": round(answer.probability, 3), "reason": answer.reason,
        "suggestions": [*answer.suggestions], "searched_for": answer.searched_for,
        "audit": {
            "kind": answer.audit.kind, "tier": answer.audit.tier, "understood": answer.audit.understood,
            "warnings": [*answer.audit.warnings],
        },
    }  # fmt: skip


def _result(result: Result) -> dict[str, Json]:
    fields: dict[str, Json] = {field: getattr(result, field) for field in FIELDS}
    words: dict[str, Json] = {"keywords": [*result.keywords_matched], "lines": [*result.lines]}
    return fields | words | {"relevance": relevance(result)}


def trace(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return how a search came to its ranking, and at which stage the document `expected` was lost."""
    question, expected = text(asked, "question", most=MOST_QUESTION).strip(), name(asked, "expected").strip()
    traced = desk.librarian.debug(question, expect=[expected] if expected else [])
    rankings = {ranking: [*getattr(traced, ranking)[:50]] for ranking in RANKINGS}
    return {
        **rankings, "words": [*traced.words], "unknown": [*traced.unknown], "passing": traced.passing,
        "conclusion": traced.conclusion, "lost": [lost.values() for lost in traced.expected],
        "belongs": round(traced.verdict.belongs, 3),
    }  # fmt: skip


def document(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return the text of a document, and the line on which it begins."""
    ident = name(asked, "id")
    catalog = desk.librarian.open_catalog_of(ident)
    lookup = look_up(catalog, ident, root=desk.root, folder=desk.folder)
    entry = lookup.document.entry
    facts = ("id", "path", "title", "summary", "urgency", "updated", "verified", "superseded_by")
    lists = ("clusters", "tags", "platforms", "audience", "keywords")
    return {
        **{fact: getattr(entry, fact) for fact in facts}, **{field: [*getattr(entry, field)] for field in lists},
        "first_line": lookup.document.first_line, "text": lookup.text, "own": origin_of(entry.path) == PROJECT,
    }  # fmt: skip
