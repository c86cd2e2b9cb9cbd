"""Write the master index: migrate old shapes, add entries, update what is derived from the entries.

Only the lines of a changed value are rewritten; comments, order, quotes and unknown fields stay. The file is replaced
atomically, by one writer at a time. An index with syntax errors is not written, and a backup is never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from deia.commons.index.derived_views import OTHER, derived_values, distributions, document_type
from deia.commons.index.documents import read_documents
from deia.commons.index.index_records import Index
from deia.commons.index.load_commons import build_entries
from deia.commons.index.read_index import find_index, load_index, read_index
from deia.commons.index.shapes import UNSORTED, V1
from deia.commons.source_files import safe_files, yaml_blocks, yaml_lines
from deia.commons.source_files.read_cache import cache_reads
from deia.commons.source_files.write_lock import hold_write_lock, with_write_lock
from deia.commons.source_files.yaml_blocks import RoundTrip
from deia.commons.source_files.yaml_reader import Map, plain, read_mapping, read_yaml
from deia.fast_json import Json
from deia.folders import INDEX_NAMES
from deia.knowledge import Entry
from deia.problems import CommonsError, Problem

WINDOWS_END = "\r\n"  # replaced before a text is changed, and restored when it is written
BACKUP = ".before-migrate"
# Codes of problems that a rewrite could make worse.
FORM_CODES = ("yaml-", "json-", "duplicate-key", "unknown-shape", "not-utf-8", "unreadable-file", "file-too-large")
DERIVED = ("platform_index", "audience_index", "urgency_index", "statistics")
ORDER = (
    "version", "last_updated", "total_documents", "total_clusters", "metadata", "clusters", "query_patterns",
    "concepts", "learning_paths", "proactive_triggers", *DERIVED,
)  # fmt: skip
ENTRY_FIELDS = (
    "id", "path", "title", "summary", "keywords", "audience", "urgency", "tags", "category", "action", "why_relevant",
    "quick_tips", "status", "created", "updated", "verified", "valid_until",
    "superseded_by", "review_after", "related_docs",
)  # fmt: skip


def migrate(root: str, *, write: bool, today: str = "") -> str:
    """Return the index as v1.0 text; with `write`, save it and keep the old file as `<name>.before-migrate`."""
    with hold_write_lock(root) if write else cache_reads():
        path, text, index = _read_sound(root)
        if index.shape == V1:
            return text
        new = _refresh(root, _as_v1(index, today=today), today=today)
        if write:
            data = safe_files.read_bytes(root, path) or b""
            if os.path.lexists(os.path.join(root, path + BACKUP)):
                message = f"The backup {path}{BACKUP} exists already."
                raise CommonsError(message, fix="Move it away, then migrate again.")
            safe_files.create(root, path + BACKUP, data)
            target = path if path.endswith((".yaml", ".yml")) and "/" not in path else INDEX_NAMES[0]
            safe_files.write_text(root, target, new)
            if target != path:
                safe_files.remove(root, path)
        return new


def build(root: str, *, write: bool, today: str = "") -> str:
    """Return the index with an entry for every document and with all views and counts; `today` dates a change."""
    with hold_write_lock(root) if write else cache_reads():
        text = _text_or_skeleton(root)
        new = _with_documents(root, text)
        new = _refresh(root, new, today=today)
        if write:
            _write_if_changed(root, new)
        return new


@with_write_lock
def add_entry(root: str, entry: Entry, cluster: str, *, today: str = "") -> str:
    """Add an entry to a cluster, which is made if it is missing, and return the new text of the index."""
    text = _text_or_skeleton(root)
    index = _parsed(text)
    for known in index.entries:
        if entry.id == known.id or entry.path == known.path:
            message = f"The index already has {known.id} for {known.path} (line {known.line})."
            raise CommonsError(message, fix="Choose another id and path, or edit that entry.")
    return rewrite(root, lambda text: _with_entries(text, [entry], cluster), today=today)


def add_entries(root: str, entries: Sequence[Entry], *, today: str = "") -> str:
    """Add entries, each to the cluster named after the folder of its document, and return the new text of the index."""
    return rewrite(root, lambda text: _in_clusters(text, entries), today=today)


@with_write_lock
def rewrite(root: str, change: Callable[[str], str], *, today: str = "") -> str:
    """Apply `change` to the text of the index, update its views and counts, save it, and return its text."""
    new = _refresh(root, change(_text_or_skeleton(root)), today=today)
    _write_if_changed(root, new)
    return new


def as_fields(entry: Entry) -> dict[str, Json]:
    """Return an entry as the fields of the index, without empty ones."""
    values: dict[str, Json] = {}
    for name in ENTRY_FIELDS:
        value = getattr(entry, name)
        if value:
            values[name] = list(value) if isinstance(value, tuple) else value
        if name == "tags" and entry.platforms:
            values["platform"] = entry.platforms[0] if len(entry.platforms) == 1 else list(entry.platforms)
    return {**values, **{name: value for name, value in plain(entry.extra).items() if name not in values}}


# --- reading before writing ------------------------------------------------------------------------------------------


def _read_sound(root: str) -> tuple[str, str, Index]:
    """Return the index file's path, text and content."""
    path = find_index(root)
    if not path:
        raise CommonsError(f"There is no index in {root}.", fix="Run `deia index build` or `deia init`.")
    index = load_index(root)
    _check_form(index.problems, path)
    return path, safe_files.read_text(root, path, limit=safe_files.YAML_BYTES).text, index


