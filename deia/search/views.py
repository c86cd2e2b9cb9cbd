"""Answers to filters without a text: an overview of a platform or an audience, or a plain list of documents.

The shapes are the published ones, and nothing is scored.
"""

from __future__ import annotations

from deia.folders import STARTER_PREFIX
from deia.knowledge import Entry, Query
from deia.match.tokeniser import distinct, words
from deia.records import TYPE_CHECKING, URGENCIES
from deia.search.answer import AUDIENCE, NATURAL, PLATFORM, Answer, AudienceView, Audit, PlatformView, as_result
from deia.search.build_answer import most_urgent, text_around
from deia.search.catalog import Catalog
from deia.search.lifetimes import outdated, outdated_notes
from deia.search.stored_document import StoredDocument
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from deia.match.keyword import Filters

MOST_LISTED = 200
MOST_QUOTED = 20  # documents whose texts an overview carries; more would not fit into a prompt
MOST_TIPS = 10
UNGRADED, UNCATEGORISED = "unspecified", "uncategorised"
HALF_A_LINE = 60
# The natures of documents, in the order of learning: how one shows in a path or category, and what it is called.
NATURES = (
    ("anti-pattern", "anti-pattern"),
    ("pattern", "gotcha"),
    ("process", "checklist"),
    ("checklist", "checklist"),
    ("case-stud", "case"),
    ("/cases/", "case"),
    ("/case/", "case"),
)
PRESSING = ("critical", "high")
DOWN, PREVENTION = "when_production_down", "for_prevention"
PREVENTING = ("anti-pattern", "checklist")  # the natures of documents that are read before an action
# Beginnings of words in titles that say when a document is read, whatever its nature.
MENDING = ("down", "incident", "outage", "recover", "restor", "rollback", "rolling")
ACTING = ("before", "chang", "delet", "destroy", "drop", "flush", "remov", "secret")
# How a query names a situation: with one of these sets of words, and nothing else but `FILLING`.
SITUATIONS = {DOWN: ({"production", "down"}, {"prod", "down"}), PREVENTION: ({"prevention"}, {"learning"})}
FILLING = frozenset("am are for i in is my on our the we when".split())


