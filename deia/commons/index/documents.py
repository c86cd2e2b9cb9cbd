"""Read the documents of a commons in a fixed order: every Markdown file below `bok/`, and notes that settings name.

Links, paths outside the commons and files above 2 MB are reported and left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.commons.notes.list_notes import list_notes
from deia.commons.source_files import front_matter, safe_files
from deia.knowledge import Document
from deia.problems import Problem
from deia.records import Record

FOLDER = "bok"
ENDING = ".md"
DOCUMENT_BYTES = 2_000_000  # a lesson is a few pages; a larger file is a log or a book


class Documents(Record):
    """Documents by path, and the problems found in them."""

    by_path: dict[str, Document]
    problems: tuple[Problem, ...] = ()


def read_documents(root: str, *, also: tuple[str, ...] = (), globs: Sequence[str] = ()) -> Documents:
    """Read every document below `bok/`, those that match the `globs`, and those at other paths that the index names."""
    listed = dict.fromkeys([*safe_files.list_files(root, FOLDER, ENDING), *list_notes(root, globs)])
    place = safe_files.resolver(root)
    named = [path for path in dict.fromkeys(also) if path not in listed and place(path)]
    by_path: dict[str, Document] = {}
    problems: list[Problem] = []
    for path in (*listed, *named):
        document = _read(root, path, problems, place=place(path), named=path not in listed)
        if document:
            by_path[path] = document
    return Documents(by_path=by_path, problems=tuple(problems))


def read_document(root: str, path: str, problems: list[Problem]) -> Document | None:
    """Read one document and add its problems to the list; return None if it cannot be read."""
    return _read(root, path, problems, place=safe_files.resolve(root, path), named=not path.startswith(f"{FOLDER}/"))


def _read(root: str, path: str, problems: list[Problem], *, place: str, named: bool) -> Document | None:
    """Read one document and add its problems; a missing `named` document is the index's problem, not this one's."""
    bad_name = safe_files.file_name_problem(path)
    if bad_name:
        problems.append(bad_name)
        return None
    text = safe_files.read_text(root, path, limit=DOCUMENT_BYTES, place=place)
    if text.readable or not named or text.problems[0].code == safe_files.BINARY:
        problems += text.problems
    if not text.readable:
        return None
    front = front_matter.split(text.text, path=path)
    problems += front.problems
    return as_document(front, path)


def as_document(front: front_matter.FrontMatter, path: str) -> Document:
    """Return the document made from a split text."""
    title = (
        front_matter.title_of(front.metadata)
        or front_matter.first_heading(front.body)
        or front_matter.name_in_words(path)
    )
    return Document(path=path, title=title, text=front.body, metadata=front.metadata, first_line=front.first_line)
