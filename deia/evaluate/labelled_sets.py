"""A labelled set in the layout of BEIR, as a catalog with golden questions: corpus.jsonl, queries.jsonl, qrels.tsv.

Everything wrong with the files is told at once, by file and line. Refuses nothing that is merely unused: a question
without judgements is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from deia.compile.catalog.build_catalog import build_catalog
from deia.errors import CommonsError, Problem
from deia.fast_json import loads
from deia.knowledge import Document, Entry, Golden
from deia.search.catalog import Catalog, open_catalog
from deia.text import counted

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv")  # ours, and BEIR's own
MOST_PROBLEMS = 50


def is_labelled(folder: str) -> bool:
    """Say whether a folder holds such a set."""
    return os.path.isfile(os.path.join(folder, CORPUS)) and os.path.isfile(os.path.join(folder, QUERIES))


def read_corpus(folder: str) -> list[Document]:
    """Give the documents of a set, each with its id for a path.

    Raises:
        CommonsError: a line is not what it must be.
    """
    rows = read_rows(folder, CORPUS, wanted=("_id", "text"))
    return [Document(path=row["_id"], title=str(row.get("title") or row["_id"]), text=row["text"]) for row in rows]


def read_questions(folder: str, name: str = QUERIES) -> list[Golden]:
    """Give the questions of a set that have judgements, in the order of the file.

    Raises:
        CommonsError: a line is not what it must be.
    """
    grades = _judgements(folder)
    rows = read_rows(folder, name, wanted=("_id", "text"))
    return [Golden(query=row["text"], grades=grades[row["_id"]]) for row in rows if row["_id"] in grades]


def compile_labelled(folder: str, target: str, *, tiers: Sequence[str]) -> Catalog:
    """Compile a set's corpus into an empty folder, as a commons would be.

    Raises:
        CommonsError: a line is not what it must be.
    """
    documents = read_corpus(folder)
    entries = [Entry(id=each.path, path=f"bok/{each.path}.md", title=each.title) for each in documents]
    placed = [each.but(path=f"bok/{each.path}.md") for each in documents]
    os.makedirs(target, exist_ok=True)
    build_catalog(entries, placed, [], [], target, tiers=tiers)
    return open_catalog(target)


def read_rows(folder: str, name: str, *, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Read JSON lines, each with some texts in it.

    Raises:
        CommonsError: a line is none, or lacks a text.
    """
    rows: list[dict[str, Any]] = []
    problems = []
    for number, line in _lines(folder, name):
        try:
            row = loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and all(isinstance(row.get(each), str) for each in wanted):
            rows.append(row)
        else:
            found = f"The line is no JSON object with the texts {' and '.join(wanted)}."
            problems.append(Problem(path=name, line=number, found=found, code="wrong-type"))
    _refuse(folder, problems)
    return rows


def _judgements(folder: str) -> dict[str, dict[str, int]]:
    """Read which documents answer which question, and how well; grades of 0 say that one does not."""
    name = next((each for each in JUDGEMENTS if os.path.isfile(os.path.join(folder, each))), JUDGEMENTS[0])
    found: dict[str, dict[str, int]] = {}
    problems = []
    for number, line in _lines(folder, name):
        parts = line.split("\t")
        grade = parts[-1].strip()
        if len(parts) == 3 and grade.isascii() and grade.isdecimal() and len(grade) < 3:
            if int(grade):
                found.setdefault(parts[0], {})[parts[1]] = int(grade)
        elif number > 1:  # the first may be a heading
            wrong = "The line is no question, document and grade with tabs between them."
            problems.append(Problem(path=name, line=number, found=wrong, code="wrong-type"))
    _refuse(folder, problems)
    return found


def _lines(folder: str, name: str) -> Iterator[tuple[int, str]]:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from ((number, line.rstrip("\n")) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        fix = f"Such a folder holds {CORPUS}, {QUERIES} and {JUDGEMENTS[0]}."
        raise CommonsError(f"{name} cannot be read: {error.strerror}", where=path, fix=fix) from error


def _refuse(folder: str, problems: Sequence[Problem]) -> None:
    if problems:
        raise CommonsError(f"{counted(len(problems), 'line')} in {folder} cannot be used", problems[:MOST_PROBLEMS])