def _check_form(problems: tuple[Problem, ...], path: str) -> None:
    broken = [problem for problem in problems if problem.code.startswith(FORM_CODES)]
    if broken:
        message = f"{path} has errors that a rewrite could make worse, so it was not changed."
        raise CommonsError(message, broken, fix="Correct these by hand first:")


def _text_or_skeleton(root: str) -> str:
    if not find_index(root):
        return yaml_blocks.to_yaml({"version": "1.0", "clusters": {}})
    path, text, index = _read_sound(root)
    if index.shape != V1:
        raise CommonsError(f"The index has the old shape {index.shape}.", where=path, fix="Run `deia index migrate`.")
    return text.replace(WINDOWS_END, "\n")


def _parsed(text: str) -> Index:
    return read_index(text, path=INDEX_NAMES[0])


def _write_if_changed(root: str, text: str) -> None:
    path = find_index(root) or INDEX_NAMES[0]
    _check_form(read_yaml(text, path=path).problems, path)
    old = safe_files.read_text(root, path, limit=safe_files.YAML_BYTES)
    ended = text.replace("\n", WINDOWS_END) if WINDOWS_END in old.text else text
    if not old.readable or old.text != ended:
        safe_files.write_text(root, path, ended)


# --- text to text ----------------------------------------------------------------------------------------------------


def _as_v1(index: Index, *, today: str) -> str:
    """Return an index of any shape as v1.0 text, without derived parts."""
    entries = {entry.id: entry for entry in index.entries}
    clusters = {
        cluster.id: {
            "description": cluster.description or f"Documents about {cluster.id.replace('-', ' ')}",
            "keywords": list(dict.fromkeys(tag for ident in cluster.documents for tag in entries[ident].tags))[:12],
            "documents": [as_fields(entries[ident]) for ident in cluster.documents],
        }
        for cluster in index.clusters
    }
    top: dict[str, Json] = {"version": "1.0", "last_updated": today, "metadata": {"index_format_version": "1.0"}}
    return yaml_blocks.to_yaml({name: value for name, value in top.items() if value} | {"clusters": clusters})


def _with_documents(root: str, text: str) -> str:
    """Return the index with an entry for every document that had none, in the cluster named after its folder."""
    index = _parsed(text)
    listed = {entry.id for entry in index.entries}
    documents = read_documents(root, also=tuple(entry.path for entry in index.entries)).by_path
    built = build_entries(index.entries, documents, [])
    return _in_clusters(text, [filled(entry) for entry in built if entry.id not in listed])


def _in_clusters(text: str, entries: Sequence[Entry]) -> str:
    """Return the index with entries added, each to the cluster named after the folder of its document."""
    clusters: dict[str, list[Entry]] = {}
    for entry in entries:
        kind = document_type(entry.but(extra={}))
        clusters.setdefault(UNSORTED if kind == OTHER else kind, []).append(entry)
    for cluster, new in clusters.items():
        text = _with_entries(text, new, cluster)
    return text


def filled(entry: Entry) -> Entry:
    """Return an entry with a summary and keywords, taken from its title if it has none."""
    return entry.but(summary=entry.summary or entry.title, keywords=entry.keywords or keywords_of(entry))


def keywords_of(entry: Entry) -> tuple[str, ...]:
    """Return default keywords: the platforms, the tags and the longer words of the title."""
    words = [word.strip(".,:;!?()[]\"'`*").lower() for word in entry.title.split()]
    long = [word for word in words if len(word) > 3]  # shorter words of a title are mostly articles
    return tuple(dict.fromkeys([*(name.lower() for name in entry.platforms), *entry.tags, *(long or words)]))[:12]


