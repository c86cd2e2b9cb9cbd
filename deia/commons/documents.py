"""Reading the documents of a commons: every Markdown file below `bok/`, in a fixed order, as `Document` records.

Refuses links and paths that leave the commons, and files above 2 MB; each refusal is a problem.
"""

from __future__ import annotations

from deia.commons import front_matter, reading
from deia.knowledge import Document
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from deia.errors import Problem

FOLDER = "bok"
ENDING = ".md"
DOCUMENT_BYTES = 2_000_000  # a lesson is a few pages; a larger file is a log or a book


class Documents(Record):
    """Documents by path, and what was wrong with them."""

    by_path: dict[str, Document]
    problems: tuple[Problem, ...] = ()


def read_documents(root: str, *, also: tuple[str, ...] = ()) -> Documents:
    """Read every document below `bok/`, and those at other paths that the index names."""
    found = reading.list_files(root, FOLDER, ENDING)
    named = [path for path in dict.fromkeys(also) if path not in found and reading.inside(root, path)]
    by_path: dict[str, Document] = {}
    problems: list[Problem] = []
    for path in (*found, *named):
        unspeakable = reading.unspeakable(path)
        if unspeakable:
            problems.append(unspeakable)
            continue
        text = reading.read_text(root, path, limit=DOCUMENT_BYTES)
        if path in found or text.readable:  # a missing file that the index names is the index's problem
            problems += text.problems
        if text.readable:
            front = front_matter.split(text.text, path=path)
            problems += front.problems
            by_path[path] = as_document(front, path)
    return Documents(by_path=by_path, problems=tuple(problems))


def as_document(front: front_matter.FrontMatter, path: str) -> Document:
    """Give the document that a split text is."""
    title = front_matter.title_of(front) or front_matter.first_heading(front.body) or front_matter.name_in_words(path)
    return Document(path=path, title=title, text=front.body, metadata=front.metadata, first_line=front.first_line)
