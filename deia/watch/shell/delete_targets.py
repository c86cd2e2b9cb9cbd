"""The place that a path leads to, which says what a recursive delete would take; judged from the path's text alone.

The disk is never looked at: the hook has no time for it, and the path may be another machine's (`ssh`, `docker exec`).
A path that begins with an unknown value is `<unknown>`, unless an empty value would turn it into `/` or a system
folder. docs/TRIGGERS.md lists the places and what each stands for; `deia.commons.triggers.clause_language` checks their
names.
"""

from __future__ import annotations

from deia.tables import Tables

LONGEST = 4096  # characters: longer paths do not exist (Linux PATH_MAX)

TABLES = Tables(__file__)
_SYSTEM = TABLES.words("system") | {"program files", "program files (x86)", "programdata"}
_BELOW_SYSTEM = TABLES.words("below system")
_HOMES = frozenset(("home", "users"))
_IN_HOME = TABLES.words("in home")
_BACKUPS = TABLES.words("backups")
_SHARED = TABLES.words("shared")
_REBUILT = TABLES.listed("rebuilt")
_SCRATCH = TABLES.words("scratch")
_SCRATCH_WORDS = TABLES.words("scratch words")
_SCRATCH_ENDINGS = TABLES.listed("scratch endings")
_SOURCES = TABLES.words("sources")
_DATA = TABLES.words("data")
_DATA_ENDINGS = TABLES.listed("data endings")
_SERVED = TABLES.words("served data")
_HOME_NAMES = TABLES.listed("home names")
_HERE_NAMES = TABLES.listed("here names")
_TEMP_NAMES = TABLES.phrases("temp names")
_NEVER_EMPTY = TABLES.words("never empty")
_STARS = frozenset(("*", ".*", "{*,.*}", "*.*", ".[!.]*", "**"))
_PLACES_OF_THEIR_OWN = frozenset(("<root>", "<home>", "<parent>", "<shared>", "<scratch>"))
_SYSTEM_TEMPORARY = "/tmp"  # noqa: S108 - only compared
_TEMPORARY = "/tmp/a-folder-of-its-own"  # noqa: S108 - text to compare with, no file is made
MOST_PLACES = 4096
_places: dict[tuple[str, str], str] = {}  # many templates ask about the same paths


def is_place(word: str) -> bool:
    """Return whether a word of a template asks for a place."""
    return word[:1] == "<" and word[-1:] == ">"


def place_of(path: str, folder: str = "") -> str:
    """Return the place that a path leads to, in the spelling of the templates: `<root>`, `<home>`, ….

    `folder` is where a `cd` before it went. It counts only if that folder is a place of its own (`cd / && rm -rf *`,
    `cd /tmp/x && rm -rf *`); the project's own folder, by whatever path, stays what paths are relative to.
    """
    key = path, folder
    place = _places.get(key)
    if place is None:
        if len(_places) >= MOST_PLACES:
            _places.clear()
        place = _places[key] = _find_place(path, folder)
    return place


def is_temporary(path: str) -> bool:
    """Return whether a path lies in a folder for the temporary files of all programs: `/tmp/x`, `$(mktemp -d)`."""
    plain = _without_names(path) if 0 < len(path) <= LONGEST else ""
    ups, parts = _parts(plain)
    joined = "/".join(parts)
    return plain.startswith("/") and not ups and any(joined.startswith(f"{folder}/") for folder in _SHARED)


def _find_place(path: str, folder: str) -> str:
    if not path or len(path) > LONGEST:
        return "<other>"
    if folder and path[:1] not in "/~$`%{" and path[1:2] != ":" and place_of(folder) in _PLACES_OF_THEIR_OWN:
        return place_of(f"{folder}/{path}")
    if path in {"{}", "{.}", "{/}", "{//}"}:
        return "<found>"
    path = _without_names(path)
    if "$" in path or "`" in path:
        return _place_if_empty(path)
    if "\\" in path or path[1:2] == ":":
        path = path.replace("\\", "/")
    if path[1:2] == ":" and path[:1].isalpha():
        path = "/" + path[2:].lstrip("/")
    if path.startswith("~"):
        return _home_place(path)
    ups, parts = _parts(path)
    if path.startswith("/"):
        return _absolute_place(parts)
    return _outside_place(parts, "<parent>") if ups else _inside_place(parts)


def _without_names(path: str) -> str:
    """Return a path with the names of the home, working and temporary folders replaced by what they stand for."""
    if path.startswith("$(mktemp"):
        return _TEMPORARY
    for names, stand_in in ((_TEMP_NAMES, _TEMPORARY), (_HOME_NAMES, "~"), (_HERE_NAMES, ".")):
        for name in names:
            if path.startswith(name) and not (
                path[len(name) : len(name) + 1].isalnum() or path[len(name) :][:1] == "_"
            ):
                rest = path[len(name) :]
                left = f"{_SYSTEM_TEMPORARY}{rest}"  # `$TMPDIR/../etc`
                is_left = stand_in == _TEMPORARY and _parts(rest)[0] and place_of(left) in {"<root>", "<home>"}
                return left if is_left else stand_in + rest
    return path


