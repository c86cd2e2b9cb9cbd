"""Compute the derived parts of an index, keeping the form in which its authors wrote them.

A list that is right but in another order, the spelling of a key, and descriptions and counts in people's own words stay
as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from deia.commons.index.index_records import Cluster
from deia.fast_json import Json
from deia.knowledge import Entry
from deia.records import URGENCIES

OTHER = "other"  # the type of a document without a `type` field and outside the folders of `bok/`


def by_platform(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return the ids of the documents of each platform; platforms are sorted and in lower case."""
    documents: dict[str, list[str]] = {}
    for entry in entries:
        for platform in dict.fromkeys(platform.lower() for platform in entry.platforms):
            documents.setdefault(platform, []).append(entry.id)
    return dict(sorted(documents.items()))


def by_audience(entries: Sequence[Entry]) -> dict[str, dict[str, list[str]]]:
    """Return the clusters of each audience, and its documents by urgency."""
    views: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        for role in dict.fromkeys(entry.audience):
            view = views.setdefault(role, {"clusters": []})
            view["clusters"] += [name for name in entry.clusters if name not in view["clusters"]]
            if entry.urgency:
                view.setdefault(f"{entry.urgency}_docs", []).append(entry.id)
    order = ("clusters", *(f"{level}_docs" for level in URGENCIES))
    return {role: {name: view[name] for name in order if name in view} for role, view in sorted(views.items())}


def by_urgency(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return the ids of the documents of each urgency, most urgent first, without urgencies that have none."""
    documents = {level: [entry.id for entry in entries if entry.urgency == level] for level in URGENCIES}
    return {level: ids for level, ids in documents.items() if ids}


def distribution(cluster: Cluster, entries: Iterable[Entry]) -> dict[str, int]:
    """Return the number of a cluster's documents by urgency."""
    members = set(cluster.documents)
    counts = Counter(entry.urgency for entry in entries if entry.id in members)
    return {level: counts[level] for level in URGENCIES if counts[level]}


def statistics(entries: Sequence[Entry], clusters: Sequence[Cluster]) -> dict[str, dict[str, int]]:
    """Return the number of documents by type, urgency, audience and cluster."""
    return {
        "by_type": dict(sorted(Counter(document_type(entry) for entry in entries).items())),
        "by_urgency": {level: len(ids) for level, ids in by_urgency(entries).items()},
        "by_audience": dict(sorted(Counter(role for entry in entries for role in set(entry.audience)).items())),
        "by_cluster": {cluster.id: len(cluster.documents) for cluster in clusters},
    }


def document_type(entry: Entry) -> str:
    """Return the type of a document: its own `type` field, or else its folder in `bok/`."""
    named = entry.extra.get("type")
    if isinstance(named, str) and named.strip():
        return named.strip()
    folders = entry.path.split("/")[:-1]
    return folders[1] if len(folders) > 1 and folders[0] == "bok" else OTHER


MEANINGS = {
    "critical": "Production down or data at risk; act at once",
    "high": "Outages and lost work are likely",
    "medium": "Costs time; worth preventing",
    "low": "Good to know",
}


def derived_values(old: Mapping[str, Json], entries: Sequence[Entry], clusters: Sequence[Cluster]) -> dict[str, Json]:
    """Return the counts and views of an index by their names; `old` are its present values."""
    return {
        "total_documents": len(entries),
        "total_clusters": len(clusters),
        "platform_index": _view(old.get("platform_index"), by_platform(entries)),
        "audience_index": _audiences(old.get("audience_index"), by_audience(entries)),
        "urgency_index": _urgencies(old.get("urgency_index"), by_urgency(entries)),
        "statistics": _statistics(old.get("statistics"), statistics(entries, clusters), len(entries)),
    }


def _view(old: Json, new: Mapping[str, list[str]]) -> dict[str, Json]:
    """Return a view that keeps the order of lists that are right, and the spelling of keys."""
    lists = old if isinstance(old, dict) else {}
    names = {str(key).lower(): key for key in lists}
    view = {names.get(key, key): _keep_order(lists.get(names.get(key, "")), ids) for key, ids in new.items()}
    return _order_keys(old, view)


def _keep_order(old: Json, new: list[str]) -> Json:
    return old if isinstance(old, list) and sorted(map(str, old)) == sorted(new) else new


def _order_keys(old: Json, new: Mapping[str, Json]) -> dict[str, Json]:
    known = [key for key in old if key in new] if isinstance(old, dict) else []
    return {key: new[key] for key in (*known, *(key for key in new if key not in known))}


def _audiences(old: Json, new: dict[str, dict[str, list[str]]]) -> dict[str, Json]:
    views = old if isinstance(old, dict) else {}
    result: dict[str, Json] = {role: text for role, text in views.items() if isinstance(text, list)}
    for role, view in new.items():
        if role not in result:
            view_before = views.get(role)
            result[role] = _view(view_before, view) if isinstance(view_before, dict) else view
    return _order_keys(old, result)


def _urgencies(old: Json, new: dict[str, list[str]]) -> dict[str, Json]:
    """Return the view by urgency, keeping descriptions and scenarios that people wrote, and the short form."""
    views = old if isinstance(old, dict) else {}
    result: dict[str, Json] = {}
    for level in URGENCIES:
        before, ids = views.get(level), new.get(level, [])
        if isinstance(before, list):
            result[level] = _keep_order(before, ids)
        elif isinstance(before, dict):
            result[level] = {**before, "documents": _keep_order(before.get("documents"), ids)}
        elif ids:
            result[level] = {"description": MEANINGS[level], "documents": ids}
    return _order_keys(old, result)


def _statistics(old: Json, new: dict[str, dict[str, int]], total: int) -> dict[str, Json]:
    """Return the counts; a table by type with people's own names is kept as long as its sum is right."""
    tables = old if isinstance(old, dict) else {}
    result: dict[str, Json] = dict(tables)
    for name, counts in new.items():
        before = tables.get(name)
        numbers = (
            {key: count for key, count in before.items() if isinstance(count, int)} if isinstance(before, dict) else {}
        )
        is_right = sum(numbers.values()) == total if name == "by_type" else _nonzero(numbers) == _nonzero(counts)
        result[name] = before if is_right and before is not None else _order_keys(before, counts)
    return result


def _nonzero(counts: dict[str, int]) -> dict[str, int]:
    return {key: count for key, count in counts.items() if count}


def distributions(
    clusters: Sequence[Cluster], entries: Sequence[Entry], old: Mapping[str, Json]
) -> dict[tuple[str, ...], Json]:
    """Return the new `urgency_distribution` of each cluster that has a wrong one; clusters without one get none."""
    changes: dict[tuple[str, ...], Json] = {}
    bodies = old.get("clusters")
    for cluster in clusters:
        body = bodies.get(cluster.id) if isinstance(bodies, dict) else None
        before = body.get("urgency_distribution") if isinstance(body, dict) else None
        if isinstance(before, dict):
            expected = distribution(cluster, entries)
            if _nonzero({key: count for key, count in before.items() if isinstance(count, int)}) != expected:
                changes["clusters", cluster.id, "urgency_distribution"] = expected
    return changes
