"""A document of the commons, found by what a person has of it: its id, or its path as an answer or a shell writes it.

Refuses to guess: what names no document is an error that says which were perhaps meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from deia.commons.layers.merge_layers import file_at
from deia.errors import QueryError
from deia.match.tokeniser import words
from deia.records import Record
from deia.search.catalog import Catalog, Shelved
from deia.suggestions import nearest

MOST_NEAR = 2_000  # ids that are compared letter by letter
MOST_SHARING = 50  # documents whose paths end alike


class Found(Record):
    """A document, its text, the file it stands in, and the lines that were named, if any were."""

    shelved: Shelved
    text: str
    file: str
    lines: tuple[int, int] | None = None


def look_up(catalog: Catalog, name: str, *, root: str, folder: str, tool: str = "") -> Found:
    """Give the document with this id or path; `path:12` and `path:12-30` also name lines.

    Whoever asks through a tool and not by typing is told the name of the `tool` that searches.

    Raises:
        QueryError: there is none.
    """
    bare, lines = split_lines(name)
    for each, wanted in ((name, None), (bare, lines)):
        shelved = catalog.shelved(each) or _by_path(catalog, each, root=root, folder=folder)
        if shelved is not None:
            file = file_at(root, shelved.entry.path)
            return Found(shelved=shelved, text=catalog.text(shelved), file=file, lines=wanted)
    raise QueryError(f"there is no document {_printable(name)!r}.", fix=_advice(catalog, bare, tool))


def split_lines(name: str) -> tuple[str, tuple[int, int] | None]:
    """Take the lines off a name such as `path:12-30`."""
    path, colon, span = name.rpartition(":")
    lines = read_lines(span) if colon else None
    return (path, lines) if lines else (name, None)


def read_lines(span: str) -> tuple[int, int] | None:
    """Read `12`, `12-30` or `12-` (to the end, as a very large number); None where it is none of these."""
    first, dash, last = span.partition("-")
    if not _is_number(first) or not (_is_number(last) or not last):
        return None
    begin = int(first)
    end = int(last) if last else 10**9 if dash else begin
    return (begin, end) if 0 < begin <= end else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9


def _by_path(catalog: Catalog, name: str, *, root: str, folder: str) -> Shelved | None:
    for path in _paths(name, root=root, folder=folder):
        for hit in catalog.keyword.listed(filters={"path": path}, limit=MOST_SHARING):
            shelved = catalog.shelved(hit.document)
            if shelved is not None and shelved.entry.path == path:
                return shelved
    return None


def _paths(name: str, *, root: str, folder: str) -> Iterator[str]:
    """Give the paths of the commons that a name could mean: as it is, and as a file seen from the working folder."""
    tidy = name.replace("\\", "/").removeprefix("./")
    if not tidy or "\0" in tidy:
        return
    yield tidy
    full = os.path.normpath(os.path.join(folder, tidy)).replace("\\", "/")
    if full.startswith(f"{root}/"):
        yield full[len(root) + 1 :]


def ids(catalog: Catalog) -> Iterator[str]:
    """Give the ids of all documents."""
    return (name for number in range(catalog.numbers) if (name := catalog.id(number)))


def _advice(catalog: Catalog, name: str, tool: str) -> str:
    """Suggest ids: of many, those that share a part with the name."""
    known = list(ids(catalog))
    if len(known) > MOST_NEAR:
        parts = {part for word in words(name) for part in word}
        known = [each for each in known if not parts.isdisjoint(part for word in words(each) for part in word)]
    advice = nearest(name[:200], known[:MOST_NEAR])
    search = f"call {tool}." if tool else f'type: deia search "{_printable(name)[:60]}"'
    return f"{advice} To look for one, {search}"


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
