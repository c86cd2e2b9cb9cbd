"""`deia why`: the last that was said, with its reason, its documents and what to do about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.watch.silence.mutes import Mute, write_mute
from tests.serve.test_hook import DELETE, answer_of, call_of, event_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


@pytest.fixture
def spoken(commons: Path, environ: dict[str, str]) -> None:
    """Let deia speak in two conversations."""
    compile_commons(str(commons), environ=environ)
    answer_of(event_of("UserPromptSubmit", commons, prompt=DELETE, session_id="first-conversation"), environ)
    answer_of(call_of(commons, session_id="second-conversation"), environ)


def test_where_nothing_was_said_it_says_so(deia: Deia) -> None:
    outcome = deia("why")
    assert (outcome.code, "contains nothing that deia said" in outcome.out) == (1, True)


@pytest.mark.usefixtures("spoken")
def test_the_last_is_shown_with_all_that_there_is_to_know(deia: Deia) -> None:
    shown = deia("why").out
    for part in (
        "site-delete (critical): the call was stopped", "Deleting a site drops its domain records.", "Go through the",
        'command "shopctl site:delete --yes"', "bok/site-checklist.md", "Conversation: second-conversation",
        "this project's own lessons", "deia mute site-delete", "deia: not relevant", "deia feedback ", "deia allow",
    ):  # fmt: skip
        assert part in shown
    assert "first-conversation" not in shown


@pytest.mark.usefixtures("spoken")
def test_a_conversation_is_named_by_the_beginning_of_its_id(deia: Deia) -> None:
    assert "Conversation: first-conversation" in deia("why", "first").out
    assert deia("why", "third").code == 1
    assert deia("why", "f").code == 1, "one letter names nothing"


@pytest.mark.usefixtures("spoken")
def test_several_are_shown_the_newest_first(deia: Deia) -> None:
    told = json.loads(deia("why", "-n", "5", "--json").out)
    assert [one["conversation"] for one in told] == ["second-conversation", "first-conversation"]
    assert [one["outcome"] for one in told] == ["held", "shown"]
    assert told[0]["documents"] == [
        {"id": "site-checklist", "path": "bok/site-checklist.md", "title": "Before a site is deleted"}
    ]
    assert told[0]["origin"] == "project"


@pytest.mark.usefixtures("spoken")
def test_what_was_said_of_it_and_that_it_is_muted_is_told(deia: Deia, environ: dict[str, str]) -> None:
    event = json.loads(deia("why", "--json").out)[0]["id"]
    assert deia("feedback", event, "wrong").code == 0
    write_mute(environ["DEIA_STATE"], Mute(trigger="site-delete", conversation="second-conversation"))
    shown = deia("why").out
    assert "Feedback: wrong" in shown
    assert "It is muted now. To end that, type: deia mute site-delete --off" in shown


@pytest.mark.usefixtures("spoken")
def test_a_trigger_that_is_gone_is_said_to_be_gone(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "sites.yaml").write_text("[]\n", encoding="utf-8")
    (commons / "triggers" / "sites.cases.yaml").unlink()
    shown = deia("why").out
    assert "does not exist any more" in shown
    assert "site-checklist" in shown
