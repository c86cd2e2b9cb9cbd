"""Replaying transcript files against compiled triggers, in one process or several, with the same result.

Files are cut into parts, each some turns of one conversation. The parts of a conversation always go to the same worker,
which keeps the conversation's memory. Anything that cannot be read as a turn is skipped.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from typing import BinaryIO

from deia.errors import QueryError
from deia.evaluate.transcripts import KEYS, Reader, read_conversations, turn_list, why_no_transcript
from deia.fast_json import loads
from deia.records import Record
from deia.watch.authoring.replay import PlacedTurn, Replay, Tally, replay
from deia.watch.clauses.folder_signs import signs_around
from deia.watch.gate.artefact import Artefact, open_artefact
from deia.watch.memory.log import fingerprint
from deia.watch.verdict.judge import FolderSigns

ENDINGS = (".jsonl", ".json", ".md", ".markdown", ".txt", ".ndjson", ".log")
MOST_WHOLE = 64_000_000  # bytes of a file that is read at once; JSON lines may be of any size
MOST_LINE = 16_000_000  # bytes of one line
MOST_FILE = 1_000_000_000  # bytes of a file; a larger one is named and left out
MOST_FILES = 100_000
NETWORK = "//"  # begins the name of a folder on another machine, to which a foreign transcript could make deia connect
PART_LINES, PART_CHARS = 400, 8_000_000
BATCH_LINES = 800  # lines that are sent to a worker together
WAITING = 4  # batches per worker, so that the reader does not run far ahead
LARGE = 6_000_000  # bytes of input above which starting workers (0.3 s each) pays off
MOST_JOBS = 16


class Part(Record):
    """Some turns of one conversation: lines of JSON, or a whole text."""

    number: int
    key: str  # identifies the conversation
    path: str
    named: str  # the conversation's own id if the file holds several, otherwise ""
    lines: tuple[str, ...] = ()
    whole: str = ""
    unread: str = ""  # why nothing of the file can be read
    last: bool = False  # whether this is the conversation's last part


class Plan(Record):
    """What to judge transcripts by, and how many examples to keep."""

    artefacts: tuple[str, ...]  # paths of compiled triggers: the new ones, then perhaps the old ones
    examples: int


class _State:
    __slots__ = ("reader", "replays", "turns")

    def __init__(self, artefacts: Sequence[Artefact]) -> None:
        self.reader = Reader()
        self.replays = [Replay(artefact) for artefact in artefacts]
        self.turns = 0


class Worker:
    """Judges parts and keeps the conversations that have not ended."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._artefacts = [open_artefact(path) for path in plan.artefacts]
        self._states: dict[str, _State] = {}
        self._folders: dict[str, FolderSigns] = {}

    def work(self, parts: Iterable[Part]) -> Tally:
        """Return the tally of some parts."""
        tally = Tally(self._plan.examples)
        for part in parts:
            if part.unread:
                tally.unread[part.path] = part.unread
            elif part.whole:
                self._whole(part, tally)
            else:
                self._lines(part, tally)
        return tally

    def _whole(self, part: Part, tally: Tally) -> None:
        reason = why_no_transcript(part.whole)
        if reason:
            tally.unread[part.path] = reason
            return
        conversations = read_conversations(part.whole)
        for number, turns in enumerate(conversations, 1):
            place = f"{part.path}:" if len(conversations) == 1 else f"{part.path}:{number}:"
            tally.conversations += bool(turns)
            placed_turns = (
                PlacedTurn(turn=turn, order=(part.number, position), place=f"{place}{turn.index}")
                for position, turn in enumerate(turns, number * MOST_WHOLE)
            )
            replay(placed_turns, [Replay(artefact) for artefact in self._artefacts], tally)

    def _lines(self, part: Part, tally: Tally) -> None:
        state = self._states.get(part.key)
        if state is None:
            state = self._states[part.key] = _State(self._artefacts)
            tally.conversations += 1
        for position, line in enumerate(part.lines):
            item = json_object(line)
            turns = turn_list(item) if item else None
            if turns is not None:  # the line is a conversation of its own
                tally.conversations += 1
                whole = Part(number=part.number, key="", path=part.path, named="")
                self._line(whole, _State(self._artefacts), turns, tally, position)
            elif item:
                self._line(part, state, [item], tally, position)
        if part.last:
            del self._states[part.key]

    def _line(self, part: Part, state: _State, items: Sequence[object], tally: Tally, position: int) -> None:
        placed_turns: list[PlacedTurn] = []
        for item in items:
            for turn in state.reader.turns(item):
                state.turns += 1
                own_number = item.get("turn") if isinstance(item, dict) else None
                number = own_number if isinstance(own_number, int) else state.turns
                place = ":".join(filter(None, (part.path, part.named, str(number))))
                order = (part.number, position * PART_LINES + len(placed_turns))
                placed_turns.append(PlacedTurn(turn=turn.but(index=state.turns), order=order, place=place))
        if placed_turns:
            replay(placed_turns, state.replays, tally, folder=self._folder(state.reader.folder))

    def _folder(self, folder: str) -> FolderSigns | None:
        """Return the function that finds a folder's signs; None without a folder, or for one on another machine."""
        place = folder.replace("\\", "/")
        if place and folder not in self._folders and not place.startswith(NETWORK):
            self._folders[folder] = signs_around(place)
        return self._folders.get(folder)


