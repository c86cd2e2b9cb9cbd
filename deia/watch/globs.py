"""Shell-style globs over names, arguments and paths, without `fnmatch`, which brings `re`."""

from __future__ import annotations

LONGEST = 4096  # characters: longer names do not exist, and the product with the pattern stays bounded
MOST_KNOWN = 4096
_known: dict[str, list[str]] = {}  # the globs of the compiled triggers, over and over


def matches_glob(pattern: str, text: str) -> bool:
    """Say whether the whole text fits: `*` is any run, `?` any one character, `[*]` a literal star; case counts."""
    if not any(mark in pattern for mark in "*?["):
        return pattern == text
    if len(text) > LONGEST:
        return False
    pieces = _pieces(pattern)
    at = star = -1
    i = mark = 0
    count = len(pieces)
    while i < len(text):
        if at + 1 < count and pieces[at + 1] == "*":
            star, mark, at = at + 1, i, at + 1
        elif at + 1 < count and (pieces[at + 1] == "?" or pieces[at + 1][-1] == text[i]):
            at, i = at + 1, i + 1
        elif star >= 0:  # give the last star one character more
            mark += 1
            at, i = star, mark
        else:
            return False
    return all(piece == "*" for piece in pieces[at + 1 :])


def _pieces(pattern: str) -> list[str]:
    """Give `*`, `?`, or a literal as a backslash and its character."""
    pieces = _known.get(pattern)
    if pieces is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        pieces = _known[pattern] = _cut(pattern)
    return pieces


def _cut(pattern: str) -> list[str]:
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[" and pattern[at + 2 : at + 3] == "]":
            pieces.append("\\" + pattern[at + 1])
            at += 3
            continue
        if char not in "*?":
            pieces.append("\\" + char)
        elif char == "?" or not pieces or pieces[-1] != "*":
            pieces.append(char)
        at += 1
    return pieces


def matches_path(pattern: str, path: str) -> bool:
    """Say whether a path fits a glob: without a slash it is held against the file name, `**/` crosses folders."""
    path = path.replace("\\", "/")
    if "/" not in pattern:
        return matches_glob(pattern, path.rpartition("/")[2])
    options = {pattern, pattern.removeprefix("**/")}  # `**/x` is also `x` at the top
    anchored = pattern.startswith(("/", "~", "*"))
    return any(matches_glob(option, path) or (not anchored and matches_glob("*/" + option, path)) for option in options)
