"""Merge layers: the project's own commons, its packs, and the starter commons. Of one id, the highest layer's is used.

A layer is a commons. Its paths show where it comes from: `packs/NAME/…`, `starter:…`, or no prefix for the project's
own. Packs that differ from the lock are left out, and all that an untrusted project brings is restrained.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache

from deia import files
from deia.commons.index.documents import FOLDER as DOCUMENTS
from deia.commons.index.index_parts import first_per_audience
from deia.commons.index.index_records import Cluster
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.layers.packs import FOLDER, Packs, check_packs, pack_folder
from deia.commons.source_files import safe_files
from deia.commons.triggers.read_triggers import ENDINGS
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.folders import INDEX_NAMES, STARTER, STARTER_PREFIX, is_starter
from deia.knowledge import Case, Entry, Trigger
from deia.problems import Problem
from deia.records import Record
from deia.text import shorten

PROJECT = "project"


def load_layered(root: str, *, starter: bool = True, trusted: bool) -> Commons:
    """Read the commons at `root` and merge it with the layers below it."""
    return load_layers(root, starter=starter, trusted=trusted).merged()


class Layers(Record):
    """The commons of a project and the layers below it, separately, the highest first."""

    stack: tuple[Commons, ...]
    problems: tuple[Problem, ...]  # of the packs

    def merged(self) -> Commons:
        """Return the layers as one commons, with the problems of the project and of the packs."""
        return merged(self.stack).but(problems=(*self.stack[0].problems, *self.problems))

    def without_starter_triggers(self) -> Layers:
        """Return the layers, the starter's with its documents only."""
        stack = [layer.but(triggers=(), cases=()) if _is_starter_layer(layer) else layer for layer in self.stack]
        return self.but(stack=tuple(stack))


def _is_starter_layer(layer: Commons) -> bool:
    return any(origin_of(trigger.path) == "starter" for trigger in layer.triggers[:1])


def load_starter() -> Commons:
    """Return the starter commons, with its paths as seen from a project; it is read again after a file was changed."""
    return _read_starter(starter_stamps())


def starter_stamps() -> Hashable:
    """Return what tells whether a file of the starter was changed."""
    folders = (*((TRIGGERS, ending) for ending in ENDINGS), (DOCUMENTS, ".md"))
    paths = [path for folder, ending in folders for path in safe_files.list_files(STARTER, folder, ending)]
    return tuple((path, files.stamp(f"{STARTER}/{path}")) for path in (*INDEX_NAMES, *paths))


@lru_cache(maxsize=1)
def _read_starter(stamps: Hashable) -> Commons:  # noqa: ARG001 - the key
    return _with_prefix(load_commons(STARTER, globs=()), STARTER_PREFIX)


def load_layers(
    root: str,
    *,
    starter: bool = True,
    trusted: bool,
    good: Mapping[str, str] | None = None,
    globs: Sequence[str] | None = None,
    read_starter: Callable[[], Commons] = load_starter,
) -> Layers:
    """Read the commons at `root` and the layers below it; `good` and `globs` are for the project's own.

    Of a commons that is not `trusted`, only what `restrain` leaves counts, and none of its packs. Raise CommonsError if
    there is no commons at `root`.
    """
    own = load_commons(root, good=good, globs=globs if trusted else globs or ())  # resolved: the person named them
    packs = check_packs(root) if trusted else Packs()
    below = load_below(root, [pack.name for pack in packs.sound], starter=starter, read_starter=read_starter)
    return Layers(stack=(own if trusted else restrain(own, below), *below), problems=packs.problems)


def load_below(
    root: str, packs: Sequence[str], *, starter: bool, read_starter: Callable[[], Commons] = load_starter
) -> list[Commons]:
    """Read packs and the starter commons, with their paths as seen from the project."""
    below = [load_pack(os.path.join(root, pack_folder(name)), name) for name in packs]
    if has_starter(root, starter=starter):
        below.append(read_starter())
    return below


def load_pack(folder: str, name: str) -> Commons:
    """Read the folder of a pack, with its paths as seen from the project."""
    return _with_prefix(load_commons(folder, globs=()), f"{pack_folder(name)}/")


def has_starter(root: str, *, starter: bool) -> bool:
    """Return whether the starter commons is a layer below the commons at `root`."""
    return starter and not is_starter(root)


