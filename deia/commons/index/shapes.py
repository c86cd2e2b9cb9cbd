"""The six shapes in which master indexes have been written: how to recognise and read each. They are tried in order.

An index of no known shape is reported with a description of what it is. An id that repeats in an old shape is replaced
by one made from its path, so that no document is lost; in v1.0 the first one is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from deia.commons.index.entries import read_entry
from deia.commons.index.index_records import Cluster
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.slugs import free_name, id_from_path, slug
from deia.commons.source_files.yaml_reader import Items, Map, Value
from deia.knowledge import Entry
from deia.records import Record
from deia.suggestions import did_you_mean

V1 = "v1.0"
SECTIONS = ("processes", "training", "patterns")
UNSORTED = "unsorted"  # the cluster of documents without a category
TOP_FIELDS = (
    "version", "last_updated", "metadata", "clusters", "query_patterns", "learning_paths", "concepts",
    "proactive_triggers", "platform_index", "audience_index", "urgency_index", "statistics", "total_documents",
    "total_clusters",
)  # fmt: skip
CLUSTER_FIELDS = (
    "description", "keywords", "documents", "related_clusters", "urgency_distribution", "note", "notes", "platform",
    "language",
)  # fmt: skip


class Content(Record):
    """The entries and clusters of an index."""

    entries: tuple[Entry, ...] = ()
    clusters: tuple[Cluster, ...] = ()


class Shape(Record):
    """One shape of an index."""

    name: str
    looks: str  # how it looks, for messages
    fits: Callable[[Value], bool]
    read: Callable[[Any, Findings], Content]  # of a value that fits


def detect(value: Value) -> Shape | None:
    """Return the first shape that fits, or None."""
    return next((shape for shape in SHAPES if shape.fits(value)), None)


def describe(value: Value) -> str:
    """Return a description of a parsed value for messages."""
    if isinstance(value, Map):
        names = ", ".join(quote(name, limit=30) for name in list(value)[:6])
        return f"a mapping with the keys {names}" if names else "an empty mapping"
    if isinstance(value, Items):
        return f"a list of {len(value)} items, the first {quote(value[0])}" if value else "an empty list"
    return "an empty file" if value is None else f"the text {quote(value)}"


# --- v1.0 ------------------------------------------------------------------------------------------------------------


def _is_v1(value: Value) -> bool:
    return isinstance(value, Map) and ("clusters" in value or ("version" in value and "patterns" not in value))


def _read_v1(top: Map, findings: Findings) -> Content:
    _warn_of_misspelt(top, findings)
    clusters: list[Cluster] = []
    entries: dict[str, Entry] = {}
    for name, body in fields.mapping(top, "clusters", findings).items():
        if not isinstance(body, Map):
            message = f"The cluster {quote(name)} is {describe(body)}; it must be a mapping."
            findings.error(fields.mapping(top, "clusters", findings).at(name), "wrong-type", message)
            continue
        documents = tuple(_cluster_documents(name, body, entries, findings))
        clusters.append(_cluster(name, body, documents, findings))
    return Content(entries=_with_clusters(entries, clusters), clusters=tuple(clusters))


def _warn_of_misspelt(top: Map, findings: Findings) -> None:
    """Warn of fields that are nearly known ones; others are people's own, and kept."""
    for name in top:
        hint = "" if name in TOP_FIELDS else did_you_mean(name, TOP_FIELDS)
        if hint:
            findings.warning(top.at(name), "unknown-field", f"The field {quote(name)} is unknown.", hint)


def _cluster(name: str, body: Map, documents: tuple[str, ...], findings: Findings) -> Cluster:
    fields.report_unknown(body, CLUSTER_FIELDS, findings)
    return Cluster(
        id=name,
        description=fields.text(body, "description", findings),
        keywords=fields.texts(body, "keywords", findings),
        documents=tuple(dict.fromkeys(documents)),
        related_clusters=fields.texts(body, "related_clusters", findings),
        note=fields.text(body, "note", findings) or fields.text(body, "notes", findings),
        platform=fields.text(body, "platform", findings),
        language=fields.text(body, "language", findings),
        line=body.line,
    )


