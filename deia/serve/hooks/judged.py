"""A turn that passed the gate: judged with what is known around it, recorded, and handed to who delivers.

Loaded only where something is to judge. Most of what is judged fires nothing, so what only a firing, a mute, a leave or
an exception needs is imported where there is one. Refuses an event that another process judges already.
"""

from __future__ import annotations

import time

from deia import files
from deia.folders import LEAVES, MUTES
from deia.records import TYPE_CHECKING
from deia.serve.hooks.duplicates import is_first
from deia.watch import watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from deia.serve.hooks.place import Place
    from deia.serve.hooks.silences import Silences
    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Occasion
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import FileLog
    from deia.watch.watcher import Watched


def judged(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, *, numbers: dict[int, set[int]],
    seen: list[str], given: dict[str, Any],
) -> Said | None:  # fmt: skip
    """Judge a turn that passed the gate, unless another process judges the same event; `given` is for its delivery."""
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    if not is_first(log, occasion.moment, occasion.mark, occasion.turn, now=time.time()):
        return None
    watched = _weigh(place, artefact, occasion, log, numbers, seen)
    silenced = any(one.stage in watcher.SILENCED for one in watched.verdicts)
    if not (watched.firings or watched.passed or silenced or given["waiting"]):
        return None
    from deia.serve.hooks.delivery import Delivery, deliver, record  # noqa: PLC0415 - as the module's docstring says

    record(place, artefact, occasion, log, watched)
    code = _code(place, occasion, watched, hold=given["hold"]) if "note" in given["can"] else ""
    return deliver(Delivery(**given, code=code), log, occasion.turn, watched)


def _weigh(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, numbers: dict[int, set[int]], seen: list[str]
) -> Watched:
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    now = time.time()
    around = watcher.Surroundings(now=now, folder=_signs(occasion.folder), exists=_files(occasion.folder))
    silences = _silences(place, artefact, occasion, now)
    if silences is not None:
        around = around.but(muted=silences.muted, allowed=silences.allowed)
    watched = watcher.weigh(artefact, occasion.turn, log, around, numbers=numbers, seen=seen)
    if silences is not None:
        silences.spend(watched)
    return watched


def _silences(place: Place, artefact: Artefact, occasion: Occasion, now: float) -> Silences | None:
    """Give what was taken back here, or None where nobody ever took anything back."""
    exceptions = artefact.meta.settings.get("exceptions") or {}
    if not (exceptions or any(files.exists(f"{place.state}/{name}") for name in (MUTES, LEAVES))):
        return None
    from deia.serve.hooks.silences import Silences  # noqa: PLC0415 - as the docstring says

    assert occasion.turn is not None  # noqa: S101 - as above
    return Silences(place, occasion, occasion.turn, exceptions, now)


def _signs(folder: str) -> Callable[[Sequence[str]], str]:
    """Give what finds the platforms that a folder shows signs of; few triggers ask."""

    def find(wanted: Sequence[str]) -> str:
        """Give the first platform of which a folder shows a sign."""
        from deia.watch.clauses.folder_signs import signs_around  # noqa: PLC0415 - as above

        return signs_around(folder)(wanted)

    return find


def _files(folder: str) -> Callable[[str], bool]:
    """Give what says whether a file exists; few triggers ask."""

    def exists(path: str) -> bool:
        """Say whether there is such a file."""
        from deia.watch.clauses.folder_signs import files_around  # noqa: PLC0415 - as above

        return files_around(folder)(path)

    return exists


def _code(place: Place, occasion: Occasion, watched: Watched, *, hold: bool) -> str:
    """Make the code with which the person lets pass what is stopped here."""
    stops = {"ask", "hold"} if hold else {"ask"}
    spoken = watched.injection.triggers if watched.injection else ()
    stopping = [one.trigger for one in watched.firings if one.action in stops and one.trigger in spoken]
    if occasion.moment != "before_tool" or not stopping:
        return ""
    from deia.watch.silence.allow import offer  # noqa: PLC0415 - hardly any call is stopped

    return offer(place.state, occasion.conversation, stopping, now=time.time())
