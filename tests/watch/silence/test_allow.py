"""Permissions: codes that cannot be guessed, for one conversation, once or longer; and who may give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.watch.memory.recall import InMemoryLog
from deia.watch.silence.allow import (
    CODE_LENGTH,
    CODE_SECONDS,
    CONVERSATION_SECONDS,
    LETTERS,
    allowed,
    grant,
    offer,
    pending,
    spend,
)
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.records import Turn
    from tests.watch.conftest import Build, Make

NOW = 1000.0


def test_a_code_is_short_readable_and_another_each_time(tmp_path: Path) -> None:
    codes = {offer(str(tmp_path), "c", ["t"], now=NOW) for _ in range(50)}
    assert len(codes) == 50
    assert all(len(code) == CODE_LENGTH and set(code) <= set(LETTERS) for code in codes)


def test_an_offer_lets_nothing_pass_until_it_is_taken(tmp_path: Path) -> None:
    state = str(tmp_path)
    code = offer(state, "c", ["t"], now=NOW)
    assert not allowed(state, "c", now=NOW)
    assert grant(state, f" {code.lower()} ", now=NOW) is not None
    assert [leave.triggers for leave in allowed(state, "c", now=NOW)] == [("t",)]
    assert not allowed(state, "another", now=NOW)


def test_leave_for_once_is_spent_by_what_it_let_pass(tmp_path: Path) -> None:
    state = str(tmp_path)
    grant(state, offer(state, "c", ["t", "u"], now=NOW), now=NOW)
    spend(state, allowed(state, "c", now=NOW), ["another"])
    assert allowed(state, "c", now=NOW)
    spend(state, allowed(state, "c", now=NOW), ["u"])
    assert not allowed(state, "c", now=NOW)


def test_leave_for_a_conversation_lasts(tmp_path: Path) -> None:
    state = str(tmp_path)
    grant(state, offer(state, "c", ["t"], now=NOW), now=NOW, whole=True)
    spend(state, allowed(state, "c", now=NOW), ["t"])
    assert allowed(state, "c", now=NOW + CONVERSATION_SECONDS - 1)
    assert not allowed(state, "c", now=NOW + CONVERSATION_SECONDS)


def test_a_code_runs_out_and_counts_once(tmp_path: Path) -> None:
    state = str(tmp_path)
    code = offer(state, "c", ["t"], now=NOW)
    assert grant(state, code, now=NOW + CODE_SECONDS) is None
    assert grant(state, "", now=NOW) is None
    grant(state, code, now=NOW)
    spend(state, allowed(state, "c", now=NOW), ["t"])
    assert grant(state, code, now=NOW) is None


def test_nothing_is_offered_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    assert offer(str(tmp_path / "state"), "c", ["t"], now=NOW) == ""


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.sampled_from([b'{"grant": [], "until": {}}', b'{"offer": 5, "until": 9e9}']))
)
def test_a_broken_line_gives_no_leave_and_takes_none(tmp_path_factory: pytest.TempPathFactory, broken: bytes) -> None:
    state = tmp_path_factory.mktemp("state")
    (state / "allows.jsonl").write_bytes(broken)
    grant(str(state), offer(str(state), "c", ["t"], now=NOW), now=NOW)
    assert [leave.triggers for leave in allowed(str(state), "c", now=NOW)] == [("t",)]


def test_an_allowed_call_passes_and_the_next_is_held(make: Make, build: Build, call: Callable[[str], Turn]) -> None:
    artefact, log = build(make(("command", "shopctl drop"), action="hold", repeat=0.0)), InMemoryLog()
    free = Surroundings(now=NOW, allowed=frozenset(("t",)))
    passed = watch(artefact, call("shopctl drop a"), log, lambda: free)
    assert (passed.passed, passed.firings, passed.injection) == (("t",), (), None)
    held = watch(artefact, call("shopctl drop b"), log, lambda: Surroundings(now=NOW))
    assert held.injection is not None
    assert held.injection.action == "hold"


def test_what_could_be_allowed_is_listed_until_it_is_or_runs_out(tmp_path: Path) -> None:
    state = str(tmp_path)
    first, second = offer(state, "c", ["t"], now=NOW), offer(state, "d", ["u"], now=NOW)
    assert [leave.code for leave in pending(state, now=NOW)] == [first, second]
    grant(state, first, now=NOW)
    assert [(leave.code, leave.conversation) for leave in pending(state, now=NOW)] == [(second, "d")]
    assert pending(state, now=NOW + CODE_SECONDS + 1) == ()
