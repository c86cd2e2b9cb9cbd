"""The conventions of notes that were not written for deia: names of fields, kinds of notes, what is left out."""

from __future__ import annotations

import re
from collections.abc import Collection

from deia.globs import matches_glob
from deia.records import Record
from deia.tables import Tables

TABLES = Tables(__file__)
FIELDS = TABLES.pairs("fields")
URGENCY_WORDS = TABLES.pairs("urgencies")
STATUSES = TABLES.words("statuses")
FIELDS_IN_TEXT = TABLES.words("fields in text")
SUMMARY_CALLOUTS = TABLES.words("summary callouts")
ENDINGS = TABLES.listed("endings")
OVERVIEWS = TABLES.words("overviews")
LEFT_OUT_FILES = TABLES.words("left out files")
HIDDEN_FOLDERS = TABLES.listed("hidden folders")
LEFT_OUT_FOLDERS = TABLES.words("left out folders")
SEPARATORS = re.compile(r"[\s-]+")
NUMBER = re.compile(r"[0-9][0-9.)]{0,15}\s+")
LISTS = ("files", "folders", "tags", "summary", "status", "action")


class Kind(Record):
    """A kind of note: how it is recognised, and what becomes of its sections."""

    name: str
    bok: str  # the folder below `bok/` for a copy
    title: str = ""  # for a note that is only named after its file
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    headings: tuple[tuple[str, ...], ...] = ()
    tags: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    action: tuple[str, ...] = ()

    def fits(self, path: str, headings: Collection[str]) -> bool:
        """Return whether a note is of this kind, by its path and its headings."""
        *folders, name = path.lower().split("/")
        if any(matches_glob(pattern, name) for pattern in self.files):
            return True
        if name in OVERVIEWS:
            return False
        if any(folder in self.folders for folder in folders):
            return True
        return bool(self.headings) and all(any(name in headings for name in group) for group in self.headings)


NOTE = Kind(name="note", bok="notes")


def _kind(section: str) -> Kind:
    pairs = TABLES.pairs(section)
    groups = pairs.pop("headings", "").split(";")
    lists = {name: _words(value) for name, value in pairs.items() if name in LISTS}
    return Kind(
        name=pairs["name"], bok=pairs["bok"], title=pairs.get("title", ""),
        headings=tuple(_words(group) for group in groups if group.strip()), **lists,
    )  # fmt: skip


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


KINDS = tuple(_kind(name) for name in TABLES.listed("kinds"))
FILE_NAMES = frozenset(name for kind in KINDS for name in kind.files if name.startswith("."))  # without an ending


def kind_of(path: str, headings: Collection[str]) -> Kind:
    """Return the kind of a note."""
    return next((kind for kind in KINDS if kind.fits(path, headings)), NOTE)


def field_of(name: str) -> str:
    """Return the field that a name stands for, such as `created` for `Date created`, or the name as it is compared."""
    bare = SEPARATORS.sub("_", name.strip().lower())
    return FIELDS.get(bare, bare)


def heading_of(text: str) -> str:
    """Return a heading as it is compared: in lower case, without its number and the punctuation around it."""
    return NUMBER.sub("", text.strip().lower(), count=1).strip(" :.#*_?!-")
