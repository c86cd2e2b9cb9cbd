"""What was found for a question, put into an answer: results with their passages, or that nothing fits, or too much.

It refuses to decide which of these it is.
"""

from __future__ import annotations

from deia.knowledge import Result
from deia.match.keyword import NOT, NUMBERS
from deia.match.tokeniser import distinct, words
from deia.records import TYPE_CHECKING, Record
from deia.search.answer import NOTHING, SMALL_TALK, TOO_BROAD, Answer
from deia.search.question.terms import searched_for, unknown, weights
from deia.search.ranking.affinity import akin
from deia.search.ranking.confidence import SEEN, observe
from deia.search.ranking.exact_names import found_first
from deia.search.ranking.rank import primary_count
from deia.search.ranking.word_usage import usual
from deia.search.related import (
    leading_pattern,
    most_urgent,
    owner_clusters,
    related_queries,
    similar_queries,
    suggested_next,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.knowledge import Query
    from deia.match.keyword import Filters
    from deia.search.answer import Audit
    from deia.search.catalog import Catalog, Shelved
    from deia.search.question.terms import Question
    from deia.search.ranking.rank import Ranked
    from deia.search.ranking.retrieve import Meaning

MOST_DOCUMENTS = 200
FAINT = 0.2  # of the best document's score: what is less is only there because something has to be last
NAMED = 8  # unknown words that a message names


class Found(Record):
    """What was found for a question: its documents in order, which stems each holds, and what the verdict looks at."""

    asked: Question
    results: tuple[Result, ...]
    shelved: tuple[Shelved, ...]
    held: Mapping[str, Collection[str]]
    observed: Sequence[float]


def find(catalog: Catalog, asked: Question, *, meaning: Meaning, filters: Filters, limit: int) -> Found:
    """Rank the documents, and see which words the few best hold."""
    most = max(1, min(limit, MOST_DOCUMENTS))
    ranked = found_first(catalog, asked, meaning=meaning, filters=filters, limit=max(most, SEEN))
    given = {name: value for name, value in filters.items() if not name.startswith(NOT) and NUMBERS not in name}
    passing = catalog.keyword.count(filters=given) if given else len(catalog)  # quoted words are words, no filter
    least = FAINT if ranked and (not given or passing > SEEN) else 0.0  # of few that somebody asked for none is hidden
    shown = [each for each in ranked[:most] if each.score >= least * ranked[0].score]
    shelved = [catalog.numbered(each.number) for each in shown]
    by_passage = catalog.keyword.held([each.entry.id for each in shelved], list(weights(asked)))
    held = {name: frozenset[str]().union(*found.values()) for name, found in by_passage.items()}
    return Found(
        asked=asked,
        results=tuple(_result(catalog, *each, asked, held) for each in zip(shelved, ranked, strict=False)),
        shelved=tuple(shelved),
        held=held,
        observed=observe(
            asked, ranked, {each.number: by_passage[each.entry.id] for each in shelved},
            passages=max(1, catalog.keyword.chunks * passing // max(1, len(catalog))), given=len(given),
            akin=akin(catalog, asked, meaning) if ranked else 0.0,
            usual=usual({term.stem for term in asked.terms if term.part and term.stem}, length=catalog.length),
        ),
    )  # fmt: skip


def held_words(found: Found, result: Result) -> Collection[str]:
    """Give the stems of the question that a document holds."""
    return found.held[result.id]


def found_answer(catalog: Catalog, query: Query, found: Found, audit: Audit) -> Answer:
    """Put documents into an answer."""
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


def _result(
    catalog: Catalog, shelved: Shelved, ranked: Ranked, asked: Question, held: Mapping[str, Collection[str]]
) -> Result:
    entry, text = shelved.entry, catalog.text(shelved)
    first, last = shelved.passages[ranked.ordinal]
    matched = _matched(asked, held[entry.id])
    lines = text.split("\n")[first - shelved.first_line : last - shelved.first_line + 1]
    return Result(
        id=entry.id,
        path=entry.path,
        title=entry.title,
        summary=entry.summary,
        score=round(ranked.score, 3),
        why_relevant=entry.why_relevant or "; ".join([_why(entry.title, matched), *_other_words(asked, matched)]),
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
    """Give the words of the question that a document holds, and those it holds for one that it does not."""
    typed = [term for term in asked.terms if term.part and term.stem in held]
    other = [
        term
        for term in asked.terms
        if not term.part and term.concept and term.stem in held and all(each.asked != term.asked for each in typed)
    ]
    return tuple(dict.fromkeys(term.corrected or term.concept or term.asked for term in (*typed, *other)))


def _other_words(asked: Question, matched: Sequence[str]) -> list[str]:
    """Say which of the words that matched stand for others that were typed."""
    other = {term.concept: term.asked for term in asked.terms if term.concept in matched and term.asked not in matched}
    return [f"{word} is another word for {typed}" for word, typed in other.items()]


def _why(title: str, matched: Sequence[str]) -> str:
    """Say which words of the question a document holds, those of its title first; none, where its meaning is near."""
    titled = set(distinct(words(title)))
    inside = [word for word in matched if word in titled]
    text = [word for word in matched if word not in titled][:NAMED]
    said = [f"its title names {', '.join(inside)}"] if inside else []
    return "; ".join([*said, f"it mentions {', '.join(text)}"] if text else said) or "it is about something similar"


def warnings(asked: Question) -> tuple[str, ...]:
    """Say what of a question was changed, and what nobody knows."""
    told = searched_for(asked)
    lost = unknown(asked)
    said = [f"searched for: {told}"] if told else []
    return (*said, f"nobody here knows: {', '.join(lost[:NAMED])}") if lost else tuple(said)


# --- without answers -------------------------------------------------------------------------------------------------


def too_broad(catalog: Catalog, query: Query, audit: Audit) -> Answer:
    """Say that a question has no subject, or one that half the commons is about."""
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


def small_talk(query: Query, audit: Audit) -> Answer:
    """Say that nothing was asked."""
    return Answer(
        query=query.text,
        matched=False,
        audit=audit,
        reason=SMALL_TALK,
        suggestions=("Ask about the thing, the error or the command that you have before you.",),
    )


def nothing(catalog: Catalog, query: Query, asked: Question, audit: Audit) -> Answer:
    """Say that nobody wrote about this, and in which words; what was corrected was searched for like that."""
    lost = unknown(asked)
    meant = searched_for(asked)
    advice = [f"Searched for: {meant}."] if meant else []
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
