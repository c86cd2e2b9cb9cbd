"""Answer a query against an open catalog: the one entry point for searching.

The steps, in the order in which `_answer_question` takes them:

    interpret        Query → Interpretation: the kind of text, what to search for, and the filters
    read_question    text → Question: search terms, with spelling corrected against the catalog's words
    retrieve         Question → Evidence: passages found by words and by meaning
    rank_documents   Evidence → Ranked documents, best first; those that contain an exact name before the others
    in_order_shown   the same documents, as they are shown; the verdict looks at the ranking before
    judge            observations of the ranking → Verdict: whether it answers, and how sure that is
    build the answer: results with their passages, or that nothing fits

No text raises an error; a filter with a value that the commons does not have does, with the nearest values. The current
time is passed in by the caller (`checked_at`).
"""

from __future__ import annotations

from deia.knowledge import Query
from deia.match.keyword import NUMBERS
from deia.match.tiers import TIERS
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING
from deia.search.answer import KEYWORD, Answer, Audit
from deia.search.broad import broad_with_results, is_broad, is_vague, too_broad
from deia.search.build_answer import (
    Candidates,
    answer_with_results,
    build_results,
    no_match,
    nothing_asked,
    nothing_passes,
    owner_clusters,
    warnings,
)
from deia.search.catalog import Catalog
from deia.search.lifetimes import outdated_last
from deia.search.question.classify import CONVERSATIONAL
from deia.search.question.interpret import Interpretation, interpret
from deia.search.question.literals import literal_terms
from deia.search.question.terms import Question, Term, read_question, stem_weights
from deia.search.ranking.all_words import before_those_without, holders_of_words
from deia.search.ranking.confidence import HALF, SEEN, Verdict, are_few, coverage, judged, observe
from deia.search.ranking.exact_names import DEEP, documents_with_names, put_first
from deia.search.ranking.layer_preference import fitting, higher_first, layer_filters
from deia.search.ranking.links import SEEDS, with_links
from deia.search.ranking.named_entities import named_links
from deia.search.ranking.rank import Ranked, present_first, rank_documents
from deia.search.ranking.retrieve import (
    CODE,
    Meaning,
    affinity,
    as_judged,
    as_typed,
    choose_tier,
    judging_meaning,
    judging_tier,
    retrieve,
    set_filters,
)
from deia.search.ranking.shown_order import in_order_shown, with_the_judged
from deia.search.ranking.variety import varied
from deia.search.ranking.weights import general_information
from deia.search.recorded import repeated, with_recorded
from deia.search.views import audience_view, listing, platform_view, situation_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from deia.match.keyword import Filters
    from deia.search.catalog import Pattern

MOST_DOCUMENTS = 200
SECOND = 0.5  # of the best score: what a document keeps that was found by a second try
LACKING = 0.4  # of a question's information, that the best document lacks
FEWEST_DIGITS = 3  # of a number that is worth looking for: a port, a status, an exit code


def search(
    catalog: Catalog, query: Query, *, checked_at: str = "", tiers: Iterable[str] = TIERS, helps: bool = True,
    recorded: bool = True,
) -> Answer:  # fmt: skip
    """Answer a query with the first of the `tiers` that the catalog supports.

    Where nothing fits a question, the answer `helps` to ask again, unless the caller has another answer. A question
    that is `recorded` in the index is answered by what stands there, unless the search itself is to be measured.
    """
    texts = {name: _printable(value) for name, value in query.values().items() if isinstance(value, str)}
    query = query.but(**texts, keywords=tuple(map(_printable, query.keywords)))
    audit = Audit(
        checked_at=checked_at, index_built_at=catalog.built_at, sources=tuple(catalog.header.get("sources", ()))
    )
    layers = layer_filters(query.layers)
    if any(map(str.strip, query.keywords)):
        filters = {**layers, **interpret(catalog, query.but(text="")).filters}
        return _answer_keywords(catalog, query, filters, audit)
    interpretation = interpret(catalog, query)
    audit = audit.but(kind=interpretation.kind, understood=interpretation.note, warnings=interpretation.warnings)
    if interpretation.kind == CONVERSATIONAL and not interpretation.filters:
        return nothing_asked(query, audit)
    interpretation = interpretation.but(filters={**layers, **interpretation.filters})
    return _answer_interpreted(catalog, interpretation, audit, tiers=tiers, helps=helps, recorded=recorded).but(
        query=query.text
    )


