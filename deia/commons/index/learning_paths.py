"""Read `learning_paths` of a master index: which documents an audience should read, in which order, and why.

`deia.commons.checks` checks that the documents exist.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.commons.index.index_records import LearningPath, Step
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map

FIX = "Write `- {id: bok-wrong-target, why: one line}`."


def read_learning_paths(top: Map, findings: Findings) -> tuple[LearningPath, ...]:
    """Read the learning paths of an index; invalid steps are reported and left out."""
    source = fields.mapping(top, "learning_paths", findings)
    paths = (
        LearningPath(audience=name.strip(), steps=tuple(_steps(source, name, findings)), line=source.at(name))
        for name in source
    )
    return tuple(path for path in paths if path.steps)


def _steps(source: Map, name: str, findings: Findings) -> Iterable[Step]:
    items = source[name]
    if not isinstance(items, Items):
        found = f"The learning path of {quote(name)} is not a list."
        findings.error(source.at(name), "wrong-type", found, FIX)
        return
    seen: set[str] = set()
    for position, item in enumerate(items):
        step = _step(item, items.at(position), findings)
        if step and step.document in seen:
            found = f"The learning path of {quote(name)} names {quote(step.document)} twice."
            findings.error(step.line, "duplicate-id", found, "Keep the first of the two.")
        elif step:
            seen.add(step.document)
            yield step


def _step(item: object, line: int, findings: Findings) -> Step | None:
    if isinstance(item, str):
        return Step(document=item.strip(), line=line) if item.strip() else None
    if not isinstance(item, Map):
        findings.error(line, "wrong-type", f"The step {quote(item)} of a learning path is not a document.", FIX)
        return None
    fields.report_unknown(item, ("id", "why"), findings)
    document = fields.text(item, "id", findings)
    if not document:
        findings.error(line, "missing-field", "A step of a learning path has no `id`.", FIX)
        return None
    return Step(document=document, why=fields.text(item, "why", findings), line=line)


def first_per_audience(paths: Iterable[LearningPath]) -> tuple[LearningPath, ...]:
    """Return the first path of each audience; upper and lower case do not matter."""
    by_audience: dict[str, LearningPath] = {}
    for path in paths:
        by_audience.setdefault(path.audience.casefold(), path)
    return tuple(by_audience.values())


def restrict_paths(paths: Iterable[LearningPath], ids: Iterable[str]) -> tuple[LearningPath, ...]:
    """Return the paths reduced to steps whose documents are in `ids`, without paths that become empty."""
    known = set(ids)
    restricted = (path.but(steps=tuple(step for step in path.steps if step.document in known)) for path in paths)
    return tuple(path for path in restricted if path.steps)
