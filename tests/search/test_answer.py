"""What an answer says as a whole is said of its best document."""

from __future__ import annotations

import pytest

from deia.knowledge import Result
from deia.search.answer import Answer, Audit

PUMP = Result(id="library:pump.md", path="library:pump.md", title="Pump P7", summary="", score=1.0)
LESSON = Result(
    id="certificate", path="bok/certificate.md", title="Certificates", summary="", score=0.8, action="Renew."
)


@pytest.mark.parametrize(
    ("documents", "action"), [((), ""), ((LESSON, PUMP), "Renew."), ((PUMP, LESSON), ""), ((PUMP,), "")]
)
def test_the_action_of_an_answer_is_never_that_of_a_worse_document(documents: tuple[Result, ...], action: str) -> None:
    assert Answer(query="the seal runs dry", matched=True, audit=Audit(), primary=documents).action == action
