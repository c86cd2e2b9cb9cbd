"""Describe a note that no index lists: its own fields, and what its text says by the conventions of its kind."""

from __future__ import annotations

from deia.commons.notes.conventions import STATUSES, Kind, kind_of
from deia.commons.notes.field_names import usual_names
from deia.commons.notes.note_text import NoteText, first_paragraph, read_note, summary_callout
from deia.commons.source_files import fields
from deia.commons.source_files.front_matter import first_heading, title_of
from deia.commons.source_files.yaml_reader import Items, Map
from deia.knowledge import Document


def describe(document: Document) -> Map:
    """Return the fields of a document and, as far as it has none of them, what its text says."""
    note = read_note(document.text)
    kind = kind_of(document.path, note.sections)
    source = document.metadata if isinstance(document.metadata, Map) else Map()
    described = usual_names(_with_fields(usual_names(source), note, document.first_line))
    texts = {
        "title": _title(document, source, kind),
        "summary": _summary(note, kind, document.text),
        "status": _section(note, kind.status),
        "action": _section(note, kind.action),
    }
    for name, text in texts.items():
        if text and not described.get(name):
            described[name] = text
    if described.get("status"):
        described["status"] = _status(fields.as_text(_scalar(described["status"])))
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


def _summary(note: NoteText, kind: Kind, text: str) -> str:
    return summary_callout(text) or _section(note, kind.summary) or first_paragraph(note.prose)


def _section(note: NoteText, headings: tuple[str, ...]) -> str:
    """Return the first paragraph of the first of some sections that has one."""
    return next(filter(None, (first_paragraph(note.sections.get(name, "")) for name in headings)), "")


def _status(text: str) -> str:
    """Return the word of a status that is known, such as `superseded` for "Superseded by ADR-5", or the text."""
    first = text.partition(" ")[0].strip(".,;:*_()[]").lower()
    return first if first in STATUSES else text


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else ""


def _with_tags(described: Map, more: tuple[str, ...]) -> Items:
    written = described.get("tags")
    own = written if isinstance(written, Items) else fields.split_words(fields.as_text(written))  # type: ignore[arg-type]
    items = Items(line=described.at("tags"))
    items.extend(dict.fromkeys([*own, *more]) if all(isinstance(tag, str) for tag in own) else [*own, *more])
    items.lines = written.lines if isinstance(written, Items) else []
    return items
