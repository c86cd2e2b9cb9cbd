"""Taking a document out of a commons, undoably: its file and its entry go to `.trash/`, from where both come back.

Only the project's own documents; those of packs and of the starter are refused. Never deletes anything.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.index.read_index import find_index
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.atomic_write import replace_file
from deia.commons.source_files.slugs import slug
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.source_files.yaml_reader import plain, read_yaml
from deia.commons.write import index_store
from deia.commons.write.add_lesson import create_file
from deia.errors import CommonsError
from deia.knowledge import Entry
from deia.records import Record

FOLDER = ".trash"
RESTORED = "restored-"  # how the folder of what was brought back begins
NOTE, BEFORE = "removed.yaml", "index.before"
LIST = "documents"
MOST_FILE = 32_000_000  # bytes; a document has two at most, an index thirty-two


class Removed(Record):
    """A document that was taken out or brought back, where it lies in the trash, and what still names it."""

    id: str
    path: str
    trash: str
    named_by: tuple[str, ...] = ()


def own_entry(commons: Commons, ident: str) -> Entry:
    """Give the entry of one of the project's own documents.

    Raises:
        CommonsError: there is none, or it belongs to somebody else.
    """
    entry = next((one for one in commons.entries if one.id == ident), None)
    if entry is None:
        raise CommonsError(f"The project has no document {ident!r} of its own.", fix="Name one by its id.")
    if origin_of(entry.path) != PROJECT or not safe_files.resolve(commons.root, entry.path):
        raise CommonsError(f"{ident} is not the project's own.", fix="Only the project's own documents can be changed.")
    return entry


def keep_copy(root: str, ident: str, path: str, *, stamp: str) -> str:
    """Put a copy of a document into the trash before it is changed; give its folder."""
    read = safe_files.read_text(root, path, limit=MOST_FILE)
    folder = _free_folder(root, ident, stamp)
    create_file(root, f"{folder}/{path}", read.text)
    return folder


@with_write_lock
def remove_document(root: str, ident: str, *, stamp: str, today: str) -> Removed:
    """Move a document and its entry into the trash; `stamp` names the folder there, and sorts.

    Raises:
        CommonsError: there is no such document of the project's own, or the index cannot be rewritten.
    """
    commons = load_commons(root)
    entry = own_entry(commons, ident)
    place = safe_files.resolve(root, entry.path)
    held, before = _held(root, ident), _index_text(root)
    folder = _free_folder(root, ident, stamp)
    after = index_store.rewrite(root, lambda text: _without(text, ident, held), today=today) if held else before
    note: dict[str, Any] = {"id": ident, "path": entry.path, "listed": held, "index_after": _digest(after)}
    create_file(root, f"{folder}/{NOTE}", yaml_blocks.to_yaml(note))
    create_file(root, f"{folder}/{BEFORE}", before)
    if os.path.isfile(place):
        _move(place, os.path.join(root, folder, entry.path))
    return Removed(id=ident, path=entry.path, trash=folder, named_by=_naming(commons, entry))


@with_write_lock
def restore_document(root: str, ident: str, *, today: str) -> Removed:
    """Bring back the document of this id that was removed last, with its entry.

    Raises:
        CommonsError: the trash has none, or something else has taken its place.
    """
    folder = next((one for one in _removals(root) if one.partition("-")[2] == slug(ident)), "")
    note = _note(root, folder) if folder else {}
    if note.get("id") != ident:
        raise CommonsError(f"The trash has no document {ident!r}.", fix=f"Look into {FOLDER}/ of the commons.")
    path = str(note.get("path", ""))
    place, kept = safe_files.resolve(root, path), os.path.join(root, FOLDER, folder, path)
    if not place or safe_files.leaves_commons(path):
        raise CommonsError(f"The path {path} leaves the commons.", fix="Correct it by hand.")
    if os.path.lexists(place):
        raise CommonsError(f"The file {path} exists already.", fix="Move it away first.")
    if os.path.isfile(kept):
        _move(kept, place)
    _relist(root, folder, note, today=today)
    os.replace(os.path.join(root, FOLDER, folder), os.path.join(root, FOLDER, f"{RESTORED}{folder}"))
    return Removed(id=ident, path=path, trash=f"{FOLDER}/{folder}")


def _relist(root: str, folder: str, note: dict[str, Any], *, today: str) -> None:
    """Put the index back as it was where nobody has changed it since, else add the entry at the end of its cluster."""
    held = note.get("listed") or {}
    before = safe_files.read_text(root, f"{FOLDER}/{folder}/{BEFORE}", limit=MOST_FILE).text
    if before and _digest(_index_text(root)) == note.get("index_after"):
        replace_file(os.path.join(root, find_index(root)), before)
    elif isinstance(held, dict) and held:
        index_store.rewrite(root, lambda text: _with(text, held), today=today)


def _free_folder(root: str, ident: str, stamp: str) -> str:
    """Give a name that nothing in the trash has, nor had before it was brought back."""
    names = (f"{stamp}{number or ''}-{slug(ident)}" for number in range(1000))
    taken = [os.path.join(root, FOLDER, begin) for begin in ("", RESTORED)]
    return next(f"{FOLDER}/{name}" for name in names if not any(os.path.lexists(one + name) for one in taken))


def _removals(root: str) -> list[str]:
    """Give the folders in the trash, the newest first."""
    try:
        names = os.listdir(os.path.join(root, FOLDER))
    except OSError:
        return []
    found = [name for name in names if os.path.isfile(os.path.join(root, FOLDER, name, NOTE))]
    return sorted((name for name in found if not name.startswith(RESTORED)), reverse=True)


def _note(root: str, folder: str) -> dict[str, Any]:
    read = safe_files.read_text(root, f"{FOLDER}/{folder}/{NOTE}", limit=safe_files.YAML_BYTES)
    value = plain(read_yaml(read.text, path=NOTE).value)
    return value if isinstance(value, dict) else {}


def _index_text(root: str) -> str:
    path = find_index(root)
    return safe_files.read_text(root, path, limit=safe_files.YAML_BYTES).text if path else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "replace")).hexdigest()


def _move(source: str, target: str) -> None:
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(source, target)
    except OSError as error:
        fix = "Give yourself the right to write there."
        raise CommonsError(f"{source} cannot be moved: {error.strerror}.", fix=fix) from error


def _held(root: str, ident: str) -> dict[str, Any]:
    """Give what each cluster of the index lists of a document: its entry, or its bare id."""
    top = plain(read_yaml(_index_text(root), path="").value)
    clusters = top.get("clusters") if isinstance(top, dict) else None
    listed: dict[str, Any] = {}
    for name, body in clusters.items() if isinstance(clusters, dict) else ():
        for item in (body.get(LIST) if isinstance(body, dict) else None) or ():
            if is_about(item, ident):
                listed[str(name)] = item
    return listed


def is_about(item: Any, ident: str) -> bool:
    """Say whether an item of a cluster's list is about a document."""
    return str(item.get("id", "")) == ident if isinstance(item, dict) else str(item) == ident


