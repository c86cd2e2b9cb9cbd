"""What a conversation was told, as its log has it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.memory.history import told_in
from deia.watch.memory.log import RESET, HeldLog, line
from deia.watch.watcher import Surroundings, watch
from tests.watch.conftest import build_artefact, make_trigger


def test_what_the_watcher_says_is_told_with_its_events() -> None:
    artefact = build_artefact(make_trigger(("phrase", "{delete|drop} the table")))
    log = HeldLog()
    for number, text in enumerate(("hello", "I'll delete the table", "drop the table", "fine")):
        watch(artefact, Turn(role="assistant", text=text), log, lambda at=number: Surroundings(now=100.0 + at))  # type: ignore[misc]
        if number == 1:
            log.append(line({"aside": True, "logged": {"t": "e-1", "other": "e-2"}}))
    (told,) = told_in(log.read())
    assert (told.at, told.triggers, dict(told.events)) == (101.0, ("t",), {"t": "e-1"})


def test_a_yes_is_told_as_a_time_of_its_own_and_a_compaction_takes_nothing_out() -> None:
    artefact = build_artefact(make_trigger(("phrase", "delete the table")))
    log = HeldLog()
    watch(artefact, Turn(role="assistant", text="I'll delete the table"), log, lambda: Surroundings(now=100.0))
    watch(artefact, Turn(role="user", text="yes"), log, lambda: Surroundings(now=109.0))
    log.append(line({"event": RESET}))
    assert [one.at for one in told_in(log.read())] == [100.0, 109.0]


def test_one_event_that_two_processes_saw_is_told_once() -> None:
    lines = [line({"at": at, "fired": {"t": str(at)}}) for at in (100.0, 100.2, 200.0)]
    assert [one.at for one in told_in(b"".join(lines))] == [100.0, 200.0]


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
    whole = line({"at": 9e9, "fired": {"last": "c"}})
    assert told_in(log + whole)[-1].triggers == ("last",)
