"""The tools that write: saving and changing lessons, taking documents out and bringing them back, feedback.

Nothing is overwritten unless the document is named that is to be changed, and then its old text is kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from deia.commons import reading, store
from deia.commons.author import add_lesson
from deia.commons.index import load_index
from deia.commons.revising import revise_lesson
from deia.commons.trash import remove_document, restore_document
from deia.errors import CommonsError, QueryError
from deia.search.columns import plain
from deia.serve.lookup import look_up
from deia.serve.server.desk import Desk, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    Arguments = Mapping[str, Any]

REVISED = ("title", "summary", "urgency", "tags", "keywords")


def save(desk: Desk, arguments: Arguments) -> Reply:
    """Write a lesson down, or put a new text into the one that `update` names."""
    root = desk.writable
    if not arguments["text"].strip():
        raise QueryError("save_lesson: text is empty.", fix="Say what went wrong, why, and what to do instead.")
    if arguments.get("update"):
        return _update(desk, root, arguments)
    lesson = add_lesson(
        root,
        title=arguments["title"],
        text=arguments["text"],
        today=desk.today,
        trigger=bool(arguments.get("trigger")),
        tags=tuple(arguments.get("tags", ())),
        keywords=tuple(arguments.get("keywords", ())),
        **{name: arguments[name] for name in ("summary", "platform", "urgency", "category") if name in arguments},
    )
    desk.librarian.log("index", {"actor": "mcp", "change": f"added {lesson.entry.id}"})
    drafted = "A person should look over the drafted trigger: deia triggers test" if arguments.get("trigger") else ""
    fields = {"id": lesson.entry.id, "paths": list(lesson.paths), "updated": False, "next": drafted}
    text = f"Saved {lesson.entry.id}: {', '.join(lesson.paths)}. {drafted}".strip()
    return Reply(fields=fields, text=text, changed=True)


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
    if not _is_event(ident) and not _is_known(desk, ident):
        look_up(desk.librarian.open_catalog(), ident, root=desk.root, folder=desk.folder)
    fields = {"of": ident, "verdict": arguments["verdict"], "note": arguments.get("note", "")}
    recorded = bool(desk.librarian.log("feedback", fields))
    why = "" if recorded else " Telemetry is off, so it was not kept."
    return Reply(fields={"of": ident, "recorded": recorded}, text=f"{arguments['verdict']}: {plain(ident)}.{why}")


def _is_event(ident: str) -> bool:
    """Say whether an id has the form of the ledger's: three hexadecimal numbers."""
    parts = ident.split("-")
    return len(parts) == 3 and all(part and set(part) <= set("0123456789abcdef") for part in parts)


def _is_known(desk: Desk, ident: str) -> bool:
    artefact = desk.librarian.open_artefact()
    return any(artefact.trigger(number)["id"] == ident for number in range(artefact.meta["triggers"]))


def enter_folder(desk: Desk, arguments: Arguments) -> Reply:
    """Enter the documents of a folder that the index does not list yet."""
    root, path = desk.writable, arguments["path"]
    place = reading.inside(root, path)
    if not place or not os.path.isdir(place) or not reading.tidy(path).startswith("bok"):
        fix = "Put the documents into bok/ first; nothing outside it is read."
        raise CommonsError(f"{path} is no folder below bok/ of the commons.", fix=fix)
    before = {entry.id for entry in load_index(root).entries}
    store.build(root, write=True, today=desk.today)
    entries = load_index(root).entries
    added = [entry.id for entry in entries if entry.id not in before]
    desk.librarian.log("index", {"actor": "mcp", "change": f"entered {len(added)} documents"})
    return Reply(fields={"added": added, "total": len(entries)}, text=f"{len(added)} documents entered.", changed=True)
