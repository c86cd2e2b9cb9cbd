"""How sure an answer is."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

from deia.answers.calibration import IS_SAID, LEAST, probability
from deia.answers.evidence import understood
from deia.answers.gathering import Limits, gather
from deia.answers.synthesis import cited
from deia.knowledge import Query

if TYPE_CHECKING:
    from deia.librarian import Librarian


@pytest.mark.parametrize(
    ("question", "is_said"), [("turn the small screw with a brass key", True), ("the brass zebra", False)]
)
def test_what_one_text_says_whole_is_about_the_subject_whatever_the_subject_seems_to_be(
    librarian: Librarian, question: str, *, is_said: bool
) -> None:
    catalog = librarian.open_catalog_of("library:pages/pumps.md")
    found = gather([understood(catalog, Query(text=question), ("static",))], Limits(), clock=monotonic)
    sure, doubted = (probability(found.but(belongs=belongs), cited(found)) for belongs in (1.0, 0.1))
    assert doubted == pytest.approx(sure * (IS_SAID if is_said else 0.1), abs=0.002)
    assert (doubted >= LEAST) == is_said
