"""What stands beside an answer: its cluster and urgency, and what to read and ask next.

It refuses to rank.
"""

from __future__ import annotations

from deia.match.tokeniser import fold
from deia.records import TYPE_CHECKING, URGENCIES
from deia.search.answer import Similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.knowledge import Result
    from deia.search.catalog import Catalog, Pattern, Shelved

MOST_NEXT = 5
MOST_QUERIES = 5
ENOUGH_SHARED = 2  # stems; one shared word makes no related question, unless it is all that was asked


def most_urgent(results: Iterable[Result]) -> str:
    """Give the highest urgency among documents, or nothing where nobody gave any."""
    found = {result.urgency for result in results}
    return next((urgency for urgency in URGENCIES if urgency in found), "")


def owner_clusters(shelved: Iterable[Shelved], results: Iterable[Result]) -> tuple[str, ...]:
    """Give the clusters that own the documents, the one with the best documents first."""
    scores = {result.id: result.score for result in results}
    weight: dict[str, float] = {}
    for each in shelved:
        for name in each.entry.clusters[:1]:
            weight[name] = weight.get(name, 0.0) + scores.get(each.entry.id, 0.0)
    return tuple(sorted(weight, key=lambda name: (-weight[name], name)))


def leading_pattern(catalog: Catalog, stems: Mapping[str, float]) -> Pattern | None:
    """Give the past question all of whose keywords are in this one, if there is one: the longest."""
    fitting = [
        (sum(map(len, pattern.keywords)), -number)
        for number in catalog.patterns(stems)
        if (pattern := catalog.pattern(number)).keywords
        and all(stem in stems for keyword in pattern.keywords for stem in keyword)
    ]
    return catalog.pattern(-max(fitting)[1]) if fitting else None


def related_queries(catalog: Catalog, stems: Mapping[str, float], *, but: str = "") -> tuple[str, ...]:
    """Give past questions that share words with this one, the nearest first, without the question itself."""
    lines = [pattern.wordings[0] for pattern in _near(catalog, stems) if pattern.wordings]
    own = fold(but)
    return tuple(line for line in dict.fromkeys(lines) if fold(line) != own)[:MOST_QUERIES]


def similar_queries(catalog: Catalog, stems: Mapping[str, float]) -> tuple[Similar, ...]:
    """Give past questions like this one with the documents that answer them."""
    near = [pattern for pattern in _near(catalog, stems) if pattern.wordings]
    return tuple(Similar(query=each.wordings[0], documents=each.documents) for each in near[:MOST_QUERIES])


def _near(catalog: Catalog, stems: Mapping[str, float]) -> list[Pattern]:
    shared = catalog.patterns(stems)
    enough = min(ENOUGH_SHARED, len(stems))
    numbers = sorted((-len(found), number) for number, found in shared.items() if len(found) >= enough)
    return [catalog.pattern(number) for _, number in numbers]


def suggested_next(catalog: Catalog, primary: Sequence[Shelved], *, shown: Iterable[Result]) -> tuple[str, ...]:
    """Say what to do and to read after an answer: its actions, its documents' relations, its clusters' neighbours."""
    seen = {result.id for result in shown}
    actions = [each.entry.action for each in primary if each.entry.action]
    related = [name for each in primary for name in each.entry.related_docs if name not in seen]
    reading = [
        f"Read {each.entry.title} ({each.entry.path})." for each in catalog.every(dict.fromkeys(related[:MOST_NEXT]))
    ]
    neighbours = [
        f"Look into the cluster {name}."
        for each in primary[:1]
        for cluster in each.entry.clusters[:1]
        for name in catalog.clusters.get(cluster, {}).get("related", ())
        if name in catalog.clusters
    ]
    return tuple(dict.fromkeys([*actions, *reading, *neighbours]))[:MOST_NEXT]
