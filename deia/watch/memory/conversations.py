"""The conversations that a process keeps in memory, so that each turn is judged only once."""

from __future__ import annotations

from _thread import allocate_lock  # `threading.Lock` without importing `threading`
from collections.abc import Callable
from typing import Generic, TypeVar

State = TypeVar("State")

MOST_CONVERSATIONS = 1000


class Conversations(Generic[State]):
    """The states of conversations by id; the one that was unused longest is forgotten if there are too many."""

    def __init__(self, make: Callable[[], State]) -> None:
        self._make = make
        self._lock = allocate_lock()
        self._states: dict[str, State] = {}  # in order of their last use

    def get(self, identity: str) -> State:
        """Return the state of a conversation, new if it is not known."""
        with self._lock:
            state = self._states.pop(identity) if identity in self._states else self._make()
            self._states[identity] = state
            while len(self._states) > MOST_CONVERSATIONS:
                del self._states[next(iter(self._states))]
            return state
