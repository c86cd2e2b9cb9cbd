"""Transcript files held against compiled triggers, in one process or several; the result is the same.

Files are cut into parts, each some turns of one conversation; the parts of a conversation always go to the same worker,
which keeps what the conversation has seen. Refuses nothing about content: what cannot be read as a turn is none.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from deia.errors import QueryError
from deia.evaluate.transcripts import KEYS, Reader, read_conversations, turn_list, why_none
from deia.fast_json import loads
from deia.records import Record
from deia.watch.authoring.replay import Replay, Spotted, Tally, replay
from deia.watch.clauses.folder_signs import signs_around
from deia.watch.gate.artefact import Artefact, open_artefact
from deia.watch.memory.log import fingerprint

ENDINGS = (".jsonl", ".json", ".md", ".markdown", ".txt", ".ndjson", ".log")
MOST_WHOLE = 64_000_000  # bytes of a file that is read at once; JSON lines may be of any size
MOST_LINE = 16_000_000  # bytes of one line
PART_LINES = 400
BATCH_LINES = 800  # lines that go to a worker together
WAITING = 4  # batches a worker, so that the reader does not run far ahead
LARGE = 6_000_000  # bytes of input from which starting workers (0.3 s each) pays
MOST_JOBS = 16


class Part(Record):
    """Some turns of one conversation: lines of JSON, or a whole text."""

    number: int
    key: str  # tells the conversation; the parts of one share it
    path: str
    named: str  # the conversation's own id, where the file holds several
    lines: tuple[str, ...] = ()
    whole: str = ""
    last: bool = False  # no other part of this conversation comes


class Plan(Record):
    """What to hold transcripts against, and how much to keep."""

    artefacts: tuple[str, ...]  # paths of compiled triggers: the new, then perhaps the old
    examples: int


class _State:
    """One conversation as a worker keeps it between its parts."""

    __slots__ = ("reader", "replays", "turns")

    def __init__(self, artefacts: Sequence[Artefact]) -> None:
        self.reader = Reader()
        self.replays = [Replay(artefact) for artefact in artefacts]
        self.turns = 0


class Worker:
    """Judges parts; keeps the conversations that are not over."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._artefacts = [open_artefact(path) for path in plan.artefacts]
        self._states: dict[str, _State] = {}
        self._folders: dict[str, Any] = {}

    def work(self, parts: Iterable[Part]) -> Tally:
        """Give what some parts come to."""
        tally = Tally(self._plan.examples)
        for part in parts:
            if part.whole:
                self._whole(part, tally)
            else:
                self._lines(part, tally)
        return tally

    def _whole(self, part: Part, tally: Tally) -> None:
        why = why_none(part.whole)
        if why:
            tally.unread[part.path] = why
            return
        conversations = read_conversations(part.whole)
        for number, turns in enumerate(conversations, 1):
            place = f"{part.path}:" if len(conversations) == 1 else f"{part.path}:{number}:"
            tally.conversations += bool(turns)
            spotted = (
                Spotted(turn=turn, order=(part.number, at), place=f"{place}{turn.index}")
                for at, turn in enumerate(turns, number * MOST_WHOLE)
            )
            replay(spotted, [Replay(artefact) for artefact in self._artefacts], tally)

    def _lines(self, part: Part, tally: Tally) -> None:
        state = self._states.get(part.key)
        if state is None:
            state = self._states[part.key] = _State(self._artefacts)
            tally.conversations += 1
        for at, line in enumerate(part.lines):
            item = _mapping(line)
            held = turn_list(item) if item else None
            if held is not None:  # a line that is a conversation of its own
                tally.conversations += 1
                whole = Part(number=part.number, key="", path=part.path, named="")
                self._line(whole, _State(self._artefacts), held, tally, at)
            elif item:
                self._line(part, state, [item], tally, at)
        if part.last:
            del self._states[part.key]

    def _line(self, part: Part, state: _State, items: Sequence[Any], tally: Tally, at: int) -> None:
        found: list[Spotted] = []
        for item in items:
            for turn in state.reader.turns(item):
                state.turns += 1
                given = item.get("turn") if isinstance(item, dict) else None
                number = given if isinstance(given, int) else state.turns
                place = ":".join(filter(None, (part.path, part.named, str(number))))
                order = (part.number, at * PART_LINES + len(found))
                found.append(Spotted(turn=turn.but(index=state.turns), order=order, place=place))
        if found:
            replay(found, state.replays, tally, folder=self._folder(state.reader.folder))

    def _folder(self, folder: str) -> Any:
        """Give the function that knows a folder's signs; nothing where the transcript names none."""
        if folder and folder not in self._folders:
            self._folders[folder] = signs_around(folder.replace("\\", "/"))
        return self._folders.get(folder)


def _mapping(line: str) -> dict[str, Any]:
    try:
        item = loads(line)
    except ValueError:
        return {}
    return item if isinstance(item, dict) else {}


# --- files → parts ---


