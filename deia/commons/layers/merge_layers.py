"""Layers: the project's own commons over its packs over the starter commons; of one id, the highest layer's counts.

A layer is a commons; its paths say where it comes from: `packs/NAME/…`, `starter:…`, or nothing before them for the
project's own. Refuses packs that are not what the lock says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from deia.commons.index.index_records import Cluster
from deia.commons.index.learning_paths import first_per_audience
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.layers.packs import FOLDER, check_packs, pack_folder
from deia.errors import Problem
from deia.folders import STARTER, STARTER_PREFIX, is_starter
from deia.knowledge import Case, Entry, Trigger
from deia.records import Record

PROJECT = "project"


def load_layered(root: str, *, starter: bool = True) -> Commons:
    """Read the commons at `root` with everything below it, merged.

    Raises:
        CommonsError: there is no commons at `root`.
    """
    return load_layers(root, starter=starter).merged()


class Layers(Record):
    """The commons of a project and everything below it, each by itself, the highest first."""

    stack: tuple[Commons, ...]
    problems: tuple[Problem, ...]  # of the packs

    def merged(self) -> Commons:
        """Give them as one commons, with the problems of the project's own and of the packs."""
        return merged(self.stack).but(problems=(*self.stack[0].problems, *self.problems))


def load_layers(root: str, *, starter: bool = True, good: Mapping[str, str] | None = None) -> Layers:
    """Read the commons at `root` and everything below it; `good` is for its own trigger files.

    Raises:
        CommonsError: there is no commons at `root`.
    """
    own = load_commons(root, good=good)
    packs = check_packs(root)
    below = load_below(root, [one.name for one in packs.sound], starter=starter)
    return Layers(stack=(own, *below), problems=packs.problems)


def load_below(root: str, packs: Sequence[str], *, starter: bool) -> list[Commons]:
    """Read some packs and the starter commons, with their paths as they are seen from the project."""
    below = [load_pack(os.path.join(root, pack_folder(name)), name) for name in packs]
    if has_starter(root, starter=starter):
        below.append(_placed(load_commons(STARTER), STARTER_PREFIX))
    return below


def load_pack(folder: str, name: str) -> Commons:
    """Read the folder of a pack, with its paths as they are seen from the project."""
    return _placed(load_commons(folder), f"{pack_folder(name)}/")


def has_starter(root: str, *, starter: bool) -> bool:
    """Say whether the starter commons lies below the commons at `root`."""
    return starter and not is_starter(root)


def merged(layers: Sequence[Commons]) -> Commons:
    """Merge layers, the highest first: one trigger, entry and cluster an id, and only documents that an entry has."""
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
        documents=(*own.documents, *(one for layer in below for one in layer.documents if one.path in paths)),
        clusters=tuple(clusters.values()),
        query_patterns=tuple(pattern for layer in layers for pattern in layer.query_patterns),
        concepts=tuple(concept for layer in layers for concept in layer.concepts),
        learning_paths=first_per_audience(path for layer in layers for path in layer.learning_paths),
        triggers=tuple(triggers.values()),
        cases=tuple(cases),
    )


def _placed(commons: Commons, prefix: str) -> Commons:
    """Give a commons with its paths as they are seen from the project."""
    documents = {one.path: one.but(path=prefix + one.path) for one in commons.documents}
    return commons.but(
        entries=tuple(one.but(path=prefix + one.path) for one in commons.entries),
        documents=tuple(documents.values()),
        triggers=tuple(one.but(path=prefix + one.path) for one in commons.triggers),
        cases=tuple(one.but(path=prefix + one.path) for one in commons.cases),
    )


# --- what a path says ---


def origin_of(path: str) -> str:
    """Say where something comes from, by its path: `project`, `starter`, or `pack NAME`."""
    if path.startswith(STARTER_PREFIX):
        return "starter"
    top, _, rest = path.partition("/")
    return f"pack {rest.partition('/')[0]}" if top == FOLDER and "/" in rest else PROJECT


def local_path(path: str) -> str:
    """Give a path as its own layer writes it."""
    if path.startswith(STARTER_PREFIX):
        return path.removeprefix(STARTER_PREFIX)
    parts = path.split("/", 2) if path.startswith(f"{FOLDER}/") else ()
    return parts[2] if len(parts) > 2 else path


def file_at(root: str, path: str) -> str:
    """Give the file that a path of the layered commons at `root` stands for."""
    return f"{STARTER}/{path.removeprefix(STARTER_PREFIX)}" if path.startswith(STARTER_PREFIX) else f"{root}/{path}"


def layer_prefixes(root: str, *, starter: bool) -> Iterator[str]:
    """Yield the prefix of each layer's paths, the project's own first; packs count by their folders, sound or not."""
    yield ""
    try:
        names = sorted(os.listdir(os.path.join(root, FOLDER)))
    except OSError:
        names = []
    yield from (f"{FOLDER}/{name}/" for name in names if not name.startswith("."))
    if has_starter(root, starter=starter):
        yield STARTER_PREFIX
