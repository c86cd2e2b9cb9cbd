"""Commands inside a sentence: where they begin and end, and whether somebody is about to run them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.turn.inline_commands import LEADS, MOST, inline_commands, opening_commands
from deia.watch.turn.parsed_turn import Reading


def said(text: str) -> list[tuple[str, str]]:
    reading = Reading(Turn(role="user", text=text))
    found = [command for command, _, _ in inline_commands(reading.prose.masked, reading.words.tokens)]
    return [(spoken.command.text, spoken.stance) for spoken in reading.commands if spoken.command.text in found]


@pytest.mark.parametrize(
    ("text", "command", "stance"),
    [
        ("now I'll do a git reset --hard to get back to a clean state", "git reset --hard", "announced"),
        ("I will execute rm -rf ~/projects to free space", "rm -rf ~/projects", "announced"),
        ("I'll just git push -f.", "git push -f", "announced"),
        ("ok, please kubectl -n prod delete pod api-0", "kubectl -n prod delete pod api-0", "requested"),
        ("I'll run npm publish now", "npm publish", "announced"),
        ("vou executar git push --force agora", "git push --force agora", "announced"),
        ("I had to git push --force yesterday", "git push --force yesterday", "reported"),
        ("we should not run terraform destroy", "terraform destroy", "negated"),
        ("should we ever run terraform destroy here?", "terraform destroy", "requested"),
        ("the script will run jobctl restart at night", "jobctl restart at night", "reported"),
    ],
)
def test_a_command_in_a_sentence_is_read_with_the_stance_of_what_leads_up_to_it(
    text: str, command: str, stance: str
) -> None:
    assert said(text) == [(command, stance)]


def test_a_sentence_may_hold_several() -> None:
    text = "Let me run sudo systemctl stop nginx, then docker system prune -af --volumes"
    assert [command for command, _ in said(text)] == ["sudo systemctl stop nginx", "docker system prune -af --volumes"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm going to find the bug",
        "to make it work we need more time",
        "you can type exit",
        "let me run the tests",
        "please install the package",
        "git push --force rewrites the branch",
        "I'll delete the site",
        "the guide says `git push --force` is fine",
        "> please git push --force",
    ],
)
def test_plain_english_and_mere_mention_hold_no_command(text: str) -> None:
    assert said(text) == []


@given(st.lists(st.sampled_from((*sorted(LEADS), "run", "git", "push", "--force", "x", ",", ".", "\n", "\u00e9", "'"))))
def test_any_words_are_read_and_no_more_than_so_many_commands_found(parts: list[str]) -> None:
    reading = Reading(Turn(role="user", text=" ".join(parts * 20)))
    assert len(list(inline_commands(reading.prose.masked, reading.words.tokens))) <= MOST


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("rm -rf build, then try again", ["rm -rf build"]),
        ("git push --force and tell me when it is done", ["git push --force"]),
        ("All green. git push --force, please", ["git push --force"]),
        ("terraform destroy is dangerous", []),
        ("git push --force?", []),
        ("The team wants rm -rf build, then nothing", []),
        ("Rm -rf is a film", []),
        ("", []),
    ],
)
def test_a_command_that_a_sentence_opens_with_is_an_order(text: str, commands: list[str]) -> None:
    reading = Reading(Turn(role="user", text=text))
    assert list(opening_commands(reading.prose.masked, reading.words.tokens)) == commands
