"""Remove a document from a commons so that it can be restored: its file and its entry are moved to `.trash/`.

Only the project's own documents can be removed. Nothing is ever deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from functools import partial

from deia import files
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.index.read_index import find_index
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.slugs import slug
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.source_files.yaml_blocks import RoundTrip
from deia.commons.source_files.yaml_reader import plain, read_mapping
from deia.commons.write import index_store
from deia.commons.write.add_lesson import create_file
from deia.fast_json import Json
from deia.knowledge import Entry
from deia.problems import CommonsError
from deia.records import Record

FOLDER = ".trash"
RESTORED = "restored-"  # how the folder of a restored document begins
NOTE, CHANGED, BEFORE = "removed.yaml", "changed.yaml", "index.before"
LIST = "documents"
MOST_FILE = 32_000_000  # bytes; the limit of an index, and more than that of a document


class Removed(Record):
    """A document that was removed or restored, its folder in the trash, and what still refers to it."""

    id: str
    path: str
    trash: str
    named_by: tuple[str, ...] = ()


def own_entry(commons: Commons, ident: str) -> Entry:
    """Return the entry of one of the project's own documents."""
    entry = next((known for known in commons.entries if known.id == ident), None)
    if entry is None:
        raise CommonsError(
            f"The project has no document {ident!r} of its own.", fix="Type the id of one of its documents."
        )
    if origin_of(entry.path) != PROJECT or not safe_files.resolve(commons.root, entry.path):
        raise CommonsError(
            f"{ident} is not a document of the project itself.", fix="Only the project's own documents can be changed."
        )
    return entry


def keep_copy(root: str, ident: str, path: str, *, stamp: str) -> str:
    """Copy a document, and what the index says of it, to the trash before a change; return the folder there."""
    content = safe_files.read_text(root, path, limit=MOST_FILE)
    folder = _free_folder(root, ident, stamp)
    create_file(root, f"{folder}/{path}", content.text)
    described = {cluster: item for cluster, item in _listings(root, ident).items() if isinstance(item, dict)}
    if described:
        create_file(root, f"{folder}/{BEFORE}", index_store.index_text(root))
        create_file(root, f"{folder}/{CHANGED}", yaml_blocks.to_yaml({"id": ident, "path": path, "listed": described}))
    return folder


def keep_change(root: str, folder: str, index: str) -> None:
    """Note in the folder of a copy how the index is after the change: while it stays so, the old one comes back."""
    note = {**_note(root, folder, CHANGED), "index_after": _digest(index)}
    safe_files.write_text(root, f"{folder}/{CHANGED}", yaml_blocks.to_yaml(note))


def copies(root: str) -> set[str]:
    """Return the folders in the trash."""
    top = safe_files.resolve(root, FOLDER)
    return {f"{FOLDER}/{name}" for name in (files.names(top) if top else ())}


def drop_copy(root: str, folder: str, path: str) -> None:
    """Remove a copy of a document that `keep_copy` made, with the folders that become empty."""
    place = safe_files.checked_place(root, f"{folder}/{path}")
    for name in (CHANGED, BEFORE, path):
        safe_files.remove(root, f"{folder}/{name}")
    with contextlib.suppress(OSError):
        os.removedirs(os.path.dirname(place))


@with_write_lock
def remove_document(root: str, ident: str, *, stamp: str, today: str) -> Removed:
    """Move a document and its entry to the trash; `stamp` begins the folder's name there, which sorts by it."""
    commons = load_commons(root)
    entry = own_entry(commons, ident)
    place = safe_files.resolve(root, entry.path)
    listed, before = _listings(root, ident), index_store.index_text(root)
    folder = _free_folder(root, ident, stamp)
    safe_files.checked_place(root, f"{folder}/{NOTE}")
    drop = partial(_drop_document, ident=ident)
    after = (
        index_store.rewrite(root, lambda text: change_listings(text, listed, drop), today=today) if listed else before
    )
    note: dict[str, Json] = {"id": ident, "path": entry.path, "listed": listed, "index_after": _digest(after)}
    create_file(root, f"{folder}/{NOTE}", yaml_blocks.to_yaml(note))
    create_file(root, f"{folder}/{BEFORE}", before)
    if os.path.isfile(place):
        safe_files.move(root, entry.path, f"{folder}/{entry.path}")
    return Removed(id=ident, path=entry.path, trash=folder, named_by=_references_to(commons, entry))


