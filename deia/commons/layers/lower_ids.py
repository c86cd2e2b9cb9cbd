"""The ids that the packs and the starter below a project already use, so that a new lesson takes none of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache

from deia import files
from deia.commons.index.load_commons import Commons
from deia.commons.index.read_index import load_index
from deia.commons.layers.merge_layers import has_starter, load_below, origin_of
from deia.commons.layers.packs import check_packs
from deia.commons.source_files import safe_files
from deia.commons.source_files.findings import quote
from deia.commons.source_files.slugs import free_name
from deia.commons.triggers.read_triggers import FOLDER, load_triggers
from deia.folders import INDEX_NAMES, STARTER
from deia.knowledge import Entry, Trigger
from deia.records import Record


class LowerIds(Record):
    """The triggers and documents of the layers below a project, by id, and its own triggers that belong to no lesson.

    The starter counts even where the settings leave it out: they can change, and an id should keep its meaning.
    """

    triggers: Mapping[str, Trigger] = {}
    documents: Mapping[str, Entry] = {}
    own: Mapping[str, str] = {}  # their paths, by id

    def owner(self, ident: str) -> str:
        """Return what uses an id, such as "the trigger `x` of the starter (critical, hold)", or the empty text."""
        if trigger := self.triggers.get(ident):
            return f"the trigger {quote(ident)} of {_layer(trigger.path)} ({trigger.urgency}, {trigger.action})"
        if entry := self.documents.get(ident):
            return f"the document {quote(ident)} of {_layer(entry.path)}"
        return f"the trigger {quote(ident)} in {self.own[ident]}" if ident in self.own else ""

    def free_id(self, ident: str) -> str:
        """Return an id that nothing uses: the id itself, or the first of `id-2`, `id-3` and so on that is free."""
        return free_name(ident, {*self.triggers, *self.documents, *self.own})


def _layer(path: str) -> str:
    origin = origin_of(path)
    return "the starter" if origin == "starter" else f"the {origin}"


def lower_ids(root: str) -> LowerIds:
    """Read the ids that a new lesson of the commons at `root` cannot have."""
    read = load_triggers(root)
    own = dict.fromkeys(read.broken, f"{FOLDER}/") | {trigger.id: trigger.path for trigger in read.triggers}
    for entry in load_index(root).entries:  # a lesson whose trigger has its id
        own.pop(entry.id, None)
    packs = load_below(root, [pack.name for pack in check_packs(root).sound], starter=False)
    layers = [*packs, *_starter(root)]
    return LowerIds(
        triggers={trigger.id: trigger for layer in layers for trigger in layer.triggers},
        documents={entry.id: entry for layer in layers for entry in layer.entries},
        own=own,
    )


def _starter(root: str) -> list[Commons]:
    """Return the starter commons, unless `root` is the starter; a process reads it once, until a file of it changes."""
    if not has_starter(root, starter=True):
        return []
    paths = (*INDEX_NAMES, *safe_files.list_files(STARTER, FOLDER, ".yaml"))
    return _read_starter(tuple(files.stamp(f"{STARTER}/{path}") for path in paths))


@lru_cache(maxsize=1)
def _read_starter(stamps: Hashable) -> list[Commons]:  # noqa: ARG001 - the key
    return load_below("", (), starter=True)
