"""Build an answer: results with their passages and what to read next, or a reply that nothing fits."""

from __future__ import annotations

from deia.knowledge import CONTEXTS, Query, Result
from deia.match.tiers import KEYWORD_TIER
from deia.match.tokeniser import distinct, fold, words
from deia.records import TYPE_CHECKING, URGENCIES, Record
from deia.search.answer import NOTHING, SMALL_TALK, Answer, Audit, Similar, as_result
from deia.search.catalog import Catalog, Pattern
from deia.search.lifetimes import outdated, outdated_notes
from deia.search.question.terms import Question, information, searched_for, stem_weights, unknown_words
from deia.search.ranking.layer_preference import OWN, layer_filters
from deia.search.ranking.rank import Ranked, primary_count
from deia.search.ranking.retrieve import as_typed
from deia.search.ranking.weights import general_information
from deia.search.stored_document import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from deia.match.keyword import Filters

MOST_NEXT = 5
MOST_REPLACED = 20  # documents in a row, each in the place of the one before
MOST_QUERIES = 5
MOST_BROWSED = 30
BROWSED = {"cluster": "topics", "platform": "platforms", "audience": "audiences"}
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


def related_queries(
    catalog: Catalog, stems: Mapping[str, float], *, document_ids: Collection[str] = (), but: str = ""
) -> tuple[str, ...]:
    """Return past questions near this one (`but`), which is left out.

    First come all wordings of the question that this query repeats, then those that share words with it, then those
    that the documents of `document_ids` answer, which may be the same.
    """
    leading = leading_pattern(catalog, stems)
    near = [*_related_patterns(catalog, stems), *catalog.patterns_answered_by(document_ids)]
    wordings = [*(leading.wordings if leading else ()), *(pattern.wordings[0] for pattern in near)]
    wordings += [wording for pattern in near for wording in pattern.wordings[1:]]
    own = fold(but)
    return tuple(wording for wording in dict.fromkeys(wordings) if fold(wording) != own)[:MOST_QUERIES]


def similar_queries(catalog: Catalog, stems: Mapping[str, float], filters: Filters) -> tuple[Similar, ...]:
    """Return past questions like this one, with the documents that answer them, one of which passes the filters."""
    patterns = _related_patterns(catalog, stems)[:MOST_QUERIES]
    if filters:
        passing = catalog.keyword.numbers(filters=filters)
        answering = (catalog.keyword.numbers_by_id(pattern.documents).values() for pattern in patterns)
        patterns = [past for past, numbers in zip(patterns, answering, strict=True) if not passing.isdisjoint(numbers)]
    return tuple(Similar(query=pattern.wordings[0], documents=pattern.documents) for pattern in patterns)


def _related_patterns(catalog: Catalog, stems: Mapping[str, float]) -> list[Pattern]:
    """Return the past questions that have a wording and share enough stems, those that share most first.

    Words that any text uses, such as *back* and *old*, do not make them related.
    """
    shared = catalog.patterns(stems)
    enough = min(ENOUGH_SHARED, len(stems))
    own = _own(catalog, stems) if shared else {}
    least = SHARED_SUBJECT * sum(own.values())
    numbers = sorted(
        (-len(common), number)
        for number, common in shared.items()
        if len(common) >= enough and sum(own[stem] for stem in common) >= least
    )
    return [pattern for _, number in numbers if (pattern := catalog.pattern(number)).wordings]


def _own(catalog: Catalog, stems: Iterable[str]) -> dict[str, float]:
    """Return how much more often the commons uses each stem than software texts in general do, in nats, or 0."""
    usual, keyword = general_information(stems, length=catalog.length), catalog.keyword
    return {
        stem: max(0.0, level - information(keyword.frequency(stem), keyword.worded)) for stem, level in usual.items()
    }


def suggested_next(
    catalog: Catalog, primary: Sequence[StoredDocument], *, shown: Iterable[Result], today: str = ""
) -> tuple[str, ...]:
    """Return what to do and read next: what supersedes the documents, their actions, related documents, and clusters.

    No document is recommended that does not hold `today`.
    """
    seen = {result.id for result in shown}
    holding = [document for document in primary if not outdated(document.entry, today)]
    actions = [document.entry.action for document in holding if document.entry.action]
    successors = [ident for document in primary if (ident := _successor(catalog, document)) and ident not in seen]
    related = [ident for document in primary for ident in document.entry.related_docs if ident not in seen]
    better, reading = (
        [
            f"Read {document.entry.title} ({document.entry.path})."
            for document in catalog.documents(dict.fromkeys(idents[:MOST_NEXT]))
            if not outdated(document.entry, today)
        ]
        for idents in (successors, related)
    )
    neighbours = [
        f"Look into the cluster {name}."
        for document in primary[:1]
        for owner in document.entry.clusters[:1]
        if owner in catalog.clusters
        for name in catalog.clusters[owner].related
        if name in catalog.clusters
    ]
    return tuple(dict.fromkeys([*better, *actions, *reading, *neighbours]))[:MOST_NEXT]


