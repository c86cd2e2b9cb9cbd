"""Answers from the commons and from the library, which are searched and judged separately.

A library may be a hundred times as large as the commons. Ranked together, lessons would be lost among whatever a
library mentions; so lessons are found as if there were no library, and its passages stand beside them.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.match.keyword import FILTERS
from deia.records import TYPE_CHECKING
from deia.search.answer import SMALL_TALK, TOO_BROAD
from deia.search.pipeline import search
from deia.search.ranking.layer_preference import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.knowledge import Query
    from deia.search.answer import Answer
    from deia.search.catalog import Catalog

LOW, _, HIGH = CONFIDENCES = ("low", "medium", "high")
ASKING_BACK = ("reason", "suggestions", "available_clusters", "about_clusters")
BESIDE_SURE = 0.5  # of its score, for a document that answers nothing surely beside one that does


def search_both(
    commons: Catalog, library: Catalog | None, query: Query, *, checked_at: str, tiers: Sequence[str]
) -> Answer:
    """Answer a query from the commons and the library, if anything was taken in, as far as it asks for them.

    Raise QueryError if a filter names a value that neither has.
    """
    if library is None:
        return search(commons, query, checked_at=checked_at, tiers=tiers)
    sought = parts(commons, library, query)
    if len(sought) < 2:
        return search(*sought[0], checked_at=checked_at, tiers=tiers)
    (_, own), (_, rest) = sought
    passages = _without_help(library, rest, checked_at=checked_at, tiers=tiers)
    has_passages = passages is not None and bool(passages.documents)
    try:
        lessons = search(commons, own, checked_at=checked_at, tiers=tiers, helps=not has_passages)
    except QueryError:
        if passages is None:
            raise
        return passages if has_passages else search(library, rest, checked_at=checked_at, tiers=tiers)
    return lessons if passages is None else merged(lessons, passages, limit=query.limit)


def _without_help(library: Catalog, query: Query, *, checked_at: str, tiers: Sequence[str]) -> Answer | None:
    """Return the library's answer, or None if a filter names a value that it lacks; the commons helps to ask again."""
    try:
        return search(library, query, checked_at=checked_at, tiers=tiers, helps=False)
    except QueryError:
        return None


def parts(commons: Catalog, library: Catalog, query: Query) -> list[tuple[Catalog, Query]]:
    """Return the catalogs to search, each with its query.

    Raise QueryError if a collection is asked for, and layers or lessons that have none.
    """
    layers = tuple(layer for layer in query.layers if layer != LIBRARY)
    searched = [(commons, query.but(layers=layers))] if layers or not query.layers else []
    if query.layers and LIBRARY not in query.layers:
        if query.collection:
            message = f"only the library has collections, and {query.collection!r} is asked of another layer."
            raise QueryError(message, fix="Leave out the collection or the layer.")
        return searched
    if query.collection or query.asset_type not in ("", "text"):
        searched = []
    if not searched:
        _refuse_of_lessons(commons, library, query)
    return [*searched, (library, query.but(layers=()))]


def _refuse_of_lessons(commons: Catalog, library: Catalog, query: Query) -> None:
    """Raise QueryError if a search of the library alone has a filter whose value only lessons have."""
    asked = "the library"
    if query.collection:
        asked = f"the collection {query.collection!r}"
    elif query.asset_type not in ("", "text"):
        asked = f"the asset type {query.asset_type!r}"
    for name in FILTERS:
        value = str(getattr(query, name))
        if value.strip() and commons.keyword.has(name, value) and not library.keyword.has(name, value):
            message = f"only lessons have the {name} {value!r}, and {asked} has no lessons, so no document has both."
            raise QueryError(message, fix=f"Leave out one of the two: the {name}, or {asked}.")


def merged(lessons: Answer, passages: Answer, *, limit: int) -> Answer:
    """Merge two answers: documents that answer come before related ones, and lessons before passages.

    Passages come first only if their confidence is high and that of the lessons is low. Beside what is surer than low,
    documents of low confidence are only related ones, with half of their score.
    """
    if lessons.view or lessons.reason == SMALL_TALK or not passages.documents:
        return lessons
    if not lessons.documents:
        asks_back = lessons.reason == TOO_BROAD and passages.confidence == LOW
        asked = {name: getattr(lessons, name) for name in ASKING_BACK} if asks_back else {}
        return passages.but(audit=passages.audit.but(sources=lessons.audit.sources), **asked)
    surer = lessons.confidence == LOW and passages.confidence == HIGH
    first, second = (passages, lessons) if surer else (lessons, passages)
    answering, related = second.primary, (*first.secondary, *second.secondary)
    if second.confidence == LOW != first.confidence:
        beside = tuple(document.but(score=round(BESIDE_SURE * document.score, 3)) for document in second.documents)
        answering, related = (), (*beside, *first.secondary)
    primary = (*first.primary, *answering)[:limit]
    warnings = dict.fromkeys((*lessons.audit.warnings, *passages.audit.warnings))
    second_try = ", ".join(filter(None, (lessons.audit.second_try, passages.audit.second_try)))
    asked = {} if passages.confidence == LOW else {"reason": "", "suggestions": ()}
    return lessons.but(
        matched=lessons.matched is True or passages.matched is True or "partial",
        confidence=max(lessons.confidence, passages.confidence, key=CONFIDENCES.index),
        probability=max(lessons.probability, passages.probability),
        primary=primary, secondary=related[: limit - len(primary)],
        keywords_matched=tuple(dict.fromkeys((*lessons.keywords_matched, *passages.keywords_matched))),
        audit=lessons.audit.but(warnings=tuple(warnings), second_try=second_try), **asked,
    )  # fmt: skip