@with_write_lock
def restore_document(root: str, ident: str, *, today: str) -> Removed:
    """Restore what was removed or changed last of the document with this id, or the one that was removed last.

    Raise CommonsError if there is nothing in the trash, or something in the way.
    """
    ident = ident or _last_removed(root)
    folder = next((name for name in _removals(root) if name.partition("-")[2] == slug(ident)), "")
    note = _note(root, f"{FOLDER}/{folder}") if folder else {}
    present = next((entry for entry in load_commons(root).entries if entry.id == ident), None)
    if note.get("id") != ident or (present and folder < _newest(root, ident)):
        return _restore_change(root, ident, today=today)
    path = str(note.get("path", ""))
    if os.path.lexists(safe_files.checked_place(root, path)):
        raise CommonsError(f"The file {path} exists already.", fix="Move it away first.")
    kept = f"{FOLDER}/{folder}/{path}"
    has_text = os.path.isfile(safe_files.checked_place(root, kept))
    if present:  # removing that one would not help, since then it would be the last one removed
        raise CommonsError(
            f'{ident} is another lesson now: "{present.title}", {present.path}.',
            fix=f"To have both, copy {kept} into bok/ under another name, then type: deia index build --write",
        )
    if has_text:
        safe_files.move(root, kept, path)
    _restore_index(root, f"{FOLDER}/{folder}", note, yaml_blocks.with_items, today=today)
    os.replace(os.path.join(root, FOLDER, folder), os.path.join(root, FOLDER, f"{RESTORED}{folder}"))
    return Removed(id=ident, path=path, trash=f"{FOLDER}/{folder}")


def _restore_change(root: str, ident: str, *, today: str) -> Removed:
    """Restore a document and its entry before their last change; the present ones take their place in the trash."""
    commons = load_commons(root)
    path = next((entry.path for entry in commons.entries if entry.id == ident), "")
    kept = sorted((name for name in copies(root) if path and name.partition("-")[2] == slug(ident)), reverse=True)
    copy = next((name for name in kept if os.path.isfile(safe_files.resolve(root, f"{name}/{path}"))), "")
    if not copy:
        raise CommonsError(f"The trash has no document {ident!r}.", fix=f"Look in {FOLDER}/ of the commons.")
    own_entry(commons, ident)
    old, present = (safe_files.read_text(root, at, limit=MOST_FILE).text for at in (f"{copy}/{path}", path))
    if note := _note(root, copy, CHANGED):  # before the text, since an index may be unsound
        index = index_store.index_text(root)
        _restore_index(root, copy, note, partial(_with_old_entry, ident=ident), today=today)
        safe_files.write_text(root, f"{copy}/{BEFORE}", index)
    safe_files.write_text(root, path, old)
    safe_files.write_text(root, f"{copy}/{path}", present)
    restored = f"{FOLDER}/{RESTORED}{copy.removeprefix(f'{FOLDER}/')}"
    os.replace(os.path.join(root, copy), os.path.join(root, restored))
    return Removed(id=ident, path=path, trash=restored)


def _restore_index(
    root: str, folder: str, note: dict[str, Json], change: Callable[..., RoundTrip], *, today: str
) -> None:
    """Restore the old index if nobody has changed it since; otherwise only the entry in its clusters, by `change`."""
    listed = note.get("listed") or {}
    before = safe_files.read_text(root, f"{folder}/{BEFORE}", limit=MOST_FILE).text
    if before and _digest(index_store.index_text(root)) == note.get("index_after"):
        safe_files.write_text(root, find_index(root), before)
    elif isinstance(listed, dict) and listed:
        for cluster, item in listed.items():
            restored = partial(change_listings, clusters=[cluster], change=partial(change, new=[item]))
            index_store.rewrite(root, restored, today=today)