def _cluster_documents(name: str, body: Map, entries: dict[str, Entry], findings: Findings) -> Iterator[str]:
    """Yield the ids of a cluster's documents; full entries are added to `entries`, owned by this cluster."""
    documents = body.get("documents")
    if documents is not None and not isinstance(documents, Items):
        findings.error(body.at("documents"), "wrong-type", f"`documents` of {quote(name)} is not a list.")
    items = documents if isinstance(documents, Items) else Items()
    for position, item in enumerate(items):
        if not isinstance(item, Map | Items) and fields.as_text(item):
            yield fields.as_text(item)
            continue
        if not isinstance(item, Map):
            line = items.at(position)
            findings.error(
                line, "wrong-type", f"A document of {quote(name)} is {describe(item)}; write an entry or an id."
            )
            continue
        entry = read_entry(item, findings, clusters=(name,))
        if entry:
            _add_entry(entry, entries, findings)
            yield entry.id


def _add_entry(entry: Entry, entries: dict[str, Entry], findings: Findings) -> None:
    """Keep the first entry of an id, and report a later one with other content."""
    first = entries.setdefault(entry.id, entry)
    if first is not entry and first.but(line=0, clusters=()) != entry.but(line=0, clusters=()):
        message = f"The id {quote(entry.id)} has other content here than on line {first.line}, which is used."
        findings.error(
            entry.line, "conflicting-entry", message, "Give one of them another id, or write only the id here."
        )


def _with_clusters(entries: dict[str, Entry], clusters: list[Cluster]) -> tuple[Entry, ...]:
    """Return every entry with all clusters that list it, its owner first."""
    names_of: dict[str, dict[str, None]] = {ident: dict.fromkeys(entry.clusters) for ident, entry in entries.items()}
    for cluster in clusters:
        for ident in cluster.documents:
            if ident in names_of:
                names_of[ident][cluster.id] = None
    return tuple(
        entry if (names := tuple(names_of[ident])) == entry.clusters else entry.but(clusters=names)
        for ident, entry in entries.items()
    )


# --- the older shapes ------------------------------------------------------------------------------------------------


def _read_sections(top: Map, findings: Findings, *, names: tuple[str, ...] = SECTIONS) -> Content:
    return _collect((item for name in names for item in _section(top, name, findings)), findings)


def _read_flat(top: Items, findings: Findings) -> Content:
    return _collect(_items(top, findings), findings)


def _section(top: Map, name: str, findings: Findings) -> Iterator[Map]:
    """Yield the entries of a section, a list or a mapping; its name is the category of those without one."""
    section = top.get(name)
    if isinstance(section, Map):
        items = _by_id(section, findings)
    elif isinstance(section, Items):
        items = _items(section, findings)
    else:
        items = iter(())
        if section is not None:
            findings.error(top.at(name), "wrong-type", f"The section {quote(name)} is {describe(section)}.")
    for item in items:
        if name != "patterns" and not item.get("category"):
            item["category"] = name
        yield item


def _items(items: Items, findings: Findings) -> Iterator[Map]:
    for position, item in enumerate(items):
        if isinstance(item, Map):
            yield item
        elif item is not None:
            message = f"{quote(item)} is among the entries, but is not one."
            findings.warning(items.at(position), "stray-text", message, "Remove it, or make it an entry with a path.")


def _by_id(section: Map, findings: Findings) -> Iterator[Map]:
    for name, body in section.items():
        if not isinstance(body, Map):
            message = f"The entry {quote(name)} is {describe(body)}; it must be a mapping."
            findings.warning(section.at(name), "stray-text", message, "Remove it, or give it a path.")
            continue
        line = section.at(name)
        yield Map({"id": name, **body}, line=line, lines={"id": line, **body.lines})