def merged(layers: Sequence[Commons]) -> Commons:
    """Merge layers, the highest first, so that each id of a trigger, entry or cluster occurs once.

    Of the lower layers, only documents that still have an entry are kept.
    """
    entries: dict[str, Entry] = {}
    triggers: dict[str, Trigger] = {}
    clusters: dict[str, Cluster] = {}
    cases: list[Case] = []
    for layer in layers:
        new = {trigger.id: trigger for trigger in layer.triggers if trigger.id not in triggers}
        triggers |= new
        cases += [case for case in layer.cases if case.trigger in new]
        entries = {**{entry.id: entry for entry in reversed(layer.entries)}, **entries}
        clusters = {**{cluster.id: cluster for cluster in layer.clusters}, **clusters}
    paths = {entry.path for entry in entries.values()}
    own, *below = layers
    return own.but(
        entries=(*own.entries, *(entry for layer in below for entry in layer.entries if entries[entry.id] is entry)),
        documents=(
            *own.documents,
            *(document for layer in below for document in layer.documents if document.path in paths),
        ),
        clusters=tuple(clusters.values()),
        query_patterns=tuple(pattern for layer in layers for pattern in layer.query_patterns),
        concepts=tuple(concept for layer in layers for concept in layer.concepts),
        learning_paths=first_per_audience(path for layer in layers for path in layer.learning_paths),
        triggers=tuple(triggers.values()),
        cases=tuple(cases),
    )


def _with_prefix(commons: Commons, prefix: str) -> Commons:
    """Return a commons with its paths as seen from the project."""
    documents = {item.path: item.but(path=prefix + item.path) for item in commons.documents}
    return commons.but(
        entries=tuple(item.but(path=prefix + item.path) for item in commons.entries),
        documents=tuple(documents.values()),
        triggers=tuple(item.but(path=prefix + item.path) for item in commons.triggers),
        cases=tuple(item.but(path=prefix + item.path) for item in commons.cases),
    )


# --- paths ---


def origin_of(path: str) -> str:
    """Return where something comes from, by its path: `project`, `starter`, or `pack NAME`."""
    if path.startswith(STARTER_PREFIX):
        return "starter"
    top, _, rest = path.partition("/")
    return f"pack {rest.partition('/')[0]}" if top == FOLDER and "/" in rest else PROJECT


def local_path(path: str) -> str:
    """Return a path as it is written in its own layer."""
    if path.startswith(STARTER_PREFIX):
        return path.removeprefix(STARTER_PREFIX)
    parts = path.split("/", 2) if path.startswith(f"{FOLDER}/") else ()
    return parts[2] if len(parts) > 2 else path


def file_at(root: str, path: str) -> str:
    """Return the file that a path of the layered commons at `root` refers to."""
    return f"{STARTER}/{path.removeprefix(STARTER_PREFIX)}" if path.startswith(STARTER_PREFIX) else f"{root}/{path}"


def layer_prefixes(root: str, *, starter: bool, trusted: bool) -> Iterator[str]:
    """Yield the prefix of each layer's paths, the project's own first, then every folder of a pack, sound or not."""
    yield ""
    names = files.names(os.path.join(root, FOLDER)) if trusted else []
    yield from (f"{FOLDER}/{name}/" for name in names if not name.startswith("."))
    if has_starter(root, starter=starter):
        yield STARTER_PREFIX


# --- an untrusted commons may add a little, and takes nothing away ---

MOST_TRIGGERS = 20
MOST_DOCUMENTS = 2  # of a trigger
MOST_KEYWORDS = 20  # of an entry
MOST_CHARS = 300  # of a message or a summary: all its notes together leave room in a conversation


def restrain(own: Commons, below: Sequence[Commons]) -> Commons:
    """Return what counts of an untrusted commons over the layers below it."""
    taken_triggers = {trigger.id for layer in below for trigger in layer.triggers}
    taken_entries = {entry.id for layer in below for entry in layer.entries}
    triggers = [
        _quiet(trigger)
        for trigger in own.triggers
        if trigger.id not in taken_triggers and trigger.status != "deprecated"
    ][:MOST_TRIGGERS]
    entries = [_unraised(entry) for entry in own.entries if entry.id not in taken_entries]
    paths = {entry.path for entry in entries}
    ids = {trigger.id for trigger in triggers}
    return own.but(
        triggers=tuple(triggers),
        cases=tuple(case for case in own.cases if case.trigger in ids),
        entries=tuple(entries),
        documents=tuple(document for document in own.documents if document.path in paths),
        clusters=(),
        query_patterns=(),
        concepts=(),
        learning_paths=(),
    )


def _quiet(trigger: Trigger) -> Trigger:
    """Return a trigger that only adds a note, once in a conversation, with the summaries of its documents."""
    return trigger.but(
        urgency="low",
        message=shorten(trigger.message, MOST_CHARS),
        action="note",
        action_required="",
        instead=(),
        repeat=-1.0,
        hides=(),
        documents=tuple(reference.but(mode="summary_only") for reference in trigger.documents[:MOST_DOCUMENTS]),
    )


def _unraised(entry: Entry) -> Entry:
    """Return an entry without what raises it in a ranking or speaks for it."""
    return entry.but(
        summary=shorten(entry.summary, MOST_CHARS),
        urgency="",
        action="",
        why_relevant="",
        quick_tips=(),
        related_docs=(),
        clusters=(),
        keywords=entry.keywords[:MOST_KEYWORDS],
        extra={},
    )