def _with_old_entry(documents: RoundTrip, ident: str, new: list[Json]) -> RoundTrip:
    """Return the documents of a cluster, in which an entry says again what it said."""
    for position, item in enumerate(documents or ()):
        if is_about(item, ident):
            documents[position] = index_store.merge_into(item, new[0])
    return documents


def _last_removed(root: str) -> str:
    """Return the id of the document that was removed last and is still in the trash; raise CommonsError without one."""
    ident = next((str(_note(root, f"{FOLDER}/{folder}").get("id", "")) for folder in _removals(root)), "")
    if not ident:
        raise CommonsError("no lesson is in the trash", fix="To take back what deia learned, type: deia learn undo")
    return ident


def _free_folder(root: str, ident: str, stamp: str) -> str:
    """Return a folder in the trash whose name neither a removed nor a restored document uses."""
    names = (f"{stamp}{number or ''}-{slug(ident)}" for number in range(1000))
    prefixes = [os.path.join(root, FOLDER, begin) for begin in ("", RESTORED)]
    return next(f"{FOLDER}/{name}" for name in names if not any(os.path.lexists(prefix + name) for prefix in prefixes))


def _removals(root: str) -> list[str]:
    """Return the folders in the trash, the newest first."""
    top = safe_files.resolve(root, FOLDER)
    names = files.names(top) if top else []
    removals = [name for name in names if os.path.isfile(safe_files.resolve(root, f"{FOLDER}/{name}/{NOTE}"))]
    return sorted((name for name in removals if not name.startswith(RESTORED)), reverse=True)


def _newest(root: str, ident: str) -> str:
    """Return the name of the newest folder in the trash for a document, removed or changed."""
    names = (copy.removeprefix(f"{FOLDER}/") for copy in copies(root))
    return max((name for name in names if name.partition("-")[2] == slug(ident)), default="")


def _note(root: str, folder: str, name: str = NOTE) -> dict[str, Json]:
    content = safe_files.read_text(root, f"{folder}/{name}", limit=safe_files.YAML_BYTES)
    return plain(read_mapping(content.text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "replace")).hexdigest()


def _listings(root: str, ident: str) -> dict[str, Json]:
    """Return what each cluster of the index lists of a document: its entry, or only its id."""
    clusters = plain(read_mapping(index_store.index_text(root))).get("clusters")
    listed: dict[str, Json] = {}
    for name, body in clusters.items() if isinstance(clusters, dict) else ():
        for item in (body.get(LIST) if isinstance(body, dict) else None) or ():
            if is_about(item, ident):
                listed[str(name)] = item
    return listed


def is_about(item: object, ident: str) -> bool:
    """Return whether an item of a cluster's list is the entry or the id of a document."""
    return str(item.get("id", "")) == ident if isinstance(item, dict) else str(item) == ident


def change_listings(text: str, clusters: Iterable[str], change: yaml_blocks.Change) -> str:
    """Return the text of an index in which the documents of some clusters are changed."""
    for cluster in clusters:
        text = yaml_blocks.change_value(text, ("clusters", cluster, LIST), change)
    return text


def _drop_document(documents: RoundTrip, ident: str) -> RoundTrip:
    for position in reversed([position for position, item in enumerate(documents) if is_about(item, ident)]):
        del documents[position]
    return documents


def _references_to(commons: Commons, entry: Entry) -> tuple[str, ...]:
    """Return what else refers to a document, and would refer to nothing without it."""
    triggers = [f"trigger {item.id}" for item in commons.triggers if any(doc.id == entry.id for doc in item.documents)]
    naming = (item for item in commons.entries if entry.id in (*item.related_docs, item.superseded_by))
    related = [f"document {item.id}" for item in naming if item.id != entry.id]
    patterns = [f"query pattern at line {item.line}" for item in commons.query_patterns if entry.id in item.common_docs]
    return (*triggers, *related, *patterns)
