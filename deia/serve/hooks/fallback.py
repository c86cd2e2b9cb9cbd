"""Finds substitutes for compiled triggers that are missing or torn, and starts a compile.

The substitutes are the starter commons' triggers, if they are compiled. The compile is a process of its own, for which
only `renewal` waits, at most one per commons in five minutes. It runs deia itself with an interpreter that deia
recorded: nothing that a repository contains is run or decides what is run.
"""

from __future__ import annotations

import sys
import time

from deia import files, folders, settings
from deia.errors import ArtefactError
from deia.freshness import MOST_SHOWN
from deia.problems import SettingsError
from deia.records import TYPE_CHECKING
from deia.text import shorten
from deia.watch.gate.artefact import Artefact, open_artefact
from deia.watch.memory.log import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.serve.hooks.place import Place

RETRY_AFTER = 300  # seconds until a compile that did not help is tried again
MOST_STARTS = 3  # within that time, of compiles that are killed
SCRIPT = f"{folders.PACKAGE}/serve/hooks/background_compile.py"
STARTED = "it is being compiled now"
FIX = "If you see this again in a few minutes, type: deia compile"


def stand_in(place: Place, why: str) -> Artefact | None:
    """Start a compile, set `place.trouble`, and return the triggers that count until it is done, if there are any."""
    own = _settings(place)
    wanted_below = own is None or (own.starter and own.starter_triggers)
    layered = wanted_below and not folders.is_starter(place.root)
    starter = _starter(place, own) if layered else None
    wanted = [folders.STARTER, place.root] if layered and starter is None else [place.root]
    started = start_compile(place.state, place.root, wanted)
    effect = "only the starter's triggers count" if starter else "nothing is watched"
    remedy = f"{effect}; {STARTED}. {FIX}" if started else f"{effect}. Type: deia compile"
    name = place.root if place.trusted else "the commons of this folder"
    name = "the starter commons" if folders.is_packaged(place.root) else name
    place.trouble = f"{shorten(name, MOST_SHOWN)}: {why}; {remedy}"
    return starter


def _settings(place: Place) -> settings.Settings | None:
    """Return the settings of the uncompiled commons, or None if they cannot be read."""
    try:
        return settings.resolve(place.root, environ=place.environ)
    except (SettingsError, OSError):
        return None


def deadline_of(place: Place, default: float) -> float:
    """Return the seconds that a hook of an uncompiled commons may take."""
    own = _settings(place)
    return own.deadline_ms / 1000 if own is not None else default


def _starter(place: Place, own: settings.Settings | None) -> Artefact | None:
    """Return the starter's compiled triggers with the settings of the commons, or None if there are none."""
    derived = folders.derived_folder(folders.STARTER, place.environ)
    try:
        # Not the one that a server keeps open, since its settings are changed here.
        artefact = open_artefact(f"{derived}/triggers")
    except ArtefactError:
        return None
    values = own.values() if own is not None else {}
    compiled = artefact.meta.settings.items()
    artefact.meta = artefact.meta.but(settings={name: values.get(name, value) for name, value in compiled})
    return artefact


# --- the compile ---


def start_compile(state: str, root: str, wanted: Sequence[str], *, why: str = "") -> bool:
    """Compile the `wanted` commons on behalf of the one at `root`; return whether a compile is under way.

    Of several processes that come here at once, the one that creates the claim starts the compile. One that did not
    help is not tried again soon for the same reason `why`.
    """
    marker = marker_of(state, root, why)
    if _is_under_way(marker):
        return True
    if state[:1] != "/" and state[1:2] != ":":
        return False
    python, claim = next(_interpreters(state), ""), f"{marker}.claim"
    if not python:
        return False
    if not files.create(claim):
        if files.exists(claim) and not _is_recent(claim):  # of a process that was killed
            files.remove(claim)
        return files.exists(f"{state}/compiling")
    try:
        is_under_way = _is_under_way(marker)  # started between the first look and the claim
        is_marked = is_under_way or _mark(marker)
    finally:
        files.remove(claim)
    if is_under_way or not is_marked:
        return is_under_way
    process = _start([python, "-I", SCRIPT, marker, *wanted], state)
    return bool(process) and files.append(marker, b"%d\n" % process)


def marker_of(state: str, root: str, why: str) -> str:
    """Return the file by which processes know that a compile was started for a reason, and that it is done."""
    return f"{state}/compiling/{fingerprint(root + why):016x}"


def _mark(marker: str) -> bool:
    """Write that a compile starts; what an older one left there is removed first."""
    if not _is_recent(marker):
        files.remove(marker)
    return files.append(marker, b"start\n")


def _is_under_way(marker: str) -> bool:
    """Return whether a compile was started lately, unless it was killed: that one may be started again, a few times."""
    # The marker says which process it is, and at the end that it is done: one that did not help is not tried again
    # soon.
    if not _is_recent(marker):
        return False
    content = files.read(marker) or b""
    last = content.rpartition(b"start")[2].strip()  # its process, "done", or both, in the order in which they came
    is_killed = last.isdigit() and not files.is_running(int(last))
    return not is_killed or content.count(b"start") >= MOST_STARTS


def _is_recent(path: str) -> bool:
    stamp = files.stamp(path)
    return stamp is not None and abs(time.time() - stamp[1] / 1e9) < RETRY_AFTER


def _interpreters(state: str) -> Iterator[str]:
    """Yield interpreters that may have what compiling needs: the recorded one, that of the installation, this one."""
    recorded = (files.read(folders.python_path(state)) or b"").decode("utf-8", "surrogateescape").strip()
    home = folders.PACKAGE.rpartition("/lib/python")[0] or folders.PACKAGE.rpartition("/Lib/site-packages/")[0]
    beside = (f"{home}/bin/python3", f"{home}/Scripts/python.exe") if home and "/site-packages/" in SCRIPT else ()
    for path in (recorded, *beside, sys.executable or ""):
        if files.is_absolute(path) and files.exists(path):
            yield path


def _start(command: list[str], folder: str) -> int:
    """Start a process that outlives this one, without input or output; return its id, or 0 if it did not start."""
    import subprocess  # noqa: PLC0415 - 10 ms, and only if a compile is due

    flags, none = 0, subprocess.DEVNULL
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    try:
        return subprocess.Popen(  # noqa: S603 - our own
            command, stdin=none, stdout=none, stderr=none, cwd=folder, start_new_session=True, creationflags=flags
        ).pid
    except (OSError, ValueError):
        return 0
