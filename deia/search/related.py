"""What an answer adds to its documents: the cluster and urgency, and what to read and ask next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deia.knowledge import Result
from deia.match.tokeniser import fold
from deia.records import URGENCIES
from deia.search.answer import Similar
from deia.search.catalog import Catalog, Pattern, StoredDocument

MOST_NEXT = 5
MOST_QUERIES = 5
ENOUGH_SHARED = 2  # stems that make a past question related; a query with a single stem needs only that one


def most_urgent(results: Iterable[Result]) -> str:
    """Return the highest urgency among documents, or "" if none has any."""
    urgencies = {result.urgency for result in results}
    return next((urgency for urgency in URGENCIES if urgency in urgencies), "")


def owner_clusters(documents: Iterable[StoredDocument], results: Iterable[Result]) -> tuple[str, ...]:
    """Return the clusters that own the documents, the one with the highest total score first."""
    scores = {result.id: result.score for result in results}
    totals: dict[str, float] = {}
    for document in documents:
        for name in document.entry.clusters[:1]:
            totals[name] = totals.get(name, 0.0) + scores.get(document.entry.id, 0.0)
    return tuple(sorted(totals, key=lambda name: (-totals[name], name)))


def leading_pattern(catalog: Catalog, stems: Mapping[str, float]) -> Pattern | None:
    """Return the past question with the most keywords, among those whose keywords are all in this query."""
    fitting = [
        (sum(map(len, pattern.keywords)), -number)
        for number in catalog.patterns(stems)
        if (pattern := catalog.pattern(number)).keywords
        and all(stem in stems for keyword in pattern.keywords for stem in keyword)
    ]
    return catalog.pattern(-max(fitting)[1]) if fitting else None


def related_queries(catalog: Catalog, stems: Mapping[str, float], *, but: str = "") -> tuple[str, ...]:
    """Return past questions that share words with this query, nearest first, without the query itself (`but`)."""
    wordings = [pattern.wordings[0] for pattern in _related_patterns(catalog, stems)]
    own = fold(but)
    return tuple(wording for wording in dict.fromkeys(wordings) if fold(wording) != own)[:MOST_QUERIES]


def similar_queries(catalog: Catalog, stems: Mapping[str, float]) -> tuple[Similar, ...]:
    """Return past questions like this one, with the documents that answer them."""
    patterns = _related_patterns(catalog, stems)[:MOST_QUERIES]
    return tuple(Similar(query=pattern.wordings[0], documents=pattern.documents) for pattern in patterns)


def _related_patterns(catalog: Catalog, stems: Mapping[str, float]) -> list[Pattern]:
    """Return the past questions that have a wording and share enough stems, those that share most first."""
    shared = catalog.patterns(stems)
    enough = min(ENOUGH_SHARED, len(stems))
    numbers = sorted((-len(common), number) for number, common in shared.items() if len(common) >= enough)
    return [pattern for _, number in numbers if (pattern := catalog.pattern(number)).wordings]


def suggested_next(catalog: Catalog, primary: Sequence[StoredDocument], *, shown: Iterable[Result]) -> tuple[str, ...]:
    """Return what to do and read next: the documents' actions and related documents, and neighbouring clusters."""
    seen = {result.id for result in shown}
    actions = [document.entry.action for document in primary if document.entry.action]
    related = [ident for document in primary for ident in document.entry.related_docs if ident not in seen]
    reading = [
        f"Read {document.entry.title} ({document.entry.path})."
        for document in catalog.documents(dict.fromkeys(related[:MOST_NEXT]))
    ]
    neighbours = [
        f"Look into the cluster {name}."
        for document in primary[:1]
        for owner in document.entry.clusters[:1]
        if owner in catalog.clusters
        for name in catalog.clusters[owner].related
        if name in catalog.clusters
    ]
    return tuple(dict.fromkeys([*actions, *reading, *neighbours]))[:MOST_NEXT]
