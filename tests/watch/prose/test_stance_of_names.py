"""An act that is named, possible, over or explained is not an act that is done."""

from __future__ import annotations

import pytest

from deia.records import Turn
from deia.watch.clauses.confirm import confirm
from deia.watch.compiled_trigger import CompiledClause
from deia.watch.prose.stance_names import ANNOUNCED, REQUESTED, counts
from deia.watch.turn.parsed_turn import Reading

FORCE = CompiledClause.of("phrase", "force push", [(0, [], [[["force"], ["push", "pushing", "pushed"]]], 0)])


def doing(text: str) -> bool:
    return any(
        counts(match.stance, {ANNOUNCED, REQUESTED}) for match in confirm(FORCE, Reading(Turn(role="user", text=text)))
    )


@pytest.mark.parametrize(
    "text",
    [
        "force push it",
        "I'm doing the guarded force push now.",
        "Agora preciso fazer um force push.",
        "I'm fetching once and then force-pushing.",
        "Should I force push?",
        "please do a force push",
        "Then I'll force-push with `--no-verify`.",
        "Let me force push over the failed commit.",
    ],
)
def test_an_act_is_heard(text: str) -> None:
    assert doing(text)


@pytest.mark.parametrize(
    "text",
    [
        "The commit is unreachable (force-push, rewritten history).",
        "Verified that `backup_and_force_push` shipped.",
        "See docs/no-force-push-results.md first.",
        "Read the push/force-push/backup code.",
        "GitHub blocks force-pushes to main.",
        "We force-pushed it.",
        "2. **Force push realizado com sucesso**",
        "The force push was rejected.",
        "because force push can destroy others' work",
        "You could allow force push there.",
        "I want to know how force-push works.",
        "then I can force push the corrected history",
        "Our force push policy is strict.",
    ],
)
def test_a_mention_is_not_an_act(text: str) -> None:
    assert not doing(text)