def _without(text: str, ident: str, held: dict[str, Any]) -> str:
    for cluster in held:
        text = yaml_blocks.change_value(text, ("clusters", cluster, LIST), lambda found: _left(found, ident))
    return text


def _left(found: Any, ident: str) -> Any:
    for at in reversed([at for at, item in enumerate(found) if is_about(item, ident)]):
        del found[at]
    return found


def _with(text: str, held: dict[str, Any]) -> str:
    for cluster, item in held.items():
        text = yaml_blocks.change_value(text, ("clusters", cluster, LIST), lambda found, item=item: _more(found, item))  # type: ignore[misc]
    return text


def _more(found: Any, item: Any) -> Any:
    found = found or yaml_blocks.style([{}])[:0]
    found.append(yaml_blocks.style(item))
    return found


def _naming(commons: Commons, entry: Entry) -> tuple[str, ...]:
    """Give what else names a document, and would name nothing without it."""
    triggers = [f"trigger {one.id}" for one in commons.triggers if any(doc.id == entry.id for doc in one.documents)]
    related = [f"document {one.id}" for one in commons.entries if entry.id in one.related_docs]
    asked = [f"query pattern at line {one.line}" for one in commons.query_patterns if entry.id in one.common_docs]
    return (*triggers, *related, *asked)
