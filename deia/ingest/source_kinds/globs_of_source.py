"""Which paths of a source count: its globs, what is never taken in, and what `.gitignore` files name.

All globs are written as in `.gitignore`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from deia.ingest.source import Source, SourceError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What a program made or fetched, and what holds secrets, by whole names; `include` brings it in all the same, except
# for the folders of version control. (As globs these took twice as long as listing 20,000 files.)
NEVER = frozenset((".git", ".hg", ".svn"))
SELDOM_FOLDERS = frozenset(
    """node_modules __pycache__ .venv venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .idea .trash""".split()
)
SELDOM = frozenset(
    """package-lock.json yarn.lock pnpm-lock.yaml .env id_rsa id_ed25519 .netrc .npmrc .pypirc""".split()
)
SELDOM_ENDINGS = (".pyc", ".min.js", ".min.css", ".map", ".pem", ".key")
IGNORE = ".gitignore"
UNREADABLE = (ValueError, re.error)  # what pathspec raises about a glob


def _compiled(globs: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 9 ms, which a source without globs does not need

    return GitIgnoreSpec.from_lines(globs)


def spec(globs: Sequence[str]) -> GitIgnoreSpec:
    """Return globs compiled; raise SourceError if one makes no sense, or names nothing."""
    fix = "Write it as in .gitignore, such as docs/**/*.md"
    for glob in globs:
        try:
            patterns = _compiled([glob]).patterns
        except UNREADABLE as error:
            raise SourceError(f"a glob cannot be read: {error}", fix=fix) from error
        if not any(pattern.include is not None for pattern in patterns):
            raise SourceError(f"the glob {glob!r} names no file", fix=fix)
    return _compiled(globs)


def ignore_spec(text: str) -> GitIgnoreSpec:
    """Return a `.gitignore` compiled, without the lines that git would not understand either."""
    lines = text.splitlines()
    try:
        return _compiled(lines)
    except UNREADABLE:
        return _compiled(filter(_is_glob, lines))


def _is_glob(line: str) -> bool:
    try:
        _compiled([line])
    except UNREADABLE:
        return False
    return True


class Selection:
    """What of a source counts, by the source's own globs."""

    def __init__(self, source: Source) -> None:
        self._filter = spec(source.filter) if source.filter else None
        self._exclude = spec(source.exclude) if source.exclude else None
        self._include = spec(source.include) if source.include else None
        self._depth = source.depth

    def forced(self, path: str) -> bool:
        """Return whether a file is taken in although something names it that would keep it out."""
        return self._include is not None and self._include.match_file(path)

    def takes(self, path: str) -> bool:
        """Return whether a file counts, apart from `.gitignore` files."""
        if self._depth >= 0 and path.count("/") > self._depth:
            return False
        if self._filter is not None and not self._filter.match_file(path):
            return False
        folder, _, name = path.rpartition("/")
        if folder and _is_below(folder, NEVER):
            return False
        return not (_is_seldom(folder, name) or self._is_excluded(path)) or self.forced(path)

    def _is_excluded(self, path: str) -> bool:
        return self._exclude is not None and self._exclude.match_file(path)

    def enters(self, folder: str) -> bool:
        """Return whether a folder can hold files that count."""
        name = folder.rpartition("/")[2]
        if name in NEVER or (self._depth >= 0 and folder.count("/") >= self._depth):
            return False
        return self.forces or not (name in SELDOM_FOLDERS or self._is_excluded(f"{folder}/"))

    @property
    def forces(self) -> bool:
        """Whether anything may be taken in that a `.gitignore` names."""
        return self._include is not None


def _is_seldom(folder: str, name: str) -> bool:
    is_secret = name in SELDOM or name.startswith(".env.")
    return is_secret or name.endswith(SELDOM_ENDINGS) or _is_below(folder, SELDOM_FOLDERS)


@functools.lru_cache(maxsize=64)  # the next file is mostly in the same folder
def _is_below(folder: str, names: frozenset[str]) -> bool:
    """Return whether a folder or one above it has one of some names."""
    return not names.isdisjoint(folder.split("/"))