def _place_if_empty(path: str) -> str:
    """Return the place of a path if its variables are empty; a guarded one (`${X:?}`) stops the shell instead."""
    emptied = _emptied(path)
    if emptied is None or not emptied.startswith("/") or not path.startswith(("$", "`", "/$", "/`")):
        prefix = path.partition("$")[0].partition("`")[0]
        return place_of(prefix + "x") if "/" in prefix else "<unknown>"
    return "<variable>" if _absolute_place(_parts(emptied)[1]) in {"<root>", "<home>"} else "<unknown>"


def _emptied(path: str) -> str | None:
    """Return a path without its variables and substitutions, or None if one of them cannot be empty."""
    kept: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`" or path.startswith("$(", at):
            end = _substitution_end(path, at)
            if end < 0:
                return None
            at = end
            continue
        if path[at] != "$":
            kept.append(path[at])
            at += 1
            continue
        if path[at + 1 : at + 2] == "{":
            end = path.find("}", at)
            body = path[at + 2 : end]
            if end < 0 or any(mark in body for mark in (":?", ":-", ":=", "?")):
                return None
            at = end + 1
            continue
        end = at + 1
        while end < len(path) and (path[end].isalnum() or path[end] == "_"):
            end += 1
        at = max(end, at + 1)
    return "".join(kept)


def _substitution_end(path: str, at: int) -> int:
    """Return where the command substitution at `at` ends, or -1 if it has no end or always prints something."""
    if path[at] == "`":
        first, end = at + 1, path.find("`", at + 1)
    else:
        first, end, depth = at + 2, at + 2, 1
        while end < len(path) and depth:
            depth += (path[end] == "(") - (path[end] == ")")
            end += 1
        end = end - 1 if not depth else -1
    return -1 if end < 0 or path[first:end].strip().partition(" ")[0] in _NEVER_EMPTY else end + 1


def _parts(path: str) -> tuple[int, list[str]]:
    """Return how many folders up a path goes, and its parts below; `.` and `..` are resolved, a last `*` is dropped."""
    ups = 0
    parts: list[str] = []
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part != "..":
            parts.append(part.lower())
        elif parts:
            parts.pop()
        else:
            ups += 1
    if parts and parts[-1] in _STARS:
        parts.pop()
    return ups, parts


def _absolute_place(parts: list[str]) -> str:
    joined = "/".join(parts)
    if joined in _SHARED:
        return "<shared>"
    if any(joined.startswith(f"{folder}/") for folder in _SHARED) or joined.startswith(_REBUILT):
        return "<scratch>"
    if joined in _SERVED:
        return "<data>"
    if not parts or (len(parts) == 1 and parts[0] in _SYSTEM - {"root"}) or joined in _BELOW_SYSTEM:
        return "<root>"
    if parts == ["root"] or (len(parts) == 2 and parts[0] in _HOMES):
        return "<home>"
    if len(parts) == 3 and parts[0] in _HOMES and parts[2] in _IN_HOME:
        return "<home>"
    return _outside_place(parts, "<root>")


def _home_place(path: str) -> str:
    user, slash, below = path.partition("/")
    parts = _parts(below)[1] if slash else []
    if not parts or (len(parts) == 1 and parts[0] in _IN_HOME):
        return "<home>"
    return _outside_place(parts, "<home>") if user == "~" else "<outside>"


def _outside_place(parts: list[str], empty: str) -> str:
    """Return the place of a path outside the project; `empty` is the place if no parts are left."""
    if not parts:
        return empty
    if parts[-1] == ".git":
        return "<repository>"
    if parts[-1] in _BACKUPS:
        return "<backups>"
    return "<scratch>" if _is_scratch(parts) else "<outside>"


def _inside_place(parts: list[str]) -> str:
    if not parts:
        return "<whole>"
    if parts[-1] == ".git":
        return "<repository>"
    if _is_scratch(parts):
        return "<scratch>"
    if parts[0] in _DATA or parts[-1] in _DATA or parts[-1].endswith(_DATA_ENDINGS):
        return "<data>"
    return "<source>" if parts[0] in _SOURCES and len(parts) <= 2 and "." not in parts[-1][1:] else "<other>"


def _is_scratch(parts: list[str]) -> bool:
    """Return whether a path leads to something that is rebuilt or temporary."""
    if any(part in _SCRATCH or not _SCRATCH_WORDS.isdisjoint(_words(part)) for part in parts):
        return True
    return parts[-1].endswith(_SCRATCH_ENDINGS)


def _words(part: str) -> list[str]:
    return part.replace("-", " ").replace("_", " ").replace(".", " ").split()
