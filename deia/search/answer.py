"""The answer to a query as an immutable value, and as the dictionaries of the published formats."""

from __future__ import annotations

from deia.fast_json import Json
from deia.knowledge import Entry, Result
from deia.records import TYPE_CHECKING, Record
from deia.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    Matched = bool | Literal["partial"]

NATURAL, KEYWORD, PLATFORM, AUDIENCE = "natural_language", "keyword_search", "platform_filter", "audience_view"
LONGEST_PASSAGE = 1_200  # characters of a passage in the published shape
NOTHING, TOO_BROAD, SMALL_TALK = "no_documents_match", "query_too_broad", "conversational"


class Audit(Record):
    """How an answer came about."""

    checked_at: str = ""
    index_built_at: str = ""
    sources: tuple[str, ...] = ()
    tier: str = "keyword"
    kind: str = ""  # what kind of text was typed
    understood: str = ""  # how the query was interpreted, if not literally
    warnings: tuple[str, ...] = ()
    second_try: str = ""  # the words that the best document lacked, if a further one answers them
    steps: Mapping[str, Json] = {}  # what the librarian's protocol says about it, step by step (`deia.audit`)

    def to_dict(self) -> dict[str, Json]:
        """Return the audit as an answer shows it, each step under its name."""
        left_out = ("steps",) if self.second_try else ("steps", "second_try")
        fields = {name: _plain(value) for name, value in self.values().items() if name not in left_out}
        return {**fields, **self.steps}


class Similar(Record):
    """A past question like this one, and the documents that answer it."""

    query: str
    documents: tuple[str, ...]


class Documents(Record):
    """The documents of an answer; iteration yields all of them, best first."""

    primary: tuple[Result, ...] = ()
    secondary: tuple[Result, ...] = ()

    def __iter__(self) -> Iterator[Result]:
        yield from self.primary
        yield from self.secondary

    def __len__(self) -> int:
        return len(self.primary) + len(self.secondary)


class PlatformView(Record):
    """An overview of a platform's documents; the lists contain ids."""

    platform: str
    documents_found: int
    by_urgency: Mapping[str, Sequence[str]]
    by_category: Mapping[str, Sequence[str]]
    quick_tips: Sequence[str]
    about_documents: Sequence[Mapping[str, str]]


class AudienceView(Record):
    """An overview of an audience's documents; the lists contain ids where they do not describe documents."""

    audience: str
    documents_found: int
    high_priority: Sequence[Mapping[str, str]]
    medium_priority: Sequence[Mapping[str, str]]
    by_urgency: Mapping[str, Sequence[str]]
    learning_path: Sequence[str]
    learning_reasons: Mapping[str, str]


