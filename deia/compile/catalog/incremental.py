"""The fast path for a compile in which only the texts of a few documents changed: only those documents are read.

For this, a full compile writes the index's entries to a file of their own, since parsing them as YAML again takes
longer than everything else together. The fast path is given up, and the whole commons is read, if anything else
depends on what changed in a document: its title, fields that filters and views use, or what a trigger injects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from deia import files
from deia.commons.checks import OF_DOCUMENTS
from deia.commons.index.documents import read_document
from deia.commons.index.entries import complete_entry, derived_entry
from deia.commons.index.index_records import Index
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, local_path, origin_of
from deia.commons.source_files.findings import Findings
from deia.compile.catalog.document_store import Volume, described_volume
from deia.compile.sources import SETTINGS_FILES
from deia.fast_json import Json
from deia.folders import INDEX_NAMES
from deia.knowledge import Document, Entry
from deia.problems import Problem
from deia.records import Record

HEAD = "deia-entries-1"
MOST_CHANGED = 100
SHARED_FIELDS = ("title", "platforms", "audience", "urgency", "clusters", "related_docs", "extra")  # others use these
PRESENCE_FIELDS = ("summary", "keywords")  # of these it only matters whether they are empty


class Revised(Record):
    """The documents that changed, ready to be compiled, and all of their problems."""

    volumes: tuple[Volume, ...]
    problems: tuple[Problem, ...]


class _Row(Record):
    """What is remembered about a document."""

    id: str
    own_id: str  # the id that the document has by itself
    shared_digest: str  # of the fields that other things depend on
    listed: Entry | None  # its entry in the index


def changed_texts(sources: Mapping[str, str], known: Mapping[str, str], settled: Collection[str]) -> list[str] | None:
    """Return the documents whose texts changed since `known`, or None if anything else changed, or too many did.

    `settled` are the documents that triggers hold a copy of.
    """
    if sources.keys() != known.keys():
        return None
    changed = [path for path, value in sources.items() if value != known[path] and value[-64:] != known[path][-64:]]
    if len(changed) > MOST_CHANGED or not all(_is_own_text(path) and path not in settled for path in changed):
        return None
    return changed


def _is_own_text(path: str) -> bool:
    special = (*INDEX_NAMES, *SETTINGS_FILES)
    return origin_of(path) == PROJECT and path.endswith(".md") and path not in special and local_path(path) == path


def entries_text(commons: Commons, token: str) -> bytes:
    """Return what `revised` needs to know about each of the project's own documents, as a file's content."""
    texts = {document.path: document for document in commons.documents}
    listed = {entry.id: entry for entry in commons.index.entries}
    lines = [f"{HEAD} {token}"]
    for entry in commons.entries:
        document = texts.get(entry.path)
        if document and origin_of(entry.path) == PROJECT:
            stored = None if entry.id in commons.derived else _filled_fields(listed[entry.id])
            own = commons.own_ids[document.path]
            lines.append(f"{entry.path}\t{json.dumps([entry.id, own, _shared_digest(entry), stored])}")
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def _filled_fields(entry: Entry) -> dict[str, Json]:
    return {name: value for name, value in entry.values().items() if value}


def _shared_digest(entry: Entry) -> str:
    """Return a digest of the fields of an entry that other things depend on."""
    fields = [getattr(entry, name) for name in SHARED_FIELDS]
    shown = repr([*fields, *(bool(getattr(entry, name)) for name in PRESENCE_FIELDS)])
    return blake2b(shown.encode("utf-8", "replace"), digest_size=16).hexdigest()


def revised(root: str, place: str, paths: Sequence[str], *, token: str, index: str) -> Revised | None:
    """Read the documents that changed; return None if the whole commons has to be read.

    `place` is the file that `entries_text` wrote with the same `token`, `index` the path of the index.
    """
    stored = files.read(place, files.ANY_SIZE) or b""
    if not stored.startswith(f"{HEAD} {token}\n".encode()):
        return None
    volumes: list[Volume] = []
    problems: list[Problem] = []
    for path in paths:
        row = _find_row(stored, path)
        volume = _revised(root, path, row, index, problems) if row else None
        if volume is None:
            return None
        volumes.append(volume)
    return Revised(volumes=tuple(volumes), problems=tuple(problems))


def _revised(root: str, path: str, row: _Row, index: str, problems: list[Problem]) -> Volume | None:
    """Read a document and add its problems; return None if other things depend on what changed."""
    document = read_document(root, path, problems)
    if document is None:
        return None
    findings = Findings(path)
    own = derived_entry(document, findings, is_listed=row.listed is not None)
    entry = complete_entry(row.listed, own) if row.listed else own.but(id=row.id)
    if own.id != row.own_id or _shared_digest(entry) != row.shared_digest:
        return None
    problems += [problem.but(severity="warning") for problem in findings.problems]
    alone = _single_document(root, entry, document, index, derived=row.listed is None)
    problems += [problem for check in OF_DOCUMENTS for problem in check(alone)]
    return described_volume(entry, document)


def _single_document(root: str, entry: Entry, document: Document, index: str, *, derived: bool) -> Commons:
    """Return a commons of one document, for the checks that look at one document at a time."""
    return Commons(
        root=root, index=Index(path=index), entries=(entry,), documents=(document,), clusters=(), query_patterns=(),
        triggers=(), cases=(), derived=(entry.id,) if derived else (),
    )  # fmt: skip


def _find_row(stored: bytes, path: str) -> _Row | None:
    """Return what is remembered about a document, or None if there is nothing or two entries share the document."""
    key = f"\n{path}\t".encode("utf-8", "surrogatepass")
    at = stored.find(key)
    if at < 0 or stored.find(key, at + 1) >= 0:
        return None
    start = at + len(key)
    try:
        ident, own, shared_digest, entry = json.loads(stored[start : stored.find(b"\n", start)])
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in (entry or {}).items()
        }
        return _Row(id=ident, own_id=own, shared_digest=shared_digest, listed=Entry(**fields) if fields else None)
    except (ValueError, TypeError):  # a damaged row only costs the fast path
        return None


def merged_problems(
    before: Iterable[Problem], paths: Collection[str], now: Iterable[Problem], *, most: int
) -> tuple[Problem, ...]:
    """Return the problems of a commons after the documents at `paths` were checked again."""
    others = [problem for problem in before if problem.path not in paths]
    problems = dict.fromkeys([*others, *now])
    return tuple(sorted(problems, key=lambda problem: (problem.path, problem.line, problem.code, problem.found))[:most])
