"""What the commons answers, as one immutable value, and as the dictionaries of the published formats.

It refuses to decide anything.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Literal

    from deia.knowledge import Result

    Matched = bool | Literal["partial"]

NATURAL, KEYWORD, PLATFORM, AUDIENCE = "natural_language", "keyword_search", "platform_filter", "audience_view"
NOTHING, TOO_BROAD, SMALL_TALK = "no_documents_match", "query_too_broad", "conversational"


class Audit(Record):
    """How an answer came about."""

    checked_at: str = ""
    index_built_at: str = ""
    sources: tuple[str, ...] = ()
    tier: str = "keyword"
    kind: str = ""  # what kind of thing was typed
    understood: str = ""  # how it was taken, where that is not as it stands
    warnings: tuple[str, ...] = ()


class Similar(Record):
    """A past question like this one, and the documents that answer it."""

    query: str
    documents: tuple[str, ...]


class Documents(Record):
    """The documents of an answer; iterating gives all of them, best first."""

    primary: tuple[Result, ...] = ()
    secondary: tuple[Result, ...] = ()

    def __iter__(self) -> Iterator[Result]:
        yield from self.primary
        yield from self.secondary

    def __len__(self) -> int:
        return len(self.primary) + len(self.secondary)


class Answer(Record):
    """An answer of any kind; `query_type` and `reason` say which of the fields mean something."""

    query: str
    matched: Matched
    audit: Audit
    query_type: str = NATURAL
    confidence: str = "low"
    primary_cluster: str = ""
    urgency: str = ""
    primary: tuple[Result, ...] = ()
    secondary: tuple[Result, ...] = ()
    searched_for: str = ""  # the question with its misspelt words corrected, where any were
    keywords: tuple[str, ...] = ()
    keywords_matched: tuple[str, ...] = ()
    clusters_found: tuple[str, ...] = ()
    suggested_next: tuple[str, ...] = ()
    related_queries: tuple[str, ...] = ()
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    similar_queries: tuple[Similar, ...] = ()
    available_clusters: tuple[str, ...] = ()
    view: Mapping[str, Any] = {}  # the body of a platform or audience view

    @property
    def documents(self) -> Documents:
        """Every document of the answer, best first: `.primary` answer the question, `.secondary` are near it."""
        return Documents(primary=self.primary, secondary=self.secondary)

    @property
    def primary_docs(self) -> tuple[Result, ...]:
        """The documents that answer the question; the others are merely near it."""
        return self.primary

    def to_dict(self) -> dict[str, Any]:
        """Give the answer in its published shape (FORMATS §4), made of plain dictionaries, lists and texts."""
        body = _REASONS.get(self.reason) or _TYPES[self.query_type]
        told = {"searched_for": self.searched_for} if self.searched_for else {}
        return {**body(self), **told, "audit": _plain(self.audit.values())}


def _natural(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query,
        "matched": answer.matched,
        "confidence": answer.confidence,
        "primary_cluster": answer.primary_cluster,
        "urgency": answer.urgency,
        "documents": {
            "primary": [_document(result) for result in answer.primary],
            "secondary": [_document(result) for result in answer.secondary],
        },
        "keywords_matched": list(answer.keywords_matched),
        "suggested_next": list(answer.suggested_next),
        "related_queries": list(answer.related_queries),
    }


def _document(result: Result) -> dict[str, Any]:
    names = ("id", "path", "title", "summary", "why_relevant", "action", "score", "lines")
    return {name: _plain(getattr(result, name)) for name in names}


def _keyword(answer: Answer) -> dict[str, Any]:
    return {
        "query_type": KEYWORD,
        "keywords": list(answer.keywords),
        "matched": answer.matched,
        "matched_documents": len(answer.documents),
        "results": [_found(answer, result) for result in answer.documents],
        "clusters_found": list(answer.clusters_found),
    }


def _found(answer: Answer, result: Result) -> dict[str, Any]:
    return {
        "id": result.id,
        "relevance": round(len(result.keywords_matched) / max(1, len(answer.keywords)), 3),
        "keywords_matched": list(result.keywords_matched),
        "path": result.path,
    }


def _view(answer: Answer) -> dict[str, Any]:
    return {"query_type": answer.query_type, "matched": answer.matched, **_plain(answer.view)}


def _nothing(answer: Answer) -> dict[str, Any]:
    similar = [{"query": each.query, "documents": list(each.documents)} for each in answer.similar_queries]
    return {
        "query": answer.query,
        "matched": False,
        "reason": answer.reason,
        "suggestions": list(answer.suggestions),
        "similar_queries": similar,
    }


def _too_broad(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query,
        "matched": "partial",
        "reason": TOO_BROAD,
        "refinement_needed": True,
        "suggestions": list(answer.suggestions),
        "available_clusters": list(answer.available_clusters),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {name: _plain(item) for name, item in value.items()}
    return value


_TYPES: Mapping[str, Callable[[Answer], dict[str, Any]]] = {
    NATURAL: _natural,
    KEYWORD: _keyword,
    PLATFORM: _view,
    AUDIENCE: _view,
}
_REASONS: Mapping[str, Callable[[Answer], dict[str, Any]]] = {
    NOTHING: _nothing,
    TOO_BROAD: _too_broad,
    SMALL_TALK: _nothing,
}