class Answer(Record):
    """An answer of any kind; `query_type` and `reason` determine which fields are used."""

    query: str
    matched: Matched
    audit: Audit
    query_type: str = NATURAL
    confidence: str = "low"
    probability: float = 0.0  # that the best document answers the question, of which `confidence` is a level
    primary_cluster: str = ""
    urgency: str = ""
    primary: tuple[Result, ...] = ()
    secondary: tuple[Result, ...] = ()
    searched_for: str = ""  # the query with its misspelt words corrected, if there were any
    dependents: tuple[str, ...] = ()  # what the graph says of a question about what depends on something, line by line
    corrected: tuple[str, ...] = ()  # the words that stand for misspelt ones
    keywords: tuple[str, ...] = ()
    keywords_matched: tuple[str, ...] = ()
    clusters_found: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()  # what the question is about, in words of the commons
    suggested_next: tuple[str, ...] = ()
    related_queries: tuple[str, ...] = ()
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    similar_queries: tuple[Similar, ...] = ()
    browse: Mapping[str, Sequence[str]] = {}  # topics, platforms and audiences that there are
    available_clusters: tuple[str, ...] = ()
    about_clusters: Mapping[str, str] = {}
    view: PlatformView | AudienceView | None = None  # the body of an overview

    @property
    def documents(self) -> Documents:
        """All documents of the answer, best first: `.primary` answer the question, `.secondary` are related to it."""
        return Documents(primary=self.primary, secondary=self.secondary)

    @property
    def action(self) -> str:
        """What the best document says to do, or ""; that of a worse one would be about something else."""
        return self.primary[0].action if self.primary else ""

    @property
    def primary_docs(self) -> tuple[Result, ...]:
        """The documents that answer the question, without those that are only related to it."""
        return self.primary

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in its published shape (FORMATS §4), made of dictionaries, lists and plain values."""
        body = _BY_REASON.get(self.reason) or _BY_TYPE[self.query_type]
        correction = {"searched_for": self.searched_for, "corrected": [*self.corrected]} if self.searched_for else {}
        impact = {"dependents": [*self.dependents]} if self.dependents else {}
        return {**body(self), **correction, **impact, "audit": self.audit.to_dict()}


def as_result(entry: Entry, **fields: Any) -> Result:
    """Return a document as a result; `fields` add to what its entry says, or replace it."""
    names = ("id", "path", "title", "summary", "why_relevant", "action", "urgency", "platforms")
    return Result(**{name: getattr(entry, name) for name in names} | fields)


def _fields(value: Answer | Result, names: str) -> dict[str, Json]:
    return {name: _plain(getattr(value, name)) for name in names.split()}


def _natural(answer: Answer) -> dict[str, Json]:
    documents = {"primary": answer.primary, "secondary": answer.secondary}
    return {
        **_fields(answer, "query matched confidence primary_cluster clusters_found concepts urgency action"),
        "documents": {name: [_document(result) for result in results] for name, results in documents.items()},
        **_fields(answer, "keywords_matched suggested_next related_queries"),
    }


def _document(result: Result) -> dict[str, Json]:
    optional_fields = " ".join(name for name in ("type", "page", "kind", "symbol", "heading") if getattr(result, name))
    percent = relevance(result)
    return {
        **_fields(result, f"id path title summary why_relevant action score lines {optional_fields}"),
        **({} if percent is None else {"relevance": f"{percent}%"}),
        "passage": shorten(result.passage, LONGEST_PASSAGE),
    }


def relevance(result: Result) -> int | None:
    """Return how relevant a document is, in per cent of what the best one can be; None if no question ranked it."""
    return None if result.is_listed else round(100 * max(0.0, min(1.0, result.score)))


def _keyword(answer: Answer) -> dict[str, Json]:
    return {
        **_fields(answer, "query_type keywords matched"),
        "matched_documents": len(answer.documents),
        "results": [_keyword_result(answer, result) for result in answer.documents],
        **_fields(answer, "clusters_found"),
    }


def _keyword_result(answer: Answer, result: Result) -> dict[str, Json]:
    return {
        "id": result.id,
        "relevance": round(len(result.keywords_matched) / max(1, len(answer.keywords)), 3),
        "keywords_matched": list(result.keywords_matched),
        "path": result.path,
    }


def _view(answer: Answer) -> dict[str, Json]:
    view = answer.view.values() if answer.view else {}
    return {**_fields(answer, "query_type matched"), **{key: _plain(view[key]) for key in view}}


def _nothing(answer: Answer) -> dict[str, Json]:
    similar: list[Json] = [
        {"query": past.query, "documents": [*past.documents], "count": len(past.documents)}
        for past in answer.similar_queries
    ]
    browse = {"browse": _plain(answer.browse)} if answer.browse else {}
    return {**_fields(answer, "query matched reason suggestions"), "similar_queries": similar, **browse}


def _too_broad(answer: Answer) -> dict[str, Json]:
    body = _natural(answer) if answer.documents else _fields(answer, "query matched")
    return {
        **body,
        "refinement_needed": True,
        **_fields(answer, "reason suggestions available_clusters about_clusters"),
    }


def _plain(value: Json) -> Json:
    """Return a JSON value with its sequences as lists and its mappings as dictionaries."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


_BY_TYPE: Mapping[str, Callable[[Answer], dict[str, Json]]] = {
    NATURAL: _natural,
    KEYWORD: _keyword,
    PLATFORM: _view,
    AUDIENCE: _view,
}
_BY_REASON: Mapping[str, Callable[[Answer], dict[str, Json]]] = {
    NOTHING: _nothing,
    TOO_BROAD: _too_broad,
    SMALL_TALK: _nothing,
}
