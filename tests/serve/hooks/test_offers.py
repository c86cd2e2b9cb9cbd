"""Offers: what a person is told once about a topic that their task names, if they wish so and no trigger fires."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.compile.triggers.topics import topics_of
from deia.knowledge import Entry
from deia.serve.hooks.offers import TASKS, offer, topic_of
from deia.settings import DEFAULTS
from deia.watch.memory.log import FileLog
from tests.serve.test_hook import answer_of, event_of

if TYPE_CHECKING:
    from pathlib import Path


def process_of(commons: Path, environ: dict[str, str], command: list[str]) -> list[str]:
    """Return the paths that a command shows."""
    whole = [sys.executable, "-m", "deia", *command, "--format", "paths"]
    return subprocess.run(whole, capture_output=True, text=True, env=environ, cwd=commons, check=True).stdout.split()


TOPICS = {"dns": ("platform", 3), "netlify": ("tag", 2), "queues": ("tag", 7)}
DOCUMENT = "---\ntitle: {}\nplatform: netlify\ntags: [turbine]\n---\n# {}\n\nText.\n"


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Please change the DNS for our site.", "dns"),
        ("Deploy to Netlify and set up DNS", "netlify"),
        ("Could you please move our DNS to another host?", "dns"),
        ("ok, then let's rebuild the netlify site", "netlify"),
        ("The build is red.\nRefactor the DNS module", "dns"),
        ("I'd like to delete the netlify site", "netlify"),
        ("Set up the DNS", "dns"),
        ("Add a page but don't touch netlify", ""),
        ("Add a footer to the page, but never change DNS", ""),
        ("Update the README. Leave the DNS alone.", ""),
        ("Add a footer. Nothing about DNS.", ""),
        ("Add tests without netlify", ""),
        ("what is DNS?", ""),
        ("do not replace the DNS", ""),
        ("please don't change DNS", ""),
        ("we did replace the DNS yesterday", ""),
        ("should we change the DNS?", ""),
        ("can we move the DNS?", ""),
        ("is the change of DNS done?", ""),
        ("I want to know how to set up DNS", ""),
        ("The change of the DNS broke everything", ""),
        ("fix the tests", ""),
        (f"fix dns {'x' * 400}", ""),
    ],
)
def test_a_task_that_names_a_topic_is_recognised(text: str, topic: str) -> None:
    assert topic_of(TOPICS, text) == topic


def test_the_offer_is_worded_as_the_specification_shows_and_made_once(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), "a conversation")
    (tmp_path / "memory").mkdir()
    said = offer(TOPICS, "Please change the DNS for our site.", log)
    assert said is not None
    assert "I found 3 relevant documents about DNS. Review them before proceeding?" in said.note
    assert said.note.endswith("To see them, type: deia search --platform dns")
    assert offer(TOPICS, "Now update the DNS again", log) is None
    assert DEFAULTS.offers is False


@pytest.mark.parametrize(("topic", "command"), [("netlify", "--tag netlify"), ("queues", "--tag queues --limit 7")])
def test_the_command_asks_for_all_documents_with_a_tag(tmp_path: Path, topic: str, command: str) -> None:
    (tmp_path / "memory").mkdir()
    said = offer(TOPICS, f"Please change the {topic}.", FileLog(str(tmp_path), "a conversation"))
    assert said is not None
    assert said.note.endswith(f"type: deia search {command}")


@given(st.text())
def test_any_prompt_names_a_known_topic_or_none(text: str) -> None:
    assert topic_of(TOPICS, text) in {"", *TOPICS}
    assert topic_of({}, f"{min(TASKS)} {text}") == ""


def test_what_most_of_a_commons_is_about_is_no_topic() -> None:
    entries = [Entry(id=str(at), path=f"{at}.md", title="", platforms=("web",)) for at in range(40)]
    rare = [Entry(id=f"d{at}", path=f"d{at}.md", title="", tags=("dns", "a b\n")) for at in range(3)]
    assert topics_of([*entries, *rare]) == {"dns": ("tag", 3)}
    assert topics_of([*entries[:5], *rare]) == {"dns": ("tag", 3), "web": ("platform", 5)}


def test_a_topic_is_what_one_filter_shows_and_a_tag_of_the_starter_alone_is_none() -> None:
    def entries_of(folder: str, count: int, **fields: Any) -> list[Entry]:
        return [Entry(id=f"{folder}{at}", path=f"{folder}{at}.md", title="", **fields) for at in range(count)]

    mixed = [*entries_of("a", 2, platforms=("DNS",)), *entries_of("b", 3, tags=("dns",), platforms=("web",))]
    assert topics_of(mixed) == {"dns": ("tag", 3), "web": ("platform", 3)}
    starter = entries_of("starter:", 3, tags=("branch",))
    assert topics_of([*starter, *entries_of("c", 1, tags=("branch",))]) == {}
    assert topics_of([*starter, *entries_of("c", 2, tags=("branch",))]) == {"branch": ("tag", 5)}


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
def test_the_person_is_offered_documents_once_in_a_conversation(
    commons: Path, environ: dict[str, str], *, wanted: bool
) -> None:
    for at in range(6):
        (commons / f"bok/turbine-{at}.md").write_text(
            DOCUMENT.format(f"Turbine {at}", f"Turbine {at}"), encoding="utf-8"
        )
    environ["DEIA_OFFERS"] = str(wanted).lower()
    environ["DEIA_STARTER"] = "true"  # among so many documents, six are few
    compile_commons(str(commons), environ=environ)

    def say(prompt: str, session: str) -> str:
        return str(answer_of(event_of("UserPromptSubmit", commons, prompt=prompt, session_id=session), environ))

    assert ("about Turbine. Review" in say("Please connect the turbine to our site", "one")) is wanted
    assert "Review them" not in say("Now update the turbine again", "one")
    if wanted:
        said = say("Connect the turbine", "five")
        (command,) = re.findall(r"I found 6 .* type: deia (search --tag turbine --limit \d)", said)
        assert process_of(commons, environ, command.split()) == [f"bok/turbine-{at}.md" for at in range(6)]
    assert ("Review them" in say("Change the turbine", "two")) is wanted
    # A verb that triggers listen to, of which none fires.
    assert ("Review them" in say("Set up the turbine", "three")) is wanted
    assert ("Review them" in say("Deploy to the turbine", "four")) is wanted