def platform_view(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Return an overview of a platform: its documents by urgency and by category, and its tips."""
    today = audit.checked_at[:10]
    documents = _filtered(catalog, filters, today)
    view = PlatformView(
        platform=query.platform,
        documents_found=catalog.keyword.count(filters=filters),
        by_urgency=_grouped((document.entry.urgency or UNGRADED, document) for document in documents),
        by_category=_grouped((_category(document.entry), document) for document in documents),
        quick_tips=_tips(document for document in documents if not outdated(document.entry, today)),
        about_documents=[_brief(document) for document in documents],
    )
    return _answer(catalog, PLATFORM, query, documents, audit).but(view=view)


def audience_view(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Return an overview of an audience: what matters most, when, and in which order to learn it.

    If the query names a situation, only its documents are shown.
    """
    named, today = situation_named(query.text), audit.checked_at[:10]
    filtered = _filtered(catalog, filters, today)
    documents = [document for document in filtered if not named or _situation(document.entry) == named]
    standing = [document for document in documents if not outdated(document.entry, today)]
    by_situation = _grouped((_situation(document.entry), document) for document in standing)
    path = _learning_path(catalog, query.audience.strip(), standing)
    view = AudienceView(
        audience=query.audience,
        documents_found=len(documents) if named else catalog.keyword.count(filters=filters),
        high_priority=[_item(document) for document in documents if document.entry.urgency in PRESSING],
        medium_priority=[_item(document) for document in documents if document.entry.urgency not in PRESSING],
        by_urgency={situation: by_situation.get(situation, []) for situation in (DOWN, PREVENTION)},
        learning_path=list(path),
        learning_reasons={document: reason for document, reason in path.items() if reason},
    )
    return _answer(catalog, AUDIENCE, query, documents, audit, reason=_reason).but(view=view)


def listing(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Return the documents that pass some filters, the most urgent first."""
    documents = _filtered(catalog, filters, audit.checked_at[:10])[: max(1, query.limit)]
    answer = _answer(catalog, NATURAL, query, documents, audit)
    clusters = [name for document in documents for name in document.entry.clusters[:1]]
    return answer.but(primary_cluster=query.cluster or next(iter(clusters), ""), urgency=most_urgent(answer.primary))


def _answer(
    catalog: Catalog, query_type: str, query: Query, documents: Sequence[StoredDocument], audit: Audit, *,
    reason: Callable[[Entry], str] = lambda entry: entry.why_relevant,
) -> Answer:  # fmt: skip
    """Return documents as an answer, each with a `reason` to read it, and the texts of the first ones."""
    today, results = audit.checked_at[:10], []
    notes = outdated_notes((document.entry for document in documents), today)
    for at, document in enumerate(documents):
        last = document.passages[-1][1] if document.passages else document.first_line
        lines = (document.first_line, last)
        text, is_part = text_around(catalog, document, *lines) if at < MOST_QUOTED else ("", True)
        why = "; ".join(filter(None, (outdated(document.entry, today), reason(document.entry))))
        shown = {"lines": lines, "why_relevant": why, "text": text, "is_part": is_part}
        results.append(as_result(document.entry, score=0.0, is_listed=True, **shown))
    return Answer(
        query=query.text, matched=bool(results), audit=audit.but(warnings=(*audit.warnings, *notes)),
        query_type=query_type, confidence="high", primary=tuple(results),
    )  # fmt: skip


def _filtered(catalog: Catalog, filters: Filters, today: str) -> list[StoredDocument]:
    """Return the documents that pass, the most urgent first and those that do not hold `today` last.

    Within an urgency, the starter's own come last.
    """
    by_urgency = [
        catalog.keyword.listed(filters={**filters, "urgency": urgency}, limit=MOST_LISTED)
        for urgency in ([filters["urgency"]] if "urgency" in filters else URGENCIES)
    ]
    all_ids = catalog.keyword.listed(filters=filters, limit=MOST_LISTED)
    ids = dict.fromkeys(ident for listed in (*by_urgency, all_ids) for ident in sorted(listed))
    return sorted(
        catalog.documents(list(ids)[:MOST_LISTED]),
        key=lambda document: (
            bool(outdated(document.entry, today)), _urgency_rank(document.entry.urgency), _is_of_starter(document)
        ),
    )  # fmt: skip


def _category(entry: Entry) -> str:
    """Return a document's category, or its nature if its folder tells it."""
    folder = f"{entry.path.rpartition('/')[0]}/"
    return entry.category or next((name for sign, name in NATURES if sign in folder), UNCATEGORISED)


def _urgency_rank(urgency: str) -> int:
    return URGENCIES.index(urgency) if urgency in URGENCIES else len(URGENCIES)


def _is_of_starter(document: StoredDocument) -> bool:
    return document.entry.path.startswith(STARTER_PREFIX)


def _grouped(pairs: Iterable[tuple[str, StoredDocument]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, document in pairs:
        groups.setdefault(name, []).append(document.entry.id)
    return groups


def _tips(documents: Iterable[StoredDocument]) -> list[str]:
    tips = [tip for document in documents for tip in (*document.entry.quick_tips, document.entry.action) if tip]
    return [tip if tip.endswith((".", "!", "?")) else f"{tip}." for tip in dict.fromkeys(tips)][:MOST_TIPS]


def _brief(document: StoredDocument) -> dict[str, str]:
    entry = document.entry
    about = shorten(one_line(entry.summary), HALF_A_LINE)
    return {"id": entry.id, "path": entry.path, "title": entry.title, "summary": entry.summary, "about": about}


def _situation(entry: Entry) -> str:
    """Return when a document is read: when something pressing has gone wrong, or before it does."""
    title = distinct(words(entry.title))
    prevents = NATURES[_nature(entry)][1] in PREVENTING or any(word.startswith(ACTING) for word in title)
    mends = not prevents or any(word.startswith(MENDING) for word in title)
    return DOWN if entry.urgency in PRESSING and mends else PREVENTION


def situation_named(text: str) -> str:
    """Return the situation that a text names and nothing else ("production is down"), or ""."""
    named_words = set(distinct(words(text))) - FILLING
    return next((situation for situation, wordings in SITUATIONS.items() if named_words in wordings), "")


def _nature(entry: Entry) -> int:
    """Return which of `NATURES` a document has: a gotcha, unless its path or category says otherwise."""
    return next((at for at, (sign, _) in enumerate(NATURES) if sign in f"{entry.path}/{entry.category}/"), 1)


def _reason(entry: Entry) -> str:
    """Return why to read a document: its nature, its urgency and half a line about it."""
    about = ": ".join(filter(None, (entry.urgency, shorten(one_line(entry.summary), HALF_A_LINE))))
    return ", ".join(filter(None, (NATURES[_nature(entry)][1], about)))


def _item(document: StoredDocument) -> dict[str, str]:
    entry = document.entry
    return {**_brief(document), "urgency": entry.urgency, "situation": _situation(entry), "reason": _reason(entry)}


def _learning_path(catalog: Catalog, audience: str, documents: Sequence[StoredDocument]) -> dict[str, str]:
    """Return the ids to read in order, each with a reason: the commons' own path, else one by the documents' nature."""
    # If only the starter defines a path, one of the team's own documents comes before it. The path contains only
    # documents that pass the filters.
    present = {document.entry.id for document in documents}
    written = {ident: reason for ident, reason in catalog.learning_path(audience) if ident in present}
    own = [document for document in documents if not _is_of_starter(document)]
    if any(document.entry.id in written for document in own):
        return written
    return {**_by_nature(own if written else documents), **written}


def _by_nature(documents: Iterable[StoredDocument]) -> dict[str, str]:
    """Return the most urgent document of each nature in each cluster, with its reason, in the order of `NATURES`."""
    chosen: dict[tuple[int, str], Entry] = {}
    for entry in (document.entry for document in documents):
        chosen.setdefault((_nature(entry), next(iter(entry.clusters), entry.id)), entry)
    return {entry.id: _reason(entry) for _, entry in sorted(chosen.items(), key=lambda step: step[0][0])}
