"""Look up a document by its id, or by its path as an answer or a shell writes it.

A name that matches no document is an error, with suggestions; nothing is guessed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from deia.commons.layers.merge_layers import file_at
from deia.errors import QueryError
from deia.match.tokeniser import words
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.stored_document import StoredDocument
from deia.suggestions import nearest

MOST_NEAR = 2_000  # ids that are compared by edit distance
MOST_SHARING = 50  # documents that share the indexed form of a path


class FoundDocument(Record):
    """A document, its text, its file, and the lines that were named, if any."""

    document: StoredDocument
    text: str
    file: str
    lines: tuple[int, int] | None = None


def look_up(catalog: Catalog, name: str, *, root: str, folder: str, tool: str = "") -> FoundDocument:
    """Return the document with this id or path; `path:12` and `path:12-30` also name lines.

    The advice in the error names the search `tool` if one is given, and the command line otherwise. Raise QueryError if
    there is no such document.
    """
    bare, lines = split_lines(name)
    for candidate, named_lines in ((name, None), (bare, lines)):
        document = catalog.document(candidate) or _by_path(catalog, candidate, root=root, folder=folder)
        if document is not None:
            file = file_at(root, document.entry.path)
            return FoundDocument(document=document, text=catalog.text(document), file=file, lines=named_lines)
    raise QueryError(f"there is no document {_printable(name)!r}.", fix=_advice(catalog, bare, tool))


def split_lines(name: str) -> tuple[str, tuple[int, int] | None]:
    """Split a name such as `path:12-30` into the path and the lines."""
    path, colon, span = name.rpartition(":")
    lines = read_lines(span) if colon else None
    return (path, lines) if lines else (name, None)


def read_lines(span: str) -> tuple[int, int] | None:
    """Parse `12`, `12-30` or `12-` (to the end, as a very large number); return None for anything else."""
    first, dash, last = span.partition("-")
    if not _is_number(first) or not (_is_number(last) or not last):
        return None
    begin = int(first)
    end = int(last) if last else 10**9 if dash else begin
    return (begin, end) if 0 < begin <= end else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9


def _by_path(catalog: Catalog, name: str, *, root: str, folder: str) -> StoredDocument | None:
    for path in _paths(name, root=root, folder=folder):
        sharing = catalog.documents(catalog.keyword.listed(filters={"path": path}, limit=MOST_SHARING))
        document = next((document for document in sharing if document.entry.path == path), None)
        if document is not None:
            return document
    return None


def _paths(name: str, *, root: str, folder: str) -> Iterator[str]:
    """Yield the paths in the commons that a name could mean: as it is, and relative to the working folder."""
    tidy = name.replace("\\", "/").removeprefix("./")
    if not tidy or "\0" in tidy:
        return
    yield tidy
    full = os.path.normpath(os.path.join(folder, tidy)).replace("\\", "/")
    if full.startswith(f"{root}/"):
        yield full[len(root) + 1 :]


def ids(catalog: Catalog) -> Iterator[str]:
    """Return the ids of all documents."""
    return (name for number in range(catalog.numbers) if (name := catalog.id(number)))


def _advice(catalog: Catalog, name: str, tool: str) -> str:
    """Return suggested ids; in a large commons only ids that share a part with the name are considered."""
    known = list(ids(catalog))
    if len(known) > MOST_NEAR:
        parts = {part for word in words(name) for part in word}
        known = [ident for ident in known if not parts.isdisjoint(part for word in words(ident) for part in word)]
    advice = nearest(name[:200], known[:MOST_NEAR])
    search = f"call {tool}." if tool else f'type: deia search "{_printable(name)[:60]}"'
    return f"{advice} To look for one, {search}"


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
