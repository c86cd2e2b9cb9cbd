"""The mark of failing checks: which output of which program sets it, what takes it back, and what says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.triggers.compiled_patterns import required_groups
from deia.compile.triggers.statements import FAILING_TURNS, REPORTED_FAILING, REPORTED_PASSING
from deia.knowledge import Earlier
from deia.records import Turn
from deia.watch.gate.artefact import Artefact
from deia.watch.gate.pattern_gate import holding
from deia.watch.gate.word_gate import candidates, wait_in_vain
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, Watched, watch
from tests.watch.conftest import build_artefact, make_trigger

DELETION = Turn(role="tool_call", text="shopctl drop", tool="Bash")
FAILURES = [
    "=========== 1 failed, 3 passed in 0.31s ===========",
    "2 failed in 1.02s",
    "FAILED tests/test_cart.py::test_total - assert 41 == 42",
    "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
    "Test Suites: 1 failed, 4 passed, 5 total\nTests:       1 failed, 11 passed, 12 total",
    " Test Files  1 failed | 4 passed (5)\n      Tests  2 failed | 30 passed (32)",
    " 27 pass\n 3 fail\n 136 expect() calls",
    "(fail) cart > adds [0.54ms]",
    "  12 passing (3s)\n  1 failing",
    "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 41\nFAIL\tshop/cart\t0.4s\nok  \tshop/user\t0.2s",
    "FAIL\tshop/cart [build failed]",
    "test result: FAILED. 3 passed; 1 failed; 0 ignored",
    "error: could not compile `shop` (lib) due to 1 previous error",
    "5 examples, 1 failure",
    "Tests run: 12, Failures: 0, Errors: 2, Skipped: 0",
    "FAILURES!\nTests: 5, Assertions: 9, Failures: 1.",
    "> Task :app:test FAILED",
    "# fail 2",
    "Executed 12 tests, with 1 failure (0 unexpected) in 0.5 seconds",
    "src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
    "Found 3 errors in 1 file (checked 12 source files)",
    "Found 1 error.",
    "\u2716 3 problems (2 errors, 1 warning)",
    "2 issues:\n* gocritic: 2",
    "Coverage failure: total of 78 is less than fail-under=80",
    'Jest: "global" coverage threshold for lines (80%) not met: 78.2%',
    "husky - pre-commit hook exited with code 1 (error)",
    "lint.....................................................................Failed\n- hook id: lint",
    "##[error]Process completed with exit code 1.",
    "lint\tfail\t12s\thttps://github.com/x/y/actions/runs/1",
]
SUCCESSES = [
    "=========== 4 passed, 1 skipped in 0.31s ===========",
    "Tests:       12 passed, 12 total",
    "      Tests  32 passed (32)",
    " 30 pass\n 0 fail",
    "ok  \tshop/cart\t0.4s",
    "ok  \tshop/cart\t(cached)",
    "test result: ok. 4 passed; 0 failed; 0 ignored",
    "  12 passing (3s)",
    "Ran 3 tests in 0.001s\n\nOK",
    "OK (5 tests, 9 assertions)",
    "5 examples, 0 failures",
    "BUILD SUCCESSFUL in 3s",
]
NOTHING_SAID = [
    "0 failed",
    'cart.go:12: return fmt.Errorf("failed to load: %w", err)',
    "3 files changed, 12 insertions(+)",
    "Found 0 errors.",
    "error: failed to push some refs",
    "the request failed, retrying",
    "ls: cannot access 'x': No such file or directory",
]


@pytest.fixture(scope="module")
def artefact() -> Artefact:
    return build_artefact(make_trigger(("command", "shopctl drop"), earlier=Earlier(mark="failing")))


def printed(text: str, tool: str = "Bash") -> Turn:
    return Turn(role="tool_result", text=text, tool=tool)


def fires(artefact: Artefact, *turns: Turn) -> bool:
    """Return whether the trigger fires on a deletion after these turns."""
    log, watched = InMemoryLog(), Watched()
    for turn in (*turns, DELETION):
        watched = watch(artefact, turn, log, lambda: Surroundings(now=0.0))
    return bool(watched.firings)


@pytest.mark.parametrize("text", FAILURES)
def test_a_failing_run_counts_until_a_run_passes(artefact: Artefact, text: str) -> None:
    assert fires(artefact, printed(f"$ make check\n{text}\n"))
    assert not fires(artefact, printed(text), printed(" 30 pass\n 0 fail"))


@pytest.mark.parametrize("text", SUCCESSES)
def test_a_passing_run_takes_it_back(artefact: Artefact, text: str) -> None:
    assert not fires(artefact, printed("1 failed in 0.1s"), printed(f"$ make check\n{text}\n"))
    assert not fires(artefact, printed(text))


@pytest.mark.parametrize("text", NOTHING_SAID)
def test_other_output_says_nothing(artefact: Artefact, text: str) -> None:
    assert not fires(artefact, printed(text))
    assert fires(artefact, printed("1 failed in 0.1s"), printed(text))


@pytest.mark.parametrize(
    ("turn", "counts"),
    [
        (Turn(role="user", text="the tests are failing on CI"), True),
        (Turn(role="user", text="CI says:\n--- FAIL: TestTotal (0.01s)"), True),
        (Turn(role="assistant", text="The build is still failing."), True),
        (Turn(role="assistant", text="Let me look at the failing test."), True),
        (Turn(role="user", text="are the tests failing?"), False),
        (Turn(role="assistant", text="If the tests fail, I'll look again."), False),
        (Turn(role="assistant", text="The tests are not failing."), False),
        (printed("1 failed in 0.1s", tool="Read"), False),
        (printed("1 failed in 0.1s").but(tool_input={"command": "cat log.txt"}), False),
        (printed("1 failed in 0.1s").but(tool_input={"command": "pytest -q"}), True),
    ],
)
def test_people_may_say_so_and_files_may_not(artefact: Artefact, turn: Turn, *, counts: bool) -> None:
    assert fires(artefact, turn) == counts


def test_it_counts_for_some_turns(artefact: Artefact) -> None:
    failed, quiet = printed("1 failed in 0.1s"), Turn(role="assistant", text="hm")
    assert fires(artefact, failed, *[quiet] * (FAILING_TURNS - 1))
    assert not fires(artefact, failed, *[quiet] * FAILING_TURNS)


def test_passing_runs_are_not_judged_and_leave_a_dot_as_long_as_nothing_failed(artefact: Artefact) -> None:
    passed = printed(" 30 pass\n 0 fail")
    numbers, _ = candidates(artefact, passed, second_gate=holding)
    assert numbers
    assert wait_in_vain(artefact, numbers, b"")
    assert not wait_in_vain(artefact, numbers, b'{"marks":{"<failing>":"x"}}')
    assert not wait_in_vain(artefact, candidates(artefact, printed("3 fail"), second_gate=holding)[0], b"")
    log = InMemoryLog()
    watch(artefact, passed, log, lambda: Surroundings(now=0.0))
    assert log.read() == b"."


def test_every_pattern_needs_a_word() -> None:
    assert [pattern for pattern in (*REPORTED_FAILING, *REPORTED_PASSING) if not required_groups(pattern)] == []


@given(st.lists(st.sampled_from([*FAILURES, *SUCCESSES, *NOTHING_SAID, "x" * 700, ""]), max_size=5).map("\n".join))
@settings(max_examples=60, deadline=None)
def test_the_gate_loses_no_run(artefact: Artefact, text: str) -> None:
    exact, _ = candidates(artefact, printed(text), second_gate=holding)
    wide, _ = candidates(artefact, printed(text))
    failed = InMemoryLog()
    watch(artefact, printed(text), failed, lambda: Surroundings(now=0.0))
    assert exact.keys() <= wide.keys()
    assert exact or b"marks" not in failed.read()


def test_a_trigger_may_itself_wait_for_output() -> None:
    artefact = build_artefact(make_trigger(("output", r"^\d{1,6} vulnerabilities\b"), who=("tool_result",)))
    watched = [
        watch(artefact, turn, InMemoryLog(), lambda: Surroundings(now=0.0)).firings
        for turn in (printed("12 vulnerabilities (3 high)"), printed("no vulnerabilities"), DELETION)
    ]
    assert [bool(firings) for firings in watched] == [True, False, False]
    assert 'output "12 vulnerabilities (3 high)"' in watched[0][0].because
