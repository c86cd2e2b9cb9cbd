"""Select the part of a commons that a server offers: some clusters and folders, and nothing that reveals the rest.

The result contains no other document, so no search, suggestion or count made from it can reveal one. Anything that
could be about other documents, such as the concepts of the whole commons, is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from deia.commons.index.index_parts import restrict_paths
from deia.commons.index.index_records import Cluster
from deia.commons.index.load_commons import Commons
from deia.fast_json import Json
from deia.knowledge import Entry, Trigger
from deia.problems import CommonsError

NAMING = "supersedes"  # a field that refers to other documents, besides `related_docs` and `superseded_by`


def select_collections(commons: Commons, collections: Sequence[str]) -> Commons:
    """Return the part of a commons in some collections: clusters by their ids, and folders, which contain a slash."""
    empty = [name for name in collections if not any(_contains(name, entry) for entry in commons.entries)]
    if empty:
        fix = "Name a cluster of the index, or a folder as it is written in answers, such as bok/hosting/."
        raise CommonsError(f"There are no documents in the collection {', '.join(map(repr, empty))}", fix=fix)
    entries = [entry for entry in commons.entries if any(_contains(name, entry) for name in collections)]
    ids = {entry.id for entry in entries}
    clusters = _nameable_clusters(entries, collections)
    triggers = [cut for trigger in commons.triggers if (cut := _restrict_trigger(trigger, ids))]
    known = {trigger.id for trigger in triggers}
    paths = {entry.path for entry in entries}
    return commons.but(
        entries=tuple(_restrict_entry(entry, ids, clusters) for entry in entries),
        documents=tuple(document for document in commons.documents if document.path in paths),
        clusters=tuple(
            _restrict_cluster(cluster, ids, clusters) for cluster in commons.clusters if cluster.id in clusters
        ),
        query_patterns=tuple(
            pattern if pattern.primary_cluster in clusters else pattern.but(primary_cluster="")
            for pattern in commons.query_patterns
            if pattern.common_docs and all(ident in ids for ident in pattern.common_docs)
        ),
        triggers=tuple(triggers),
        cases=tuple(case for case in commons.cases if case.trigger in known),
        concepts=(),
        learning_paths=restrict_paths(commons.learning_paths, ids),
        problems=(),
        broken=(),
        derived=tuple(ident for ident in commons.derived if ident in ids),
    )


def _is_folder(name: str) -> bool:
    return "/" in name or ":" in name


def _contains(name: str, entry: Entry) -> bool:
    if not _is_folder(name):
        return name in entry.clusters
    return entry.path.startswith(name if name[-1:] in {"/", ":"} else f"{name}/") or entry.path == name


def _nameable_clusters(entries: Sequence[Entry], collections: Sequence[str]) -> set[str]:
    """Return the clusters that may be named: the selected ones, and those of documents in selected folders."""
    folders = [name for name in collections if _is_folder(name)]
    chosen = [entry for entry in entries if any(_contains(name, entry) for name in folders)]
    return {*collections, *(cluster for entry in chosen for cluster in entry.clusters)}


def _restrict_entry(entry: Entry, ids: Collection[str], clusters: Collection[str]) -> Entry:
    extra: Mapping[str, Json] = {
        name: value for name, value in entry.extra.items() if name != NAMING or _are_all_in(value, ids)
    }
    return entry.but(
        clusters=tuple(name for name in entry.clusters if name in clusters),
        related_docs=tuple(name for name in entry.related_docs if name in ids),
        superseded_by=entry.superseded_by if entry.superseded_by in ids else "",
        extra=extra,
    )


def _are_all_in(value: Json, ids: Collection[str]) -> bool:
    named = value if isinstance(value, (list, tuple)) else [value]
    return all(isinstance(name, str) and name in ids for name in named)


def _restrict_cluster(cluster: Cluster, ids: Collection[str], clusters: Collection[str]) -> Cluster:
    documents = tuple(name for name in cluster.documents if name in ids)
    related = tuple(name for name in cluster.related_clusters if name in clusters)
    whole = len(documents) == len(cluster.documents)  # a description of the whole would reveal what is missing
    described = cluster if whole else cluster.but(description="", keywords=(), note="")
    return described.but(documents=documents, related_clusters=related)


def _restrict_trigger(trigger: Trigger, ids: Collection[str]) -> Trigger | None:
    documents = tuple(document for document in trigger.documents if document.id in ids)
    return trigger.but(documents=documents, hides=()) if documents else None
