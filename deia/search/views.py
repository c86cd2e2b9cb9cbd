"""Answers to filters without words: what there is for a platform or for an audience.

The shapes are the published ones; nothing is scored here.
"""

from __future__ import annotations

from deia.folders import STARTER_PREFIX
from deia.knowledge import Result
from deia.records import TYPE_CHECKING, URGENCIES
from deia.search.answer import AUDIENCE, PLATFORM, Answer
from deia.search.related import most_urgent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deia.knowledge import Query
    from deia.match.keyword import Filters
    from deia.search.answer import Audit
    from deia.search.catalog import Catalog, Shelved

MOST_LISTED = 200
MOST_TIPS = 10
UNGRADED = "unspecified"
PRESSING = ("critical", "high")


def platform_view(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Give what there is for a platform: by urgency, by category, and its tips."""
    shelved = _listed(catalog, filters)
    view = {
        "platform": query.platform,
        "documents_found": catalog.keyword.count(filters=filters),
        "by_urgency": _grouped((each.entry.urgency or UNGRADED, each) for each in shelved),
        "by_category": _grouped((each.entry.category or "uncategorised", each) for each in shelved),
        "quick_tips": _tips(shelved),
    }
    return _view(PLATFORM, query, shelved, audit).but(view=view)


def audience_view(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Give what there is for an audience: what matters most, when, and in which order to learn it."""
    shelved = _listed(catalog, filters)
    pressing = [each for each in shelved if each.entry.urgency in PRESSING]
    calm = [each for each in shelved if each.entry.urgency not in PRESSING]
    critical = [each for each in shelved if each.entry.urgency == "critical"]
    path = _learning_path(catalog, query.audience.strip(), shelved)
    view = {
        "audience": query.audience,
        "documents_found": catalog.keyword.count(filters=filters),
        "high_priority": [_named(each) for each in pressing],
        "medium_priority": [_named(each) for each in calm],
        "by_urgency": {
            "when_production_down": [each.entry.id for each in critical],
            "for_prevention": [each.entry.id for each in shelved if each not in critical],
        },
        "learning_path": list(path),
        "learning_reasons": {ident: why for ident, why in path.items() if why},
    }
    return _view(AUDIENCE, query, shelved, audit).but(view=view)


def listing(catalog: Catalog, query: Query, filters: Filters, audit: Audit) -> Answer:
    """Give the documents that pass some filters, the most urgent first."""
    shelved = _listed(catalog, filters)[: max(1, query.limit)]
    listed = _view("natural_language", query, shelved, audit)
    clusters = [name for each in shelved for name in each.entry.clusters[:1]]
    return listed.but(primary_cluster=query.cluster or next(iter(clusters), ""), urgency=most_urgent(listed.primary))


def _view(kind: str, query: Query, shelved: Sequence[Shelved], audit: Audit) -> Answer:
    results = tuple(_result(each) for each in shelved)
    return Answer(
        query=query.text, matched=bool(results), audit=audit, query_type=kind, confidence="high", primary=results
    )


def _listed(catalog: Catalog, filters: Filters) -> list[Shelved]:
    """Give the documents that pass, the most urgent first; of the equally urgent, one's own before the starter's."""
    graded = [
        catalog.keyword.listed(filters={**filters, "urgency": urgency}, limit=MOST_LISTED)
        for urgency in ([filters["urgency"]] if "urgency" in filters else URGENCIES)
    ]
    every = catalog.keyword.listed(filters=filters, limit=MOST_LISTED)
    names = dict.fromkeys(document for group in (*graded, every) for document in sorted(hit.document for hit in group))
    shelved = catalog.every(list(names)[:MOST_LISTED])
    return sorted(shelved, key=lambda each: (_rank(each.entry.urgency), each.entry.path.startswith(STARTER_PREFIX)))


def _rank(urgency: str) -> int:
    return URGENCIES.index(urgency) if urgency in URGENCIES else len(URGENCIES)


def _grouped(pairs: Iterable[tuple[str, Shelved]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, each in pairs:
        groups.setdefault(name, []).append(each.entry.id)
    return groups


def _tips(shelved: Iterable[Shelved]) -> list[str]:
    tips = [tip for each in shelved for tip in (*each.entry.quick_tips, each.entry.action) if tip]
    return list(dict.fromkeys(tips))[:MOST_TIPS]


def _named(each: Shelved) -> dict[str, str]:
    return {"id": each.entry.id, "path": each.entry.path, "title": each.entry.title, "summary": each.entry.summary}


def _learning_path(catalog: Catalog, audience: str, shelved: Sequence[Shelved]) -> dict[str, str]:
    """Give what to read in order, each with why: as the commons says, else one document of each cluster.

    Of a cluster that is its most urgent: the shortest way to have met everything once. Where only the starter says an
    order, that shortest way through one's own documents comes before it. Filters hold for all of it.
    """
    placed = {each.entry.id: each for each in shelved}
    written = {ident: why for ident, why in catalog.learning_path(audience) if ident in placed}
    own = [each for each in shelved if not each.entry.path.startswith(STARTER_PREFIX)]
    if any(each.entry.id in written for each in own):
        return written
    return {**_one_a_cluster(own if written else shelved), **written}


def _one_a_cluster(shelved: Iterable[Shelved]) -> dict[str, str]:
    first: dict[str, str] = {}
    for each in shelved:
        first.setdefault(next(iter(each.entry.clusters), each.entry.id), each.entry.id)
    return dict.fromkeys(first.values(), "")


def _result(each: Shelved) -> Result:
    entry = each.entry
    return Result(
        id=entry.id,
        path=entry.path,
        title=entry.title,
        summary=entry.summary,
        score=0.0,
        why_relevant=entry.why_relevant,
        action=entry.action,
        urgency=entry.urgency,
        platforms=entry.platforms,
        lines=(each.first_line, each.passages[-1][1] if each.passages else each.first_line),
    )
