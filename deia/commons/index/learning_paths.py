"""Reading `learning_paths` of a master index: what an audience should read, in which order, and why.

Refuses a step that names no document; whether the document is there, the checks say.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.commons.index.index_records import LearningPath, Step
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map

FIX = "Write `- {id: bok-wrong-target, why: one line}`."


def read_learning_paths(top: Map, findings: Findings) -> tuple[LearningPath, ...]:
    """Read the learning paths of an index; a broken step is a problem and left out."""
    source = fields.mapping(top, "learning_paths", findings)
    paths = (
        LearningPath(audience=name.strip(), steps=tuple(_steps(source, name, findings)), line=source.at(name))
        for name in source
    )
    return tuple(path for path in paths if path.steps)


def _steps(source: Map, name: str, findings: Findings) -> Iterable[Step]:
    given = source[name]
    if not isinstance(given, Items):
        found = f"The learning path of {quote(name)} is not a list."
        findings.error(source.at(name), "wrong-type", found, FIX)
        return
    taken: set[str] = set()
    for position, item in enumerate(given):
        step = _step(item, given.at(position), findings)
        if step and step.document in taken:
            found = f"The learning path of {quote(name)} names {quote(step.document)} twice."
            findings.error(step.line, "duplicate-id", found, "Keep the first of the two.")
        elif step:
            taken.add(step.document)
            yield step


def _step(item: object, line: int, findings: Findings) -> Step | None:
    if isinstance(item, str):
        return Step(document=item.strip(), line=line) if item.strip() else None
    if not isinstance(item, Map):
        findings.error(line, "wrong-type", f"The step {quote(item)} of a learning path names no document.", FIX)
        return None
    fields.report_unknown(item, ("id", "why"), findings)
    document = fields.text(item, "id", findings)
    if not document:
        findings.error(line, "missing-field", "A step of a learning path has no `id`.", FIX)
        return None
    return Step(document=document, why=fields.text(item, "why", findings), line=line)


def first_per_audience(paths: Iterable[LearningPath]) -> tuple[LearningPath, ...]:
    """Give one path for each audience: the first that is there."""
    found: dict[str, LearningPath] = {}
    for path in paths:
        found.setdefault(path.audience.casefold(), path)
    return tuple(found.values())


def restrict_paths(paths: Iterable[LearningPath], kept: Iterable[str]) -> tuple[LearningPath, ...]:
    """Give the paths with those steps alone whose documents are kept, and no path that has none."""
    known = set(kept)
    cut = (path.but(steps=tuple(step for step in path.steps if step.document in known)) for path in paths)
    return tuple(path for path in cut if path.steps)
