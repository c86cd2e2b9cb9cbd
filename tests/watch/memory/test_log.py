"""A conversation's memory: dots and lines, torn lines, several processes, and file names that stay in their folder."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.fast_json import dumps
from deia.records import Turn
from deia.watch.memory.log import QUIET, RESET, FileLog, LogEntry, file_name, fingerprint, log_line
from deia.watch.memory.recall import InMemoryLog, Memory, memory_of, recall
from deia.watch.turn.call_print import call_print
from deia.watch.watcher import Surroundings, Watched, watch

if TYPE_CHECKING:
    from pathlib import Path

    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

AROUND = Surroundings(now=1000.0)
SELL = Turn(role="user", text="I will sell the shop")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def line(**fields: Any) -> bytes:
    return log_line(LogEntry(**fields))


def any_line(fields: dict[str, Any]) -> bytes:
    return b"\n" + dumps(fields).encode("ascii") + b"\n"


FIELDS = ("at", "fired", "docs", "held", "seen", "chars", "delivered", "queued", "event")


def watched(artefact: Artefact, turn: Turn, log: FileLog | InMemoryLog, *, now: float = 1000.0) -> Watched:
    return watch(artefact, turn, log, lambda: Surroundings(now=now))


def test_quiet_turns_are_dots_and_the_others_lines() -> None:
    log = QUIET + QUIET + line(at=5.0, fired={"a": "p"}, docs=["d"], chars=10) + QUIET
    memory = recall(log)
    assert memory.turns == 4
    assert memory.fired == {"a": (5.0, "p")}
    assert memory.documents == {"d"}
    assert memory.chars == 10


def test_a_torn_line_says_nothing_and_hides_no_other() -> None:
    whole = line(at=1.0, fired={"a": "p"})
    other = line(at=2.0, fired={"b": "q"})
    for length in range(len(whole)):
        assert recall(whole[:length] + other).fired.keys() >= {"b"}
        assert recall(other + whole[:length]).fired.keys() >= {"b"}


def test_who_claimed_first_keeps_the_claim_and_the_last_time_counts() -> None:
    log = line(at=1.0, fired={"a": "first"}) + line(at=9.0, fired={"a": "second"})
    assert recall(log).fired == {"a": (9.0, "first")}


def test_a_reset_forgets_what_the_model_no_longer_sees() -> None:
    before = line(at=1.0, fired={"a": "p"}, docs=["d"], held=["c"], seen=["netlify"], chars=9)
    memory = recall(before + line(event=RESET))
    assert not memory.fired
    assert not memory.documents
    assert not memory.held
    assert memory.chars == 0
    assert memory.seen == {"netlify": 1}


def test_texts_wait_until_they_are_delivered() -> None:
    log = line(queued=["one", "two"]) + line(delivered=1) + line(queued=["three"])
    assert recall(log).queued == ["two", "three"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(st.binary(max_size=30), st.dictionaries(st.sampled_from(FIELDS), JSON).map(any_line)), max_size=5
    )
)
def test_no_log_is_too_broken_to_be_read(parts: list[bytes]) -> None:
    assert recall(b"".join(parts) + line(at=1.0, fired={"mine": "p"})).fired.keys() >= {"mine"}


WORDS = st.lists(st.sampled_from(["netlify", "git", "a[b", "x]}", 'q"]}', "é"]), min_size=1, max_size=3)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "seen": WORDS,
        "marks": st.dictionaries(st.sampled_from("mn"), st.sampled_from(["", "t]}"])),
        "fired": st.dictionaries(st.sampled_from("ab"), st.sampled_from("pq")),
        "items": WORDS,
        "event": st.just(RESET),
    },
)


@given(st.lists(ENTRIES | st.just({"aside": True}) | st.none()))
def test_lines_about_what_was_seen_are_read_late_and_say_the_same(turns: list[dict[str, Any] | None]) -> None:
    at_once, held = Memory(), InMemoryLog()
    for entry in turns:
        held.append(line(**entry or {}))
        at_once.turns += entry is None or "aside" not in entry
        at_once.take(LogEntry(**entry or {}))
        memory_of(held).fired["changed by who asked"] = (0.0, "")
    for memory in (memory_of(held), recall(held.read())):
        seen = memory.seen
        assert (memory.turns, memory.fired, memory.marks, memory.items, seen) == (
            at_once.turns, at_once.fired, at_once.marks, at_once.items, at_once.seen,
        )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_a_file_name_never_leaves_its_folder(conversation: str) -> None:
    name = file_name(conversation)
    assert 0 < len(name) <= 100
    assert name.isascii()
    assert not set(name) & set("/\\:.\0 ")


@pytest.mark.parametrize(
    "conversation", ["../../etc/passwd", "/etc/passwd", "..", ".", "", "a\0b", "a/b", "CON:", "x" * 10_000]
)
def test_a_hostile_conversation_writes_only_into_the_state_folder(tmp_path: Path, conversation: str) -> None:
    assert FileLog(str(tmp_path), conversation).append(QUIET)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.parent == tmp_path / "memory"


def test_different_conversations_have_different_files() -> None:
    names = [file_name(one) for one in ("a/b", "a\\b", "ab", "a b", "a" * 81, "a" * 82, "\ud800", "")]
    assert len(set(names)) == len(names)
    assert file_name("4e1c-A_9") == "4e1c-A_9"


def test_a_fingerprint_is_the_same_everywhere_and_quick() -> None:
    assert fingerprint("") == 0
    assert fingerprint("abc") == int.from_bytes(b"abc", "little")
    assert fingerprint("\ud800" * 1_000_000) < 2**64


# --- what is remembered ---


def test_once_a_conversation_means_once(make: Make, build: Build) -> None:
    artefact, log = build(make(("phrase", "sell shop"))), InMemoryLog()
    assert [len(watched(artefact, SELL, log).firings) for _ in range(3)] == [1, 0, 0]
    log.append(line(event=RESET))
    assert watched(artefact, SELL, log).firings


@pytest.mark.parametrize(("repeat", "times"), [(0.0, [1, 1, 1, 1]), (60.0, [1, 0, 1, 0]), (-1.0, [1, 0, 0, 0])])
def test_a_trigger_repeats_as_it_says(make: Make, build: Build, repeat: float, times: list[int]) -> None:
    artefact, log = build(make(("phrase", "sell shop"), repeat=repeat)), InMemoryLog()
    assert [len(watched(artefact, SELL, log, now=now).firings) for now in (0.0, 59.0, 60.0, 61.0)] == times


def test_a_muted_trigger_is_seen_but_silent(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    muted = watch(artefact, SELL, InMemoryLog(), lambda: AROUND.but(muted=frozenset(("t",))))
    assert [verdict.stage for verdict in muted.verdicts] == ["muted"]
    assert not muted.firings


def test_a_context_is_remembered_for_so_many_turns(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), context=("netlify",)))
    for quiet, fired in ((28, True), (40, False)):
        log = InMemoryLog()
        watched(artefact, Turn(role="user", text="about netlify"), log)
        for _ in range(quiet):
            watched(artefact, Turn(role="user", text="hm"), log)
        assert bool(watched(artefact, SELL, log).firings) is fired


def test_a_held_call_passes_when_it_is_made_again_and_another_is_held(make: Make, build: Build) -> None:
    artefact = build(make(("command", "shopctl"), action="hold", repeat=0.0))
    log = InMemoryLog()
    calls = [
        Turn(role="tool_call", text=text, tool="Bash", tool_input={"command": text})
        for text in ("shopctl a", "shopctl b")
    ]
    assert watched(artefact, calls[0], log).firings
    assert watched(artefact, calls[1], log).firings
    again = watched(artefact, calls[0], log)
    assert not again.firings
    assert again.passed == ("t",)


def test_calls_are_told_apart_by_tool_and_input() -> None:
    made: list[tuple[str, dict[str, Any]]] = [
        ("A", {"x": 1}),
        ("A", {"x": 2}),
        ("B", {"x": 1}),
        ("A", {"x": "1"}),
        ("A", {}),
    ]
    prints = [call_print(Turn(role="tool_call", text="", tool=tool, tool_input=given)) for tool, given in made]
    assert len(set(prints)) == len(prints)
    assert call_print(SELL) == ""


def test_of_two_processes_that_see_the_same_one_speaks(make: Make, build: Build, tmp_path: Path) -> None:
    artefact = build(make(("phrase", "sell shop")))

    class Late(FileLog):
        """A log into which another process writes between our reading and our claim."""

        __slots__ = ()

        def append(self, data: bytes) -> bool:
            FileLog.append(self, line(at=1.0, fired={"t": "somebody else"}))
            return FileLog.append(self, data)

    assert not watched(artefact, SELL, Late(str(tmp_path), "c")).firings


def test_appends_of_several_processes_stay_whole(tmp_path: Path) -> None:
    code = (
        "import sys; from deia.watch.memory.log import FileLog, LogEntry, log_line\n"
        "log = FileLog(sys.argv[1], 'c')\n"
        "for number in range(200): log.append(log_line(LogEntry(seen=[f'{sys.argv[2]}-{number}', 'x' * 500])))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(who)]) for who in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    seen = recall(FileLog(str(tmp_path), "c").read()).seen
    assert len(seen) == 3 * 200 + 1
