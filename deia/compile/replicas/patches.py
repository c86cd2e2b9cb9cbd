"""What a file needs to become the next one: which of its stretches stay, and what is new.

A catalog's files are written in the order of its documents, so a change removes a stretch here and adds one there.
Increasing numbers are compared as differences, since otherwise a change would alter every number after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia.compile.replicas.version import ReplicaError
from deia.match.numerics import NDArray, np

NUMBERS = {".at": "<u8", ".starts": "<u4"}  # files of numbers, by how their names end
AT_ONCE = {".at": 3}  # how many numbers belong together, where it is not one
BLOCK = 1 << 16  # bytes that are compared at once
REACH = 1 << 20  # bytes within which the next common stretch is looked for
ANCHOR = 24  # bytes that count as a common stretch
MOST_MISSES = 64  # places without a common stretch near by, after which the rest counts as new

Stretch = tuple[int, int]  # where it begins in the old file, and how long it is
Step = Stretch | memoryview | bytes


def steps(old: memoryview, new: memoryview) -> Iterator[Step]:
    """Yield the stretches of the old file and the new bytes that make the new file, in order."""
    old_at = new_at = misses = 0
    while new_at < len(new):
        if same := _common(old[old_at:], new[new_at:]):
            yield old_at, same
            old_at, new_at = old_at + same, new_at + same
            continue
        next_common = (
            _next_common(old[old_at : old_at + REACH], new[new_at : new_at + REACH]) if misses < MOST_MISSES else None
        )
        if next_common is None:
            misses += 1
            length = len(new) - new_at if misses >= MOST_MISSES else min(REACH, len(new) - new_at)
            yield new[new_at : new_at + length]
            old_at, new_at = min(old_at + length, len(old)), new_at + length
            continue
        skipped, added = next_common
        if added:
            yield new[new_at : new_at + added]
        old_at, new_at = old_at + skipped, new_at + added


def _common(old: memoryview, new: memoryview) -> int:
    """Return how many bytes are the same at the beginning of both."""
    most = min(len(old), len(new))
    start = 0
    while start < most and bytes(old[start : (end := min(start + BLOCK, most))]) == bytes(new[start:end]):
        start = end  # bytes are compared at once, views of them one by one
    if start >= most:
        return most
    end = min(start + BLOCK, most)
    differ = np.frombuffer(old[start:end], "u1") != np.frombuffer(new[start:end], "u1")
    return start + int(differ.argmax())


def _next_common(old: memoryview, new: memoryview) -> Stretch | None:
    """Return how many bytes of each to skip until both go on alike; None if they never do."""
    within, added = bytes(old), 0
    while added + ANCHOR <= len(new):
        skipped = within.find(new[added : added + ANCHOR])
        if skipped >= 0:
            while skipped and added and within[skipped - 1] == new[added - 1]:
                skipped, added = skipped - 1, added - 1
            return skipped, added
        added += max(ANCHOR, added // 16)
    return None


def patched(old: memoryview, plan: Sequence[int | Stretch], new: memoryview) -> Iterator[memoryview]:
    """Yield the parts of a new file: stretches of the old one, and as many new bytes as the plan says.

    Raise ReplicaError if the plan asks for what is not there.
    """
    taken = 0
    for part in plan:
        if isinstance(part, int):
            start, length, source, taken = taken, part, new, taken + part
        else:
            start, length, source = *part, old
        if start < 0 or length < 0 or start + length > len(source):
            raise ReplicaError("a step between two versions does not fit")
        yield source[start : start + length]


def plain(path: str, data: memoryview) -> memoryview:
    """Return a file in the form in which it is compared: numbers as differences."""
    kind, width = _kind(path)
    if not kind or len(data) % (width * np.dtype(kind).itemsize):
        return data
    numbers = np.frombuffer(data, kind).reshape(-1, width)
    return memoryview(np.diff(numbers, axis=0, prepend=np.zeros((1, width), kind)).tobytes())


def restored(path: str, data: bytes) -> bytes:
    """Return a file of numbers as it was before `plain`."""
    kind, width = _kind(path)
    if not kind or len(data) % (width * np.dtype(kind).itemsize):
        return data
    numbers: NDArray[np.uint64] = np.cumsum(np.frombuffer(data, kind).reshape(-1, width), axis=0, dtype=kind)
    return numbers.tobytes()


def is_counted(path: str) -> bool:
    """Return whether the numbers of a file are compared as differences."""
    return bool(_kind(path)[0])


def _kind(path: str) -> tuple[str, int]:
    ending = next((ending for ending in NUMBERS if path.endswith(ending)), "")
    return NUMBERS.get(ending, ""), AT_ONCE.get(ending, 1)
