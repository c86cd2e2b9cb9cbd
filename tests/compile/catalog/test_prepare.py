"""What is computed from a document before it is written depends on what it is."""

from __future__ import annotations

import base64
import random

import pytest

from deia.compile.catalog.document_store import Volume
from deia.compile.catalog.prepare import Prepared, prepared
from deia.knowledge import Document, Entry

TEXT = "# Reviews\n\nEvery change has a reviewer, who asks for shorter functions.\n"


def made(*types: str, known: bytes = b"", text: str = TEXT) -> Prepared:
    """Return what a document of some types comes to."""
    entry = Entry(id="reviews", path="bok/reviews.md", title="Reviews")
    volume = Volume(entry=entry, document=Document(path=entry.path, title="Reviews", text=text), types=types)
    return prepared([volume.but(known=known)], static=True, with_passages=False)


def test_a_lesson_whose_category_is_code_is_encoded_as_other_lessons_are() -> None:
    lesson, code = made("note"), made("code", known=b"of the library")
    assert made("code").coded == lesson.coded != code.coded
    assert made("code").texts == lesson.texts != code.texts


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{n},{n / 7:.6f},{n / 3:.6f}" for n in range(40)),
        base64.b64encode(random.Random(5).randbytes(900)).decode(),  # noqa: S311 - no secret
        900 * "a",
        " ".join(f"{n * 7919 % 256:02x}" for n in range(300)),
    ],
    ids=["numbers", "base64", "one letter", "bytes"],
)
def test_passages_of_numbers_and_keys_have_no_words(text: str) -> None:
    assert made("note", text=text).wordless == [[0]]


@pytest.mark.parametrize(
    "text",
    [
        TEXT, "", "2021-03-04,12.5,Berlin,pump\n" * 30, "Vor dem Start der Pumpe entweicht die Luft.",
        "Перед пуском насоса удалите воздух.", "启动水泵前必须先排空泵体内的空气。", "पंप चालू करने से पहले हवा निकालें",
        "Trước khi khởi động máy bơm phải xả hết không khí.", "for(a=0;a<n;a++){total+=prices[a];return total}",
    ],
)  # fmt: skip
def test_passages_of_any_language_a_table_of_names_and_code_have_words(text: str) -> None:
    assert not any(made("note", text=text).wordless)
