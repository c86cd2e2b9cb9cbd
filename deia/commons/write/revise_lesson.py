"""Change an existing lesson: its text, and the fields of its entry and of its own metadata.

The old file is copied to the trash first. Only the project's own documents can be changed, and never their ids or
paths, because triggers and people refer to them. A summary and a heading that nobody wrote follow the text and title.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from deia.commons.index.documents import DOCUMENT_BYTES, as_document
from deia.commons.index.entries import derived_entry
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.index.read_index import find_index
from deia.commons.notes.describe import usual_names
from deia.commons.notes.note_text import first_paragraph
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.front_matter import CODE, FENCE, first_heading, metadata_end, split, toml_end
from deia.commons.source_files.outline import outline_lines, without_outline
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.source_files.yaml_blocks import RoundTrip
from deia.commons.source_files.yaml_reader import Map, read_mapping
from deia.commons.write import index_store
from deia.commons.write.add_lesson import Lesson
from deia.commons.write.trash import LIST, change_listings, is_about, keep_change, keep_copy, own_entry
from deia.fast_json import Json
from deia.knowledge import Document, Entry
from deia.problems import CommonsError
from deia.records import URGENCIES
from deia.text import one_line


@with_write_lock
def revise_lesson(
    root: str, ident: str, *, text: str | None, today: str, stamp: str, changes: Mapping[str, Json] | None = None
) -> Lesson:
    """Replace the text of a document; `changes` are new values for its entry, such as title, summary or tags.

    If `text` is None, the old one stays; raise CommonsError if it is empty, or one of several values.
    """
    if text is not None and not text.strip():
        raise CommonsError("The new text is empty.", fix="Say what went wrong, why, and what to do instead.")
    commons = load_commons(root)
    entry = own_entry(commons, ident)
    new_values = _checked_values(changes or {})
    old = safe_files.read_text(root, entry.path, limit=DOCUMENT_BYTES)
    if not old.readable:
        raise CommonsError(f"{entry.path} cannot be read.", old.problems)
    title = str(new_values.get("title") or entry.title)
    document = as_document(split(old.text, path=entry.path), entry.path)
    body = _with_heading(document.text, entry.title, title) if text is None else text
    written = _written_summaries(commons, entry, document)
    if "summary" not in new_values and len(written) == 1:
        after = document.but(title=title, text=body)
        new_values |= _derived_again(written[0], document.but(title=entry.title), after)
    fields = {**new_values, "updated": today}
    revised = revised_text(old.text, body, fields)
    if _own_id(revised, entry.path) != _own_id(old.text, entry.path):
        raise CommonsError("The new text gives the document another id.", fix="Omit the line that names an id.")
    copy = keep_copy(root, ident, entry.path, stamp=stamp)
    safe_files.write_text(root, entry.path, revised)
    listed = describing_clusters(commons.index.source, ident)
    if listed:
        change = partial(_update_entries, ident=ident, fields=fields)
        after_change = index_store.rewrite(root, lambda index: change_listings(index, listed, change), today=today)
        keep_change(root, copy, after_change)
    paths = (entry.path, *((find_index(root),) if listed else ()), copy)
    is_kept = text is not None and bool(written) and "summary" not in new_values
    return Lesson(entry=entry.but(updated=today), paths=paths, kept_summary=entry.summary if is_kept else "")


def _checked_values(changes: Mapping[str, Json]) -> dict[str, Json]:
    """Return the new values that are not empty, each on one line; raise CommonsError if one cannot be used."""
    for name, value in changes.items():
        if isinstance(value, list) and "" in map(one_line, map(str, value)):
            raise CommonsError(f"One of the {name} is empty.", fix="Leave it out, or write a word.")
    values = {name: _to_plain_text(value) for name, value in changes.items() if value}
    if values.get("urgency", URGENCIES[0]) not in URGENCIES:
        raise CommonsError(f"The urgency {values['urgency']!r} is unknown.", fix=f"Use one of {', '.join(URGENCIES)}.")
    return values


# --- what nobody wrote follows the text ---


def _written_summaries(commons: Commons, entry: Entry, document: Document) -> list[str]:
    """Return the summaries that stand in the index and in the metadata; without any, the text is read each time."""
    listed = [known.summary for known in commons.index.entries if known.id == entry.id]
    own = usual_names(document.metadata).get("summary") if isinstance(document.metadata, Map) else ""
    return [*dict.fromkeys(filter(None, map(one_line, [*listed, own if isinstance(own, str) else ""])))]


def _derived_again(written: str, old: Document, new: Document) -> dict[str, Json]:
    """Return the summary that a new text and title give if the old ones gave what is written; else a person wrote it.

    What stands above an outline was given as a summary, so it only looks as if it were taken from the text.
    """
    if not outline_lines(old.text):
        for before, after in zip(_summaries_of(old), _summaries_of(new), strict=True):
            if before == written:
                return {"summary": after or new.title}
    if written != old.title:
        return {}
    return {"summary": one_line(first_paragraph(without_outline(new.text))) or new.title}


def _summaries_of(document: Document) -> tuple[str, str]:
    """Return what `add_lesson` takes for the summary of a text, and what an index takes for that of a note."""
    bare = document.but(metadata=Map())
    return one_line(first_paragraph(bare.text)), one_line(derived_entry(bare, Findings(bare.path)).summary)


def _with_heading(body: str, old: str, new: str) -> str:
    """Return a text that begins with the old title as its heading with the new one there."""
    first, rest_begins, rest = body.lstrip().partition("\n")
    is_title = new != old and first.startswith("# ") and first_heading(first) == old
    return f"# {new}{rest_begins}{rest}" if is_title else body


def _own_id(text: str, path: str) -> str:
    """Return the id that a document with this text has where no index lists it."""
    return derived_entry(as_document(split(text, path=path), path), Findings(path)).id


def _to_plain_text(value: Json) -> Json:
    if isinstance(value, str):
        return one_line(value)
    return [_to_plain_text(item) for item in value] if isinstance(value, list | tuple) else value


def revised_text(old: str, text: str, fields: Mapping[str, Json]) -> str:
    """Return the file's metadata, with the fields changed that it has, above the new text."""
    ends = "\r\n" if "\r\n" in old else "\n"
    lines = with_yaml(old.replace("\r\n", "\n")).split("\n")
    end = metadata_end(lines)
    head = _with_fields("\n".join(lines[1:end]), fields) if end else ""
    title = str(fields.get("title", "")) or _heading(lines[end + 1 :] if end else lines)
    body = text.strip().replace("\r\n", "\n")
    if title and not body.startswith("# ") and _heading(body.split("\n")) != title:
        body = f"# {title}\n\n{body}"
    front = f"{FENCE}\n{head.rstrip()}\n{FENCE}\n\n" if end else ""
    return f"{front}{body}\n".replace("\n", ends)


