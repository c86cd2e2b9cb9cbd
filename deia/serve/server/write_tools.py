"""The tools that write: saving and updating lessons, removing and restoring documents, feedback.

A document is overwritten only if the call names it, and its old text is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from deia import files
from deia.commons.index.load_commons import load_commons
from deia.commons.index.read_index import load_index
from deia.commons.layers.shadowing import refuse_weakening
from deia.commons.source_files import safe_files
from deia.commons.write import index_store
from deia.commons.write.add_lesson import Lesson, add_lesson, part_problem
from deia.commons.write.revise_lesson import revise_lesson
from deia.commons.write.trash import remove_document, restore_document
from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import events_folder
from deia.knowledge import Entry
from deia.search.find_document import look_up
from deia.search.rendering.columns import plain
from deia.serve.server.desk import SEARCH_TOOL, Desk, Reply
from deia.serve.server.library_tools import PERSON, index_source
from deia.text import counted, shorten

LAST = "last"  # the id that stands for the last answer or firing
EVENT_ID = re.compile("[0-9a-f]+-[0-9a-f]+-[0-9a-f]+")
MOST_QUOTED = 80  # characters of a summary
CHANGE_SUMMARY = "pass summary to save_lesson, with update, title and text"
CHANGED = ("title", "summary", "urgency", "tags", "keywords")  # fields of a document that an update may change


def save(
    desk: Desk, *, text: str, update: str = "", tags: Sequence[str] = (), keywords: Sequence[str] = (),
    trigger: bool = False, **fields: str,
) -> Reply:  # fmt: skip
    """Save a new lesson, or replace the text of the document that `update` names; `fields` are those of a lesson."""
    root = desk.writable
    if not text.strip():
        raise QueryError("save_lesson: text is empty.", fix="Say what went wrong, why, and what to do instead.")
    if update:
        return _update(desk, root, update, text, trigger=trigger, tags=tags, keywords=keywords, **fields)
    return _add(desk, root, text, tags=tags, keywords=keywords, trigger=trigger, **fields)


def _add(
    desk: Desk, root: str, text: str, *, tags: Sequence[str], keywords: Sequence[str], trigger: bool, file: str = "",
    **fields: str,
) -> Reply:  # fmt: skip
    folder = fields.get("category", "")
    if file and (problem := part_problem(file.removesuffix(".md"))):
        raise QueryError(f"save_lesson: the file {file[:100]!r} {problem}", fix="Name it with letters, as queue.md.")
    path = "/".join(filter(None, ("bok", folder.strip("/"), file))) if file else ""
    lesson = add_lesson(
        root, text=text, today=desk.today, tags=tuple(tags), keywords=tuple(keywords), path=path,
        draft=_draft(text) if trigger else None, **{"title": "", **fields},
    )  # fmt: skip
    desk.librarian.log("index", {"actor": "mcp", "change": f"added {lesson.entry.id}"})
    avoided = f"It replaces nothing: {lesson.avoided} stays as it is." if lesson.avoided else ""
    advice = " ".join(filter(None, (avoided, _trigger_advice(lesson) if trigger else "")))
    return Reply(
        fields={"id": lesson.entry.id, "paths": list(lesson.paths), "updated": False, "next": advice},
        text=f"Saved {lesson.entry.id}: {', '.join(lesson.paths)}. {advice}".strip(),
        changed=True,
    )


def _draft(text: str) -> Callable[[Entry], tuple[str, str] | None]:
    from deia.evaluate.trigger_drafting import draft_for  # noqa: PLC0415 - imports the compiler; few lessons need it

    return lambda entry: draft_for(entry, text, action="note")  # a person may make it stricter


def _trigger_advice(lesson: Lesson) -> str:
    if any(path.startswith("triggers/") for path in lesson.paths):
        return f"A person should look over the drafted trigger: deia trigger test {lesson.entry.id}"
    return "No trigger was drafted: neither the title nor the text names a mistake, such as: Never `COMMAND`."


def _update(desk: Desk, root: str, ident: str, text: str, *, trigger: bool, **fields: Json) -> Reply:
    if trigger:
        raise QueryError("save_lesson: a trigger can be drafted only for a new lesson.", fix="Omit trigger.")
    refuse_weakening(root, ident)
    changes = {name: fields[name] for name in CHANGED if name in fields}
    lesson = revise_lesson(root, ident, text=text, today=desk.today, stamp=desk.stamp, changes=changes)
    desk.librarian.log("index", {"actor": "mcp", "change": f"updated {ident}"})
    *written, kept = lesson.paths
    summary = shorten(lesson.kept_summary, MOST_QUOTED)
    notice = f' The summary was kept: "{summary}". To change it, {CHANGE_SUMMARY}.' if summary else ""
    return Reply(
        fields={"id": ident, "paths": written, "updated": True, "next": f"The old text is in {kept}.{notice}"},
        text=f"Updated {ident}; the old text is in {kept}.{notice}",
        changed=True,
    )


def remove(desk: Desk, *, id: str, undo: bool = False) -> Reply:  # noqa: A002 - as the tool calls it
    """Move a document to the trash, or restore it."""
    if undo:
        removed = restore_document(desk.writable, id, today=desk.today)
        text = f"{id} is restored."
    else:
        removed = remove_document(desk.writable, id, stamp=desk.stamp, today=desk.today)
        references = f" It is still mentioned in {', '.join(removed.named_by)}." if removed.named_by else ""
        text = f"{id} is in {removed.trash}; call this with undo to restore it.{references}"
    desk.librarian.log("index", {"actor": "mcp", "change": f"{'restored' if undo else 'removed'} {id}"})
    fields: dict[str, Json] = {
        "id": id,
        "removed": not undo,
        "trash": removed.trash,
        "named_by": list(removed.named_by),
    }
    return Reply(fields=fields, text=text, changed=True)


def feedback(desk: Desk, *, id: str, verdict: str, note: str = "") -> Reply:  # noqa: A002 - as the tool calls it
    """Record whether a document, a trigger or an event was useful."""
    ident = id.strip()
    if not ident or len(ident) > 200:
        raise QueryError("feedback: id is empty or too long.", fix="Pass the id of a document, a trigger or an event.")
    ident = _last_event(desk) if ident == LAST else ident
    catalog = desk.librarian.open_catalog()
    if not EVENT_ID.fullmatch(ident) and catalog.document(ident) is None and not _is_trigger(desk, ident):
        look_up(catalog, ident, root=desk.root, folder=desk.folder, tool=SEARCH_TOOL)
    recorded = bool(desk.librarian.log("feedback", {"of": ident, "verdict": verdict, "note": note}))
    lost = "" if recorded else " Telemetry is off, so it was not recorded."
    return Reply(fields={"of": ident, "recorded": recorded}, text=f"{verdict}: {plain(ident)}.{lost}")


def _is_trigger(desk: Desk, ident: str) -> bool:
    return any(trigger.id == ident for trigger in desk.librarian.open_artefact().triggers())


def _last_event(desk: Desk) -> str:
    """Return the id of the last answer or firing in the ledger."""
    from deia.ledger.feedback import find_event  # noqa: PLC0415 - imports DuckDB, which only the id `last` needs
    from deia.ledger.warehouse import read_through  # noqa: PLC0415 - likewise

    folder = events_folder(desk.root, os.environ)
    try:
        return read_through([folder], lambda connection: find_event(connection, LAST)).id
    except QueryError as error:
        fix = "Pass the id of a document, a trigger or an event."
        raise QueryError("feedback: the log contains no answer and no firing yet", fix=fix) from error


def is_of_index(root: str, path: str) -> bool:
    """Return whether a path is a folder of the commons whose documents the index lists."""
    place = safe_files.resolve(root, path)
    return bool(place) and os.path.isdir(place) and f"{safe_files.normalise(path)}/".startswith("bok/")


def add_folder(desk: Desk, *, path: str) -> Reply:
    """Add the documents of a folder to the index, as far as it does not list them yet.

    A folder that is not below `bok/` is taken into the library as a source; raise QueryError if it is outside the
    project, whose root a relative path is from.
    """
    root = desk.writable
    if not is_of_index(root, path):
        place = files.real(path if files.is_absolute(files.forward(path)) else f"{root}/{path}")
        if not f"{place}/".startswith(f"{files.real(root).rstrip('/')}/"):
            raise QueryError(f"only folders of the project are taken in, which is {root}", fix=PERSON)
        taken = index_source(desk, source=place)
        return taken.but(fields={"added": [], "total": len(load_index(root).entries), **taken.fields})
    before = {entry.id for entry in load_index(root).entries}
    refuse_weakening(root, *(entry.id for entry in load_commons(root).entries if entry.id not in before))
    index_store.build(root, write=True, today=desk.today)
    entries = load_index(root).entries
    added = [entry.id for entry in entries if entry.id not in before]
    change = f"{counted(len(added), 'document')} added"
    desk.librarian.log("index", {"actor": "mcp", "change": change})
    return Reply(fields={"added": added, "total": len(entries)}, text=f"{change}.", changed=True)
