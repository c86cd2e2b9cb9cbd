"""Labelled sets in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv), as a catalog with golden queries.

All problems in the files are reported at once, with file and line. Queries without judgements are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

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
    """Return whether a folder contains a labelled set."""
    return os.path.isfile(os.path.join(folder, CORPUS)) and os.path.isfile(os.path.join(folder, QUERIES))


def read_corpus(folder: str) -> list[Document]:
    """Return the documents of a set, each with its id as its path.

    Raises:
        CommonsError: a line is malformed.
    """
    rows = read_rows(folder, CORPUS, required=("_id", "text"))
    return [Document(path=row["_id"], title=str(row.get("title") or row["_id"]), text=row["text"]) for row in rows]


def read_questions(folder: str, name: str = QUERIES) -> list[Golden]:
    """Return the queries of a set that have judgements, in the order of the file.

    Raises:
        CommonsError: a line is malformed.
    """
    grades = _judgements(folder)
    rows = read_rows(folder, name, required=("_id", "text"))
    return [Golden(query=row["text"], grades=grades[row["_id"]]) for row in rows if row["_id"] in grades]


def compile_labelled(folder: str, target: str, *, tiers: Sequence[str]) -> Catalog:
    """Compile a set's corpus into an empty folder and return its catalog.

    Raises:
        CommonsError: a line is malformed.
    """
    documents = read_corpus(folder)
    entries = [Entry(id=document.path, path=f"bok/{document.path}.md", title=document.title) for document in documents]
    placed = [document.but(path=f"bok/{document.path}.md") for document in documents]
    os.makedirs(target, exist_ok=True)
    build_catalog(entries, placed, [], [], target, tiers=tiers)
    return open_catalog(target)


def read_rows(folder: str, name: str, *, required: Sequence[str]) -> list[dict[str, str]]:
    """Return the JSON objects of a file of JSON lines; the required fields must be strings.

    Raises:
        CommonsError: a line is no JSON object, or lacks a required field.
    """
    rows: list[dict[str, str]] = []
    problems = []
    for number, line in _lines(folder, name):
        try:
            row = loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and all(isinstance(row.get(field), str) for field in required):
            rows.append(row)
        else:
            message = f"The line is not a JSON object with the texts {' and '.join(required)}."
            problems.append(Problem(path=name, line=number, found=message, code="wrong-type"))
    _raise_if_any(folder, problems)
    return rows


def _judgements(folder: str) -> dict[str, dict[str, int]]:
    """Return the grades of documents by query; a grade of 0 means that the document is not relevant."""
    name = next((path for path in JUDGEMENTS if os.path.isfile(os.path.join(folder, path))), JUDGEMENTS[0])
    grades: dict[str, dict[str, int]] = {}
    problems = []
    for number, line in _lines(folder, name):
        parts = line.split("\t")
        grade = parts[-1].strip()
        if len(parts) == 3 and grade.isascii() and grade.isdecimal() and len(grade) < 3:
            if int(grade):
                grades.setdefault(parts[0], {})[parts[1]] = int(grade)
        elif number > 1:  # the first line may be a heading
            message = "The line is not a query, a document and a grade, separated by tabs."
            problems.append(Problem(path=name, line=number, found=message, code="wrong-type"))
    _raise_if_any(folder, problems)
    return grades


def _lines(folder: str, name: str) -> Iterator[tuple[int, str]]:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from ((number, line.rstrip("\n")) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        fix = f"A labelled set is a folder with {CORPUS}, {QUERIES} and {JUDGEMENTS[0]}."
        raise CommonsError(f"{name} cannot be read: {error.strerror}", where=path, fix=fix) from error


def _raise_if_any(folder: str, problems: Sequence[Problem]) -> None:
    if problems:
        raise CommonsError(f"{counted(len(problems), 'line')} in {folder} cannot be used", problems[:MOST_PROBLEMS])
