"""A sentence becomes the trigger that its author meant, or nothing at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.watch.propose import propose


def clause_and_context(sentence: str) -> tuple[dict[str, str], list[str]]:
    proposal = propose(sentence, documents=("d",), today="2026-11-20")
    assert proposal is not None, sentence
    (clause,) = proposal.trigger["when"]["any"]
    return clause, proposal.trigger.get("context", [])


@pytest.mark.parametrize(
    ("sentence", "kind", "value", "context"),
    [
        ("Never run prisma migrate reset on production", "command", "prisma migrate reset", ["production", "prod"]),
        ("Never run npx prisma migrate reset", "command", "prisma migrate reset", []),
        ("Never `git push --force` to main", "command", "git push --force", []),
        ("never rm -rf the uploads folder", "command", "rm -rf", []),
        ("Don't use `sudo terraform destroy`, ever", "command", "terraform destroy", []),
        ("Do not run `awk '{print $1}'`", "command", r"awk \{print $1\}", []),
        ("Don't delete the production database without a backup", "phrase", "delete … production database", []),
        ("Be careful when renaming or deleting Netlify sites", "phrase", "{rename|delete} … netlify site", []),
        ("Avoid dropping indexes on Heroku", "phrase", "drop … index", ["heroku"]),
        ("Ask before you rotate the API keys", "phrase", "rotate … api key", []),
        ("Please never merge pull requests, even small ones", "phrase", "merge … pull request", []),
    ],
)
def test_a_sentence_gives_a_clause_and_a_context(sentence: str, kind: str, value: str, context: list[str]) -> None:
    clause, seen = clause_and_context(sentence)
    assert (clause, list(seen)) == ({kind: value}, context)


@pytest.mark.parametrize("sentence", ["", "hello", "Never", "Don't!", "never, ever", "?", "`", "``"])
def test_a_sentence_that_says_nothing_gives_nothing(sentence: str) -> None:
    assert propose(sentence, documents=("d",), today="") is None


@pytest.mark.parametrize(
    ("sentence", "urgency", "action"),
    [
        ("Never run dropdb on production", "critical", "hold"),
        ("Never delete the production database", "critical", "warn"),
        ("Never rename a branch", "high", "warn"),
        ("Review the release notes", "medium", "note"),
    ],
)
def test_urgency_and_action_follow_from_how_grave_and_strict_it_is(sentence: str, urgency: str, action: str) -> None:
    proposal = propose(sentence, documents=("d",), today="")
    assert proposal is not None
    assert (proposal.trigger["urgency"], proposal.trigger["action"]) == (urgency, action)


@given(st.text(max_size=120) | st.lists(st.sampled_from(
    "never don't run `git push the production or and , on {a|b} \\ ' \" $(x) deleting force-pushing … {".split()
), max_size=12).map(" ".join))  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_no_sentence_breaks_the_proposing(sentence: str) -> None:
    proposal = propose(sentence, documents=("d",), today="")
    assert proposal is None or (proposal.fires and proposal.silent and proposal.trigger["id"])
