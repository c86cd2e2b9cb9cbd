"""What an index says that follows from its entries, in the form in which its authors say it already.

Lists that are right but otherwise ordered, keys otherwise spelt, descriptions and counts in people's own words stay as
they are. Pure functions; refuses to know how an index is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deia.commons.index import derived_fields
from deia.commons.index.index_records import Cluster
from deia.knowledge import Entry
from deia.records import URGENCIES

MEANINGS = {
    "critical": "Production down or data at risk; act at once",
    "high": "Outages and lost work are likely",
    "medium": "Costs time; worth preventing",
    "low": "Good to know",
}


def derived_values(old: Mapping[str, Any], entries: Sequence[Entry], clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Give the counts and views of an index by their names, of which `old` are those that it has."""
    return {
        "total_documents": len(entries),
        "total_clusters": len(clusters),
        "platform_index": _view(old.get("platform_index"), derived_fields.by_platform(entries)),
        "audience_index": _audiences(old.get("audience_index"), derived_fields.by_audience(entries)),
        "urgency_index": _urgencies(old.get("urgency_index"), derived_fields.by_urgency(entries)),
        "statistics": _statistics(old.get("statistics"), derived_fields.statistics(entries, clusters), len(entries)),
    }


def _view(old: Any, new: dict[str, list[str]]) -> dict[str, Any]:
    """Give a view in which lists that are right but otherwise ordered, and keys otherwise spelt, stay as they are."""
    names = {str(key).lower(): key for key in old} if isinstance(old, dict) else {}
    view = {names.get(key, key): _same(old[names[key]] if key in names else None, ids) for key, ids in new.items()}
    return _in_order(old, view)


def _same(old: Any, new: list[str]) -> list[str]:
    return old if isinstance(old, list) and sorted(map(str, old)) == sorted(new) else new


def _in_order(old: Any, new: dict[str, Any]) -> dict[str, Any]:
    known = [key for key in old if key in new] if isinstance(old, dict) else []
    return {key: new[key] for key in (*known, *(key for key in new if key not in known))}


def _audiences(old: Any, new: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    olds = old if isinstance(old, dict) else {}
    result: dict[str, Any] = {role: text for role, text in olds.items() if isinstance(text, list)}
    for role, view in new.items():
        if role not in result:
            given = olds.get(role)
            result[role] = _view(given, view) if isinstance(given, dict) else view
    return _in_order(old, result)


def _urgencies(old: Any, new: dict[str, list[str]]) -> dict[str, Any]:
    """Give the view by urgency; descriptions and scenarios that people wrote stay, and so does the short form."""
    olds = old if isinstance(old, dict) else {}
    result: dict[str, Any] = {}
    for level in URGENCIES:
        given, ids = olds.get(level), new.get(level, [])
        if isinstance(given, list):
            result[level] = _same(given, ids)
        elif isinstance(given, dict):
            result[level] = {**given, "documents": _same(given.get("documents"), ids)}
        elif ids:
            result[level] = {"description": MEANINGS[level], "documents": ids}
    return _in_order(old, result)


def _statistics(old: Any, new: dict[str, dict[str, int]], total: int) -> dict[str, Any]:
    """Give the counts; a table by type in people's own words stays as long as it adds up."""
    olds = old if isinstance(old, dict) else {}
    result: dict[str, Any] = dict(olds)
    for name, counts in new.items():
        given = olds.get(name)
        numbers = (
            {key: count for key, count in given.items() if isinstance(count, int)} if isinstance(given, dict) else {}
        )
        kept = sum(numbers.values()) == total if name == "by_type" else _counted(numbers) == _counted(counts)
        result[name] = given if kept and given is not None else _in_order(given, counts)
    return result


def _counted(counts: dict[str, int]) -> dict[str, int]:
    return {key: count for key, count in counts.items() if count}


def distributions(
    clusters: Sequence[Cluster], entries: Sequence[Entry], old: Mapping[str, Any]
) -> dict[tuple[str, ...], Any]:
    """Give the `urgency_distribution` of the clusters in which it is wrong; a cluster without one gets none."""
    found: dict[tuple[str, ...], Any] = {}
    for cluster in clusters:
        body = (old.get("clusters") or {}).get(cluster.id)
        given = body.get("urgency_distribution") if isinstance(body, dict) else None
        if isinstance(given, dict):
            wanted = derived_fields.distribution(cluster, entries)
            if _counted({key: count for key, count in given.items() if isinstance(count, int)}) != wanted:
                found["clusters", cluster.id, "urgency_distribution"] = wanted
    return found
