"""A turn that passed the gate: judged with what is known around it, recorded, and handed to who delivers.

Loaded only where something is to judge. Refuses an event that another process judges already.
"""

from __future__ import annotations

import time

from deia.records import TYPE_CHECKING
from deia.serve.hook_answer import Delivery, deliver, record
from deia.serve.hook_once import is_first
from deia.watch import allow, mutes, watcher
from deia.watch.exceptions import Touched, excepted
from deia.watch.signs import files_around, signs_around

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hook_run import Place
    from deia.serve.hosts.occasion import Occasion
    from deia.serve.hosts.saying import Said
    from deia.watch.artefact import Artefact
    from deia.watch.memory import FileLog
    from deia.watch.watcher import Watched


def judged(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, *, numbers: list[int], seen: list[str],
    given: dict[str, Any],
) -> Said | None:  # fmt: skip
    """Judge a turn that passed the gate, unless another process judges the same event; `given` is for its delivery."""
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    if not is_first(log, occasion.moment, occasion.mark, occasion.turn, now=time.time()):
        return None
    watched = _weigh(place, artefact, occasion, log, numbers, seen)
    record(place, artefact, occasion, log, watched)
    code = _code(place, occasion, watched, hold=given["hold"]) if "note" in given["can"] else ""
    return deliver(Delivery(**given, code=code), log, occasion.turn, watched)


def _weigh(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, numbers: list[int], seen: list[str]
) -> Watched:
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    now = time.time()
    touched = Touched(occasion.turn, occasion.folder)
    where: dict[str, Any] = {"folder": occasion.folder, "touched": touched, "conversation": occasion.conversation}
    muted = mutes.muted_triggers(place.state, now=now, **where)
    exceptions = artefact.meta["settings"].get("exceptions") or {}
    leaves = allow.allowed(place.state, occasion.conversation, now=now)
    around = watcher.Surroundings(
        now=now,
        folder=signs_around(occasion.folder),
        exists=files_around(occasion.folder),
        muted=muted | excepted(exceptions, touched, root=place.root),
        allowed=frozenset(trigger for leave in leaves for trigger in leave.triggers),
    )
    watched = watcher.weigh(artefact, occasion.turn, log, around, numbers=numbers, seen=seen)
    allow.spend(place.state, leaves, watched.passed)
    silenced = {one.trigger for one in watched.verdicts if one.stage == "muted"}
    mutes.use_up(place.state, muted & silenced, now=now, **where)
    return watched


def _code(place: Place, occasion: Occasion, watched: Watched, *, hold: bool) -> str:
    """Make the code with which the person lets pass what is stopped here."""
    stops = {"ask", "hold"} if hold else {"ask"}
    spoken = watched.injection.triggers if watched.injection else ()
    stopping = [one.trigger for one in watched.firings if one.action in stops and one.trigger in spoken]
    if occasion.moment != "before_tool" or not stopping:
        return ""
    return allow.offer(place.state, occasion.conversation, stopping, now=time.time())
