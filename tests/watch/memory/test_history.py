"""The past injections of a conversation, as its log records them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.memory.history import read_injections
from deia.watch.memory.log import RESET, LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch
from tests.watch.conftest import build_artefact, make_trigger


def test_an_injection_is_read_with_the_ids_of_its_events() -> None:
    artefact = build_artefact(make_trigger(("phrase", "{delete|drop} the table")))
    log = InMemoryLog()
    for number, text in enumerate(("hello", "I'll delete the table", "drop the table", "fine")):
        watch(artefact, Turn(role="assistant", text=text), log, lambda at=number: Surroundings(now=100.0 + at))  # type: ignore[misc]
        if number == 1:
            log.append(log_line(LogEntry(aside=True, logged={"t": "e-1", "other": "e-2"})))
    (injection,) = read_injections(log.read())
    assert (injection.at, injection.triggers, dict(injection.events)) == (101.0, ("t",), {"t": "e-1"})


def test_a_yes_is_an_injection_of_its_own_and_a_compaction_removes_none() -> None:
    artefact = build_artefact(make_trigger(("phrase", "delete the table"), action="warn"))
    log = InMemoryLog()
    watch(artefact, Turn(role="assistant", text="I'll delete the table. Ok?"), log, lambda: Surroundings(now=100.0))
    watch(artefact, Turn(role="user", text="yes"), log, lambda: Surroundings(now=109.0))
    log.append(log_line(LogEntry(event=RESET)))
    assert [one.at for one in read_injections(log.read())] == [100.0, 109.0]


def test_an_event_that_two_processes_saw_is_one_injection() -> None:
    lines = [log_line(LogEntry(at=at, fired={"t": str(at)})) for at in (100.0, 100.2, 200.0)]
    assert [one.at for one in read_injections(b"".join(lines))] == [100.0, 200.0]


PIECES = st.sampled_from(
    [
        b'{"at"',
        b":1",
        b',"fired":{',
        b'"t":"c"}',
        b"}",
        b'{"aside":true,"logged":{',
        b'"t":1}}',
        b"\n",
        b".",
        b'["',
        b"\xff",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=30).map(b"".join) | st.binary(max_size=200))
def test_a_torn_log_is_read_as_far_as_it_goes(log: bytes) -> None:
    whole = log_line(LogEntry(at=9e9, fired={"last": "c"}))
    assert read_injections(log + whole)[-1].triggers == ("last",)
