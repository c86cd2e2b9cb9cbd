"""The mutes, permissions and exceptions that apply to a turn; those for one use are used up by it.

Imported only if there are any.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.silence import allow, mutes
from deia.watch.silence.exceptions import Touched, excepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.serve.hooks.place import Place
    from deia.serve.hosts.event import Occasion
    from deia.watch.watcher import Watched


class Silences:
    """The triggers that are muted for a turn, and those that may pass in it."""

    def __init__(
        self, place: Place, occasion: Occasion, turn: Turn, exceptions: Mapping[str, Sequence[str]], now: float
    ) -> None:
        self._state, self._now, self._occasion = place.state, now, occasion
        self._touched = touched = Touched(turn, occasion.folder)
        self._by_person = mutes.muted_triggers(
            place.state, folder=occasion.folder, now=now, touched=touched, conversation=occasion.conversation
        )
        self._permissions = allow.allowed(place.state, occasion.conversation, now=now)
        self.muted = self._by_person | excepted(exceptions, touched, root=place.root)
        self.allowed = frozenset(trigger for permission in self._permissions for trigger in permission.triggers)

    def spend(self, watched: Watched) -> None:
        """Use up the one-time mutes and permissions that had an effect."""
        allow.spend(self._state, self._permissions, watched.passed)
        silenced = {verdict.trigger for verdict in watched.verdicts if verdict.stage == "muted"}
        mutes.use_up(
            self._state, self._by_person & silenced, folder=self._occasion.folder, now=self._now,
            touched=self._touched, conversation=self._occasion.conversation,
        )  # fmt: skip
