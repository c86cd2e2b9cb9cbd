"""From a new firing on a real conversation to its label: read, asked or filled in, and kept without the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import firings
import label
import pytest

from deia.firing import Firing

if TYPE_CHECKING:
    from collections.abc import Callable

SAID = "I will force push to main now"


def fired(turn: int, trigger: str = "git-force-push") -> firings.Fired:
    row = {"source": "a/b", "conversation_id": "c", "turn": turn, "role": "user", "tool": "", "text": SAID}
    firing = Firing(
        trigger=trigger, title="x", urgency="high", action="warn", timing="pre-action", message="It rewrites.",
        action_required="", documents=(), because='phrase "force push" in user turn 1', turn=turn,
    )  # fmt: skip
    return firings.Fired(row, firing, firings.UNLABELLED, [{**row, "turn": turn - 1}])


def kept(path: Path) -> list[dict[str, Any]]:
    return firings.rows(path) if path.exists() else []


def answering(*answers: str) -> Callable[[str], str]:
    left = list(answers)
    return lambda _question: left.pop(0)


def test_who_reads_a_firing_is_asked_and_the_answer_is_kept_without_the_text(tmp_path: Path) -> None:
    labels = tmp_path / "firings.jsonl"
    answers = answering("n", "wrong-o", "", "a drawer, not a branch", "s", "deserved", "about to be run", "q")
    assert label.ask([fired(1), fired(2), fired(3), fired(4), fired(5)], answers, labels) == 2
    assert [(row["turn"], row["label"], row["why"], row["note"]) for row in kept(labels)] == [
        (1, "noise", "wrong-object", "a drawer, not a branch"), (3, "deserved", "ok", "about to be run"),
    ]  # fmt: skip
    assert SAID not in labels.read_text(encoding="utf-8")
    assert firings.Labels(labels).of(fired(1).row, "git-force-push") == "noise"


def test_a_file_that_was_filled_in_is_taken_over_and_what_is_wrong_with_it_is_said(tmp_path: Path) -> None:
    labels, filled = tmp_path / "firings.jsonl", tmp_path / "new.jsonl"
    labels.touch()
    good = {**firings.to_label(fired(1)), "label": "noise", "why": "mentioned", "note": "only named"}
    wrong = [{"label": "bad"}, {"why": "because"}, {"note": ""}, {"note": "x" * 300}, {"label": ""}, {}]
    lines = [good, *({**good, **change} for change in wrong)]
    filled.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    told = list(label.take(filled, labels))
    assert [line.partition(": ")[2].split()[0] for line in told] == ["its", "its", "its", "its", "it", "it"]
    assert told[-1] == f"{filled}:7: it is labelled already"
    assert [(row["turn"], row["why"]) for row in kept(labels)] == [(1, "mentioned")]
    assert SAID not in labels.read_text(encoding="utf-8")


def test_every_label_that_is_kept_here_is_one() -> None:
    assert [label.problem_of(row) for row in kept(firings.LABELS) if label.problem_of(row)] == []


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [False, True])
def test_repositories_that_are_held_out_are_shown_only_to_who_asks(tmp_path: Path, *, held_out: bool) -> None:
    folder = tmp_path / "conversations-1"
    folder.mkdir()
    call = {
        "conversation_id": "new",
        "turn": 1,
        "role": "tool_call",
        "tool": "Bash",
        "text": "git push --force origin x",
    }
    sources = ("a/b", min(firings.HELD_OUT))
    text = "\n".join(json.dumps({**call, "source": source}) for source in sources)
    (folder / "conversations.jsonl").write_text(text, encoding="utf-8")
    found = label.unlabelled(tmp_path, held_out=held_out)
    assert {one.source for one in found} == {sources[held_out]}
