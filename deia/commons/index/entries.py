"""Make an `Entry` from the fields of an index or from a document's own metadata."""

from __future__ import annotations

from typing import Any

from deia.commons.notes.describe import DAYS, KNOWN, LISTS, TEXTS, describe, usual_names
from deia.commons.notes.note_text import first_paragraph
from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.slugs import id_from_path
from deia.commons.source_files.yaml_reader import Map, plain
from deia.knowledge import Document, Entry
from deia.records import URGENCIES

READERS = {
    **dict.fromkeys(TEXTS, fields.text),
    **dict.fromkeys(LISTS, fields.words),
    **dict.fromkeys(DAYS, fields.day),
    "quick_tips": fields.texts,
}
# Names of these fields in older shapes of the index (FORMATS, section 1), and some that people write instead.
OLD_NAMES = {
    "date": "created",
    "severity": "urgency",
    "platforms": "platform",  # as an answer calls them
    "audiences": "audience",
    "keyword": "keywords",
    "tag": "tags",
}
ID_LENGTH = 200


def read_entry(source: Map, findings: Findings, *, clusters: tuple[str, ...] = ()) -> Entry | None:
    """Read one entry of an index, listed by `clusters`; return None if it has no path inside the commons."""
    source = rename_old_fields(source)
    path = fields.text(source, "path", findings)
    if not path:
        named = quote(source.get("id", source.get("title", "")))
        findings.error(source.line, "missing-field", f"The entry {named} has no `path`.", "Add the document's path.")
        return None
    if safe_files.leaves_commons(path):
        message = f"The path {quote(path)} leads out of the commons."
        findings.error(source.at("path"), "path-leaves-commons", message, "Write it relative to the index.")
        return None
    path = safe_files.normalise(path)
    return Entry(
        id=_id(source, path, findings),
        path=path,
        clusters=clusters,
        line=source.line,
        **{"title": "", **_read_fields(source, findings)},
    )


def derived_entry(document: Document, findings: Findings, *, is_listed: bool = False) -> Entry:
    """Return the entry of a document by its metadata and text.

    If the index does not list it, its text is also read by the conventions of notes.
    """
    metadata = document.metadata if isinstance(document.metadata, Map) else Map()
    source = usual_names(metadata) if is_listed else describe(document)
    described = _read_fields(source, findings)
    described["title"] = described.get("title") or document.title
    described["summary"] = described.get("summary") or first_paragraph(document.text)
    written = source.get("id")
    ident = (
        written.strip() if isinstance(written, str) and _is_valid_id(written.strip()) else id_from_path(document.path)
    )
    return Entry(id=ident, path=document.path, **described)


def complete_entry(entry: Entry, derived: Entry) -> Entry:
    """Return an entry with its empty fields filled from its document; fields of the entry take precedence."""
    missing = {
        name: getattr(derived, name)
        for name in (*TEXTS, *LISTS, "urgency", "platforms")
        if not getattr(entry, name) and getattr(derived, name)
    }
    extra = {**derived.extra, **entry.extra} if derived.extra else entry.extra
    return entry.but(**missing, extra=extra) if missing or extra != entry.extra else entry


def rename_old_fields(source: Map) -> Map:
    """Return the fields under their v1.0 names; a field that already has that name takes precedence."""
    if not any(name in source for name in OLD_NAMES):
        return source
    renamed = Map(line=source.line)
    for name, value in source.items():
        new = OLD_NAMES.get(name, name)
        target = name if new != name and new in source else new
        renamed[target] = value
        renamed.lines[target] = source.at(name)
    return renamed


def _read_fields(source: Map, findings: Findings) -> dict[str, Any]:
    """Return the fields that somebody wrote."""
    described: dict[str, Any] = {name: READERS[name](source, name, findings) for name in source if name in READERS}
    if "urgency" in source:
        described["urgency"] = fields.choice(source, "urgency", URGENCIES, findings, default="")
    if "platform" in source:
        described["platforms"] = fields.words(source, "platform", findings)
    extra = {name: plain(value) for name, value in source.items() if name not in KNOWN}
    return {**described, "extra": extra} if extra else described


def _id(source: Map, path: str, findings: Findings) -> str:
    written = fields.text(source, "id", findings)
    if _is_valid_id(written):
        return written
    default = id_from_path(path)
    message = f"The id {quote(written)} cannot be used." if written else "The entry has no `id`."
    fix = f"Write `id: {default}`, which is used until then."
    findings.error(source.at("id"), "bad-id" if written else "missing-field", message, fix)
    return default


def _is_valid_id(ident: str) -> bool:
    return 0 < len(ident) <= ID_LENGTH and ident.isprintable() and not any(letter.isspace() for letter in ident)
