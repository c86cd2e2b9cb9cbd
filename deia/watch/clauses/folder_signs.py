"""Recognise platforms by the configuration files in the working folder. Only file names are read.

The names are those that each platform's documentation gives for its configuration.
"""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

MOST_FOLDERS = 8
SWEPT_IN = "unignored-secret"  # not a platform: a file with secrets that git does not ignore
TABLES = Tables(__file__)
SIGNS = TABLES.lists("signs")


def signs_around(folder: str) -> Callable[[Sequence[str]], str]:
    """Return a function that finds the first of some platforms in `folder` or its parents up to the repository's."""

    def find(wanted: Sequence[str]) -> str:
        """Return the first platform with a configuration file in one of the folders, or ""."""
        places = _places(folder)
        signs = ((name, f"{place}/{sign}") for name in wanted for place in places for sign in SIGNS.get(name, ()))
        return next((name for name, path in signs if files.exists(path) and _counts(name, path, places[-1])), "")

    return find


def files_around(folder: str) -> Callable[[str], bool]:
    """Return a function that checks whether a file exists; a relative path is one in `folder`."""

    def exists(path: str) -> bool:
        """Return whether there is such a file."""
        plain = path.replace("\\", "/")
        absolute = plain.startswith("/") or plain[1:3] == ":/"
        return "\0" not in plain and files.exists(plain if absolute else f"{folder}/{plain}")

    return exists


def files_among(names: Collection[str]) -> Callable[[str], bool]:
    """Return such a function for a folder that is only a list of file names."""
    known = {name.removeprefix("./") for name in names}
    return lambda path: path.removeprefix("./") in known


def signs_among(names: Collection[str]) -> Callable[[Sequence[str]], str]:
    """Return the function of `signs_around` for a folder that is only a list of file names, as in trigger cases."""

    def find(wanted: Sequence[str]) -> str:
        """Return the first platform with a configuration file in the list, or ""."""
        return next((name for name in wanted if set(SIGNS.get(name, ())) & set(names)), "")

    return find


def _counts(name: str, path: str, root: str) -> bool:
    """Return whether a file is a sign; one with secrets is only if git would take it in."""
    if name != SWEPT_IN:
        return True
    from deia.watch.clauses.kept_out import is_kept_out  # noqa: PLC0415 - only where such a file is found

    return not is_kept_out(path, root)


def _places(folder: str) -> list[str]:
    places = []
    for place in files.upwards(folder):
        places.append(place)
        if len(places) >= MOST_FOLDERS or files.exists(f"{place}/.git"):
            break
    return places
