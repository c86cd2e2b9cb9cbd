"""Derive parts of a master index from its entries: views by platform, audience and urgency, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from deia.commons.index.index_records import Cluster
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
