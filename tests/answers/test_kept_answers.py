"""Answers that were given before: given again to whoever may read the same, until something changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.answers import kept_answers
from deia.answers.librarian_answer import LibrarianQuery, LibrarianResponse
from deia.ingest.source import FolderSource
from deia.librarian import Librarian
from tests.derived import private

if TYPE_CHECKING:
    from tests.scripted_model import Scripted

QUESTION = "What must be done before the kiln is opened?"


@pytest.fixture
def commons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A commons with two collections, `red` and `blue`, of a document each."""
    for name, value in private(tmp_path / "person").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(kept_answers, "_answers", type(kept_answers._answers)())
    root = tmp_path / "commons"
    root.mkdir()
    (root / "deia.toml").write_text("starter = false", encoding="utf-8")
    (root / "commons_index.yaml").write_text('version: "1.0"\nclusters: {}\n', encoding="utf-8")
    for name, what in (("red", "vented"), ("blue", "cooled")):
        write(root, name, what)
        Librarian(str(root)).ingest(FolderSource(path=str(page(root, name).parent), name=name))
    return root


def page(root: Path, name: str) -> Path:
    return root.parent / name / "kiln.md"


def write(root: Path, name: str, what: str) -> None:
    page(root, name).parent.mkdir(exist_ok=True)
    text = f"# The kiln\n\nBefore the kiln is opened, it must be {what}.\n"
    page(root, name).write_text(text, encoding="utf-8")


def asked(librarian: Librarian, *, max_chunks: int = 10) -> LibrarianResponse:
    return librarian.answer_now(LibrarianQuery(question=QUESTION, max_chunks=max_chunks))


def without_state(answer: LibrarianResponse) -> list[object]:
    """Return what was done, with the times that it took."""
    return [step for step in answer.audit if step["step"] != "state"]


def is_again(first: LibrarianResponse, second: LibrarianResponse) -> bool:
    return without_state(first) == without_state(second)


def count_kept() -> int:
    """Return how many answers are kept: one more after a question that was answered anew."""
    return len(kept_answers._answers)


def test_what_was_asked_before_is_answered_again_in_any_session(commons: Path) -> None:
    first, second = asked(Librarian(str(commons))), asked(Librarian(str(commons)))
    assert first.found
    assert is_again(first, second)
    assert second.audit[0]["step"] == "state"
    assert second.but(audit=()) == first.but(audit=())


def test_a_document_that_was_edited_changes_the_answer(commons: Path) -> None:
    librarian = Librarian(str(commons))
    assert "vented" in asked(librarian).answer
    write(commons, "red", "emptied")
    librarian.ingest(FolderSource(path=str(page(commons, "red").parent), name="red"))
    answer = asked(librarian)
    assert "emptied" in answer.answer
    assert "vented" not in answer.answer


def test_whoever_may_read_something_else_is_answered_from_that_alone(commons: Path) -> None:
    asked(Librarian(str(commons)))
    red, blue = (asked(Librarian(str(commons), collections=(f"library:{name}",))) for name in ("red", "blue"))
    assert ("vented" in red.answer, "cooled" in red.answer) == (True, False)
    assert ("vented" in blue.answer, "cooled" in blue.answer) == (False, True)
    again = asked(Librarian(str(commons), collections=("library:red",)))
    assert is_again(red, again)
    assert count_kept() == 3


def test_other_options_and_settings_are_another_question(commons: Path) -> None:
    librarian = Librarian(str(commons))
    asked(librarian)
    asked(librarian, max_chunks=1)
    assert count_kept() == 2
    librarian.settings = librarian.settings.but(answer_depth=0)
    asked(librarian)
    assert count_kept() == 3


def test_an_agent_goes_on_with_an_answer_that_was_given_before(commons: Path) -> None:
    librarian = Librarian(str(commons))
    asked(librarian)
    answer = librarian.answer_now(LibrarianQuery(question=QUESTION), keeps=True)
    further, _ = librarian.continue_answer(answer.token, [{"says": "Vent it.", "quote": "it must be vented"}])
    assert answer.token
    assert further.by == "agent"
    assert not asked(librarian).token


def test_what_a_model_did_not_do_is_asked_again(
    commons: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.steps = [(400, b"{}", {})]
    monkeypatch.setenv("DEIA_LLM_URL", scripted.url)
    monkeypatch.setenv("DEIA_LLM_MODEL", "small")
    assert asked(Librarian(str(commons))).found
    requests = len(scripted.requests)
    assert asked(Librarian(str(commons))).found
    assert len(scripted.requests) == 2 * requests
    assert count_kept() == 0


def test_only_so_many_answers_are_kept_and_none_of_a_long_question(commons: Path) -> None:
    answer = asked(Librarian(str(commons)))
    for number in range(kept_answers.MOST + 1):
        kept_answers.keep_answer(str(number), answer)
    assert kept_answers.kept_answer("0") is None
    assert kept_answers.kept_answer("1") == answer
    kept_answers.keep_answer("long", answer.but(question="x" * (kept_answers.LONGEST + 1)))
    assert kept_answers.kept_answer("long") is None
