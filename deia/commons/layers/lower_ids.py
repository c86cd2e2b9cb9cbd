"""The ids that the packs and the starter below a project already use, so that a new lesson takes none of them.

Only ids are read, and no pattern or case is checked: the whole starter would cost seconds.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from functools import lru_cache

from deia.commons.index.documents import read_documents
from deia.commons.index.load_commons import build_entries
from deia.commons.index.read_index import load_index
from deia.commons.layers.merge_layers import has_starter, starter_stamps
from deia.commons.layers.packs import check_packs, pack_folder
from deia.commons.source_files.findings import quote
from deia.commons.source_files.slugs import free_name
from deia.commons.triggers.read_triggers import listed_triggers
from deia.folders import STARTER
from deia.records import Record


class LowerIds(Record):
    """What uses each id of the layers below a project, and of its own triggers that belong to no lesson, in words.

    The starter counts even where the settings leave it out: they can change, and an id should keep its meaning.
    """

    users: Mapping[str, str] = {}

    def owner(self, ident: str) -> str:
        """Return what uses an id, such as "the trigger `x` of the starter (critical, hold)", or the empty text."""
        return self.users.get(ident, "")

    def free_id(self, ident: str) -> str:
        """Return an id that nothing uses: the id itself, or the first of `id-2`, `id-3` and so on that is free."""
        return free_name(ident, {*self.users})


def lower_ids(root: str) -> LowerIds:
    """Read the ids that a new lesson of the commons at `root` cannot have."""
    own = {ident: f"the trigger {quote(ident)} in {path}" for ident, path, _ in listed_triggers(root)}
    for entry in load_index(root).entries:  # a lesson whose trigger has its id
        own.pop(entry.id, None)
    users = own
    for pack in check_packs(root).sound:
        users |= _users(os.path.join(root, pack_folder(pack.name)), f"the pack {pack.name}")
    if has_starter(root, starter=True):
        users |= _starter_users(starter_stamps())
    return LowerIds(users=users)


@lru_cache(maxsize=1)
def _starter_users(stamps: Hashable) -> dict[str, str]:  # noqa: ARG001 - the key
    return _users(STARTER, "the starter")


def _users(folder: str, layer: str) -> dict[str, str]:
    """Return what uses each id of a layer, in words; a trigger comes before a document of the same id."""
    index = load_index(folder)
    documents = read_documents(folder, also=tuple(entry.path for entry in index.entries), globs=())
    triggers: list[tuple[str, str, str]] = [(old.id, old.urgency, old.action) for old in index.proactive_triggers]
    for ident, _, item in listed_triggers(folder):
        triggers.append((ident, str(item.get("urgency", "medium")), str(item.get("action", "note"))))
    return {
        entry.id: f"the document {quote(entry.id)} of {layer}"
        for entry in build_entries(index.entries, documents.by_path, [])
    } | {ident: f"the trigger {quote(ident)} of {layer} ({urgency}, {action})" for ident, urgency, action in triggers}
