"""Sentences of a lesson that warn of an act are found; stories and remedies are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.watch.authoring.lesson_sentences import MOST_SENTENCES, cautions
from deia.watch.authoring.sentence_to_trigger import propose


def clause(sentence: str) -> object:
    proposal = propose(sentence, documents=("d",), today="2026-11-20")
    return proposal.trigger["when"]["any"][0] if proposal else None


@pytest.mark.parametrize(
    ("title", "drafted"),
    [
        ("Running jobctl purge deletes all queued jobs", {"command": "jobctl purge"}),
        ("`jobctl purge` deletes all queued jobs", {"command": "jobctl purge"}),
        ("terraform destroy removes everything", {"command": "terraform destroy"}),
        ("Running npm audit fix --force breaks the build", {"command": "npm audit fix --force"}),
        ("Restarting the job queue drops its jobs", {"phrase": "restart … job queue"}),
        ("Deleting sites drops DNS records", {"phrase": "delete … site"}),
        ("Cancelling a migration jumbles the index", {"phrase": "cancel … migration"}),
        ("Deleting a shop project", {"phrase": "delete … shop project"}),
        ("Never restart the job queue while jobs run", {"phrase": "restart … job queue"}),
    ],
)
def test_the_act_ends_where_its_effect_begins(title: str, drafted: dict[str, str]) -> None:
    assert [clause(one) for one in cautions(title, "", "")] == [drafted]


@pytest.mark.parametrize(
    "title",
    [
        "Zebra stripes vanish",
        "Nothing is lost",
        "Missing index makes queries slow",
        "Always run the tests",
        "`jobctl drain` prevents the loss of jobs",
        "Running the linter prevents the breakage",
        "",
    ],
)
def test_stories_and_remedies_are_no_cautions(title: str) -> None:
    assert cautions(title, "", "") == []


def test_the_text_is_read_by_sentence_without_headings_and_code() -> None:
    text = (
        "# Never a heading\n\nIt broke, v1.2 too. Never run `jobctl purge. --all` on\nproduction. Use `jobctl drain`.\n"
        "\n- don't restart the queue\n- Do wait\n\n```\nnever do this thing\n```\nDeleting queues drops jobs."
    )
    assert cautions("A story", "", text) == [
        "Never run `jobctl purge. --all` on production.",
        "don't restart the queue",
        "Deleting queues drops jobs.",
    ]


@given(st.text(max_size=60), st.text(max_size=60), st.text(alphabet="Nn ever`.-#\n-ing's delts", max_size=200))
@settings(max_examples=60)
def test_no_lesson_raises(title: str, summary: str, text: str) -> None:
    found = cautions(title, summary, text)
    assert len(found) <= MOST_SENTENCES
    assert all(isinstance(clause(one), dict | None) for one in found)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Someone ran `redis-cli FLUSHALL` on the shared cache.", "redis-cli FLUSHALL"),
        ("We typed `git push --force origin release` and lost three commits.", "git push --force origin release"),
        ("This wiped it:\n\n```sh\n# x\n$ helm upgrade shop --reset-values\n```", "helm upgrade shop --reset-values"),
        ("Never run:\n\n```\njobctl purge --all\n```\n", "jobctl purge --all"),
    ],
)  # fmt: skip
def test_a_command_in_a_story_or_in_a_code_block_is_drafted_from(text: str, command: str) -> None:
    (sentence, *_) = cautions("A cache is lost", "", text)
    assert clause(sentence) == {"command": command}


@pytest.mark.parametrize(
    "text",
    [
        "Use `redis-cli DEL key` instead of that.",
        "We ran `pg_restore` and got everything back.",
        "## What to do instead\n\nWe ran `jobctl drain` and lost nothing.",
        "Run this:\n\n```sh\njobctl drain\n```",
        "The file was deleted:\n\n```yaml\ndatabase: gone\n```",
        "`jobctl drain` is in the box.",
    ],
)
def test_a_command_that_is_recommended_or_only_named_is_not(text: str) -> None:
    assert cautions("A cache is lost", "", text) == []


def test_a_command_in_the_summary_needs_no_story() -> None:
    (sentence,) = cautions("Old migrations", "Applying `alembic downgrade base` on the shared database", "")
    assert clause(sentence) == {"command": "alembic downgrade base"}
    assert cautions("Old migrations", "Prefer `alembic stamp` there", "") == []
