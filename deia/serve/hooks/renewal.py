"""Brings compiled triggers up to date while a hook runs, because a project's trigger files changed.

A compile in a process of its own takes about half a second, and the hook waits that long: a trigger that was written or
pulled then guards the very next call. If it takes longer, the old triggers count, and the person is told so.
"""

from __future__ import annotations

import time

from deia import files
from deia.errors import ArtefactError
from deia.freshness import MOST_SHOWN
from deia.records import TYPE_CHECKING
from deia.serve.hooks.fallback import FIX, marker_of, start_compile
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from deia.serve.hooks.place import Place
    from deia.watch.gate.artefact import Artefact

SHARE = 0.7  # of the hook's time; judging the turn needs the rest
INTERVAL = 0.01  # seconds between two looks


def renewed(place: Place, artefact: Artefact, changed: str) -> Artefact:
    """Return the triggers compiled anew, or the old ones, with `place.pending` set if they count only until then.

    `changed` is the file that changed. If it cannot be compiled, the person is told at the next prompt.
    """
    path = f"{place.derived}/triggers"
    before, why = files.stamp(path), f"{changed} {files.stamp(f'{place.root}/{changed}')}"
    if not start_compile(place.state, place.root, [place.root], why=why):
        return artefact
    marker = marker_of(place.state, place.root, why)
    until = place.began + SHARE * artefact.meta.settings["deadline_ms"] / 1000
    compiled = _awaited(place, path, before, marker, until)
    if compiled is not None or _is_done(marker):
        return compiled or artefact
    name = shorten(one_line(changed), MOST_SHOWN)
    place.pending = f"{name} changed and is being compiled: it does not guard this call yet. {FIX}"
    return artefact


def first_compiled(place: Place, seconds: float) -> Artefact | None:
    """Return the triggers of the first compile if it is done in time, which ends `place.trouble`, or None."""
    path, marker = f"{place.derived}/triggers", marker_of(place.state, place.root, "")
    before = files.stamp(path)
    if _is_done(marker) or not files.exists(marker):
        return None
    compiled = _awaited(place, path, before, marker, place.began + SHARE * seconds) or _opened(place, path)
    place.trouble = "" if compiled is not None else place.trouble
    return compiled


def _awaited(place: Place, path: str, before: object, marker: str, until: float) -> Artefact | None:
    """Return the triggers as soon as they are written, or None if that takes too long or the compile ends before."""
    while time.perf_counter() < until:
        is_done = _is_done(marker)
        if files.stamp(path) != before:
            opened = _opened(place, path)
            place.is_fresh = opened is not None
            return opened
        if is_done:
            return None
        time.sleep(INTERVAL)
    return None


def _is_done(marker: str) -> bool:
    return (files.read(marker) or b"").endswith(b"done\n")


def _opened(place: Place, path: str) -> Artefact | None:
    try:
        return place.open(path)
    except ArtefactError:
        return None
