"""A question to an opened catalog, answered: the one way in for searching.

No text that a person can type raises anything; only a filter's value that the commons does not have is refused, by
name and with the nearest ones. The clock is the caller's: what an answer says about time is passed in.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.knowledge import Query, Result
from deia.match.fuzzy import nearest
from deia.match.keyword import FILTERS, filter_key
from deia.match.terms import distinct, words
from deia.records import TYPE_CHECKING, Record
from deia.search.answer import KEYWORD, NOTHING, TOO_BROAD, Answer, Audit
from deia.search.nearby import (
    leading_pattern,
    most_urgent,
    owner_clusters,
    related_queries,
    similar_queries,
    suggested_next,
)
from deia.search.question import Question, Term, read_question, searched_for, unknown, weights
from deia.search.rank import ENOUGH, LEAST, confidence, coverage, primary_count, rank
from deia.search.views import audience_view, listing, platform_view

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.knowledge import Hit
    from deia.search.catalog import Catalog, Shelved
    from deia.search.rank import Ranked

PASSAGES = 200  # asked of the index at first
MOST_PASSAGES = 3_200
MOST_DOCUMENTS = 200
BROAD_FROM = 50  # passages; of fewer, any word is in a large part
BROAD_SHARE = 0.4  # of the passages that hold every word of the question
BROAD_WORDS = 2
NAMED = 8  # unknown words and clusters that a message names


class _Found(Record):
    """What was found for a question: its documents in order, and which stems each holds."""

    asked: Question
    results: tuple[Result, ...]
    shelved: tuple[Shelved, ...]
    covered: Mapping[str, float]  # how much of the question each document holds
    held: Mapping[str, Collection[str]]


def search(catalog: Catalog, query: Query, *, checked_at: str = "") -> Answer:
    """Answer a question.

    Raises:
        QueryError: a filter names what the commons does not have.
    """
    asked = query.but(text=_printable(query.text), keywords=tuple(map(_printable, query.keywords)))
    filters = _filters(catalog, asked)
    audit = Audit(
        checked_at=checked_at, index_built_at=catalog.built_at, sources=tuple(catalog.header.get("sources", ()))
    )
    if any(map(str.strip, asked.keywords)):
        return _keyword_answer(catalog, asked, filters, audit)
    if asked.text.strip():
        return _natural_answer(catalog, asked, filters, audit)
    return _answer_without_words(catalog, asked, filters, audit)


def ranking(catalog: Catalog, text: str, *, limit: int = 10) -> list[Ranked]:
    """Give the order of documents alone, without the verdict whether they answer: what retrieval is measured by."""
    return _ranked(catalog, read_question(_printable(text), catalog), {}, limit)


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _filters(catalog: Catalog, query: Query) -> dict[str, str]:
    """Give the filters of a question.

    Raises:
        QueryError: a value is unknown.
    """
    given = {name: value for name in FILTERS if (value := str(getattr(query, name))).strip()}
    for name, value in given.items():
        if not catalog.keyword.has(name, value):
            known = catalog.keyword.values(name)
            near = nearest(filter_key(value), known) or known[:NAMED]
            advice = (
                f"Use one of: {', '.join(near)}." if near else f"No document names any {name}; leave the filter out."
            )
            raise QueryError(f"no document has the {name} {_printable(value)!r}.", fix=advice)
    return given


# --- questions in words ----------------------------------------------------------------------------------------------


def _natural_answer(catalog: Catalog, query: Query, filters: Mapping[str, str], audit: Audit) -> Answer:
    asked = read_question(query.text, catalog)
    if not asked.terms or _is_broad(catalog, asked):
        return _too_broad(catalog, query, audit)
    found = _find(catalog, asked, filters, query.limit)
    covered = found.covered[found.results[0].id] if found.results else 0.0
    audit = audit.but(warnings=_warnings(asked))
    if covered < LEAST:
        return _nothing(catalog, query, asked, audit)
    matched = True if covered >= ENOUGH else "partial"
    return _found_answer(catalog, query, found, audit).but(matched=matched, confidence=confidence(covered))


def _found_answer(catalog: Catalog, query: Query, found: _Found, audit: Audit) -> Answer:
    count = primary_count([result.score for result in found.results])
    pattern = leading_pattern(catalog, weights(found.asked))
    clusters = owner_clusters(found.shelved, found.results)
    return Answer(
        query=query.text,
        matched=True,
        audit=audit,
        primary_cluster=(pattern.cluster if pattern else "") or next(iter(clusters), ""),
        urgency=(pattern.urgency if pattern else "") or most_urgent(found.results[:count]),
        primary=found.results[:count],
        secondary=found.results[count:],
        searched_for=searched_for(found.asked),
        keywords_matched=tuple(dict.fromkeys(word for result in found.results for word in result.keywords_matched)),
        suggested_next=suggested_next(catalog, found.shelved[:count], shown=found.results),
        related_queries=related_queries(catalog, weights(found.asked), but=query.text),
    )


def _find(catalog: Catalog, asked: Question, filters: Mapping[str, str], limit: int) -> _Found:
    """Rank the documents, and see which words the few best hold."""
    ranked = _ranked(catalog, asked, filters, max(1, min(limit, MOST_DOCUMENTS)))
    passages = catalog.keyword.held([each.document for each in ranked], list(weights(asked)))
    held = {name: frozenset[str]().union(*found.values()) for name, found in passages.items()}
    shelved = catalog.every(each.document for each in ranked)
    results = tuple(_result(catalog, one, each, asked, held) for one, each in zip(shelved, ranked, strict=True))
    return _Found(
        asked=asked,
        results=results,
        shelved=tuple(shelved),
        covered={name: coverage(asked, found) for name, found in passages.items()},
        held=held,
    )


def _ranked(catalog: Catalog, asked: Question, filters: Mapping[str, str], limit: int) -> list[Ranked]:
    """Ask for passages until there are enough documents among them."""
    passages = max(PASSAGES, 2 * limit)
    while True:
        hits: list[Hit] = catalog.keyword.search(weights(asked), filters=filters, limit=passages)
        ranked = rank(hits)
        if len(ranked) >= limit or len(hits) < passages or passages >= MOST_PASSAGES:
            return ranked[:limit]
        passages *= 4


def _result(
    catalog: Catalog, shelved: Shelved, ranked: Ranked, asked: Question, held: Mapping[str, Collection[str]]
) -> Result:
    entry, text = shelved.entry, catalog.text(shelved)
    first, last = shelved.passages[ranked.ordinal]
    matched = _matched(asked, held[ranked.document])
    lines = text.split("\n")[first - shelved.first_line : last - shelved.first_line + 1]
    return Result(
        id=entry.id,
        path=entry.path,
        title=entry.title,
        summary=entry.summary,
        score=round(ranked.score, 3),
        why_relevant=entry.why_relevant or _why(entry.title, matched),
        action=entry.action,
        urgency=entry.urgency,
        platforms=entry.platforms,
        keywords_matched=matched,
        lines=(first, last),
        passage="\n".join(lines),
        heading=shelved.headings[ranked.ordinal],
        text=text,
    )


def _matched(asked: Question, held: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.corrected or term.asked for term in asked.terms if term.part and term.stem in held))


def _why(title: str, matched: Sequence[str]) -> str:
    """Say which words of the question a document holds, those of its title first."""
    titled = set(distinct(words(title)))
    inside = [word for word in matched if word in titled]
    text = [word for word in matched if word not in titled][:NAMED]
    said = [f"its title names {', '.join(inside)}"] if inside else []
    return "; ".join([*said, f"it mentions {', '.join(text)}"] if text else said)


def _is_broad(catalog: Catalog, asked: Question) -> bool:
    """Tell whether a question is a word or two that a large part of the commons holds."""
    parts = [term for term in asked.terms if term.part]
    chunks = catalog.keyword.chunks
    return (
        chunks >= BROAD_FROM
        and len(parts) <= BROAD_WORDS
        and all(term.stem and catalog.keyword.frequency(term.stem) > BROAD_SHARE * chunks for term in parts)
    )


def _warnings(asked: Question) -> tuple[str, ...]:
    told = searched_for(asked)
    lost = unknown(asked)
    warnings = [f"searched for: {told}"] if told else []
    if lost:
        warnings.append(f"nobody here knows: {', '.join(lost[:NAMED])}")
    return tuple(warnings)


# --- keywords --------------------------------------------------------------------------------------------------------


def _keyword_answer(catalog: Catalog, query: Query, filters: Mapping[str, str], audit: Audit) -> Answer:
    """Answer a list of keywords: a document matches a keyword that it holds every word of."""
    keywords = tuple(dict.fromkeys(keyword.strip() for keyword in query.keywords if keyword.strip()))
    text = " | ".join((*keywords, query.text))
    asked = read_question(text, catalog)
    found = _find(catalog, asked, filters, query.limit)
    needed = {keyword: _needed(asked, keyword) for keyword in keywords}
    results = [
        result.but(
            keywords_matched=tuple(word for word, terms in needed.items() if _holds(terms, found.held[result.id]))
        )
        for result in found.results
    ]
    kept = sorted(
        (result for result in results if result.keywords_matched), key=lambda each: -len(each.keywords_matched)
    )
    audit = audit.but(warnings=_warnings(asked))
    if not kept:
        return _nothing(catalog, query.but(text=query.text or " ".join(keywords)), asked, audit)
    return _found_answer(catalog, query, found.but(results=tuple(kept)), audit).but(
        query=query.text or " ".join(keywords),
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


# --- without words, without answers ----------------------------------------------------------------------------------


def _answer_without_words(catalog: Catalog, query: Query, filters: Mapping[str, str], audit: Audit) -> Answer:
    """Answer filters alone: the view of a platform or of an audience, else a list, the most urgent first."""
    if query.platform.strip():
        return platform_view(catalog, query, filters, audit)
    if query.audience.strip():
        return audience_view(catalog, query, filters, audit)
    if filters:
        return listing(catalog, query, filters, audit)
    return _too_broad(catalog, query, audit)


def _too_broad(catalog: Catalog, query: Query, audit: Audit) -> Answer:
    clusters = sorted(catalog.clusters, key=lambda name: (-int(catalog.clusters[name]["documents"]), name))
    suggestions = ["Name the thing, the error or the command that it is about."]
    if clusters:
        suggestions.append(f"Narrow it down by a cluster, such as {clusters[0]}.")
    return Answer(
        query=query.text,
        matched="partial",
        audit=audit,
        reason=TOO_BROAD,
        suggestions=tuple(suggestions),
        available_clusters=tuple(clusters),
    )


def _nothing(catalog: Catalog, query: Query, asked: Question, audit: Audit) -> Answer:
    """Say that nobody wrote about this, and in which words."""
    lost = unknown(asked)
    meant = searched_for(asked)
    advice = [f"Did you mean: {meant}?"] if meant else []
    advice += [f"Nobody here has written about: {', '.join(lost[:NAMED])}."] if lost else []
    advice.append("Ask in other words, or leave out a filter.")
    advice.append("If you find the answer elsewhere, add it: `deia add`.")
    return Answer(
        query=query.text,
        matched=False,
        audit=audit,
        reason=NOTHING,
        searched_for=meant,
        suggestions=tuple(advice),
        similar_queries=similar_queries(catalog, weights(asked)),
    )