def _successor(catalog: Catalog, document: StoredDocument) -> str:
    """Return the id of the document that in the end takes the place of another, or ""."""
    ident = document.entry.superseded_by
    for _ in range(MOST_REPLACED if ident else 0):
        following = next(iter(catalog.documents([ident])), None)
        if following is None or not following.entry.superseded_by:
            break
        ident = following.entry.superseded_by
    return ident


NEIGHBOURS, PARENT = CONTEXTS
SHARED_SUBJECT = 0.4  # of what a question is about, that a related one shares
OWN_WORD = 2.5  # nats: a word that a commons uses twelve times as often as software texts do is one of its subjects
MOST_NAMED = 8  # words that a message lists
MOST_TEXT = 100_000  # bytes of a document that an answer carries as a whole; of a longer one about as many


class Candidates(Record):
    """The ranked documents for a query; `documents` are those of `ranked` that an answer may show."""

    question: Question
    ranked: Sequence[Ranked]
    shown: Sequence[Ranked]
    documents: Sequence[StoredDocument]
    stems: Mapping[str, Mapping[int, Collection[str]]]  # the query's stems in `documents`, by id and passage
    filters: Filters  # those that were set
    today: str = ""  # as 2026-01-31; "" if nobody knows
    passing: int  # how many documents pass them
    past: Pattern | None = None  # the past question that this one repeats

    def stems_of(self, document: str) -> frozenset[str]:
        """Return the query's stems that a document contains."""
        return frozenset[str]().union(*self.stems[document].values())


def build_results(catalog: Catalog, candidates: Candidates, *, expand_context: str = "") -> list[Result]:
    """Return the candidates' documents as results, with the neighbours or the parent of each passage if wanted."""
    # If all fit alike, as the only one does, their scores on the common scale are 0.
    alike = not any(ranked.score for ranked in candidates.shown)
    pairs = zip(candidates.documents, candidates.shown, strict=True)
    results = [_result(catalog, document, ranked, candidates, expand_context) for document, ranked in pairs]
    return [result.but(score=1.0) for result in results] if alike else results


def answer_with_results(
    catalog: Catalog, query: Query, candidates: Candidates, results: Sequence[Result], audit: Audit
) -> Answer:
    """Return an answer with results, and with what to read and ask next."""
    count = primary_count([result.score for result in results])
    stems = stem_weights(candidates.question)
    pattern = candidates.past or leading_pattern(catalog, stems)
    primary = owner_clusters(candidates.documents[:count], results)
    notes = outdated_notes((document.entry for document in candidates.documents), candidates.today)
    return Answer(
        query=query.text,
        matched=True,
        audit=audit.but(warnings=(*audit.warnings, *notes)),
        primary_cluster=(pattern.cluster if pattern else "") or next(iter(primary), ""),
        urgency=(pattern.urgency if pattern else "") or most_urgent(results[:count]),
        primary=tuple(results[:count]),
        secondary=tuple(results[count:]),
        searched_for=searched_for(candidates.question),
        corrected=tuple(term.corrected for term in candidates.question.terms if term.corrected),
        clusters_found=owner_clusters(candidates.documents, results),
        concepts=_concepts(candidates.question, candidates.documents[:count]),
        keywords_matched=tuple(dict.fromkeys(word for result in results for word in result.keywords_matched)),
        suggested_next=suggested_next(catalog, candidates.documents[:count], shown=results, today=candidates.today),
        related_queries=related_queries(
            catalog, stems, document_ids={result.id for result in results[:count]}, but=query.text
        ),
    )