def ranking(catalog: Catalog, text: str, *, limit: int = 10, tiers: Iterable[str] = TIERS) -> list[str]:
    """Return the ids of documents in order, without a verdict on whether they answer; used to measure retrieval."""
    interpretation = interpret(catalog, Query(text=_printable(text)))
    question = read_question(interpretation.query.text, catalog, strong=interpretation.strong)
    meaning = choose_tier(catalog, tiers=tiers, text=text)
    filters = interpretation.filters
    _, shown = _retrieve_and_rank(catalog, question, meaning=meaning, filters=filters, limit=max(limit, SEEN))
    return [catalog.id(document.number) for document in higher_first(catalog, shown)[:limit]]


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _answer_interpreted(
    catalog: Catalog, interpretation: Interpretation, audit: Audit, *, tiers: Iterable[str], **how: bool
) -> Answer:
    query, filters = interpretation.query, interpretation.filters
    if not query.text.strip() or (query.audience.strip() and situation_named(query.text)):
        return _answer_filters(catalog, query, filters, audit)
    meaning = choose_tier(catalog, tiers=tiers, collection=query.collection, text=query.text)
    all_warnings = (*audit.warnings, meaning.warning) if meaning.warning else audit.warnings
    audit = audit.but(tier=meaning.name, warnings=all_warnings)
    return _answer_question(catalog, interpretation, audit, meaning, **how)


# --- questions in words ----------------------------------------------------------------------------------------------


def _answer_question(
    catalog: Catalog, interpretation: Interpretation, audit: Audit, meaning: Meaning, *, helps: bool, recorded: bool
) -> Answer:
    query, filters = interpretation.query, interpretation.filters
    question = read_question(query.text, catalog, strong=interpretation.strong)
    past = repeated(catalog, query.text) if recorded else None
    if past and (answer := _answer_recorded(catalog, interpretation, question, past, audit, meaning)):
        return answer
    broad = is_broad(catalog, question) and "cluster" not in filters  # a cluster is narrow enough
    if not question.terms or (broad and catalog.clusters):  # without clusters, only documents can say where to look
        return too_broad(catalog, query, audit, stem_weights(question))
    if all(term.typed.isdigit() and len(term.typed) < FEWEST_DIGITS for term in question.terms):
        return no_match(catalog, query, question, audit, helps=helps)
    today = audit.checked_at[:10]
    candidates = find_candidates(catalog, question, query, meaning=meaning, filters=filters, today=today)
    if candidates.filters and not candidates.passing:
        return nothing_passes(catalog, query, filters, audit)
    if not candidates.documents:
        return no_match(catalog, query, question, audit, helps=helps)
    by_meaning = candidates_by_meaning(catalog, candidates, query, meaning=meaning, filters=filters)
    verdict = verdict_on(catalog, candidates, meaning, by_meaning)
    if not (verdict.found or broad or _is_one_of_few(catalog, candidates)):
        return no_match(catalog, query, question, audit, helps=helps)
    audit = audit.but(warnings=(*audit.warnings, *warnings(question)))
    is_gone = not catalog.text_size(candidates.ranked[0].number)  # so that there is nothing to quote
    confidence, answers = ("low", 0.0) if is_gone or broad else (verdict.confidence, verdict.answers)
    matched = True if confidence != "low" else "partial"
    candidates, lacked = _second_try(catalog, candidates, query, meaning=meaning, filters=filters)
    audit = audit.but(second_try=lacked)
    answer = answer_with_results(
        catalog, query, candidates, build_results(catalog, candidates, expand_context=query.expand_context), audit
    )
    answer = answer.but(matched=matched, confidence=confidence, probability=answers)
    if matched == "partial" and is_vague(catalog, question):
        return broad_with_results(catalog, answer, candidates)
    return answer


