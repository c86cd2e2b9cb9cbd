"""A limit of time ends what it was set for, and nothing that is done afterwards."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

from deia.ingest.limited_process import watched

if TYPE_CHECKING:
    import pytest


def test_what_is_done_next_is_not_ended_by_a_look_at_the_time_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, looked = threading.Event(), threading.Event()
    exits: list[int] = []

    class Late(threading.Event):
        """An event whose first wait ends in vain while it is being set."""

        def wait(self, timeout: float | None = None) -> bool:
            if looked.is_set():
                return super().wait(timeout)
            ended.wait(10)
            looked.set()
            return False

    own = SimpleNamespace(Event=Late, Thread=threading.Thread, Lock=threading.Lock)
    monkeypatch.setattr("deia.ingest.limited_process.threading", own)  # threads themselves wait for other events
    monkeypatch.setattr(os, "_exit", exits.append)
    before = threading.active_count()
    with watched(-1.0):  # the time is up already
        pass
    ended.set()
    while threading.active_count() > before:
        looked.wait(0.01)
    assert exits == []