def with_yaml(text: str) -> str:
    """Return a document whose metadata is TOML with the same as YAML, which is what deia can change.

    Raise CommonsError if that TOML cannot be read: it would be lost.
    """
    if not toml_end(text.split("\n")):
        return text
    front = split(text, path="")
    if front.problems:
        raise CommonsError(front.problems[0].found, fix=front.problems[0].fix)
    return f"{FENCE}\n{yaml_blocks.to_yaml(front.metadata) if front.metadata else ''}{FENCE}\n{front.body}"


def _heading(lines: Sequence[str]) -> str:
    """Return the first heading in lines below the metadata and above all code, or ""."""
    begin = next((number for number, line in enumerate(lines) if line.lstrip().startswith(CODE)), len(lines))
    return next((line[2:].strip() for line in lines[:begin] if line.startswith("# ")), "")


def _with_fields(head: str, fields: Mapping[str, Json]) -> str:
    top = read_mapping(head)
    for name, value in fields.items():
        if name in top:
            head = yaml_blocks.set_value(head, (name,), value)
    return head


def describing_clusters(source: Mapping[str, Json], ident: str) -> list[str]:
    """Return the clusters in which the index describes a document, rather than only listing its id."""
    clusters = source.get("clusters")
    bodies = clusters.items() if isinstance(clusters, dict) else ()
    return [
        str(name) for name, body in bodies
        if isinstance(body, dict)
        and any(isinstance(item, dict) and is_about(item, ident) for item in body.get(LIST) or ())
    ]  # fmt: skip


def _update_entries(documents: RoundTrip, ident: str, fields: Mapping[str, Json]) -> RoundTrip:
    for item in documents:
        if isinstance(item, dict) and is_about(item, ident):
            for name, value in fields.items():
                item[name] = yaml_blocks.style(value)
    return documents
