"""What kind of question somebody asks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.audit.classification import MODES, TYPES, classify
from deia.match import static_vectors, tiers
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.librarian import Librarian

KINDS = {
    "how do I rotate the signing keys?": "procedural",
    "why do we use two regions?": "conceptual",
    "where is the runbook for the queue?": "navigational",
    "how long are backups kept?": "factual",
    "thanks a lot!": "conversational",
}


@pytest.mark.parametrize("text", KINDS)
def test_questions_have_types(text: str) -> None:
    found = classify(text)
    assert (found.type, found.needs_retrieval) == (KINDS[text], KINDS[text] != "conversational")
    assert found.reasoning


@pytest.mark.parametrize(
    "text",
    [
        "yes, deploy to prod", "ok, push it straight to master", "yes, deploy", "Sure — go ahead and drop the table",
        "thanks, I'll delete the bucket now", "no worries, let's merge it",
    ],
)  # fmt: skip
def test_what_announces_an_act_always_needs_retrieval(text: str) -> None:
    assert classify(text).needs_retrieval
    assert "announces an act" in classify(text).reasoning


@pytest.mark.parametrize("text", ["ok, stop", "yes please", "thanks, that worked", "sounds good to me"])
def test_what_is_only_said_needs_none(text: str) -> None:
    assert not classify(text).needs_retrieval


def labelled(name: str) -> dict[str, tuple[str, bool]]:
    """Return the questions of a file of labels, with type and need."""
    lines = (ROOT / "bench" / "labels" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["question"]: (row["type"], row["needsRetrieval"]) for row in map(json.loads, lines)}


def test_questions_that_taught_nothing_are_told_apart() -> None:
    rows = labelled("questions_held_out")
    assert len(rows) >= 600
    assert not rows.keys() & labelled("questions").keys()
    told = {text: classify(text) for text in rows}
    assert sum(told[text].type == kind for text, (kind, _) in rows.items()) / len(rows) >= 0.9
    assert sum(told[text].needs_retrieval == needed for text, (_, needed) in rows.items()) / len(rows) >= 0.93


def test_without_word_vectors_the_words_decide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tiers, "_opened", {})
    monkeypatch.setattr(static_vectors, "MODELS", str(tmp_path))
    assert classify("where is the runbook for the queue?").type == "navigational"


def test_an_unclear_text_is_asked_back_about() -> None:
    back = [classify(text) for text in ("prod", "kafka queue", "billing page error", "the gateway timeouts", "ssl")]
    assert any(one.clarify.endswith("?") for one in back)


@given(st.text(max_size=600))
def test_no_text_is_too_odd(text: str) -> None:
    found = classify(text).to_dict()
    assert found["type"] in TYPES
    assert found["suggestedMode"] in MODES
    assert 0 <= float(str(found["confidence"])) <= 1


def test_an_answer_says_what_was_asked(opened: Callable[[], Librarian]) -> None:
    audit = opened().query("why do restarts drop jobs?").to_dict()["audit"]
    assert audit["classification"]["type"] == "conceptual"
    assert opened().classify("cluster:lessons why do restarts drop jobs?").filters == {"cluster": ["lessons"]}
