"""Shell-style globs over names, arguments and paths, without `fnmatch`, which brings `re`."""

from __future__ import annotations

LONGEST = 131_072  # characters: a file that a tool writes may be this long, and the time stays bounded
MOST_KNOWN = 4096
_known: dict[str, list[list[str]]] = {}  # the globs of the compiled triggers, over and over


def matches_glob(pattern: str, text: str) -> bool:
    """Say whether the whole text fits: `*` is any run, `?` any one character, `[*]` a literal star; case counts."""
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
    for run in middle:  # the leftmost place of each leaves the most for those after it
        at = _find(run, text, at, end)
        if at < 0:
            return False
        at += _length(run)
    return True


def _length(run: list[str]) -> int:
    return sum(map(len, run)) + len(run) - 1


def _fits(run: list[str], text: str, at: int) -> bool:
    """Say whether literal pieces, with any one character between two of them, stand at a place."""
    for piece in run:
        if not text.startswith(piece, at):
            return False
        at += len(piece) + 1
    return True


def _find(run: list[str], text: str, at: int, end: int) -> int:
    """Give the first place from `at` on where a run of pieces stands that ends by `end`, or -1."""
    anchor = max(range(len(run)), key=lambda number: len(run[number]))
    before, most = _length(run[: anchor + 1]) - len(run[anchor]), end - _length(run)
    while at <= most:
        found = text.find(run[anchor], at + before, end)
        at = found - before
        if found < 0 or at > most:
            return -1
        if _fits(run, text, at):
            return at
        at += 1
    return -1


def _runs(pattern: str) -> list[list[str]]:
    """Cut a glob at its stars, and each run at its question marks, into literal pieces."""
    runs = _known.get(pattern)
    if runs is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        runs = _known[pattern] = _cut(pattern)
    return runs


def _cut(pattern: str) -> list[list[str]]:
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
    """Say whether a path fits a glob: without a slash it is held against the file name, `**/` crosses folders."""
    path = path.replace("\\", "/")
    if "/" not in pattern:
        return matches_glob(pattern, path.rpartition("/")[2])
    options = {pattern, pattern.removeprefix("**/")}  # `**/x` is also `x` at the top
    anchored = pattern.startswith(("/", "~", "*"))
    return any(matches_glob(option, path) or (not anchored and matches_glob("*/" + option, path)) for option in options)