def transcript_files(names: Iterable[str]) -> list[str]:
    """Give the files that are named, and those below named folders, in order.

    Raises:
        QueryError: there is nothing at a name.
    """
    found: list[str] = []
    for name in names:
        if os.path.isdir(name):
            for place, folders, within in os.walk(name):
                folders.sort()
                found += [os.path.join(place, one) for one in sorted(within) if one.lower().endswith(ENDINGS)]
        elif os.path.isfile(name):
            found.append(name)
        else:
            raise QueryError(f"there is no transcript {name}", fix="Name files, or folders that hold them.")
    return found


def parts_of(paths: Iterable[str]) -> Iterator[Part]:
    """Cut files into parts; their numbers follow the order of the input."""
    number = 0
    for path in paths:
        for part in _parts(path):
            number += 1
            yield part.but(number=number)


def _parts(path: str) -> Iterator[Part]:
    with open(path, "rb") as file:
        first = file.readline(MOST_LINE).decode("utf-8-sig", "replace")
        item = _mapping(first)
        rest = file.read(1) if item else b""
        file.seek(0)
        if item and (rest or turn_list(item) is None):
            keyed = bool(_key(item))
            yield from _keyed(path, _text_lines(file)) if keyed else _unkeyed(path, _text_lines(file))
        else:
            yield Part(number=0, key=path, path=path, named="", whole=file.read(MOST_WHOLE).decode("utf-8", "replace"))


def _text_lines(file: Any) -> Iterator[str]:
    while line := file.readline(MOST_LINE):
        yield line.decode("utf-8", "replace").removeprefix("\ufeff")


def _unkeyed(path: str, lines: Iterator[str]) -> Iterator[Part]:
    """Cut a file that is one conversation."""
    held: list[str] = []
    for line in lines:
        if len(held) >= PART_LINES:
            yield Part(number=0, key=path, path=path, named="", lines=tuple(held))
            held = []
        held.append(line)
    yield Part(number=0, key=path, path=path, named="", lines=tuple(held), last=True)


def _keyed(path: str, lines: Iterator[str]) -> Iterator[Part]:
    """Cut a table of turns where the next row belongs to another conversation, which may go on later."""
    held: list[str] = []
    current = ""
    for line in lines:
        key = _key(_mapping(line)) or current
        if held and (key != current or len(held) >= PART_LINES):
            yield Part(number=0, key=f"{path}\n{current}", path=path, named=current, lines=tuple(held))
            held = []
        current = key
        held.append(line)
    yield Part(number=0, key=f"{path}\n{current}", path=path, named=current, lines=tuple(held))


def _key(item: dict[str, Any]) -> str:
    return next((item[name] for name in KEYS if isinstance(item.get(name), str)), "")


# --- doing it ---


def replay_files(
    paths: Sequence[str], plan: Plan, *, jobs: int = 0, heard: Callable[[int], None] | None = None
) -> Tally:
    """Hold transcript files against compiled triggers; `heard` is told the number of turns so far.

    `jobs` processes work on it, by default one a core where the input is large.

    Raises:
        OSError: a file cannot be read.
    """
    wanted = jobs or _jobs(paths)
    tally = Tally(plan.examples)
    for done in _done(parts_of(paths), plan, wanted):
        tally.merge(done)
        if heard is not None:
            heard(tally.turns)
    return tally


def _jobs(paths: Sequence[str]) -> int:
    size = sum(os.path.getsize(path) for path in paths)
    return min(os.cpu_count() or 1, MOST_JOBS) if size >= LARGE else 1


def _done(parts: Iterator[Part], plan: Plan, jobs: int) -> Iterator[Tally]:
    if jobs < 2:
        worker = Worker(plan)
        yield from (worker.work([part]) for part in parts)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - 40 ms, and only large inputs are worth it
    from contextlib import ExitStack  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    with ExitStack() as stack:
        spawn = get_context("spawn")
        pools = [
            stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn, initializer=_start, initargs=(plan,)))
            for _ in range(jobs)
        ]
        waiting: deque[Any] = deque()
        for bucket, batch in _batches(parts, jobs):
            waiting.append(pools[bucket].submit(_work, batch))
            if len(waiting) > WAITING * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _batches(parts: Iterator[Part], jobs: int) -> Iterator[tuple[int, list[Part]]]:
    """Gather parts for workers, those of a conversation always for the same one, in order."""
    held: list[list[Part]] = [[] for _ in range(jobs)]
    for part in parts:
        bucket = fingerprint(part.key) % jobs
        held[bucket].append(part)
        if part.whole or sum(len(one.lines) for one in held[bucket]) >= BATCH_LINES:
            yield bucket, held[bucket]
            held[bucket] = []
    yield from ((bucket, batch) for bucket, batch in enumerate(held) if batch)


_worker: list[Worker] = []  # of this process, where it is one of several


def _start(plan: Plan) -> None:
    _worker[:] = [Worker(plan)]


def _work(parts: list[Part]) -> Tally:
    return _worker[0].work(parts)