def json_object(line: str) -> dict[str, object]:
    """Return the JSON object of a line, empty if there is none."""
    try:
        item = loads(line)
    except ValueError:
        return {}
    return item if isinstance(item, dict) else {}


# --- files → parts ---


def transcript_files(names: Iterable[str]) -> list[str]:
    """Return the named files and the transcripts in named folders, in order; raise QueryError if one is missing."""
    paths: list[str] = []
    for name in names:
        if os.path.isdir(name):
            paths += [path for path in files_below(name) if path.lower().endswith(ENDINGS)]
        elif os.path.isfile(name):
            paths.append(name)
        else:
            raise QueryError(f"there is no transcript {name}", fix="Name files, or folders that hold them.")
    return paths


def files_below(folder: str, pattern: str = "*") -> list[str]:
    """Return the regular files in a folder and below it whose names match a glob, in order.

    A link counts only if it leads to a file that is also below the folder. Raise QueryError if there are too many.
    """
    top = os.path.realpath(folder)
    paths: list[str] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        candidates = (os.path.join(place, name) for name in sorted(names) if fnmatch(name, pattern))
        paths += [path for path in candidates if _is_regular_below(path, top)]
        if len(paths) > MOST_FILES:
            fix = "Name smaller folders, or only recent files with --since."
            raise QueryError(f"there are more than {MOST_FILES:,} files below {folder}", fix=fix)
    return paths


def _is_regular_below(path: str, top: str) -> bool:
    if not os.path.islink(path):
        return os.path.isfile(path)
    real = os.path.realpath(path)
    return real.startswith(os.path.join(top, "")) and os.path.isfile(real)


def parts_of(paths: Iterable[str]) -> Iterator[Part]:
    """Yield the parts of files; their numbers follow the order of the input."""
    number = 0
    for path in paths:
        for part in _readable_parts(path):
            number += 1
            yield part.but(number=number)


def _readable_parts(path: str) -> Iterator[Part]:
    """Yield the parts of a file, or one that says why the file cannot be read."""
    reason = ""
    try:
        if os.path.getsize(path) > MOST_FILE:
            reason = f"it is larger than {MOST_FILE:,} bytes"
        else:
            yield from _parts(path)
    except OSError as error:
        reason = f"it cannot be read: {error.strerror or error}"
    if reason:
        yield Part(number=0, key=path, path=path, named="", unread=reason)


