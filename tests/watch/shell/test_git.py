"""How git reads its command line, seen through the commands that are found in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.clause_language import parse_command
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.templates import gives_option, matches_command


def lines(text: str) -> list[str]:
    return [" ".join((one.program, *one.arguments)) for one in parse_commands(text)]


def fits(template: str, text: str) -> bool:
    wanted = parse_command(template)
    return any(matches_command(one, command) for one in wanted for command in parse_commands(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("git -c alias.nuke=reset nuke --hard", "git -c alias.nuke=reset reset --hard"),
        ("git -calias.p=push p -f", "git -calias.p=push push -f"),
        ("git -c alias.x='push --force' x origin", "git -c alias.x=push --force push --force origin"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.n GIT_CONFIG_VALUE_0=reset git n --hard", "git reset --hard"),
        ("GIT_CONFIG_PARAMETERS=\"'alias.n=reset'\" git n --hard", "git reset --hard"),
        ("git -c alias.n='!rm -rf x' n", "rm -rf x"),
        ("GIT_SSH_COMMAND='rm -rf x' git fetch", "rm -rf x"),
        ("export GIT_SSH_COMMAND='rm -rf x'; git push", "rm -rf x"),
        ("GIT_EDITOR='rm -rf x' git commit", "rm -rf x"),
        ("git -c core.pager='rm -rf x' log", "rm -rf x"),
    ],
)
def test_aliases_and_programs_given_on_the_line_are_spelt_out(text: str, found: str) -> None:
    assert found in lines(text)


@pytest.mark.parametrize(
    "text", ["GIT_SSH_COMMAND='rm -rf x' git status", "echo GIT_EDITOR='rm -rf x' git commit", "git -c user.name=x log"]
)
def test_a_program_that_git_will_not_start_is_not_listed(text: str) -> None:
    assert "rm -rf x" not in lines(text)


@pytest.mark.parametrize(
    ("option", "text", "given_"),
    [
        ("--staged", "git restore -s --staged a", False),
        ("--staged", "git restore --staged a", True),
        ("--help", "git restore --source --help a", False),
        ("-h", "git restore -- -h", False),
        ("--exec=*amend*", "git rebase --exec 'git commit --amend' main", True),
    ],
)
def test_the_value_of_an_option_is_no_option(option: str, text: str, *, given_: bool) -> None:
    assert gives_option(option, parse_commands(text)[0]) is given_


@pytest.mark.parametrize(
    ("template", "text", "fit"),
    [
        ("git checkout * *", "git checkout main file.txt", True),
        ("git checkout * *", "git checkout --conflict merge main", False),
        ("git checkout * *", "git checkout -b new origin/main", False),
        ("git checkout * *", "git checkout --track main file.txt", True),
        ("git restore *", "git restore -- -h", True),
        ("GIT_SSH_COMMAND=./* git fetch", "GIT_SSH_COMMAND=./x git fetch", True),
        ("GIT_SSH_COMMAND=./* git fetch", "GIT_SSH_COMMAND='ssh -i k' git fetch", False),
        ("core.sshcommand=* git fetch", "git -c core.sshCommand=./x fetch", True),
        ("HUSKY=0 git commit", "export HUSKY=0 && git commit -m x", True),
        ("HUSKY=0 git commit", "git commit -m HUSKY=0", False),
        ("RAILS_ENV=prod* rails *", "RAILS_ENV=production rails db:migrate", True),
        ("find -exec rm -r -f", r"find . -exec sudo rm -rf {} \;", True),
        ("find -exec rm -r -f", "rm -rf x", False),
    ],
)
def test_templates_hold_against_what_git_is_given(template: str, text: str, *, fit: bool) -> None:
    assert fits(template, text) is fit


@given(st.text(alphabet="git -c=alias.x!'\"$;|GIT_CONFIG_COUNT=19KEYVALUE\n", max_size=80))
@settings(max_examples=100, deadline=None)
def test_no_line_stops_the_reading(text: str) -> None:
    assert isinstance(parse_commands(f"GIT_CONFIG_COUNT=3 git -c {text}"), list)
