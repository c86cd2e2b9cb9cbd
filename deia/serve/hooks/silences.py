"""What a person or a project took back where a turn acts: mutes, leaves and exceptions, and which of them are spent.

Loaded only where there is one of them. It decides nothing about triggers.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.silence import allow, mutes
from deia.watch.silence.exceptions import Touched, excepted

if TYPE_CHECKING:
    from typing import Any

    from deia.records import Turn
    from deia.serve.hooks.place import Place
    from deia.serve.hosts.event import Occasion
    from deia.watch.watcher import Watched


class Silences:
    """The triggers that are muted for a turn, and those that may pass in it."""

    def __init__(self, place: Place, occasion: Occasion, turn: Turn, exceptions: dict[str, Any], now: float) -> None:
        self._state, self._now = place.state, now
        touched = Touched(turn, occasion.folder)
        where: dict[str, Any] = {"folder": occasion.folder, "conversation": occasion.conversation}
        self._where = {**where, "touched": touched}
        self._by_person = mutes.muted_triggers(place.state, now=now, **self._where)
        self._leaves = allow.allowed(place.state, occasion.conversation, now=now)
        self.muted = self._by_person | excepted(exceptions, touched, root=place.root)
        self.allowed = frozenset(trigger for leave in self._leaves for trigger in leave.triggers)

    def spend(self, watched: Watched) -> None:
        """Take back what was meant for one time and has served."""
        allow.spend(self._state, self._leaves, watched.passed)
        silenced = {one.trigger for one in watched.verdicts if one.stage == "muted"}
        mutes.use_up(self._state, self._by_person & silenced, now=self._now, **self._where)