def _parts(path: str) -> Iterator[Part]:
    with open(path, "rb") as file:
        first = file.readline(MOST_LINE).decode("utf-8-sig", "replace")
        item = json_object(first)
        next_byte = file.read(1) if item else b""
        file.seek(0)
        if item and (next_byte or turn_list(item) is None):
            yield from _line_parts(path, file, keyed=bool(_key(item)))
        else:
            yield Part(number=0, key=path, path=path, named="", whole=file.read(MOST_WHOLE).decode("utf-8", "replace"))


def _line_parts(path: str, file: BinaryIO, *, keyed: bool) -> Iterator[Part]:
    """Yield the parts of a file of JSON lines: one conversation, or if it is `keyed`, a table of turns of several.

    A table is also cut where the conversation changes; a conversation may continue later.
    """
    batch: list[str] = []
    size, current = 0, ""
    part = Part(number=0, key=path, path=path, named="")
    while data := file.readline(MOST_LINE):
        line = data.decode("utf-8", "replace").removeprefix("\ufeff")
        key = (_key(json_object(line)) or current) if keyed else ""
        if batch and (key != current or len(batch) >= PART_LINES or size >= PART_CHARS):
            yield part.but(lines=tuple(batch))
            batch, size = [], 0
        batch.append(line)
        size, current = size + len(line), key
        part = part.but(key=f"{path}\n{current}", named=current) if keyed else part
    yield part.but(lines=tuple(batch), last=not keyed)


def _key(item: dict[str, object]) -> str:
    values = (item.get(name) for name in KEYS)
    return next((value for value in values if isinstance(value, str)), "")


# --- replaying ---


def replay_files(
    paths: Sequence[str], plan: Plan, *, jobs: int = 0, on_progress: Callable[[int], None] | None = None
) -> Tally:
    """Return the tally of transcript files; `on_progress` is called with the number of turns judged so far.

    `jobs` is the number of processes: by default one, or one per core if the input is large. Raise OSError if a file
    cannot be read.
    """
    tally = Tally(plan.examples)
    for batch_tally in _tallies(parts_of(paths), plan, jobs or _default_jobs(paths)):
        tally.merge(batch_tally)
        if on_progress is not None:
            on_progress(tally.turns)
    return tally


def _default_jobs(paths: Sequence[str]) -> int:
    size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
    return min(os.cpu_count() or 1, MOST_JOBS) if size >= LARGE else 1


def _tallies(parts: Iterator[Part], plan: Plan, jobs: int) -> Iterator[Tally]:
    if jobs < 2:
        worker = Worker(plan)
        yield from (worker.work([part]) for part in parts)
        return
    from concurrent.futures import Future, ProcessPoolExecutor  # noqa: PLC0415 - 40 ms, and only large inputs need it
    from contextlib import ExitStack  # noqa: PLC0415 - likewise
    from multiprocessing import get_context  # noqa: PLC0415 - likewise

    with ExitStack() as stack:
        spawn = get_context("spawn")
        pools = [
            stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn, initializer=_start, initargs=(plan,)))
            for _ in range(jobs)
        ]
        waiting: deque[Future[Tally]] = deque()
        for bucket, batch in _batches(parts, jobs):
            waiting.append(pools[bucket].submit(_work, batch))
            if len(waiting) > WAITING * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _batches(parts: Iterator[Part], jobs: int) -> Iterator[tuple[int, list[Part]]]:
    """Yield batches of parts with the numbers of their workers; a conversation's parts go to one worker, in order."""
    batches: list[list[Part]] = [[] for _ in range(jobs)]
    for part in parts:
        bucket = fingerprint(part.key) % jobs
        batches[bucket].append(part)
        if part.whole or sum(len(part_held.lines) for part_held in batches[bucket]) >= BATCH_LINES:
            yield bucket, batches[bucket]
            batches[bucket] = []
    yield from ((bucket, batch) for bucket, batch in enumerate(batches) if batch)


_worker: list[Worker] = []  # this process's worker, if it is one of several processes


def _start(plan: Plan) -> None:
    _worker[:] = [Worker(plan)]


def _work(parts: list[Part]) -> Tally:
    return _worker[0].work(parts)
