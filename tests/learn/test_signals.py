"""The signals of answers and firings are read from the ledger; what people said counts more than what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.learn.signals import SIGNALS, WEIGHTS, read_conversations, read_evidence, total_weight
from deia.ledger.warehouse import read_through
from tests.ledger.conftest import firing, question

if TYPE_CHECKING:
    from pathlib import Path

    from deia.learn.signals import Evidence
    from tests.ledger.conftest import Write


def evidence(folder: Path) -> Evidence:
    return read_through([str(folder)], read_evidence)


def signals(found: Evidence) -> dict[tuple[str, str], dict[str, int]]:
    return {(pair.question, pair.document): dict(pair.signals) for pair in found.pairs}


def test_an_opened_document_speaks_for_itself_and_against_the_first(write: Write) -> None:
    folder = write(
        question("How do pods die?", "a", "b", conversation="c"),
        {"event": "read", "doc": "b", "via": "cli", "conversation": "c"},
    )
    assert signals(evidence(folder)) == {
        ("how do pods die?", "b"): {"opened": 1},
        ("how do pods die?", "a"): {"ignored": 1},
    }


def test_a_question_asked_again_in_other_words_is_given_what_was_opened_then(write: Write) -> None:
    folder = write(
        question("k8s pods", conversation="c"),
        question("kubernetes pods", "a", conversation="c"),
        {"event": "read", "doc": "a", "via": "cli", "conversation": "c"},
    )
    found = evidence(folder)
    assert signals(found)["k8s pods", "a"] == {"opened-later": 1}
    assert [(each.first, each.then, each.document) for each in found.rephrased] == [
        ("k8s pods", "kubernetes pods", "a")
    ]


def test_feedback_is_about_the_document_that_it_names(write: Write) -> None:
    folder = write(
        question("pods", "a", "b", id="q", conversation="c"),
        {"event": "feedback", "of": "q", "verdict": "useful", "doc": "b"},
        {"event": "feedback", "of": "q", "verdict": "wrong"},
    )
    assert signals(evidence(folder)) == {("pods", "b"): {"useful": 1}, ("pods", "a"): {"wrong": 1}}


def test_who_says_it_ten_times_has_said_it_once(write: Write) -> None:
    asked = question("pods", "a", conversation="c")
    read = {"event": "read", "doc": "a", "via": "cli", "conversation": "c"}
    found = evidence(write(*[asked, read] * 10))
    assert signals(found) == {("pods", "a"): {"opened": 1}}
    assert found.questions[0].times == 10


def test_a_held_call_that_is_repeated_counts_against_and_one_that_is_not_for_its_trigger(write: Write) -> None:
    folder = write(
        firing("t", "held", conversation="a"), firing("t", "passed", conversation="a"),
        firing("t", "held", conversation="b"), firing("t", "muted", conversation="c"),
    )  # fmt: skip
    (firing_signals,) = evidence(folder).firings
    assert {name: count for name, count in firing_signals.signals.items() if count} == {
        "repeated": 1,
        "changed": 1,
        "muted": 1,
    }
    assert firing_signals.weight == sum(WEIGHTS["firing", name].weight for name in ("repeated", "changed", "muted"))
    weights = read_through([str(folder)], read_conversations)
    assert weights["c", "t"] < 0


def test_what_is_said_outweighs_what_is_seen() -> None:
    for of in ("answer", "firing"):
        seen = [abs(signal.weight) for signal in SIGNALS if signal.of == of and not signal.explicit]
        assert max(seen) <= min(abs(signal.weight) for signal in SIGNALS if signal.of == of and signal.explicit)
    counts = {"useful": 1, "opened": 2}
    assert total_weight("answer", counts) == 4.0


def test_questions_without_their_words_are_counted_and_teach_nothing(write: Write) -> None:
    folder = write({"event": "query", "docs": ["a"], "matched": True, "conversation": "c"})
    found = evidence(folder)
    assert (found.asked, found.worded, found.pairs) == (1, 0, ())
