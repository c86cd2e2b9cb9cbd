"""Load a whole commons: entries completed from their documents, triggers of both forms, cases, and problems.

A document is described by its entry, by its own front matter, or by both; the entry takes precedence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from deia.commons.index.documents import FOLDER as DOCUMENTS
from deia.commons.index.documents import read_documents
from deia.commons.index.entries import complete_entry, derived_entry
from deia.commons.index.index_records import Cluster, Concept, Index, LearningPath, QueryPattern
from deia.commons.index.read_index import load_index
from deia.commons.notes.note_text import with_links
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.slugs import free_name, id_from_path
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.commons.triggers.read_triggers import load_triggers
from deia.folders import is_commons
from deia.knowledge import Case, Document, Entry, Trigger
from deia.problems import CommonsError, Problem
from deia.records import Record
from deia.settings import resolve


class Commons(Record):
    """The contents of a commons."""

    root: str
    index: Index
    entries: tuple[Entry, ...]
    documents: tuple[Document, ...]
    clusters: tuple[Cluster, ...]
    query_patterns: tuple[QueryPattern, ...]
    triggers: tuple[Trigger, ...]
    cases: tuple[Case, ...]
    concepts: tuple[Concept, ...] = ()
    learning_paths: tuple[LearningPath, ...] = ()
    problems: tuple[Problem, ...] = ()
    broken: tuple[str, ...] = ()  # ids of triggers that were left out
    derived: tuple[str, ...] = ()  # ids of entries that were derived from a document
    own_ids: Mapping[str, str] = {}  # by path, the id that a document has without an index


def load_commons(root: str, *, good: Mapping[str, str] | None = None, globs: Sequence[str] | None = None) -> Commons:
    """Read the commons at `root`; `good` is the last good text of each trigger file, by path.

    The notes that `globs` name are documents too; None stands for those of the person's settings for this project.
    Raise CommonsError if there is no commons, and SettingsError if a setting of a project is malformed.
    """
    index = load_index(root)
    is_started = is_commons(root) or any(os.path.isdir(os.path.join(root, name)) for name in (DOCUMENTS, TRIGGERS))
    if not (index.path or is_started or globs):
        raise CommonsError(f"There is no commons in {root}.", fix="Run `deia init` there, or name another folder.")
    paths = tuple(entry.path for entry in index.entries)
    globs = resolve(root, environ=os.environ).documents if globs is None else globs
    documents = read_documents(root, also=paths, globs=globs)
    files = load_triggers(root, good=good)
    metadata: list[Problem] = []
    own_ids: dict[str, str] = {}
    entries = build_entries(index.entries, documents.by_path, metadata, own_ids)
    listed = {entry.id for entry in index.entries}
    newer = {trigger.id for trigger in files.triggers}  # which take precedence over the index's own form
    return Commons(
        root=root,
        index=index,
        entries=entries,
        documents=tuple(documents.by_path.values()),
        clusters=index.clusters,
        query_patterns=index.query_patterns,
        triggers=(*files.triggers, *(old for old in index.proactive_triggers if old.id not in newer)),
        cases=files.cases,
        concepts=index.concepts,
        learning_paths=index.learning_paths,
        broken=files.broken,
        problems=tuple(sorted((*index.problems, *documents.problems, *metadata, *files.problems), key=_place)),
        derived=tuple(entry.id for entry in entries if entry.id not in listed),
        own_ids=own_ids,
    )


def build_entries(
    listed: tuple[Entry, ...],
    documents: dict[str, Document],
    problems: list[Problem],
    own_ids: dict[str, str] | None = None,
) -> tuple[Entry, ...]:
    """Return an entry for every document: the index's entry, completed, or one derived from the document.

    Problems of the documents' metadata are added to `problems`, and the documents' own ids by path to `own_ids`.
    """
    derived: dict[str, Entry] = {}
    used, paths = {entry.id for entry in listed}, {entry.path for entry in listed}
    for path, document in documents.items():
        findings = Findings(path)
        derived[path] = derived_entry(document, findings, is_listed=path in paths)
        problems += [problem.but(severity="warning") for problem in findings.problems]
    if own_ids is not None:
        own_ids.update({path: entry.id for path, entry in derived.items()})
    result = [complete_entry(entry, derived[entry.path]) if entry.path in derived else entry for entry in listed]
    unlisted = [path for path in derived if path not in paths]
    for path in unlisted:
        ident = derived[path].id
        result.append(derived[path].but(id=free_name(id_from_path(path), used) if ident in used else ident))
        used.add(result[-1].id)
    return tuple(with_links(result, unlisted, documents))


def _place(problem: Problem) -> tuple[str, int, str]:
    return problem.path, problem.line, problem.code
