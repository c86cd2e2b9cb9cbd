"""One answer of two: lessons and passages side by side, each by how sure it is."""

from __future__ import annotations

import pytest

from deia.knowledge import Entry, Result
from deia.search.answer import TOO_BROAD, Answer, Audit, as_result
from deia.search.library_answers import merged


def found(confidence: str, primary: str, secondary: str = "", reason: str = "") -> Answer:
    """Return an answer whose documents are named by single letters."""

    def results(names: str, score: float) -> tuple[Result, ...]:
        return tuple(as_result(Entry(id=name, path=name, title=name), score=score) for name in names)

    return Answer(
        query="q", matched=bool(primary), audit=Audit(checked_at="", index_built_at="", sources=()), reason=reason,
        confidence=confidence, primary=results(primary, 0.8), secondary=results(secondary, 0.4),
        suggestions=("Narrower: x",) if reason else (),
    )  # fmt: skip


def order(answer: Answer) -> tuple[str, str]:
    return "".join(result.id for result in answer.primary), "".join(result.id for result in answer.secondary)


@pytest.mark.parametrize(
    ("lessons", "passages", "expected"),
    [
        (found("high", "ab", "c"), found("high", "x", "y"), ("abx", "cy")),
        (found("medium", "a"), found("low", "xy"), ("a", "xy")),
        (found("low", "ab"), found("high", "x", "y"), ("x", "aby")),
        (found("low", "a"), found("medium", "x"), ("ax", "")),
        (found("low", "a"), found("low", "x"), ("ax", "")),
        (found("low", ""), found("low", "x"), ("x", "")),
        (found("high", "a"), found("low", ""), ("a", "")),
    ],
)
def test_what_is_unsure_stands_beside_what_is_sure(
    lessons: Answer, passages: Answer, expected: tuple[str, str]
) -> None:
    assert order(merged(lessons, passages, limit=9)) == expected


def test_what_stands_beside_a_sure_answer_has_half_of_its_score() -> None:
    answer = merged(found("low", "a"), found("high", "x"), limit=5)
    assert [result.score for result in answer.documents] == [0.8, 0.4]


def test_lessons_that_are_too_broad_are_not_lost_beside_passages() -> None:
    unsure = merged(found("low", "a", reason=TOO_BROAD), found("low", "x"), limit=5)
    assert (order(unsure), unsure.reason, unsure.suggestions) == (("ax", ""), TOO_BROAD, ("Narrower: x",))
    sure = merged(found("low", "a", reason=TOO_BROAD), found("high", "x"), limit=5)
    assert (order(sure), sure.reason, sure.suggestions) == (("x", "a"), "", ())
    none = merged(found("low", "", reason=TOO_BROAD), found("low", "x"), limit=5)
    assert (order(none), none.reason, none.suggestions) == (("x", ""), TOO_BROAD, ("Narrower: x",))
