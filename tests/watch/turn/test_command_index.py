"""The index of commands drops no command that a template would match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.clause_language import parse_command
from deia.records import Turn
from deia.watch.shell.templates import matches_command
from deia.watch.turn.parsed_turn import Reading
from tests.starter.starter_commons import COMMONS

if TYPE_CHECKING:
    from collections.abc import Callable

TRIGGERS = COMMONS.triggers
SETS = [parse_command(str(one.value)) for trigger in TRIGGERS for one in trigger.any if one.kind == "command"]
PARTS = st.sampled_from(
    "git push reset --hard -f checkout -- . ./ rm -rf / ~ /tmp/x sudo xargs env A=b GIT_DIR=x find -exec {} ; && | ssh"
    " host terraform destroy -auto-approve -target=a npm publish Remove-Item kubectl delete ns RM docker volume prune"
    " 'a b' \"$X\" -C dir ./dist/ dd of=/dev/sda chmod 777 mkfs.ext4 curl -XDELETE bash -c".split()
)


def running(command: str) -> Reading:
    return Reading(Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command}))


@pytest.mark.slow
@given(st.lists(PARTS, min_size=1, max_size=14))
@settings(max_examples=100, deadline=None)
def test_what_is_left_out_would_not_have_matched(parts: list[str]) -> None:
    reading = running(" ".join(parts))
    for templates in SETS:
        given = [spoken.command.text for spoken in reading.running.about(templates)]
        for spoken in reading.running.commands:
            if any(matches_command(template, spoken.command) for template in templates):
                assert spoken.command.text in given


@pytest.mark.parametrize(
    ("template", "command"),
    [
        ("git push", "git -C x push origin a"),
        ("rm", "sudo RM x"),
        ("sudo rm", "sudo -u root rm x"),
        ("find -exec rm", "find . -exec rm {} +"),
        ("A=b make", "A=b make"),
        ("mkfs*", "mkfs.ext4 /dev/sda"),
        ("rm dist", "rm ./dist/"),
        ("xargs rm", "ls | xargs rm"),
    ],
)
def test_a_command_is_found_by_what_runs_it_and_by_its_words(template: str, command: str) -> None:
    templates = parse_command(template)
    found = [one for one in running(command).running.about(templates) if matches_command(templates[0], one.command)]
    assert found


def test_a_command_that_comes_again_is_looked_at_once() -> None:
    reading = running("git push a; " * 50 + "git push b")
    assert len(reading.commands) == 51
    assert [spoken.command.arguments[-1] for spoken in reading.running.commands] == ["a", "b"]


def test_the_same_command_with_other_data_or_elsewhere_counts_again(call: Callable[[str], Turn]) -> None:
    reading = Reading(call("rm x; cd /; rm x; sudo rm x; A=b rm x"))
    assert [spoken.command.program for spoken in reading.running.commands].count("rm") == 4
