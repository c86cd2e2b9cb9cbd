"""A hold covers the call that it stopped and no other; nobody is stopped for ever; what only speaks, speaks once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.watch.injection import ANOTHER
from deia.watch.memory.log import RESET, FileLog, LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import MOST_STOPPED, Surroundings, Watched, watch
from tests.watch.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

    Call = Callable[[str], Turn]

DOCUMENT = "Make a copy first."


@pytest.fixture(scope="module")
def wipe(make: Make, build: Build) -> Artefact:
    return build(make(("command", "shopctl wipe"), ("phrase", "wipe shop"), action="hold"))


def watched(artefact: Artefact, turn: Turn, log: InMemoryLog | FileLog, **around: Any) -> Watched:
    return watch(artefact, turn, log, lambda: Surroundings(now=1000.0, **around))


def held(artefact: Artefact, turn: Turn, log: InMemoryLog | FileLog) -> str:
    """Return the text that stops a call, or ""."""
    injection = watched(artefact, turn, log).injection
    return injection.text if injection is not None and injection.action in {"ask", "hold"} else ""


@pytest.mark.parametrize("action", ["ask", "hold"])
def test_after_one_hold_another_call_is_stopped_and_the_same_one_passes(
    make: Make, build: Build, call: Call, action: str
) -> None:
    artefact, log = build(make(("command", "shopctl wipe"), action=action)), InMemoryLog()
    assert held(artefact, call("shopctl wipe build"), log)
    assert held(artefact, call("cd /srv && shopctl wipe data"), log)
    for command in ("shopctl wipe build", "cd /srv && shopctl  wipe data"):
        assert not held(artefact, call(command), log)
        assert watched(artefact, call(command), log).passed == ("t",)


def test_the_second_reason_says_what_is_new_and_repeats_no_document(wipe: Artefact, call: Call) -> None:
    log = InMemoryLog()
    assert DOCUMENT in held(wipe, call("shopctl wipe build"), log)
    second = held(wipe, call("shopctl wipe data"), log)
    assert f"{ANOTHER} Take care." in second
    assert "Why now" in second
    assert "bok/lesson.md" in second
    assert DOCUMENT not in second


def test_an_agent_that_varies_its_call_is_not_stopped_for_ever(wipe: Artefact, call: Call) -> None:
    log = InMemoryLog()
    texts = [held(wipe, call(f"shopctl wipe {number}"), log) for number in range(MOST_STOPPED + 3)]
    assert [bool(text) for text in texts] == [True] * MOST_STOPPED + [False] * 3


def test_after_a_compaction_everything_is_new(wipe: Artefact, call: Call) -> None:
    log = InMemoryLog()
    for number in range(MOST_STOPPED + 1):
        held(wipe, call(f"shopctl wipe {number}"), log)
    log.append(log_line(LogEntry(event=RESET)))
    assert DOCUMENT in held(wipe, call("shopctl wipe 0"), log)


@pytest.mark.parametrize("action", ["note", "warn"])
def test_what_stops_nothing_speaks_once_however_the_call_varies(
    make: Make, build: Build, call: Call, action: str
) -> None:
    artefact, log = build(make(("command", "shopctl wipe"), action=action)), InMemoryLog()
    assert [len(watched(artefact, call(f"shopctl wipe {one}"), log).firings) for one in "abc"] == [1, 0, 0]


@pytest.mark.parametrize("settings", [{"max_action": "warn"}, {"hold": False}, {"forms": {"t": "note"}}])
def test_what_the_settings_make_milder_speaks_once(
    make: Make, build: Build, call: Call, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setitem(SETTINGS, name, value)
    artefact, log = build(make(("command", "shopctl wipe"), action="hold")), InMemoryLog()
    assert [len(watched(artefact, call(f"shopctl wipe {one}"), log).firings) for one in "abc"] == [1, 0, 0]


def test_a_mute_and_a_permission_count_for_another_call_too(wipe: Artefact, call: Call) -> None:
    log = InMemoryLog()
    held(wipe, call("shopctl wipe build"), log)
    muted = watched(wipe, call("shopctl wipe a"), log, muted=frozenset("t"))
    allowed = watched(wipe, call("shopctl wipe b"), log, allowed=frozenset("t"))
    assert not muted.firings + allowed.firings
    assert allowed.passed == ("t",)


@pytest.mark.parametrize("before", [(), ("shopctl wipe first",)])
def test_of_processes_that_see_the_same_call_one_speaks_and_another_call_is_stopped_too(
    wipe: Artefact, call: Call, tmp_path: Path, before: tuple[str, ...]
) -> None:
    build, data = call("shopctl wipe build"), call("shopctl wipe data")

    class Late(FileLog):
        """A log into which other processes write between our reading and our claim."""

        __slots__ = ()

        def append(self, line: bytes) -> bool:
            held(wipe, build, FileLog(str(tmp_path), "c"))
            return FileLog.append(self, line)

    for command in before:
        assert held(wipe, call(command), FileLog(str(tmp_path), "c"))
    assert held(wipe, data, Late(str(tmp_path), "c"))
    assert not held(wipe, build, Late(str(tmp_path), "c"))
    (tmp_path / "memory" / "c").unlink()
    for command in before:
        assert held(wipe, call(command), FileLog(str(tmp_path), "c"))
    assert not held(wipe, build, Late(str(tmp_path), "c"))
