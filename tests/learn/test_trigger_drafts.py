"""Drafts for triggers: a trigger is not made milder for noise that is silenced by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.commons.index.load_commons import load_commons
from deia.learn.corpus_words import Vocabulary
from deia.learn.signals import Evidence, FiringSignals, JudgedFiring
from deia.learn.trigger_drafts import FiredTurn, Writable, draft_triggers
from tests.serve.conftest import FILES

if TYPE_CHECKING:
    from pathlib import Path

HEARD = FiringSignals(
    trigger="site-delete", signals={"noise": 5, "useful": 1}, fired=9, first="2026-11-01", last="2026-11-20",
    judged=(JudgedFiring(action="hold", voice="a"), JudgedFiring(action="hold", voice="b")),
)  # fmt: skip


def kinds(root: Path, turns: list[FiredTurn]) -> list[str]:
    for path, text in FILES.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    vocabulary = Vocabulary(load_commons(str(root)), own=frozenset({"site-delete"}))
    drafts = draft_triggers(Evidence(firings=(HEARD,)), vocabulary, turns, Writable())
    return [one.kind for one in drafts if one.kind == "milder"]


def turn(text: str, weight: float) -> FiredTurn:
    return FiredTurn(trigger="site-delete", weight=weight, case=text, text=text, conversation=text)


def test_a_trigger_that_people_call_noise_is_made_milder(tmp_path: Path) -> None:
    assert kinds(tmp_path, []) == ["milder"]
    assert kinds(tmp_path, [turn("delete the site copy", -2.0), turn("delete this site", -2.0)]) == ["milder"]


def test_a_trigger_whose_noise_was_silenced_since_stays_as_it_is(tmp_path: Path) -> None:
    assert kinds(tmp_path, [turn("delete the site for good", 2.0)]) == []
