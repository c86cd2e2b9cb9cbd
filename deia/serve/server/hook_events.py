"""A host's hook events over HTTP, answered as the hook that is started for each would answer them, from the same files.

The conversation's memory lies where the started hook keeps it, so that both can take turns. Whatever goes wrong is
logged and answered with nothing, within the deadline: it never breaks a conversation.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from deia import fast_json, files
from deia.records import Record
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import DEADLINE, answer_event
from deia.serve.hooks.start import is_off
from deia.serve.startup.bytecode import keep_bytecode, kept_groups
from deia.watch.gate.artefact import Artefact, open_artefact

THREADS = 4  # so that a long turn does not hold up the short ones behind it
AT_ONCE = 4_096  # bytes of an event that is answered where it arrives: handing it to a thread takes longer than it does
MOST_OPEN = 64  # commons whose triggers are kept open; a person works in a few
EXIT = b"x-deia-exit"  # of hosts that read a reason from standard error beside exit code 2
JSON, TEXT = b"application/json", b"text/plain; charset=utf-8"


class Answered(Record):
    """What goes back for an event, and how long the server took over it."""

    body: bytes
    kind: bytes = JSON
    code: int = 0
    seconds: float = 0.0
    outcome: str = "silent"  # silent | spoke | failed | late


class Hooks:
    """Answers events of every host; `commons` where a person named one, else each event's folder decides."""

    def __init__(self, *, commons: str = "", deadline: float = DEADLINE) -> None:
        self._commons, self._deadline = commons, deadline
        self._opened: dict[str, tuple[tuple[int, int] | None, Artefact]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="deia-hook")

    def warm_up(self) -> None:
        """Import what judging needs, so that the first event does not wait for it."""
        keep_bytecode()
        for names in kept_groups().values():
            for name in names:
                __import__(f"deia.{name}")

    def _open(self, path: str) -> Artefact:
        """Give compiled triggers, opened anew when they were replaced.

        Raises:
            ArtefactError: they are missing or torn.
        """
        stamp = files.stamp(path)
        known = self._opened.get(path)
        if known is None or known[0] != stamp:
            if len(self._opened) >= MOST_OPEN:
                self._opened.clear()
            known = self._opened[path] = stamp, open_artefact(path)
        return known[1]

    async def answer(self, host: str, event: bytes) -> Answered:
        """Give the answer to an event of a host."""
        began = time.perf_counter()
        place = Place([host, *(("--commons", self._commons) if self._commons else ())])
        place.timed, place.open = False, self._open
        short = len(event) <= AT_ONCE
        waiting = asyncio.ensure_future(_at_once(place, event) if short else self._in_thread(place, event))
        done, _ = await asyncio.wait([waiting], timeout=self._deadline)
        seconds = time.perf_counter() - began
        if not done:
            waiting.cancel()
            place.report(TimeoutError(f"no answer within {self._deadline:g} s"))
            return Answered(body=b"", seconds=seconds, outcome="late")
        error = waiting.exception()
        if error is not None:
            place.report(error)
            return Answered(body=b"", seconds=seconds, outcome="failed")
        return _encoded(waiting.result(), seconds)

    async def _in_thread(self, place: Place, event: bytes) -> dict[str, Any] | bytes | None:
        return await asyncio.wrap_future(self._threads.submit(_answer, place, event))

    def leave(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _at_once(place: Place, event: bytes) -> dict[str, Any] | bytes | None:
    return _answer(place, event)


def _answer(place: Place, event: bytes) -> dict[str, Any] | bytes | None:
    return None if is_off() else answer_event(place, event)


def _encoded(output: dict[str, Any] | bytes | None, seconds: float) -> Answered:
    if not output:
        return Answered(body=b"", seconds=seconds)
    if isinstance(output, bytes):
        return Answered(body=output, kind=TEXT, code=2, seconds=seconds, outcome="spoke")
    return Answered(body=fast_json.dumps(output).encode("ascii"), seconds=seconds, outcome="spoke")