def _with_entries(text: str, entries: list[Entry], cluster: str) -> str:
    """Return the index with entries added to a cluster, which is made if it is missing."""
    new = [as_fields(entry) for entry in entries]
    top = read_mapping(text)
    if "clusters" not in top:
        after = next((name for name in reversed(ORDER[: ORDER.index("clusters")]) if name in top), "")
        text = yaml_blocks.insert_block(text, "clusters: {}", after=after)
        top = read_mapping(text)
    clusters = top["clusters"]
    if isinstance(clusters, Map) and cluster in clusters:
        longer = yaml_lines.add_items(text, ("clusters", cluster, "documents"), new)
        return longer or yaml_blocks.change_value(
            text, ("clusters", cluster), lambda body: _append_documents(body, new)
        )
    described = f"Documents about {cluster.replace('-', ' ')}"
    body = {"description": described, "keywords": [], "documents": new}
    return yaml_blocks.append_child(text, "clusters", cluster, body)


def _append_documents(cluster: RoundTrip, new: list[dict[str, Json]]) -> RoundTrip:
    """Append entries to the documents of a cluster that is being rewritten."""
    cluster = cluster or yaml_blocks.style({})
    cluster["documents"] = yaml_blocks.with_items(cluster.get("documents"), new)
    return cluster


def _refresh(root: str, text: str, *, today: str) -> str:
    """Return the index with its views and counts updated; its date changes only if something else did."""
    index = _parsed(text)
    documents = read_documents(root, also=tuple(entry.path for entry in index.entries)).by_path
    listed = {entry.id for entry in index.entries}
    entries = [entry for entry in build_entries(index.entries, documents, []) if entry.id in listed]
    old = plain(index.source)
    new = derived_values(old, entries, index.clusters)
    values: dict[tuple[str, ...], Json] = {(name,): value for name, value in new.items() if old.get(name) != value}
    values |= distributions(index.clusters, entries, old)
    if today and (values or text != index_text(root).replace(WINDOWS_END, "\n")) and old.get("last_updated") != today:
        values["last_updated",] = today
    return _with_values(text, values, old)


def _with_values(text: str, values: Mapping[tuple[str, ...], Json], old: Mapping[str, Json]) -> str:
    """Return the text with new values, changed all at once if that is possible, otherwise one after another."""
    existing = {path: value for path, value in values.items() if old.get(path[0]) is not None}
    result = yaml_lines.replace_values(text, existing, merge_into) if existing else text
    if result is None:
        result = text
        for path, value in existing.items():
            result = yaml_blocks.change_value(result, path, partial(merge_into, new=value))
    return _with_added(result, {path[0]: value for path, value in values.items() if path not in existing})


def _with_added(text: str, values: Mapping[str, Json]) -> str:
    """Return the text with values that it lacks, or has empty, each after the key that precedes it in every index."""
    top = read_mapping(text)
    groups: dict[str, dict[str, Json]] = {}
    for name in (name for name in ORDER if name in values):
        before = [known for known in ORDER[: ORDER.index(name)] if known in top]
        groups.setdefault(before[-1] if before and name not in top else "", {})[name] = values[name]
    for after, new in groups.items():
        for name in [name for name in new if name in top]:
            text = yaml_blocks.set_value(text, (name,), new[name])
        missing = {name: value for name, value in new.items() if name not in top}
        if missing:
            text = yaml_blocks.insert_block(text, yaml_blocks.to_yaml(missing, like=text), after=after)
    return text


def index_text(root: str) -> str:
    """Return the text of the index as it is, empty if there is none."""
    path = find_index(root)
    return safe_files.read_text(root, path, limit=safe_files.YAML_BYTES).text if path else ""


def merge_into(target: RoundTrip, new: Json) -> RoundTrip:
    """Change a round-trip value into a new one, keeping every part that is already right, with its comments."""
    if isinstance(target, dict) and isinstance(new, dict):
        for key in [key for key in target if str(key) not in new]:
            del target[key]
        names = {str(key): key for key in target}
        for key, value in new.items():
            if key not in names:
                target[yaml_blocks.style(key)] = yaml_blocks.style(value)
            elif plain(target[names[key]]) != value:
                target[names[key]] = merge_into(target[names[key]], value)
        return target
    return yaml_blocks.style(new)