def _flatten(item: Map) -> Map:
    """Return a JSON record with the fields of its `metadata` moved up; fields that exist already take precedence."""
    metadata = item.get("metadata")
    if not isinstance(metadata, Map):
        return item
    own = {name: value for name, value in item.items() if name != "metadata"}
    return Map({**metadata, **own}, line=item.line, lines={**metadata.lines, **item.lines})


def _collect(items: Iterator[Map], findings: Findings) -> Content:
    """Read entries, give repeated ids new names, and group the entries into clusters by category."""
    entries: dict[str, Entry] = {}
    for item in items:
        entry = read_entry(_without_sentences(_flatten(item), findings), findings)
        entry = entry and _with_unique_id(entry, entries, findings)
        if entry:
            entries[entry.id] = entry.but(clusters=(slug(entry.category) if entry.category.strip(". ") else UNSORTED,))
    members: dict[str, list[str]] = {}
    for entry in entries.values():
        members.setdefault(entry.clusters[0], []).append(entry.id)
    clusters = (Cluster(id=name, documents=tuple(ids)) for name, ids in members.items())
    return Content(entries=tuple(entries.values()), clusters=tuple(clusters))


def _with_unique_id(entry: Entry, entries: dict[str, Entry], findings: Findings) -> Entry | None:
    """Return the entry under a unique id, or None if its document is already listed."""
    first = entries.get(entry.id)
    if first is None:
        return entry
    if any(known.path == entry.path for known in entries.values()):
        message = f"The document {quote(entry.path)} is listed again; the entry on line {first.line} is used."
        findings.warning(entry.line, "repeated-document", message, "Remove one of the two.")
        return None
    name = free_name(id_from_path(entry.path), entries)
    message = f"The id {quote(entry.id)} repeats (first on line {first.line}); this document gets the id {quote(name)}."
    findings.warning(entry.line, "repeated-id", message, "Run `deia index migrate` to save the new ids.")
    return entry.but(id=name)


def _without_sentences(item: Map, findings: Findings) -> Map:
    """Return an entry without keys that are sentences, which an old generator wrote by mistake."""
    stray = [name for name in item if any(letter.isspace() for letter in name.strip())]
    for name in stray:
        message = f"{quote(name)} is a sentence instead of a field name; it is left out."
        findings.warning(item.at(name), "stray-text", message, "Remove it, or move it into the document.")
    kept = {name: value for name, value in item.items() if name not in stray}
    return Map(kept, line=item.line, lines={name: item.at(name) for name in kept}) if stray else item


def _has(value: Value, name: str, kind: type) -> bool:
    return isinstance(value, Map) and isinstance(value.get(name), kind)


def _is_sections(value: Value) -> bool:
    return isinstance(value, Map) and any(_has(value, name, Items) or _has(value, name, Map) for name in SECTIONS[:2])


def _is_flat(value: Value) -> bool:
    return isinstance(value, Items) and any(
        isinstance(item, Map) and ("path" in item or "id" in item) for item in value
    )


def _is_json_records(value: Value) -> bool:
    return (
        isinstance(value, Items)
        and _is_flat(value)
        and any(isinstance(item, Map) and {"content", "metadata"} & set(item) for item in value)
    )


PATTERNS = partial(_read_sections, names=SECTIONS[2:])
SHAPES = (
    Shape(name=V1, looks="`clusters:` by name (v1.0)", fits=_is_v1, read=_read_v1),
    Shape(name="sections", looks="sections `processes:`/`training:`", fits=_is_sections, read=_read_sections),
    Shape(
        name="patterns-list", looks="`patterns:` as a list", read=PATTERNS,
        fits=lambda value: _has(value, "patterns", Items),
    ),
    Shape(
        name="patterns-by-id", looks="`patterns:` by id", read=PATTERNS,
        fits=lambda value: _has(value, "patterns", Map),
    ),
    Shape(name="json-records", looks="a list with `content`/`metadata`", fits=_is_json_records, read=_read_flat),
    Shape(name="flat-list", looks="a flat list of entries", fits=_is_flat, read=_read_flat),
)  # fmt: skip
