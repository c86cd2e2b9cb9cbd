"""A person's mutes: for a while, in a folder, for good, and lifted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.watch.mutes import Mute, muted_triggers, read_mutes, write_mute

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


WRONG = (
    b"[]", b"{}", b'{"trigger": []}', b'{"trigger": "b", "until": "x"}', b'{"trigger": {}, "folder": []}', b'{"x": 1}',
    b'{"trigger": "b"',
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.sampled_from(WRONG)))
def test_a_broken_line_hides_no_other(tmp_path_factory: pytest.TempPathFactory, broken: bytes) -> None:
    state = tmp_path_factory.mktemp("state")
    (state / "mutes.jsonl").write_bytes(broken)
    write_mute(str(state), Mute(trigger="a"))
    assert muted(state) >= {"a"}
