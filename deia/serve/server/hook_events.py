"""Answers a host's hook events as the hook process would, from the same files: over HTTP, or as calls of a tool.

The conversation's memory is kept where the hook process keeps it, so that both can take turns. Whatever goes wrong is
logged, and the host receives an empty answer within the deadline: a failure never breaks a conversation. Of a tool's
call, the fields that the host filled in are the event; one with the person's words is not accepted, since a model can
call a tool, too, and must not speak for the person.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from deia import fast_json, files
from deia.errors import QueryError
from deia.fast_json import Json
from deia.records import Record
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import DEADLINE, answer_event
from deia.serve.hooks.start import is_off
from deia.serve.hosts.event import Answer
from deia.serve.server.tool_schemas import HOOK, HOOK_EVENTS, PERSONS_TOOL
from deia.serve.startup.bytecode import keep_bytecode, kept_groups
from deia.watch.gate.artefact import Artefact, open_artefact

THREADS = 4  # so that a long turn does not delay the short ones behind it
INLINE = 4_096  # bytes; a shorter event is answered in the event loop, because passing it to a thread takes longer
MOST_OPEN = 64  # commons whose triggers are kept open; a person works in a few
EXIT = b"x-deia-exit"  # the exit code, for hosts that read a reason from standard error if it is 2
JSON, TEXT = b"application/json", b"text/plain; charset=utf-8"
HOST = "claude-code"  # the host whose hooks can call a tool
NO_OUTPUT = "{}"


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
                with contextlib.suppress(ModuleNotFoundError):  # of a version that was here before
                    __import__(f"deia.{name}")

    def _open(self, path: str) -> Artefact:
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
        task = asyncio.ensure_future(self._answer(place, event))
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
        output = task.result()
        if not output:
            return HookAnswer(body=b"", seconds=seconds)
        if isinstance(output, bytes):
            return HookAnswer(body=output, content_type=TEXT, code=2, seconds=seconds, outcome="spoke")
        return HookAnswer(body=fast_json.dumps(output).encode("ascii"), seconds=seconds, outcome="spoke")

    async def _answer(self, place: Place, event: bytes) -> Answer:
        if len(event) <= INLINE:
            return _answer(place, event)
        return await asyncio.wrap_future(self._threads.submit(_answer, place, event))

    def close(self) -> None:
        """Start no other tasks."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _answer(place: Place, event: bytes) -> Answer:
    return None if is_off() else answer_event(place, event)


def event_of(arguments: Mapping[str, Json] | None) -> dict[str, Json]:
    """Return the event for which a host filled in its template, without the fields that it had no value for.

    Such a field is empty or, with some hosts, contains the template's own placeholder. Raise QueryError if events of
    this name are not accepted.
    """
    fields = arguments or {}
    name = fields.get("hook_event_name")
    if not isinstance(name, str) or name not in HOOK_EVENTS:
        names = ", ".join(HOOK_EVENTS)
        raise QueryError(f"{HOOK}: hook_event_name must be one of {names}", fix="Only hooks call this tool.")
    present = {key: fields[key] for key in HOOK_EVENTS[name] if fields.get(key) not in (None, "", f"${{{key}}}")}
    return {"hook_event_name": name, **present}


async def answer_hook(hooks: Hooks, arguments: Mapping[str, Json] | None) -> tuple[str, str]:
    """Return what the host reads as the hook's output, and the outcome."""
    event = event_of(arguments)
    if event.get("tool_name") == PERSONS_TOOL and event["hook_event_name"] != "PreToolUse":
        return NO_OUTPUT, "silent"
    try:
        encoded = fast_json.dumps(event).encode()
    except (RecursionError, ValueError) as error:
        raise QueryError(f"{HOOK}: a field cannot be read", fix="Only hooks call this tool.") from error
    answer = await hooks.answer(HOST, encoded)
    return answer.body.decode("utf-8", "replace") or NO_OUTPUT, answer.outcome
