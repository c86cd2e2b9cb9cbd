"""Describe a note that no index lists: its own fields, and what its text says by the conventions of its kind.

Fields are read under the names that deia uses, whatever their author called them.
"""

from __future__ import annotations

from deia.commons.notes.conventions import STATUSES, URGENCY_WORDS, Kind, field_of, kind_of
from deia.commons.notes.note_text import NoteText, first_paragraph, read_note, summary_callout
from deia.commons.source_files import fields
from deia.commons.source_files.front_matter import first_heading, title_of
from deia.commons.source_files.yaml_reader import Items, Map, Value
from deia.knowledge import Document

DAYS = ("valid_until", "review_after")
TEXTS = (
    "title", "summary", "category", "action", "why_relevant", "status", "created", "updated", "verified",
    "superseded_by", *DAYS,
)  # fmt: skip
LISTS = ("keywords", "audience", "tags", "related_docs", "quick_tips")
URGENCY, PLATFORM = "urgency", "platform"
KNOWN = frozenset(("id", "path", URGENCY, PLATFORM, *TEXTS, *LISTS))
SEVERITY = "severity"  # an urgency even if its word is unknown, so that the word is reported


def usual_names(source: Map) -> Map:
    """Return the fields under the names that deia uses; a field that already has its name takes precedence.

    Lists of two names, such as `keywords` and `aliases`, are joined. What has no name here stays as it was written.
    """
    result = Map(line=source.line)
    for name, value in sorted(source.items(), key=lambda item: field_of(item[0]) != item[0]):
        field, read = _read(name, value)
        if field in result and field in LISTS and field != name:
            result[field] = _joined(result[field], read)
        else:
            target = name if field in result else field
            result[target] = read if target == field else value
            result.lines[target] = source.at(name)
    return result


def _read(name: str, value: Value) -> tuple[str, Value]:
    """Return the field that a name stands for, and its value there."""
    field = field_of(name)
    if field not in KNOWN:
        return name, value
    if field == URGENCY and not isinstance(value, Map | Items):
        word = URGENCY_WORDS.get(fields.as_text(value).lower())
        known = word or name.lower() in (URGENCY, SEVERITY)
        return (field, word or value) if known else (name, value)
    return field, _bare_tags(value) if field == "tags" else value


def _bare_tags(value: Value) -> Value:
    """Return tags without the `#` before them; `#a #b` are two."""
    if isinstance(value, str) and "#" in value:
        value = Items(fields.split_words(value.replace(" #", ", #")))
    return Items(map(_bare, value), line=value.line, lines=value.lines) if isinstance(value, Items) else value


def _bare(value: Value) -> Value:
    return value.strip().lstrip("#") if isinstance(value, str) else value


def _joined(first: Value, second: Value) -> Value:
    """Return two lists as one, each of which may be a text with commas."""
    if isinstance(first, Map) or isinstance(second, Map):
        return first
    parts = [part for value in (first, second) for part in (value if isinstance(value, Items) else _split(value))]
    return Items(dict.fromkeys(part for part in parts if not isinstance(part, Map | Items)))


def _split(value: Value) -> list[str]:
    return fields.split_words(fields.as_text(value)) if not isinstance(value, Map | Items) else []


def describe(document: Document) -> Map:
    """Return the fields of a document and, as far as it has none of them, what its text says."""
    note = read_note(document.text)
    kind = kind_of(document.path, note.sections)
    source = document.metadata if isinstance(document.metadata, Map) else Map()
    described = usual_names(_with_fields(usual_names(source), note, document.first_line))
    texts = {
        "title": _title(document, source, kind),
        "summary": summary_callout(document.text) or _section(note, kind.summary) or first_paragraph(note.prose),
        "status": _section(note, kind.status),
        "action": _section(note, kind.action),
    }
    for name, text in texts.items():
        if text and not described.get(name):
            described[name] = text
    if status := described.get("status"):
        described["status"] = _status(status.strip()) if isinstance(status, str) else ""
    if not isinstance(described.get("tags"), Map):
        described["tags"] = _with_tags(described, (*note.tags, *kind.tags))
    return described


def _with_fields(source: Map, note: NoteText, line: int) -> Map:
    """Return the metadata with the fields that stand in the text, which count less."""
    for name, value in note.fields.items():
        if name not in source:
            source[name] = value
            source.lines[name] = line
    return source


def _title(document: Document, source: Map, kind: Kind) -> str:
    """Return a title for a note that only bears the name of its file, such as CLAUDE.md."""
    file = document.path.rpartition("/")[2]
    written = title_of(source) or first_heading(document.text)
    if not kind.title or (written and written.lower() != file.lower()):
        return ""
    folder = document.path.rpartition("/")[0].removeprefix(f"bok/{kind.bok}").strip("/")
    return f"{kind.title} in {folder}" if folder and not folder.startswith(".") else kind.title


def _section(note: NoteText, headings: tuple[str, ...]) -> str:
    """Return the first paragraph of the first of some sections that has one."""
    return next(filter(None, (first_paragraph(note.sections.get(name, "")) for name in headings)), "")


def _status(text: str) -> str:
    """Return the word of a status that is known, such as `superseded` for "Superseded by ADR-5", or the text."""
    first = text.partition(" ")[0].strip(".,;:*_()[]").lower()
    return first if first in STATUSES else text


def _with_tags(described: Map, more: tuple[str, ...]) -> Items:
    written = described.get("tags")
    own = written if isinstance(written, Items) else fields.split_words(fields.as_text(written))  # type: ignore[arg-type]
    tags = dict.fromkeys([*own, *more]) if all(isinstance(tag, str) for tag in own) else [*own, *more]
    return Items(tags, line=described.at("tags"), lines=written.lines if isinstance(written, Items) else ())
