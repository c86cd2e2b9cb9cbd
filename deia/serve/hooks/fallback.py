"""A commons whose compiled triggers are missing or torn: the starter's stand in, and a compile is started.

The compile is a process of its own that nobody waits for, at most one a commons in some minutes. What it runs is deia
itself, by an interpreter that deia wrote down: nothing that a repository holds is run, and nothing of its settings
chooses what is.
"""

from __future__ import annotations

import sys
import time

from deia import files, folders, settings
from deia.errors import ArtefactError, SettingsError
from deia.records import TYPE_CHECKING
from deia.watch.gate.artefact import open_artefact
from deia.watch.memory.log import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from deia.serve.hooks.place import Place
    from deia.watch.gate.artefact import Artefact

AGAIN = 300  # seconds after which a compile that brought nothing is tried once more
SCRIPT = f"{folders.PACKAGE}/serve/hooks/background_compile.py"
STARTED = "it is being compiled now"
FIX = "If this is said again in some minutes, type: deia compile"


def stand_in(place: Place, why: str) -> Artefact | None:
    """Start a compile, note the trouble at `place`, and give the triggers that count until it is done, if any do."""
    chosen = _settings(place)
    below = chosen.get("starter", True) and not folders.is_starter(place.root)
    starter = _starter(place, chosen) if below else None
    wanted = [folders.STARTER, place.root] if below and starter is None else [place.root]
    started = start_compile(place.state, place.root, wanted)
    watched = "only the starter's triggers count" if starter else "nothing is watched"
    doing = f"{watched}; {STARTED}. {FIX}" if started else f"{watched}. Type: deia compile"
    name = "the starter commons" if folders.is_packaged(place.root) else place.root
    place.trouble = f"{name}: {why}; {doing}"
    return starter


def _settings(place: Place) -> dict[str, Any]:
    """Give the settings of the commons, which nobody compiled; empty where they cannot be read."""
    try:
        return settings.resolve(place.root, environ=place.environ).values()
    except (SettingsError, OSError):
        return {}


def _starter(place: Place, chosen: dict[str, Any]) -> Artefact | None:
    """Return the starter's compiled triggers, under the settings of the commons, or None if there are none."""
    derived = folders.derived_folder(folders.STARTER, place.environ)
    try:
        artefact = open_artefact(f"{derived}/triggers")  # never the one that a server keeps: its settings are changed
    except ArtefactError:
        return None
    own = artefact.meta.settings
    artefact.meta = artefact.meta.but(settings={name: chosen.get(name, value) for name, value in own.items()})
    return artefact


# --- the compile ---


def start_compile(state: str, root: str, wanted: Sequence[str]) -> bool:
    """Start a compile of some commons for the sake of the one at `root`; say whether one is under way."""
    marker = f"{state}/compiling/{fingerprint(root):016x}"
    before = files.stamp(marker)
    if before is not None and abs(time.time() - before[1] / 1e9) < AGAIN:
        return True
    if state[:1] != "/" and state[1:2] != ":":
        return False
    python = next(_interpreters(state), "")
    return bool(python) and files.append(marker, b".") and _start([python, "-I", SCRIPT, *wanted], state)


def _interpreters(state: str) -> Iterator[str]:
    """Yield interpreters that may have what compiling needs: the one written down, its neighbour, this one."""
    known = (files.read(folders.python_path(state)) or b"").decode("utf-8", "surrogateescape").strip()
    home = folders.PACKAGE.rpartition("/lib/python")[0] or folders.PACKAGE.rpartition("/Lib/site-packages/")[0]
    beside = (f"{home}/bin/python3", f"{home}/Scripts/python.exe") if home and "/site-packages/" in SCRIPT else ()
    for path in (known, *beside, sys.executable or ""):
        full = path[:1] == "/" or path[1:2] == ":"
        if full and files.exists(path):
            yield path


def _start(command: list[str], folder: str) -> bool:
    """Start a process that outlives this one and hears and says nothing."""
    import subprocess  # noqa: PLC0415 - 10 ms, and only where a compile is due

    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    none = subprocess.DEVNULL
    try:
        subprocess.Popen(command, stdin=none, stdout=none, stderr=none, cwd=folder, close_fds=True, **apart)  # noqa: S603 - our own
    except (OSError, ValueError):
        return False
    return True
