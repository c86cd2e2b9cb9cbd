"""Answers a host's hook events over HTTP as the hook process would, from the same files.

The conversation's memory is kept where the hook process keeps it, so that both can take turns. Whatever goes wrong is
logged, and the host receives an empty answer within the deadline: a failure never breaks a conversation.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from deia import fast_json, files
from deia.records import Record
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import DEADLINE, answer_event
from deia.serve.hooks.start import is_off
from deia.serve.hosts.event import Answer
from deia.serve.startup.bytecode import keep_bytecode, kept_groups
from deia.watch.gate.artefact import Artefact, open_artefact

THREADS = 4  # so that a long turn does not delay the short ones behind it
INLINE = 4_096  # bytes; a shorter event is answered in the event loop, because passing it to a thread takes longer
MOST_OPEN = 64  # commons whose triggers are kept open; a person works in a few
EXIT = b"x-deia-exit"  # the exit code, for hosts that read a reason from standard error if it is 2
JSON, TEXT = b"application/json", b"text/plain; charset=utf-8"


class HookAnswer(Record):
    """The answer to an event, and how long it took."""

    body: bytes
    content_type: bytes = JSON
    code: int = 0
    seconds: float = 0.0
    outcome: str = "silent"  # silent | spoke | failed | late


class Hooks:
    """Answers the events of every host; without a `commons`, each event's folder determines which one counts."""

    def __init__(self, *, commons: str = "", deadline: float = DEADLINE) -> None:
        self._commons, self._deadline = commons, deadline
        self._open_artefacts: dict[str, tuple[tuple[int, int] | None, Artefact]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="deia-hook")

    def warm_up(self) -> None:
        """Import all that checking an event needs, so that the first event does not wait for it."""
        keep_bytecode()
        for names in kept_groups().values():
            for name in names:
                __import__(f"deia.{name}")

    def _open(self, path: str) -> Artefact:
        """Return compiled triggers, opened again if they were replaced."""
        stamp = files.stamp(path)
        entry = self._open_artefacts.get(path)
        if entry is None or entry[0] != stamp:
            if len(self._open_artefacts) >= MOST_OPEN:
                self._open_artefacts.clear()
            entry = self._open_artefacts[path] = stamp, open_artefact(path)
        return entry[1]

    async def answer(self, host: str, event: bytes) -> HookAnswer:
        """Return the answer to an event of a host."""
        began = time.perf_counter()
        place = Place([host, *(("--commons", self._commons) if self._commons else ())])
        place.timed, place.open = False, self._open
        inline = len(event) <= INLINE
        task = asyncio.ensure_future(_answer_inline(place, event) if inline else self._answer_in_thread(place, event))
        done, _ = await asyncio.wait([task], timeout=self._deadline)
        seconds = time.perf_counter() - began
        if not done:
            task.cancel()
            place.report(TimeoutError(f"no answer within {self._deadline:g} s"))
            return HookAnswer(body=b"", seconds=seconds, outcome="late")
        error = task.exception()
        if error is not None:
            place.report(error)
            return HookAnswer(body=b"", seconds=seconds, outcome="failed")
        return _encode(task.result(), seconds)

    async def _answer_in_thread(self, place: Place, event: bytes) -> Answer:
        return await asyncio.wrap_future(self._threads.submit(_answer, place, event))

    def close(self) -> None:
        """Start no other tasks."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _answer_inline(place: Place, event: bytes) -> Answer:
    return _answer(place, event)


def _answer(place: Place, event: bytes) -> Answer:
    return None if is_off() else answer_event(place, event)


def _encode(output: Answer, seconds: float) -> HookAnswer:
    if not output:
        return HookAnswer(body=b"", seconds=seconds)
    if isinstance(output, bytes):
        return HookAnswer(body=output, content_type=TEXT, code=2, seconds=seconds, outcome="spoke")
    return HookAnswer(body=fast_json.dumps(output).encode("ascii"), seconds=seconds, outcome="spoke")
