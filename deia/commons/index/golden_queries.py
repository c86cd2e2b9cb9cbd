"""Read golden questions: questions with the documents that a search must find, or that must find nothing.

They are in `golden.yaml` beside the index, and in the index's query patterns. Invalid ones are reported and left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from deia.commons.index.index_records import QueryPattern
from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.knowledge import Golden
from deia.problems import Problem
from deia.records import Record

FILE = "golden.yaml"
FIELDS = ("query", "documents", "nothing")
MOST_GRADE = 10


class GoldenSet(Record):
    """Golden questions and the problems of their file."""

    questions: tuple[Golden, ...]
    problems: tuple[Problem, ...] = ()


def load_golden(root: str, path: str = FILE) -> GoldenSet:
    """Read a file of golden questions; a missing file has none."""
    if not os.path.lexists(os.path.join(root, path)):
        return GoldenSet(questions=())
    content = safe_files.read_text(root, path, limit=safe_files.YAML_BYTES)
    if not content.readable:
        return GoldenSet(questions=(), problems=content.problems)
    return read_golden(content.text, path=path)


def read_golden(text: str, *, path: str = FILE) -> GoldenSet:
    """Read golden questions from a list of `{query, documents}` or `{query, nothing: true}`."""
    source = read_yaml(text, path=path)
    findings = Findings(path)
    value = source.value
    if value is not None and not isinstance(value, Items):
        fix = "Begin each question with `- query: `."
        findings.error(1, "wrong-type", "The file is not a list of questions.", fix)
    questions = []
    items = value if isinstance(value, Items) else Items()
    for position, item in enumerate(items):
        if not isinstance(item, Map):
            fix = "Write `query:` and `documents:` below it."
            findings.error(
                items.at(position), "wrong-type", f"The question is {quote(item)}; it must be a mapping.", fix
            )
        elif (question := _question(item, findings)) is not None:
            questions.append(question)
    return GoldenSet(questions=tuple(questions), problems=(*source.problems, *findings.problems))


def _question(source: Map, findings: Findings) -> Golden | None:
    before = findings.errors()
    fields.report_unknown(source, FIELDS, findings)
    query = fields.text(source, "query", findings)
    nothing = fields.boolean(source, "nothing", findings)
    grades = _grades(source, findings)
    if not query and findings.errors() == before:
        findings.error(source.line, "missing-field", "A question has no `query`.", "Write what is asked.")
    if findings.errors() == before and nothing == bool(grades):
        fix = "Write `documents: [id]`, or `nothing: true` if nothing may be found."
        problem = "has both documents and `nothing`" if nothing else "has neither documents nor `nothing`"
        findings.error(source.line, "bad-golden", f"The question {quote(query)} {problem}.", fix)
    return Golden(query=query, grades=grades, line=source.line) if findings.errors() == before else None


def _grades(source: Map, findings: Findings) -> dict[str, int]:
    """Return the grade of each document; ids in a plain list have grade 1."""
    documents = source.get("documents")
    if not isinstance(documents, Map):
        return dict.fromkeys(fields.texts(source, "documents", findings), 1)
    grades = {}
    for name, grade in documents.items():
        text = fields.as_text(grade) if not isinstance(grade, dict | list) else ""
        if text.isascii() and text.isdecimal() and len(text) < 3 and 0 < int(text) <= MOST_GRADE:
            grades[name] = int(text)
        else:
            message = f"The grade of {quote(name)} is {quote(grade)}."
            findings.error(documents.at(name), "bad-golden", message, f"Write a whole number from 1 to {MOST_GRADE}.")
    return grades


def golden_patterns(patterns: Iterable[QueryPattern]) -> tuple[Golden, ...]:
    """Return the golden questions in an index's query patterns."""
    return tuple(
        Golden(query=line, grades=dict.fromkeys(pattern.common_docs, 1), line=pattern.line)
        for pattern in patterns
        for line in pattern.natural_language
        if pattern.common_docs
    )
