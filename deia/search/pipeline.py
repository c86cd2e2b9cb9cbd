"""A question to an opened catalog, answered: the one way in for searching.

No text that a person can type raises anything; only a filter's value that the commons does not have is refused, by
name and with the nearest ones. The clock is the caller's: what an answer says about time is passed in.
"""

from __future__ import annotations

from deia.knowledge import Query
from deia.match.tiers import TIERS
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING
from deia.search.answer import KEYWORD, Audit
from deia.search.build_answer import find, found_answer, held_words, nothing, small_talk, too_broad, warnings
from deia.search.question.classify import CONVERSATIONAL
from deia.search.question.interpret import understand
from deia.search.question.terms import read_question
from deia.search.ranking.confidence import judge
from deia.search.ranking.exact_names import found_first
from deia.search.ranking.retrieve import meaning_of
from deia.search.ranking.weights import verdict_weights
from deia.search.related import owner_clusters
from deia.search.views import audience_view, listing, platform_view

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from deia.match.keyword import Filters
    from deia.search.answer import Answer
    from deia.search.catalog import Catalog
    from deia.search.question.interpret import Understood
    from deia.search.question.terms import Question, Term
    from deia.search.ranking.retrieve import Meaning

BROAD_FROM = 50  # passages; of fewer, any word is in a large part
BROAD_SHARE = 0.4  # of the passages that hold every word of the question
BROAD_WORDS = 2


def search(catalog: Catalog, query: Query, *, checked_at: str = "", tiers: Iterable[str] = TIERS) -> Answer:
    """Answer a question; `tiers` may take part, the first that can is taken.

    Raises:
        QueryError: a filter names what the commons does not have.
    """
    printable = {name: _printable(value) for name, value in query.values().items() if isinstance(value, str)}
    asked = query.but(**printable, keywords=tuple(map(_printable, query.keywords)))
    audit = Audit(
        checked_at=checked_at, index_built_at=catalog.built_at, sources=tuple(catalog.header.get("sources", ()))
    )
    if any(map(str.strip, asked.keywords)):
        return _keyword_answer(catalog, asked, understand(catalog, asked.but(text="")).filters, audit)
    understood = understand(catalog, asked)
    audit = audit.but(kind=understood.kind, understood=understood.told, warnings=understood.warnings)
    return _answer(catalog, understood, audit, tiers=tiers).but(query=asked.text)


def _answer(catalog: Catalog, understood: Understood, audit: Audit, *, tiers: Iterable[str]) -> Answer:
    query, filters = understood.query, understood.filters
    if understood.kind == CONVERSATIONAL and not filters:
        return small_talk(query, audit)
    if not query.text.strip():
        return _answer_without_words(catalog, query, filters, audit)
    meaning = meaning_of(catalog, tiers=tiers)
    warned = (*audit.warnings, meaning.warning) if meaning.warning else audit.warnings
    return _natural_answer(catalog, understood, audit.but(tier=meaning.name, warnings=warned), meaning)


def ranking(catalog: Catalog, text: str, *, limit: int = 10, tiers: Iterable[str] = TIERS) -> list[str]:
    """Give the ids of documents in order, without the verdict whether they answer: what retrieval is measured by."""
    understood = understand(catalog, Query(text=_printable(text)))
    asked = read_question(understood.query.text, catalog, strong=understood.strong)
    meaning = meaning_of(catalog, tiers=tiers)
    ranked = found_first(catalog, asked, meaning=meaning, filters=understood.filters, limit=limit)
    return [catalog.id(each.number) for each in ranked[:limit]]


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


# --- questions in words ----------------------------------------------------------------------------------------------


def _natural_answer(catalog: Catalog, understood: Understood, audit: Audit, meaning: Meaning) -> Answer:
    query, filters = understood.query, understood.filters
    asked = read_question(query.text, catalog, strong=understood.strong)
    if not asked.terms or (_is_broad(catalog, asked) and "cluster" not in filters):  # a cluster is narrow enough
        return too_broad(catalog, query, audit)
    found = find(catalog, asked, meaning=meaning, filters=filters, limit=query.limit)
    verdict = judge(found.observed, verdict_weights(meaning.name))
    if not found.results or not verdict.found:
        return nothing(catalog, query, asked, audit)
    audit = audit.but(warnings=(*audit.warnings, *warnings(asked)))
    matched = True if verdict.confidence != "low" else "partial"
    return found_answer(catalog, query, found, audit).but(matched=matched, confidence=verdict.confidence)


def _is_broad(catalog: Catalog, asked: Question) -> bool:
    """Tell whether a question is a word or two that a large part of the commons holds."""
    parts = [term for term in asked.terms if term.part]
    chunks = catalog.keyword.chunks
    return (
        chunks >= BROAD_FROM
        and len(parts) <= BROAD_WORDS
        and all(term.stem and catalog.keyword.frequency(term.stem) > BROAD_SHARE * chunks for term in parts)
    )


# --- keywords --------------------------------------------------------------------------------------------------------


def _keyword_answer(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Answer keyword by keyword: a document counts for each keyword all of whose words it holds. No meaning."""
    keywords = tuple(dict.fromkeys(keyword.strip() for keyword in query.keywords if keyword.strip()))
    asked = read_question(" | ".join((*keywords, query.text)), catalog)
    told = query.but(text=query.text or " ".join(keywords))
    found = find(catalog, asked, meaning=meaning_of(catalog, tiers=()), filters=filters, limit=query.limit)
    needed = {keyword: _needed(asked, keyword) for keyword in keywords}
    results = [
        result.but(
            keywords_matched=tuple(word for word, terms in needed.items() if _holds(terms, held_words(found, result)))
        )
        for result in found.results
    ]
    kept = sorted(
        (result for result in results if result.keywords_matched), key=lambda each: -len(each.keywords_matched)
    )
    if not kept:
        return nothing(catalog, told, asked, audit)
    audit = audit.but(warnings=(*audit.warnings, *warnings(asked)))
    return found_answer(catalog, told, found.but(results=tuple(kept)), audit).but(
        query_type=KEYWORD,
        primary=tuple(kept),
        secondary=(),
        keywords=keywords,
        confidence="high" if len(kept[0].keywords_matched) == len(keywords) else "medium",
        clusters_found=owner_clusters(found.shelved, kept),
    )


def _needed(asked: Question, keyword: str) -> list[Term]:
    """Give the terms of one keyword as they were looked for."""
    own = {part for word in words(keyword) for part in (word[1:] or word)}
    return [term for term in asked.terms if term.part and term.asked in own]


def _holds(needed: Sequence[Term], held: Collection[str]) -> bool:
    return bool(needed) and all(term.stem in held for term in needed)


# --- without words ---------------------------------------------------------------------------------------------------


def _answer_without_words(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Answer filters alone: the view of a platform or of an audience, else a list, the most urgent first."""
    if query.platform.strip():
        return platform_view(catalog, query, filters, audit)
    if query.audience.strip():
        return audience_view(catalog, query, filters, audit)
    if filters:
        return listing(catalog, query, filters, audit)
    return too_broad(catalog, query, audit)
