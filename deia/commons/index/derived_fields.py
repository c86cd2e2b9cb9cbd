"""The parts of a master index that follow from its entries: views by platform, audience and urgency, counts.

Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from deia.commons.index.index_records import Cluster
from deia.knowledge import Entry
from deia.records import URGENCIES

OTHER = "other"  # the type of a document that names none and lies in no folder of `bok/`


def by_platform(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Give the ids of the documents of each platform, platforms in order, in lower case."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        for platform in dict.fromkeys(platform.lower() for platform in entry.platforms):
            found.setdefault(platform, []).append(entry.id)
    return dict(sorted(found.items()))


def by_audience(entries: Sequence[Entry]) -> dict[str, dict[str, list[str]]]:
    """Give for each role its clusters, and its documents by urgency."""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        for role in dict.fromkeys(entry.audience):
            view = found.setdefault(role, {"clusters": []})
            view["clusters"] += [name for name in entry.clusters if name not in view["clusters"]]
            if entry.urgency:
                view.setdefault(f"{entry.urgency}_docs", []).append(entry.id)
    order = ("clusters", *(f"{level}_docs" for level in URGENCIES))
    return {role: {name: view[name] for name in order if name in view} for role, view in sorted(found.items())}


def by_urgency(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Give the ids of the documents of each urgency that has some, most urgent first."""
    found = {level: [entry.id for entry in entries if entry.urgency == level] for level in URGENCIES}
    return {level: ids for level, ids in found.items() if ids}


def distribution(cluster: Cluster, entries: Iterable[Entry]) -> dict[str, int]:
    """Count a cluster's documents by urgency."""
    members = set(cluster.documents)
    counts = Counter(entry.urgency for entry in entries if entry.id in members)
    return {level: counts[level] for level in URGENCIES if counts[level]}


def statistics(entries: Sequence[Entry], clusters: Sequence[Cluster]) -> dict[str, dict[str, int]]:
    """Count the documents by type, urgency, audience and cluster."""
    return {
        "by_type": dict(sorted(Counter(document_type(entry) for entry in entries).items())),
        "by_urgency": {level: len(ids) for level, ids in by_urgency(entries).items()},
        "by_audience": dict(sorted(Counter(role for entry in entries for role in set(entry.audience)).items())),
        "by_cluster": {cluster.id: len(cluster.documents) for cluster in clusters},
    }


def document_type(entry: Entry) -> str:
    """Give the type of a document: what it says it is, else the folder of `bok/` in which it lies."""
    given = entry.extra.get("type")
    if isinstance(given, str) and given.strip():
        return given.strip()
    folders = entry.path.split("/")[:-1]
    return folders[1] if len(folders) > 1 and folders[0] == "bok" else OTHER
