"""Which sentences an answer quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.answers.librarian_answer import LibrarianQuery
from deia.librarian import Librarian
from tests.derived import private

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTES = {
    "melter.md": "# Minutes of the assembly\n\nThe treasurer bought a steam wax melter for 240 euros.\n",
    "queens.md": "# Queens\n\nMark the old queen with paint and cage the new one for four days.\n",
    "frames.md": "# Frames\n\nStore frames in a cold box against the wax moth.\n",
}


@pytest.fixture(scope="module")
def beekeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Librarian]:
    """Someone with three notes on bees beside the starter."""
    folder = tmp_path_factory.mktemp("bees")
    (folder / "commons" / "bok").mkdir(parents=True)
    (folder / "commons" / "deia.toml").touch()
    for name, text in NOTES.items():
        (folder / "commons" / "bok" / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in private(folder / "person", DEIA_STARTER="true").items():
            patch.setenv(name, value)
        yield Librarian(str(folder / "commons"))


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what did the steam wax melter cost?", "bok/melter.md"),
        ("how long must the new queen be caged?", "bok/queens.md"),
        ("how are frames stored and backed up against moths?", "bok/frames.md"),
    ],
)
def test_beside_what_is_ones_own_the_starter_adds_no_single_word(
    beekeeper: Librarian, question: str, path: str
) -> None:
    answer = beekeeper.answer_now(LibrarianQuery(question=question))
    assert [source.path for source in answer.sources] == [path]
    assert answer.open  # the word that only the starter has, about something else


def test_what_only_the_starter_says_is_quoted_from_it(beekeeper: Librarian) -> None:
    answer = beekeeper.answer_now(LibrarianQuery(question="what must be saved before a Netlify site is deleted?"))
    assert answer.found
    assert all(source.path.startswith("starter:bok/") for source in answer.sources)
