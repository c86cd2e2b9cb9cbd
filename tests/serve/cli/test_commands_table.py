"""The table of commands: headings, former names, words of other programs, and the examples of every help."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from deia.serve.cli.commands_table import CALLED, COMMANDS, HEADINGS, MEANT, SHOWN, TABLES, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.serve.conftest import Deia


def all_commands(command: click.Command = cli, name: str = "deia") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its full name."""
    yield name, command
    context = click.Context(command)
    for below in COMMANDS if command is cli else getattr(command, "commands", {}):
        found = command.get_command(context, below) if isinstance(command, click.Group) else None
        assert found is not None
        yield from all_commands(found, f"{name} {below}")


NAMES = [name for name, _ in all_commands()]


def accepts(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> bool:
    """Say whether a command line has only arguments and options that there are, without running it."""
    monkeypatch.setattr(click.Command, "invoke", lambda _command, _ctx: None)
    try:
        cli.main(arguments, standalone_mode=False)
    except click.UsageError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_every_help_ends_with_examples_that_can_be_typed(
    name: str, deia: Deia, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = deia(*name.split()[1:], "--help")
    assert shown.code == 0
    lines = shown.out.partition("\nExamples:\n")[2].splitlines()
    assert lines
    for line in lines:
        words = [word for word in shlex.split(line) if word not in {">>", ">", "<"}]
        typed = words[: -1 if len(words) != len(shlex.split(line)) else None]
        assert typed[0] == "deia"
        assert name == "deia" or line.strip().startswith(name) or name == "deia mcp config"
        assert accepts(monkeypatch, typed[1:]), line
        assert "#" not in line  # zsh reads no comments


def test_no_examples_are_left_of_a_command_that_is_gone() -> None:
    TABLES.lines("deia")
    assert set(TABLES._sections) - set(NAMES) == {
        "headings", "hidden", "without --commons", "modules", "former names", "meant",
    }  # fmt: skip


def test_help_groups_the_commands_under_headings(deia: Deia) -> None:
    shown = deia("--help").out
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in HEADINGS and line.endswith(":")] == list(HEADINGS)
    assert "\n  statusline" not in shown
    assert "\n  compile " in shown  # messages tell people to type it


@pytest.mark.parametrize("called", CALLED)
def test_a_former_name_works_and_names_the_new_one_once(deia: Deia, called: str) -> None:
    shown = deia(*called.split(), "--help")
    assert shown.code == 0
    assert shown.err == f"deia: `deia {called}` is called `deia {CALLED[called]}`.\n"
    assert shown.out == deia(*(word for word in CALLED[called].split() if word[0] != "-"), "--help").out


def test_a_former_name_passes_on_what_follows(deia: Deia) -> None:
    before = deia("triggers", "list", "--json")
    assert json.loads(before.out) == json.loads(deia("trigger", "list", "--json").out)
    assert deia("open", "site-checklist").out == deia("show", "site-checklist", "--edit").out != ""
    assert deia("--commons", "/nowhere", "telemetry").code == 2


def test_the_former_way_to_draft_a_trigger_still_only_shows_it(deia: Deia) -> None:
    typed = ("Never run shopctl site:purge on production", "--document", "site-checklist")
    assert deia("triggers", "new", *typed).out == deia("trigger", "new", "--dry-run", *typed).out != ""


def test_help_and_version_are_words_too(deia: Deia) -> None:
    assert deia("help").out == deia("--help").out != ""
    assert deia("help", "trigger", "new").out == deia("trigger", "new", "--help").out != ""
    assert deia("help", "nonsense").code == 2
    assert deia("version").out == deia("--version").out != ""


@pytest.mark.parametrize("word", MEANT)
def test_a_word_of_another_program_leads_to_a_command_that_there_is(
    deia: Deia, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = deia(word)
    assert told.code == 2
    assert f"Did you mean: deia {MEANT[word]}\n" in told.err
    words = [*MEANT[word].split(), "--help"]
    assert word not in COMMANDS
    assert deia(*words).code == 0


@pytest.mark.parametrize(("typed", "meant"), [("serch", "search"), ("isntall", "install"), ("triger", "trigger")])
def test_a_misspelt_command_is_suggested(deia: Deia, typed: str, meant: str) -> None:
    assert f"Did you mean: deia {meant}\n" in deia(typed).err


def test_what_resembles_nothing_is_taken_for_a_question(deia: Deia) -> None:
    assert 'type: deia search "xylophone"' in deia("xylophone").err


def test_a_command_has_one_place() -> None:
    assert sum(map(len, HEADINGS.values())) == len(SHOWN)
