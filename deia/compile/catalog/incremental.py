"""The short way where nothing but the texts of a few documents changed: these are read, and nothing else is.

For that a whole compile leaves the index's entries in a file of their own, since reading them again as YAML takes
longer than everything else together. Refuses whenever anything depends on a changed document besides its own passages
and its own problems: its title, what filters and views go by, what a trigger puts forward. Then the whole commons is
read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from deia import files
from deia.commons.checks import document_problems
from deia.commons.index.documents import read_document
from deia.commons.index.entries import complete_entry, derived_entry
from deia.commons.index.index_records import Index
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, local_path, origin_of
from deia.commons.source_files.findings import Findings
from deia.compile.catalog.document_store import Volume, described_volume
from deia.compile.sources import SETTINGS_FILES
from deia.errors import Problem
from deia.folders import INDEX_NAMES
from deia.knowledge import Document, Entry
from deia.records import Record

HEAD = "deia-entries-1"
KEPT_FROM = 5_000  # documents; a smaller commons is read whole in a second
MOST_CHANGED = 100
NAMED = ("platforms", "audience", "urgency", "clusters", "related_docs", "extra")  # by views, filters and other entries
SAID = ("summary", "keywords")  # of these it counts only whether there are any


class Revised(Record):
    """The documents that changed, ready to be compiled, and everything that is wrong with them."""

    volumes: tuple[Volume, ...]
    problems: tuple[Problem, ...]


class _Row(Record):
    """What is kept of a document: its id, the id and the weighty fields that it had, and its entry in the index."""

    id: str
    own_id: str
    relied: str
    listed: Entry | None


def changed_texts(sources: Mapping[str, str], known: Mapping[str, str], settled: Collection[str]) -> list[str] | None:
    """Give the documents whose texts changed since `known`; None where anything else may have, or too many did.

    `settled` are documents of which triggers hold a copy.
    """
    if sources.keys() != known.keys():
        return None
    changed = [path for path, value in sources.items() if value != known[path] and value[-64:] != known[path][-64:]]
    if len(changed) > MOST_CHANGED or not all(_is_text(path) and path not in settled for path in changed):
        return None
    return changed


def _is_text(path: str) -> bool:
    kept = (*INDEX_NAMES, *SETTINGS_FILES)
    return origin_of(path) == PROJECT and path.endswith(".md") and path not in kept and local_path(path) == path


def entries_text(commons: Commons, token: str) -> bytes:
    """Write down what the short way needs to know of each of the project's own documents, for `revised`."""
    texts = {document.path: document for document in commons.documents}
    listed = {entry.id: entry for entry in commons.index.entries}
    lines = [f"{HEAD} {token}"]
    for entry in commons.entries:
        document = texts.get(entry.path)
        if document and origin_of(entry.path) == PROJECT:
            kept = None if entry.id in commons.derived else _told(listed[entry.id])
            own = commons.own_ids[document.path]
            lines.append(f"{entry.path}\t{json.dumps([entry.id, own, _relied(entry), kept])}")
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def _told(entry: Entry) -> dict[str, Any]:
    return {name: value for name, value in entry.values().items() if value}


def _relied(entry: Entry) -> str:
    """Give what identifies those fields of an entry on which more than the entry depends."""
    fields = [getattr(entry, name) for name in ("title", *NAMED)]
    shown = repr([*fields, *(bool(getattr(entry, name)) for name in SAID)])
    return blake2b(shown.encode("utf-8", "replace"), digest_size=16).hexdigest()


def revised(root: str, place: str, paths: Sequence[str], *, token: str, index: str) -> Revised | None:
    """Read the documents that changed; None where the whole commons has to be read.

    `place` is the file of what `entries_text` wrote with the same `token`, `index` the path of the index.
    """
    held = files.read(place) or b""
    if not held.startswith(f"{HEAD} {token}\n".encode()):
        return None
    found = [_revised(root, path, _row(held, path), index) for path in paths]
    sound = [each for each in found if each is not None]
    if len(sound) < len(found):
        return None
    volumes = tuple(volume for each in sound for volume in each.volumes)
    return Revised(volumes=volumes, problems=tuple(problem for each in sound for problem in each.problems))


def _revised(root: str, path: str, row: _Row | None, index: str) -> Revised | None:
    problems: list[Problem] = []
    document = read_document(root, path, problems) if row else None
    if row is None or document is None:
        return None
    findings = Findings(path)
    own = derived_entry(document, findings)
    entry = complete_entry(row.listed, own) if row.listed else own.but(id=row.id)
    if own.id != row.own_id or _relied(entry) != row.relied:
        return None
    problems += [problem.but(severity="warning") for problem in findings.problems]
    problems += document_problems(_alone(root, entry, document, index, derived=row.listed is None))
    return Revised(volumes=(described_volume(entry, document),), problems=tuple(problems))


def _alone(root: str, entry: Entry, document: Document, index: str, *, derived: bool) -> Commons:
    """Give a commons of one document, for the checks that look at one at a time."""
    return Commons(
        root=root, index=Index(path=index), entries=(entry,), documents=(document,), clusters=(), query_patterns=(),
        triggers=(), cases=(), derived=(entry.id,) if derived else (),
    )  # fmt: skip


def _row(held: bytes, path: str) -> _Row | None:
    """Find what was kept of a document; None where there is nothing, or two entries share it."""
    key = f"\n{path}\t".encode("utf-8", "surrogatepass")
    at = held.find(key)
    if at < 0 or held.find(key, at + 1) >= 0:
        return None
    start = at + len(key)
    try:
        ident, own, relied, kept = json.loads(held[start : held.find(b"\n", start)])
        return _Row(id=ident, own_id=own, relied=relied, listed=_entry(kept))
    except (ValueError, TypeError):  # it is only a short cut
        return None


def _entry(kept: Mapping[str, Any] | None) -> Entry | None:
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in (kept or {}).items()
    }
    return Entry(**given) if given else None


def merged_problems(
    before: Iterable[Mapping[str, Any]], paths: Collection[str], now: Iterable[Problem], *, most: int
) -> list[dict[str, Any]]:
    """Give the problems of a commons in which those of some documents were found anew."""
    kept = [Problem(**each) for each in before if each["path"] not in paths]
    found = dict.fromkeys([*kept, *now])
    ordered = sorted(found, key=lambda problem: (problem.path, problem.line, problem.code, problem.found))
    return [problem.values() for problem in ordered[:most]]
