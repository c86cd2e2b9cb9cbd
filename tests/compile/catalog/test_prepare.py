"""What is computed from a document before it is written depends on what it is."""

from __future__ import annotations

from deia.compile.catalog.document_store import Volume
from deia.compile.catalog.prepare import Prepared, prepared
from deia.knowledge import Document, Entry

TEXT = "# Reviews\n\nEvery change has a reviewer, who asks for shorter functions.\n"


def made(*types: str, known: bytes = b"") -> Prepared:
    """Return what a document of some types comes to."""
    entry = Entry(id="reviews", path="bok/reviews.md", title="Reviews")
    volume = Volume(entry=entry, document=Document(path=entry.path, title="Reviews", text=TEXT), types=types)
    return prepared([volume.but(known=known)], static=True, with_passages=False)


def test_a_lesson_whose_category_is_code_is_encoded_as_other_lessons_are() -> None:
    lesson, code = made("note"), made("code", known=b"of the library")
    assert made("code").coded == lesson.coded != code.coded
    assert made("code").texts == lesson.texts != code.texts
