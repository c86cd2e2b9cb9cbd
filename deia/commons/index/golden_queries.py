"""Golden questions: what a search must find, and what it must leave unanswered.

They stand in `golden.yaml` beside the index, and in the index's query patterns. A broken one is a problem with its
line, and the others count. Refuses to ask them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from deia.commons.index.index_records import QueryPattern
from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.errors import Problem
from deia.knowledge import Golden
from deia.records import Record

FILE = "golden.yaml"
FIELDS = ("query", "documents", "nothing")
MOST_GRADE = 10


class GoldenSet(Record):
    """Golden questions and what is wrong with their file."""

    questions: tuple[Golden, ...]
    problems: tuple[Problem, ...] = ()


def load_golden(root: str, path: str = FILE) -> GoldenSet:
    """Read a file of golden questions; one that is not there has none."""
    if not os.path.lexists(os.path.join(root, path)):
        return GoldenSet(questions=())
    content = safe_files.read_text(root, path, limit=safe_files.YAML_BYTES)
    if not content.readable:
        return GoldenSet(questions=(), problems=content.problems)
    return read_golden(content.text, path=path)


def read_golden(text: str, *, path: str = FILE) -> GoldenSet:
    """Read golden questions: a list of `{query, documents}` or `{query, nothing: true}`."""
    source = read_yaml(text, path=path)
    findings = Findings(path)
    value = source.value
    if value is not None and not isinstance(value, Items):
        fix = "Begin each question with `- query: `."
        findings.error(1, "wrong-type", "The file is not a list of questions.", fix)
    questions = []
    for position, item in enumerate(value) if isinstance(value, Items) else ():
        if not isinstance(item, Map):
            fix = "Write `query:` and `documents:` below it."
            findings.error(
                value.at(position), "wrong-type", f"The question is {quote(item)}; a mapping is wanted.", fix
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
        fix = "Write `documents: [id]`, or `nothing: true` where nothing may be found."
        told = "names documents and says `nothing`" if nothing else "says neither which documents nor `nothing`"
        findings.error(source.line, "bad-golden", f"The question {quote(query)} {told}.", fix)
    return Golden(query=query, grades=grades, line=source.line) if findings.errors() == before else None


def _grades(source: Map, findings: Findings) -> dict[str, int]:
    """Give the documents with their grades: a mapping of them, or a list of ids, each of which counts 1."""
    given: Any = source.get("documents")
    if not isinstance(given, Map):
        return dict.fromkeys(fields.texts(source, "documents", findings), 1)
    grades = {}
    for name, grade in given.items():
        text = fields.as_text(grade) if not isinstance(grade, dict | list) else ""
        if text.isascii() and text.isdecimal() and len(text) < 3 and 0 < int(text) <= MOST_GRADE:
            grades[name] = int(text)
        else:
            found = f"The grade of {quote(name)} is {quote(grade)}."
            findings.error(given.at(name), "bad-golden", found, f"Write a whole number from 1 to {MOST_GRADE}.")
    return grades


def golden_patterns(patterns: Iterable[QueryPattern]) -> tuple[Golden, ...]:
    """Give the golden questions that an index's query patterns are."""
    return tuple(
        Golden(query=line, grades=dict.fromkeys(pattern.common_docs, 1), line=pattern.line)
        for pattern in patterns
        for line in pattern.natural_language
        if pattern.common_docs
    )