def _is_one_of_few(catalog: Catalog, candidates: Candidates) -> bool:
    """Return whether the best document has half of what was asked of the few that somebody asked for."""
    best = candidates.stems[catalog.id(candidates.ranked[0].number)]
    return are_few(candidates.filters, candidates.passing) and coverage(candidates.question, best) >= HALF


def _answer_recorded(
    catalog: Catalog, interpretation: Interpretation, question: Question, past: Pattern, audit: Audit, meaning: Meaning
) -> Answer | None:
    """Return the answer to a question that the index answers, or None if nothing that it names may be shown."""
    query, filters = interpretation.query, interpretation.filters
    today = audit.checked_at[:10]
    found = find_candidates(catalog, question, query, meaning=meaning, filters=filters, today=today)
    candidates = with_recorded(catalog, found, past, filters, limit=max(1, min(query.limit, MOST_DOCUMENTS)))
    if candidates is None:
        return None
    results = build_results(catalog, candidates, expand_context=query.expand_context)
    answer = answer_with_results(catalog, query, candidates, results, audit)
    return answer.but(matched=True, confidence="high", probability=1.0)


def _second_try(
    catalog: Catalog, candidates: Candidates, query: Query, *, meaning: Meaning, filters: Filters
) -> tuple[Candidates, str]:
    """Search for what the best document lacks; return the candidates with what answers that, and what was searched for.

    The further document takes the last place of an answer that is full, and is never a primary one.
    """
    question, shown = candidates.question, candidates.shown
    best_stems = candidates.stems_of(catalog.id(candidates.ranked[0].number))
    own = literal_terms(question.text)  # values of the asker, which no document has to contain
    parts = [term for term in question.terms if term.part and term.stem and term.typed not in own]
    parts = [term for term in parts if not (term.typed.isdigit() and len(term.typed) < FEWEST_DIGITS)]
    lacking = [term for term in parts if term.stem not in best_stems]
    enough = LACKING * sum(term.information for term in parts)
    if query.limit < 2 or not lacking or sum(term.information for term in lacking) < enough:
        return candidates, ""
    text = " ".join(dict.fromkeys(term.corrected or term.concept or term.typed for term in lacking))
    rest = question.but(text=text, terms=tuple(lacking))
    further = find_candidates(catalog, rest, query, meaning=meaning, filters=filters, today=candidates.today)
    added = [document for document in further.shown[:1] if document.number not in {other.number for other in shown}]
    if not added:
        return candidates, ""
    by_meaning = candidates_by_meaning(catalog, further, query, meaning=meaning, filters=filters)
    if not verdict_on(catalog, further, meaning, by_meaning).found:
        return candidates, ""
    kept = with_the_judged(shown, candidates.ranked, query.limit - 1)
    score = min(kept[-1].score, SECOND * shown[0].score)  # its own score is for another question
    shown = [*kept, added[0].but(score=score)]
    documents = [catalog.document_at(document.number) for document in shown]
    names = list({catalog.id(candidates.ranked[0].number), *(document.entry.id for document in documents)})
    stems = catalog.keyword.stems_by_passage(names, list(stem_weights(question)))
    return candidates.but(shown=shown, documents=documents, stems=stems), text


