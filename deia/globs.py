"""Shell-style globs over names, arguments and paths, without `fnmatch`, which would import `re`."""

from __future__ import annotations

LONGEST = 131_072  # characters; a longer text matches no glob, which bounds the time
MOST_GLOBS = 4096
_globs: dict[str, list[list[str]]] = {}  # the compiled triggers use the same globs again and again


def matches_glob(pattern: str, text: str) -> bool:
    """Return whether the whole text matches a glob; case counts.

    `*` is any run of characters, `?` any one character, `[*]` a literal star.
    """
    if not any(mark in pattern for mark in "*?["):
        return pattern == text
    if len(text) > LONGEST:
        return False
    first, *others = _runs(pattern)
    if not others:
        return len(text) == _length(first) and _fits(first, text, 0)
    *middle, last = others
    at, end = _length(first), len(text) - _length(last)
    if at > end or not _fits(first, text, 0) or not _fits(last, text, end):
        return False
    for run in middle:  # the leftmost position of each run leaves most room for the next ones
        at = _find(run, text, at, end)
        if at < 0:
            return False
        at += _length(run)
    return True


def _length(run: list[str]) -> int:
    """Return the length of the text that a run matches."""
    return sum(map(len, run)) + len(run) - 1


def _fits(run: list[str], text: str, at: int) -> bool:
    """Return whether a run of literal pieces, with any one character between two of them, is at a position."""
    for piece in run:
        if not text.startswith(piece, at):
            return False
        at += len(piece) + 1
    return True


def _find(run: list[str], text: str, at: int, end: int) -> int:
    """Return the first position from `at` on at which a run fits and ends by `end`, or -1."""
    anchor = max(range(len(run)), key=lambda number: len(run[number]))
    before, most = _length(run[: anchor + 1]) - len(run[anchor]), end - _length(run)
    while at <= most:
        anchor_at = text.find(run[anchor], at + before, end)
        at = anchor_at - before
        if anchor_at < 0 or at > most:
            return -1
        if _fits(run, text, at):
            return at
        at += 1
    return -1


def _runs(pattern: str) -> list[list[str]]:
    """Return the runs of a glob, which are kept for the next time."""
    runs = _globs.get(pattern)
    if runs is None:
        if len(_globs) >= MOST_GLOBS:
            _globs.clear()
        runs = _globs[pattern] = _cut(pattern)
    return runs


def _cut(pattern: str) -> list[list[str]]:
    """Split a glob at its stars into runs, and each run at its question marks into literal pieces."""
    runs = [[""]]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[" and pattern[at + 2 : at + 3] == "]":
            runs[-1][-1] += pattern[at + 1]
            at += 3
            continue
        if char == "*":
            runs.append([""])
        elif char == "?":
            runs[-1].append("")
        else:
            runs[-1][-1] += char
        at += 1
    return runs


def matches_path(pattern: str, path: str) -> bool:
    """Return whether a path matches a glob: without a slash only the file name counts, `**/` crosses folders."""
    path = path.replace("\\", "/")
    if "/" not in pattern:
        return matches_glob(pattern, path.rpartition("/")[2])
    options = {pattern, pattern.removeprefix("**/")}  # `**/x` is also `x` at the top
    anchored = pattern.startswith(("/", "~", "*"))
    return any(matches_glob(option, path) or (not anchored and matches_glob("*/" + option, path)) for option in options)
