"""Answers to what is too broad: what to ask instead, on which platform, how urgent it is, and where to look."""

from __future__ import annotations

from deia.match.tokeniser import fold
from deia.records import TYPE_CHECKING
from deia.search.answer import TOO_BROAD, Answer
from deia.search.build_answer import Candidates, owner_clusters, related_queries
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.knowledge import Query
    from deia.search.answer import Audit
    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.stored_document import StoredDocument

BROAD_FROM = 50  # passages; in a smaller commons every word occurs in a large share of them
BROAD_SHARE = 0.4  # of the passages that contain a word of a broad query
VAGUE, VAGUE_SHARE = 3.0, 0.02  # passages, and of the passages, likewise, where nothing found is sure to answer
BROAD_WORDS = 2
NAME_WORDS = 4  # of a cluster or a platform
MOST_NARROWER = 3
HALF_A_LINE = 60


def is_broad(catalog: Catalog, question: Question) -> bool:
    """Return whether a query consists of a word or two that a large share of the passages contains."""
    passages = catalog.keyword.worded
    return passages >= BROAD_FROM and _occurs_in_more_than(BROAD_SHARE * passages, catalog, question)


def is_vague(catalog: Catalog, question: Question) -> bool:
    """Return whether a query that nothing surely answers names a group of documents, or a word or two of several."""
    passages = max(1.0, min(VAGUE, VAGUE_SHARE * catalog.keyword.worded))
    return _names_group(catalog, fold(question.text)) or _occurs_in_more_than(passages, catalog, question)


def _names_group(catalog: Catalog, name: str) -> bool:
    """Return whether there is a cluster or a platform of a name; an index without any takes a megabyte to say so."""
    is_short = len(name.split()) <= NAME_WORDS
    return is_short and any(catalog.keyword.has(kind, name) for kind in ("cluster", "platform"))


def _occurs_in_more_than(passages: float, catalog: Catalog, question: Question) -> bool:
    parts = [term for term in question.terms if term.part]
    return len(parts) <= BROAD_WORDS and all(
        term.stem and catalog.keyword.frequency(term.stem) > passages for term in parts
    )


def too_broad(catalog: Catalog, query: Query, audit: Audit, stems: Mapping[str, float] = {}) -> Answer:
    """Return the answer to a query that has no subject, or one that half the commons is about."""
    clusters = sorted(catalog.clusters, key=lambda name: (-catalog.clusters[name].documents, name))
    documents = [document for name in clusters[:MOST_NARROWER] for document in _leading(catalog, name, stems)]
    asked = related_queries(catalog, stems, document_ids={document.entry.id for document in documents}, but=query.text)
    suggestions = ["Name the thing, the error or the command that it is about.", *_ask_back(asked, documents)]
    return Answer(
        query=query.text,
        matched="partial",
        audit=audit,
        reason=TOO_BROAD,
        suggestions=tuple(suggestions),
        available_clusters=tuple(clusters),
        about_clusters=_about(catalog, clusters),
    )


def broad_with_results(catalog: Catalog, answer: Answer, candidates: Candidates) -> Answer:
    """Return an answer that hardly fits, with what to ask instead: narrower questions, a platform, how urgent it is."""
    clusters = owner_clusters(candidates.documents, answer.documents)
    return answer.but(
        reason=TOO_BROAD,
        suggestions=tuple(_ask_back(answer.related_queries, candidates.documents)),
        related_queries=answer.related_queries[MOST_NARROWER:],
        available_clusters=clusters,
        about_clusters=_about(catalog, clusters),
    )


def _leading(catalog: Catalog, cluster: str, stems: Mapping[str, float]) -> list[StoredDocument]:
    """Return the document of a cluster that has most of some words, or its first one."""
    filters = {"cluster": cluster}
    found = catalog.keyword.passages(stems, filters=filters, limit=1)
    if stems:
        return [catalog.document_at(number) for number, _, _ in found]
    return catalog.documents(catalog.keyword.listed(filters=filters, limit=1))


def _ask_back(asked: Sequence[str], documents: Sequence[StoredDocument]) -> list[str]:
    """Return narrower questions, by what was `asked` and by documents, and those for the platform and the urgency."""
    narrower = [*asked, *(document.entry.title for document in documents)]
    platforms = dict.fromkeys(name for document in documents for name in document.entry.platforms)
    questions = [f"Narrower: {question}" for question in dict.fromkeys(narrower)]
    place = [f"On which platform: {', '.join([*platforms][:MOST_NARROWER])}?"] if platforms else []
    return [*questions[:MOST_NARROWER], *place, "Is production down, or are you learning?"]


def _about(catalog: Catalog, clusters: Iterable[str]) -> dict[str, str]:
    """Return half a line about each cluster."""
    known = {name: catalog.clusters[name].description for name in clusters if name in catalog.clusters}
    return {name: shorten(one_line(text), HALF_A_LINE) for name, text in known.items() if text}