def find_candidates(
    catalog: Catalog, question: Question, query: Query, *, meaning: Meaning, filters: Filters,
    choose: Callable[[Catalog, Sequence[Ranked]], Sequence[Ranked]] = fitting, today: str = "",
) -> Candidates:  # fmt: skip
    """Retrieve and rank documents, choose those to show, and look up which of the query's words they contain.

    A document that does not hold `today` comes later, and takes no place from one that says the same and does.
    """
    limit = max(1, min(query.limit, MOST_DOCUMENTS))
    ranked, shown = _retrieve_and_rank(
        catalog, question, meaning=meaning, filters=filters, limit=max(limit, SEEN), alpha=query.alpha
    )
    chosen = set_filters(filters)
    passing = catalog.keyword.count(filters=chosen) if chosen else len(catalog)
    shown = higher_first(catalog, shown if are_few(chosen, passing) else choose(catalog, shown))
    if catalog.links is not None and query.related != "naive":
        fixed = {name: value for name, value in filters.items() if NUMBERS not in name}  # negated ones, too
        passing_numbers = catalog.keyword.numbers(filters=fixed) if fixed else None
        named = {} if query.related == "global" else named_links(catalog.links, catalog, question, ranked, filters)
        seeds = 0 if query.related == "local" else SEEDS
        shown = with_links(catalog, question, shown, ranked, passing_numbers, named, seeds=seeds)
    shown = varied(catalog, outdated_last(catalog, shown, today), variety=query.variety)
    shown = with_the_judged(shown, ranked, limit)
    documents = [catalog.document_at(document.number) for document in shown]
    best = [catalog.id(document.number) for document in ranked[:1]]  # which `judge` looks at, shown or not
    return Candidates(
        question=question,
        ranked=ranked,
        shown=shown,
        documents=documents,
        stems=catalog.keyword.stems_by_passage(
            list({*best, *(document.entry.id for document in documents)}), list(stem_weights(question))
        ),
        filters=chosen,
        passing=passing,
        today=today,
    )


def _retrieve_and_rank(
    catalog: Catalog, question: Question, *, meaning: Meaning, filters: Filters, limit: int, alpha: float | None = None
) -> tuple[list[Ranked], list[Ranked]]:
    """Return the best documents as they are ranked and as they are shown.

    In both, those that contain exact names from the query come before the others.
    """
    named = documents_with_names(catalog, question, filters)
    holders = holders_of_words(catalog, question)
    depth = max(limit, DEEP) if named or holders.of_all else limit
    evidence = retrieve(catalog, question, meaning=meaning, filters=filters, limit=depth)
    if meaning.rescorer and evidence.likeness:
        from deia.search.ranking.rescoring import rescored  # noqa: PLC0415 - numpy, if the model has to encode

        evidence = evidence.but(likeness=rescored(catalog, question, evidence, meaning))
    ranked = rank_documents(catalog, question, evidence, tier=meaning.name, limit=depth, alpha=alpha)
    shown = in_order_shown(catalog, question, ranked, meaning, evidence.code) if alpha is None else ranked
    orders = [before_those_without(order, holders, evidence.code) for order in (ranked, shown)]
    as_ranked, as_shown = (put_first(order, named)[:limit] if named else order[:limit] for order in orders)
    return present_first(catalog, as_ranked), present_first(catalog, as_shown)


def candidates_by_meaning(
    catalog: Catalog, candidates: Candidates, query: Query, *, meaning: Meaning, filters: Filters
) -> Candidates | None:
    """Return what word vectors find where words alone were searched, to judge by; None if vectors took part or lack.

    Whether a commons is about a question does not depend on the order in which somebody wants its documents.
    """
    judging = judging_meaning(catalog, meaning)
    if meaning.tier or judging.tier is None:
        return None
    query = query.but(alpha=None)
    return find_candidates(
        catalog, candidates.question, query, meaning=judging, filters=filters, today=candidates.today
    )


