"""The tools that write: saving and changing lessons, taking documents out and bringing them back, feedback.

Nothing is overwritten unless the document is named that is to be changed, and then its old text is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from deia.commons.index.read_index import load_index
from deia.commons.source_files import safe_files
from deia.commons.write import index_store
from deia.commons.write.add_lesson import Lesson, add_lesson
from deia.commons.write.revise_lesson import revise_lesson
from deia.commons.write.trash import remove_document, restore_document
from deia.errors import CommonsError, QueryError
from deia.folders import events_folder
from deia.knowledge import Entry
from deia.search.find_document import look_up
from deia.search.rendering.columns import plain
from deia.serve.server.desk import SEARCHES, Desk, Reply
from deia.text import counted

if TYPE_CHECKING:
    Arguments = Mapping[str, Any]

LAST = "last"  # the last answer or firing
MOST_PARTS = 4  # of a category
REVISED = ("title", "summary", "urgency", "tags", "keywords")


def save(desk: Desk, arguments: Arguments) -> Reply:
    """Write a lesson down, or put a new text into the one that `update` names."""
    root = desk.writable
    if not arguments["text"].strip():
        raise QueryError("save_lesson: text is empty.", fix="Say what went wrong, why, and what to do instead.")
    if arguments.get("update"):
        return _update(desk, root, arguments)
    _refuse_odd_category(arguments.get("category", ""))
    lesson = add_lesson(
        root,
        title=arguments["title"],
        text=arguments["text"],
        today=desk.today,
        draft=_draft(arguments["text"]) if arguments.get("trigger") else None,
        tags=tuple(arguments.get("tags", ())),
        keywords=tuple(arguments.get("keywords", ())),
        **{name: arguments[name] for name in ("summary", "platform", "urgency", "category") if name in arguments},
    )
    desk.librarian.log("index", {"actor": "mcp", "change": f"added {lesson.entry.id}"})
    drafted = _said_of_trigger(lesson) if arguments.get("trigger") else ""
    fields = {"id": lesson.entry.id, "paths": list(lesson.paths), "updated": False, "next": drafted}
    text = f"Saved {lesson.entry.id}: {', '.join(lesson.paths)}. {drafted}".strip()
    return Reply(fields=fields, text=text, changed=True)


def _refuse_odd_category(category: str) -> None:
    """Refuse a category that would not become the folder that it names.

    Raises:
        QueryError: it leaves bok/, is hidden there, or has too many parts.
    """
    parts = category.strip().replace("\\", "/").rstrip("/").split("/") if category.strip() else []
    why = next((why for part in parts if (why := _oddness(part))), "")
    if len(parts) > MOST_PARTS:
        why = f"has {len(parts)} parts; at most {MOST_PARTS} are taken"
    if why:
        fix = "Name a folder below bok/, such as patterns or platforms/netlify; suggest_location names one."
        raise QueryError(f"save_lesson: category {category[:100]!r} {why}", fix=fix)


def _oddness(part: str) -> str:
    if part in ("", ".."):
        return "leaves bok/"
    if part.startswith("."):
        return f"has a part that is hidden: {part[:40]}"
    return "" if any(map(str.isalnum, part)) else f"has a part without a letter: {part[:40]}"


def _draft(text: str) -> Callable[[Entry], tuple[str, str] | None]:
    from deia.evaluate.trigger_drafting import draft_for  # noqa: PLC0415 - it imports the compiler, which a server starts without

    return lambda entry: draft_for(entry, text)


def _said_of_trigger(lesson: Lesson) -> str:
    if any(path.startswith("triggers/") for path in lesson.paths):
        return f"A person should look over the drafted trigger: deia triggers test {lesson.entry.id}"
    return "No trigger was drafted: neither title nor text says what is not to be done, such as: Never `COMMAND`."


def _update(desk: Desk, root: str, arguments: Arguments) -> Reply:
    ident = arguments["update"]
    if arguments.get("trigger"):
        raise QueryError("save_lesson: a trigger is drafted for a new lesson only.", fix="Leave trigger out.")
    changes = {name: arguments[name] for name in REVISED if arguments.get(name)}
    lesson = revise_lesson(
        root, ident, text=arguments["text"], today=desk.today, stamp=desk.stamp, changes=changes
    )  # fmt: skip
    desk.librarian.log("index", {"actor": "mcp", "change": f"updated {ident}"})
    *written, kept = lesson.paths
    fields = {"id": ident, "paths": written, "updated": True, "next": f"The old text is in {kept}."}
    return Reply(fields=fields, text=f"Updated {ident}; the old text is in {kept}.", changed=True)


def remove(desk: Desk, arguments: Arguments) -> Reply:
    """Move a document into the trash, or bring it back."""
    root, ident, undo = desk.writable, arguments["id"], bool(arguments.get("undo"))
    done = (
        restore_document(root, ident, today=desk.today) if undo
        else remove_document(root, ident, stamp=desk.stamp, today=desk.today)
    )  # fmt: skip
    desk.librarian.log("index", {"actor": "mcp", "change": f"{'restored' if undo else 'removed'} {ident}"})
    fields = {"id": ident, "removed": not undo, "trash": done.trash, "named_by": list(done.named_by)}
    left = f" Still named by {', '.join(done.named_by)}." if done.named_by else ""
    text = f"{ident} is back." if undo else f"{ident} is in {done.trash}; undo brings it back.{left}"
    return Reply(fields=fields, text=text, changed=True)


def judge(desk: Desk, arguments: Arguments) -> Reply:
    """Record whether a document, a trigger or an event was of use."""
    ident = arguments["id"].strip()
    if not ident or len(ident) > 200:
        raise QueryError("feedback: id names nothing.", fix="Give a document's, a trigger's or an event's id.")
    ident = _last(desk) if ident == LAST else ident
    catalog = desk.librarian.open_catalog()
    if not _is_event(ident) and catalog.document(ident) is None and not _is_trigger(desk, ident):
        look_up(catalog, ident, root=desk.root, folder=desk.folder, tool=SEARCHES)
    fields = {"of": ident, "verdict": arguments["verdict"], "note": arguments.get("note", "")}
    recorded = bool(desk.librarian.log("feedback", fields))
    why = "" if recorded else " Telemetry is off, so it was not kept."
    return Reply(fields={"of": ident, "recorded": recorded}, text=f"{arguments['verdict']}: {plain(ident)}.{why}")


def _last(desk: Desk) -> str:
    """Give the id of the last answer or firing that the ledger has.

    Raises:
        QueryError: it has none.
    """
    from deia.ledger.feedback import find_event  # noqa: PLC0415 - DuckDB, and only who writes `last` needs it
    from deia.ledger.warehouse import read_through  # noqa: PLC0415

    folder = events_folder(desk.root, os.environ)
    try:
        return read_through([folder], lambda connection: find_event(connection, LAST)).id
    except QueryError as error:
        fix = "Give a document's, a trigger's or an event's id."
        raise QueryError("feedback: the ledger has no answer and no firing yet", fix=fix) from error


def _is_event(ident: str) -> bool:
    """Say whether an id has the form of the ledger's: three hexadecimal numbers."""
    parts = ident.split("-")
    return len(parts) == 3 and all(part and set(part) <= set("0123456789abcdef") for part in parts)


def _is_trigger(desk: Desk, ident: str) -> bool:
    artefact = desk.librarian.open_artefact()
    return any(artefact.trigger(number).id == ident for number in range(artefact.meta.triggers))


def enter_folder(desk: Desk, arguments: Arguments) -> Reply:
    """Enter the documents of a folder that the index does not list yet."""
    root, path = desk.writable, arguments["path"]
    place = safe_files.resolve(root, path)
    if not place or not os.path.isdir(place) or not safe_files.normalise(path).startswith("bok"):
        fix = "Put the documents into bok/ first; nothing outside it is read."
        raise CommonsError(f"{path} is no folder below bok/ of the commons.", fix=fix)
    before = {entry.id for entry in load_index(root).entries}
    index_store.build(root, write=True, today=desk.today)
    entries = load_index(root).entries
    added = [entry.id for entry in entries if entry.id not in before]
    desk.librarian.log("index", {"actor": "mcp", "change": f"entered {counted(len(added), 'document')}"})
    return Reply(
        fields={"added": added, "total": len(entries)}, text=f"{counted(len(added), 'document')} entered.", changed=True
    )
