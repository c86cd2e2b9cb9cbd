"""A sentence becomes the trigger that its author meant, or none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.evaluate.trigger_drafting import proposed, proven
from deia.watch.authoring.sentence_to_trigger import propose


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


@pytest.mark.parametrize(
    "sentence",
    ["Never force-push the release branch", "Never force push to main", "Don't force-push", "Force-pushing loses work"],
)
def test_an_act_with_a_name_of_its_own_gives_the_command_that_does_it(sentence: str) -> None:
    drafted = proposed(sentence, documents=("d",), today="2026-11-20")
    assert drafted is not None
    assert drafted.trigger["when"]["any"][0] == {"command": "git push {--force|-f}"}
    held = str(proven(drafted).fires)  # the cases that hold
    assert "'git push -f'" in held
    assert "'git push --force'" in held


def test_words_that_only_resemble_a_named_act_give_no_command() -> None:
    assert clause_and_context("Never enforce pushing the release branch")[0].keys() != {"command"}


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


@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        ("Do not restart the billing worker on Fridays", "restart … billing worker"),
        ("Don't restart the billing worker", "restart … billing worker"),
        ("Don\u2019t ever restart the billing worker", "restart … billing worker"),
        ("Please do not restart the billing worker", "restart … billing worker"),
        ("Never, ever restart the billing worker", "restart … billing worker"),
        ("You must not restart the billing worker", "restart … billing worker"),
        ("We should never manually restart the billing worker", "restart … billing worker"),
        ("Avoid restarting the billing worker", "restart … billing worker"),
        ("Stop restarting the billing worker", "restart … billing worker"),
        ("Always drain the queue before a release", "drain … queue"),
        ("Only rotate keys with the owner present", "rotate … key"),
        ("Please carefully rename database columns", "rename … database column"),
        ("On Fridays, do not deploy the shop", "deploy … shop"),
        ("In production never drop a table", "drop … table"),
        ("If the tests fail, don't merge the branch", "merge … branch"),
        ("The billing worker must not be restarted on Fridays", "restart … billing worker"),
        ("Feature flags should never be deleted", "delete … feature flag"),
        ("Make sure you never delete the audit log", "delete … audit log"),
        ("Under no circumstances disable the firewall", "disable … firewall"),
        ("I don't want you to edit the lock file", "edit … lock file"),
        ("Do not apply the migrations twice", "apply … migration"),
        ("Do database migrations at night", "do … database migration"),
        ("Do not run terraform destroy", "terraform destroy"),
        ("Never just run git push --force", "git push --force"),
        ("Please don't use kubectl delete namespace on prod", "kubectl delete namespace"),
        ("Nobody may truncate the orders table", "truncate … orders table"),
        ("Stop the billing worker before a release", "stop … billing worker"),
    ],
)
def test_prohibitions_adverbs_and_who_is_meant_are_no_part_of_the_act(sentence: str, clause: str) -> None:
    found, _ = clause_and_context(sentence)
    assert list(found.values()) == [clause]


@pytest.mark.parametrize("sentence", ["Do not", "Please never ever", "Don't do", "Always", "must not be"])
def test_prohibitions_alone_are_no_act(sentence: str) -> None:
    assert propose(sentence, documents=("d",), today="") is None