def _result(
    catalog: Catalog, document: StoredDocument, ranked: Ranked, candidates: Candidates, expand_context: str
) -> Result:
    entry = document.entry
    question, stems = candidates.question, candidates.stems_of(entry.id)
    first, last = _expanded(document, ranked.ordinal, expand_context)
    matched = _matched_words(question, stems)
    lines = catalog.lines(document, first, last)
    text, is_part = text_around(catalog, document, first, last)
    reasons = [_reason(entry.title, matched), *_synonym_notes(question, matched), ranked.linked]
    why = entry.why_relevant or "; ".join(filter(None, reasons))
    gone = outdated(entry, candidates.today)
    why = "; ".join(filter(None, (gone, why)))
    nature = dict(zip(("kind", "symbol", "page"), _nature(document, ranked.ordinal), strict=False))
    symbol = nature.get("symbol") if nature.get("kind") != "module" else ""
    title = f"{entry.title}: {symbol}" if symbol else entry.title
    return as_result(
        entry, title=title, score=round(ranked.score, 3), why_relevant=why, keywords_matched=matched,
        lines=(first, last), passage="\n".join(lines), heading=document.headings[ranked.ordinal], text=text,
        is_part=is_part, type=document.type, action="" if gone else entry.action, **nature,
    )  # fmt: skip


def text_around(catalog: Catalog, document: StoredDocument, first: int, last: int) -> tuple[str, bool]:
    """Return the text of a document, or of a long one what is around some lines, and whether that is only a part."""
    size = catalog.text_size(document.number)
    if size <= MOST_TEXT:
        return catalog.text(document), False
    around = MOST_TEXT * document.passages[-1][1] // size // 2  # lines before the passage, and as many after it
    begin, end = max(document.first_line, first - around), last + around
    lines = catalog.lines(document, begin, end)
    return "\n".join(lines), begin > document.first_line or len(lines) > end - begin


def _concepts(question: Question, documents: Sequence[StoredDocument]) -> tuple[str, ...]:
    """Return what a question is about: what its words stand for, and the keywords that the best documents share."""
    seen: set[str] = set()
    shared: set[str] = set()
    for document in documents:
        keywords = {*map(fold, document.entry.keywords)}
        shared |= seen & keywords
        seen |= keywords
    concepts = [term.concept for term in question.terms if term.concept]
    return tuple(dict.fromkeys([*concepts, *sorted(shared)]))[:MOST_NAMED]


def _nature(document: StoredDocument, ordinal: int) -> Sequence[Any]:
    """Return what a passage is, or nothing if its chunker did not say so."""
    return document.natures[ordinal] if document.natures else ()


def _expanded(document: StoredDocument, ordinal: int, expand_context: str) -> tuple[int, int]:
    """Return the lines to show for a passage: its own, or from those before it to those after it, or its parent's."""
    ordinals = [ordinal]
    if expand_context == NEIGHBOURS:
        ordinals = [position for position in range(ordinal - 1, ordinal + 2) if 0 <= position < len(document.passages)]
    elif expand_context == PARENT and (nature := _nature(document, ordinal)) and nature[3] >= 0:
        parents = [(_nature(document, position) or (0, 0, 0, -1))[3] for position in range(len(document.passages))]
        ordinals = [nature[3], *(position for position, parent in enumerate(parents) if parent == nature[3])]
    lines = [document.passages[position] for position in ordinals]
    return min(first for first, _ in lines), max(last for _, last in lines)


def _matched_words(question: Question, stems: Collection[str]) -> tuple[str, ...]:
    """Return the words of a query that a document contains, and synonyms for those that it does not."""
    direct = [term for term in question.terms if term.part and term.stem in stems]
    typed = {term.typed for term in direct}
    synonyms = [
        term
        for term in question.terms
        if not term.part and term.concept and term.stem in stems and term.typed not in typed
    ]
    return tuple(dict.fromkeys(term.corrected or term.concept or term.typed for term in (*direct, *synonyms)))


def _synonym_notes(question: Question, matched: Sequence[str]) -> list[str]:
    """Return which of the matched words are synonyms of what was typed."""
    typed = {
        term.concept: term.typed for term in question.terms if term.concept in matched and term.typed not in matched
    }
    reasons = {word: f"another word for {word}" if word else "what may cause it" for word in typed.values()}
    return [f"{synonym} is {reasons[word]}" for synonym, word in typed.items()]


def _reason(title: str, matched: Iterable[str]) -> str:
    """Return which words of the query a document contains, those in its title first."""
    title_words = set(distinct(words(title)))
    in_title = [word for word in matched if word in title_words]
    in_text = [word for word in matched if word not in title_words][:MOST_NAMED]
    reasons = [f"its title names {', '.join(in_title)}"] if in_title else []
    reasons += [f"it mentions {', '.join(in_text)}"] if in_text else []
    return "; ".join(reasons) or "it is about something similar"