def verdict_on(
    catalog: Catalog, candidates: Candidates, meaning: Meaning, by_meaning: Candidates | None = None
) -> Verdict:
    """Return the verdict on a ranking; what was found `by_meaning` tells whether the question belongs."""
    is_code = any(catalog.document_at(best.number).type == CODE for best in candidates.ranked[:1])
    observed = observe_ranking(catalog, candidates, meaning)
    belonging = observe_ranking(catalog, by_meaning, judging_meaning(catalog, meaning)) if by_meaning else ()
    return judged(observed, judging_tier(catalog, meaning), code=is_code, belonging=belonging)


def observe_ranking(catalog: Catalog, candidates: Candidates, meaning: Meaning) -> list[float]:
    """Return the observations that the verdict is based on."""
    ranked = as_judged(catalog, candidates.question, candidates.ranked[:SEEN], meaning)
    akin = (
        affinity(catalog, candidates.question, judging_meaning(catalog, meaning), candidates.filters) if ranked else 0.0
    )
    question = as_typed(catalog, candidates.question, judging_tier(catalog, meaning))
    ids = {
        number: catalog.id(number)
        for number in (document.number for document in (*candidates.ranked[:1], *candidates.shown))
    }
    return observe(
        question,
        ranked,
        {number: candidates.stems[ident] for number, ident in ids.items()},
        passages=max(1, catalog.keyword.passages_of(candidates.filters)),
        filters=len(candidates.filters),
        akin=akin,
        usual=general_information(
            {term.stem for term in question.terms if term.part and term.stem}, length=catalog.length
        ),
    )


# --- keywords --------------------------------------------------------------------------------------------------------


def _answer_keywords(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Answer keyword by keyword, by words alone: a document matches a keyword if it contains all of its words."""
    keywords = tuple(dict.fromkeys(keyword.strip() for keyword in query.keywords if keyword.strip()))
    question = read_question(" | ".join((*keywords, query.text)), catalog)
    query = query.but(text=query.text or " ".join(keywords))
    meaning = choose_tier(catalog, tiers=())
    candidates = find_candidates(
        catalog, question, query, meaning=meaning, filters=filters, choose=lambda _catalog, ranked: ranked
    )
    terms = {keyword: _keyword_terms(question, keyword) for keyword in keywords}
    results = [
        result.but(
            keywords_matched=tuple(
                keyword for keyword in keywords if _all_in(terms[keyword], candidates.stems_of(result.id))
            )
        )
        for result in build_results(catalog, candidates, expand_context=query.expand_context)
    ]
    matching = sorted(
        (result for result in results if result.keywords_matched), key=lambda result: -len(result.keywords_matched)
    )
    if not matching:
        return no_match(catalog, query, question, audit)
    audit = audit.but(warnings=(*audit.warnings, *warnings(question)))
    return answer_with_results(catalog, query, candidates, matching, audit).but(
        query_type=KEYWORD,
        primary=tuple(matching),
        secondary=(),
        keywords=keywords,
        confidence="high" if len(matching[0].keywords_matched) == len(keywords) else "medium",
        clusters_found=owner_clusters(candidates.documents, matching),
    )


def _keyword_terms(question: Question, keyword: str) -> list[Term]:
    """Return the terms of one keyword, as they were searched for."""
    parts = {part for word in words(keyword) for part in (word[1:] or word)}
    return [term for term in question.terms if term.part and term.typed in parts]


def _all_in(terms: Sequence[Term], stems: Collection[str]) -> bool:
    return bool(terms) and all(term.stem in stems for term in terms)


# --- filters without words -------------------------------------------------------------------------------------------


def _answer_filters(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Return the overview of a platform or an audience, else a list of documents, the most urgent first."""
    if filters and not catalog.keyword.count(filters=filters):
        return nothing_passes(catalog, query, filters, audit)
    if query.platform.strip():
        return platform_view(catalog, query, filters, audit)
    if query.audience.strip():
        return audience_view(catalog, query, filters, audit)
    if filters:
        return listing(catalog, query, filters, audit)
    return too_broad(catalog, query, audit)
