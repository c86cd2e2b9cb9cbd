"""The part of a commons that is offered: some clusters and folders of it, and nothing that tells of the rest.

What is compiled of such a part knows no other document, so that no search, suggestion or count can give one away.
Refuses a name that stands for nothing; what is doubtful (words of the whole commons, triggers without a document) is
left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from deia.commons.index.index_records import Cluster, QueryPattern
from deia.commons.index.learning_paths import restrict_paths
from deia.commons.index.load_commons import Commons
from deia.errors import CommonsError
from deia.knowledge import Entry, Trigger

NAMING = ("supersedes", "superseded_by")  # fields that name other documents, besides `related_docs`


def select_collections(commons: Commons, collections: Sequence[str]) -> Commons:
    """Give what of a commons belongs to some collections: a cluster by its id, or a folder, which has a slash.

    Raises:
        CommonsError: a name stands for no document; all such names are told.
    """
    nothing = [name for name in collections if not any(_holds(name, entry) for entry in commons.entries)]
    if nothing:
        fix = "Name a cluster of the index, or a folder as answers write it, such as bok/hosting/."
        raise CommonsError(f"no document is in the collection {', '.join(map(repr, nothing))}", fix=fix)
    entries = [entry for entry in commons.entries if any(_holds(name, entry) for name in collections)]
    kept = {entry.id for entry in entries}
    clusters = _clusters(entries, collections)
    triggers = [one for trigger in commons.triggers if (one := _trigger(trigger, kept))]
    known = {trigger.id for trigger in triggers}
    paths = {entry.path for entry in entries}
    return commons.but(
        entries=tuple(_entry(entry, kept, clusters) for entry in entries),
        documents=tuple(one for one in commons.documents if one.path in paths),
        clusters=tuple(_cluster(one, kept, clusters) for one in commons.clusters if one.id in clusters),
        query_patterns=tuple(_pattern(one, clusters) for one in commons.query_patterns if _is_about(one, kept)),
        triggers=tuple(triggers),
        cases=tuple(case for case in commons.cases if case.trigger in known),
        concepts=(),
        learning_paths=restrict_paths(commons.learning_paths, kept),
        problems=(),
        broken=(),
        derived=tuple(ident for ident in commons.derived if ident in kept),
    )


def _is_folder(name: str) -> bool:
    return "/" in name or ":" in name


def _holds(name: str, entry: Entry) -> bool:
    if not _is_folder(name):
        return name in entry.clusters
    return entry.path.startswith(name if name[-1:] in {"/", ":"} else f"{name}/") or entry.path == name


def _clusters(entries: Sequence[Entry], collections: Sequence[str]) -> set[str]:
    """Give the clusters that may be named: the chosen, and those of documents that a folder chose."""
    folders = [name for name in collections if _is_folder(name)]
    chosen = [entry for entry in entries if any(_holds(name, entry) for name in folders)]
    return {*collections, *(cluster for entry in chosen for cluster in entry.clusters)}


def _entry(entry: Entry, kept: Collection[str], clusters: Collection[str]) -> Entry:
    extra: Mapping[str, Any] = {
        name: value for name, value in entry.extra.items() if name not in NAMING or _all_in(value, kept)
    }
    return entry.but(
        clusters=tuple(one for one in entry.clusters if one in clusters),
        related_docs=tuple(one for one in entry.related_docs if one in kept),
        extra=extra,
    )


def _all_in(value: Any, kept: Collection[str]) -> bool:
    named = value if isinstance(value, (list, tuple)) else [value]
    return all(isinstance(one, str) and one in kept for one in named)


def _cluster(cluster: Cluster, kept: Collection[str], clusters: Collection[str]) -> Cluster:
    documents = tuple(one for one in cluster.documents if one in kept)
    related = tuple(one for one in cluster.related_clusters if one in clusters)
    whole = len(documents) == len(cluster.documents)  # of a part, what is said of all of it is not said
    told = cluster if whole else cluster.but(description="", keywords=(), note="")
    return told.but(documents=documents, related_clusters=related)


def _is_about(pattern: QueryPattern, kept: Collection[str]) -> bool:
    return bool(pattern.common_docs) and all(one in kept for one in pattern.common_docs)


def _pattern(pattern: QueryPattern, clusters: Collection[str]) -> QueryPattern:
    return pattern if pattern.primary_cluster in clusters else pattern.but(primary_cluster="")


def _trigger(trigger: Trigger, kept: Collection[str]) -> Trigger | None:
    documents = tuple(one for one in trigger.documents if one.id in kept)
    return trigger.but(documents=documents, hides=()) if documents else None