def warnings(question: Question) -> tuple[str, ...]:
    """Return what was changed in a query, and which of its words are unknown."""
    corrected, unknown = searched_for(question), unknown_words(question)
    correction = [f"searched for: {corrected}"] if corrected else []
    return (*correction, f"no document mentions {', '.join(unknown[:MOST_NAMED])}") if unknown else tuple(correction)


# --- without results -------------------------------------------------------------------------------------------------


def nothing_asked(query: Query, audit: Audit) -> Answer:
    """Return the answer to a text that is small talk, and not a question."""
    return Answer(
        query=query.text,
        matched=False,
        audit=audit,
        reason=SMALL_TALK,
        suggestions=("Ask about the thing, the error or the command that you have before you.",),
    )


def _broader(catalog: Catalog, question: Question, filters: Filters) -> str:
    """Return the word of a query that is most this commons' own, if a passage passes the filters and has it, or "".

    One that the commons hardly uses more than any text does leads nowhere: *en*, *still*, *between*.
    """
    parts = [term for term in question.terms if term.part]
    known = [term for term in parts if term.stem and not (term.corrected or term.typed.isdigit())]
    own = _own(catalog, {term.stem for term in known})
    passing = (
        term.typed
        for term in sorted(known, key=lambda term: -own[term.stem])
        if own[term.stem] >= OWN_WORD
        and (not filters or catalog.keyword.passages({term.stem: 1.0}, filters=filters, limit=1))
    )
    return next(passing, "") if len(parts) > 1 else ""


def _browse(catalog: Catalog, layers: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what a person can look through instead, in some layers or all: first what most own documents have."""
    topics = sorted(catalog.clusters, key=lambda name: (-catalog.clusters[name].documents, name))
    kinds = {"cluster": topics, **{kind: catalog.keyword.values(kind) for kind in ("platform", "audience")}}
    filters, own = layer_filters(layers), layer_filters((OWN,))
    browse = {}
    for kind, names in kinds.items():
        owned = {name: catalog.keyword.count(filters={**own, kind: name}) for name in names}
        ordered = sorted(names, key=lambda name: -owned[name])
        kept = [name for name in ordered if not filters or catalog.keyword.count(filters={**filters, kind: name})]
        browse[BROWSED[kind]] = tuple(kept[:MOST_BROWSED])
    return {kind: names for kind, names in browse.items() if names}


def nothing_passes(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Return the answer that no document passes all filters, with how many pass each."""
    layers = layer_filters(query.layers)
    counts = {name: catalog.keyword.count(filters={**layers, name: filters[name]}) for name in filters}
    named = [f"{name} {getattr(query, name)} ({count})" for name, count in counts.items() if getattr(query, name, "")]
    together = f": {', '.join(named)}" if named else ""
    suggestions = (f"No document passes all filters{together}.", "Leave out a filter, or choose from these.")
    return _nothing(query, audit).but(suggestions=suggestions, browse=_browse(catalog, query.layers))


def _nothing(query: Query, audit: Audit) -> Answer:
    return Answer(query=query.text, matched=False, audit=audit, reason=NOTHING)


def no_match(catalog: Catalog, query: Query, question: Question, audit: Audit, *, helps: bool = True) -> Answer:
    """Return the answer that no document fits; if it `helps`, with the corrected query, unknown words and more."""
    if not helps:
        return _nothing(query, audit)
    meant = as_typed(catalog, question, KEYWORD_TIER)  # what English words were taken for helps nobody
    corrected, unknown = searched_for(meant), sorted(unknown_words(meant), key=question.text.lower().find)
    suggestions = [f"Searched for: {corrected}."] if corrected else []
    suggestions += [f"No document mentions {', '.join(unknown[:MOST_NAMED])}."] if unknown else []
    broader = _broader(catalog, question, layer_filters(query.layers))
    suggestions += [f"Ask more broadly: {broader!r} alone."] if broader else []
    suggestions.append("Ask in other words, or leave out a filter.")
    suggestions.append("If you find the answer elsewhere, add it: `deia add`.")
    return _nothing(query, audit).but(
        searched_for=corrected,
        corrected=tuple(term.corrected for term in meant.terms if term.corrected),
        browse=_browse(catalog, query.layers),
        suggestions=tuple(suggestions),
        similar_queries=similar_queries(catalog, stem_weights(question), layer_filters(query.layers)),
    )
