"""Mutes: for a while, in a folder, for good, and lifted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.silence.exceptions import NOWHERE, Touched, lies_in, resolved
from deia.watch.silence.mutes import Mute, muted_triggers, read_mutes, use_up, write_mute

if TYPE_CHECKING:
    from pathlib import Path


def muted(state: Path, folder: str = "/work", now: float = 100.0) -> set[str]:
    return set(muted_triggers(str(state), folder=folder, now=now))


def test_a_mute_lasts_as_long_as_it_says(tmp_path: Path) -> None:
    assert write_mute(str(tmp_path), Mute(trigger="a", until=150.0))
    assert write_mute(str(tmp_path), Mute(trigger="b"))
    assert muted(tmp_path, now=149.0) == {"a", "b"}
    assert muted(tmp_path, now=150.0) == {"b"}


@pytest.mark.parametrize(
    ("folder", "silent"), [("/work/app", True), ("/work/app/src", True), ("/work/application", False), ("/", False)]
)
def test_a_mute_of_a_folder_counts_there_and_below(tmp_path: Path, folder: str, *, silent: bool) -> None:
    write_mute(str(tmp_path), Mute(trigger="a", folder="/work/app"))
    assert (muted(tmp_path, folder) == {"a"}) is silent


def test_the_last_word_about_a_trigger_and_a_folder_counts(tmp_path: Path) -> None:
    for mute in (Mute(trigger="a"), Mute(trigger="a", folder="/work"), Mute(trigger="a", lifted=True)):
        write_mute(str(tmp_path), mute)
    assert [mute.folder for mute in read_mutes(str(tmp_path), now=0.0)] == ["/work"]


def test_a_mute_of_a_conversation_counts_there_alone(tmp_path: Path) -> None:
    state = str(tmp_path)
    write_mute(state, Mute(trigger="a", conversation="c1"))
    write_mute(state, Mute(trigger="a", conversation="c2", lifted=True))
    given = {conversation: muted_triggers(state, folder="/", now=0.0, conversation=conversation) for conversation in
             ("", "c", "c1", "c1-agent", "c2")}  # fmt: skip
    assert given == {"": set(), "c": set(), "c1": {"a"}, "c1-agent": set(), "c2": set()}


def test_a_mute_for_one_time_is_lifted_by_what_it_silenced(tmp_path: Path) -> None:
    state = str(tmp_path)
    for mute in (
        Mute(trigger="a", once=True),
        Mute(trigger="b", once=True),
        Mute(trigger="a", folder="/far", once=True),
    ):
        write_mute(state, mute)
    use_up(state, {"a"}, folder="/work", now=0.0)
    assert [(mute.trigger, mute.folder) for mute in read_mutes(state, now=0.0)] == [("b", ""), ("a", "/far")]


def test_mutes_of_two_paths_stand_beside_each_other(tmp_path: Path) -> None:
    state = str(tmp_path)
    for path in ("infra/**", "old/**"):
        write_mute(state, Mute(trigger="a", path=path, base="/work"))
    write_mute(state, Mute(trigger="a", path="old/**", base="/work", lifted=True))
    assert [mute.path for mute in read_mutes(state, now=0.0)] == ["infra/**"]
    assert muted(tmp_path) == set(), "without a turn nobody knows what it touches"


@pytest.mark.parametrize(
    ("tool", "tool_input", "lies"),
    [
        ("Write", {"file_path": "/work/infra/a.tf"}, True),
        ("Write", {"file_path": "infra/a.tf"}, True),
        ("Edit", {"file_path": "/work/src/a.py"}, False),
        ("Bash", {"command": "rm -rf infra src"}, False),
        ("Bash", {"command": "rm -rf infra/a infra/b"}, True),
        ("Bash", {"command": "rm -rf /work/infra/a"}, True),
        ("Bash", {"command": "terraform destroy"}, False),
        ("Bash", {"command": "echo x > infra/a"}, True),
        ("Bash", {"command": "rm -rf infra/a; rm -rf ~"}, False),
        ("Bash", {"command": 'rm -rf "$X"'}, False),
    ],
)
def test_a_turn_lies_in_a_place_only_with_all_that_it_touches(
    tool: str, tool_input: dict[str, str], *, lies: bool
) -> None:
    turn = Turn(role="tool_call", text=tool_input.get("command", ""), tool=tool, tool_input=tool_input)
    assert Touched(turn, "/work").lies_in(["infra/**"], "/work") is lies


def test_what_is_said_in_an_excepted_folder_lies_there() -> None:
    turn = Turn(role="user", text="destroy it")
    assert Touched(turn, "/work/infra/eu").lies_in(["infra/**"], "/work")
    assert not Touched(turn, "/work").lies_in(["infra/**"], "/work")


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab./~$\\*: ", max_size=12), st.text(alphabet="ab./*?", max_size=6))
def test_no_path_leaves_its_place(path: str, glob: str) -> None:
    full = resolved(path, "/work")
    assert full == NOWHERE or ".." not in full.split("/")
    if full == "/other" or not full.startswith("/work"):
        assert not lies_in(full, "infra", "/work")
    assert lies_in(full, glob, "/work") in {True, False}


WRONG = (
    b"[]", b"{}", b'{"trigger": []}', b'{"trigger": "b", "until": "x"}', b'{"trigger": {}, "folder": []}', b'{"x": 1}',
    b'{"trigger": "b"', b'{"trigger": "b", "path": 5}', b'{"trigger": "b", "base": null, "path": "x"}',
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.sampled_from(WRONG)))
def test_a_broken_line_hides_no_other(tmp_path_factory: pytest.TempPathFactory, broken: bytes) -> None:
    state = tmp_path_factory.mktemp("state")
    (state / "mutes.jsonl").write_bytes(broken)
    write_mute(str(state), Mute(trigger="a"))
    assert muted(state) >= {"a"}
