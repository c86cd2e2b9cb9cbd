"""Reading the documents of a commons: every Markdown file below `bok/`, in a fixed order, as `Document` records.

Refuses links and paths that leave the commons, and files above 2 MB; each refusal is a problem.
"""

from __future__ import annotations

from deia.commons.source_files import front_matter, safe_files
from deia.errors import Problem
from deia.knowledge import Document
from deia.records import Record

FOLDER = "bok"
ENDING = ".md"
DOCUMENT_BYTES = 2_000_000  # a lesson is a few pages; a larger file is a log or a book


class Documents(Record):
    """Documents by path, and what was wrong with them."""

    by_path: dict[str, Document]
    problems: tuple[Problem, ...] = ()


def read_documents(root: str, *, also: tuple[str, ...] = ()) -> Documents:
    """Read every document below `bok/`, and those at other paths that the index names."""
    found = dict.fromkeys(safe_files.list_files(root, FOLDER, ENDING))
    place = safe_files.resolver(root)
    named = [path for path in dict.fromkeys(also) if path not in found and place(path)]
    by_path: dict[str, Document] = {}
    problems: list[Problem] = []
    for path in (*found, *named):
        document = _read(root, path, problems, place=place(path), named=path not in found)
        if document:
            by_path[path] = document
    return Documents(by_path=by_path, problems=tuple(problems))


def read_document(root: str, path: str, problems: list[Problem]) -> Document | None:
    """Read one document, and add what is wrong with it; None where it cannot be read."""
    return _read(root, path, problems, place=safe_files.resolve(root, path), named=not path.startswith(f"{FOLDER}/"))


def _read(root: str, path: str, problems: list[Problem], *, place: str, named: bool) -> Document | None:
    """Read one document, and add what is wrong with it; that a `named` one is missing is the index's problem."""
    unspeakable = safe_files.file_name_problem(path)
    if unspeakable:
        problems.append(unspeakable)
        return None
    text = safe_files.read_text(root, path, limit=DOCUMENT_BYTES, place=place)
    if text.readable or not named:
        problems += text.problems
    if not text.readable:
        return None
    front = front_matter.split(text.text, path=path)
    problems += front.problems
    return as_document(front, path)


def as_document(front: front_matter.FrontMatter, path: str) -> Document:
    """Give the document that a split text is."""
    title = front_matter.title_of(front) or front_matter.first_heading(front.body) or front_matter.name_in_words(path)
    return Document(path=path, title=title, text=front.body, metadata=front.metadata, first_line=front.first_line)
