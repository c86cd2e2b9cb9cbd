"""A case is written beside its trigger, its cases are run, and a mend that is offered keeps every case."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.commons.index.load_commons import load_commons
from deia.errors import DeiaError
from deia.serve.page.case_making import make_case, mend, take_back
from tests.serve.page.conftest import CASES, FALSE_ALARM

if TYPE_CHECKING:
    from deia.serve.server.desk import Desk

ABOUT = {"trigger": "site-delete"}


@pytest.fixture
def root(cased_desk: Desk) -> Path:
    return Path(cased_desk.root)


def holds(outcome: dict[str, Any]) -> list[bool]:
    return [case["holds"] for case in outcome["cases"]]


def test_a_case_that_fails_is_red_and_a_mend_makes_it_green(cased_desk: Desk, root: Path) -> None:
    made: Any = make_case(cased_desk, {**ABOUT, "text": FALSE_ALARM, "fires": False})
    assert holds(made) == [True, True, True, False]
    assert FALSE_ALARM in (root / "triggers/sites.cases.yaml").read_text()
    assert ["site-delete: unless: + sandbox"] in [one["does"] for one in made["mends"]]
    mended: Any = mend(cased_desk, {"id": made["mends"][0]["id"]})
    assert holds(mended) == [True] * 4
    assert "unless: [sandbox]" in (root / "triggers/sites.yaml").read_text()
    with pytest.raises(DeiaError, match="applied already"):
        mend(cased_desk, {"id": made["mends"][0]["id"]})


def test_what_was_written_is_taken_back_byte_for_byte(cased_desk: Desk, root: Path) -> None:
    before = {path: path.read_bytes() for path in sorted((root / "triggers").iterdir())}
    made: Any = make_case(cased_desk, {**ABOUT, "text": FALSE_ALARM, "fires": False})
    mend(cased_desk, {"id": made["mends"][0]["id"]})
    for ident in (made["mends"][0]["id"], made["id"]):
        take_back(cased_desk, {"id": ident})
    assert {path: path.read_bytes() for path in sorted((root / "triggers").iterdir())} == before


MISSED = {
    "user": "Zap the shop of the customer",
    "assistant": "I will wipe the pages of the customer now",
    "tool_call": "shopctl site:purge main --now",
}


@pytest.mark.parametrize("role", MISSED)
def test_a_missed_mistake_becomes_a_case_that_fails_and_a_mend_makes_it_fire(
    cased_desk: Desk, root: Path, role: str
) -> None:
    before = {path: path.read_bytes() for path in sorted((root / "triggers").iterdir())}
    made: Any = make_case(cased_desk, {**ABOUT, "role": role, "text": MISSED[role], "fires": True})
    assert holds(made).count(False) == 1
    assert made["mends"]
    mended: Any = mend(cased_desk, {"id": made["mends"][0]["id"]})
    assert holds(mended) == [True] * 4
    for ident in (mended["id"], made["id"]):
        take_back(cased_desk, {"id": ident})
    assert {path: path.read_bytes() for path in sorted((root / "triggers").iterdir())} == before


def test_a_mend_that_would_break_a_silent_case_is_not_offered(cased_desk: Desk, root: Path) -> None:
    silent = "site-delete:\n  silent:\n    - Zap the shop of the customer\n"
    (root / "triggers/sites.cases.yaml").write_text(silent)
    made: Any = make_case(cased_desk, {**ABOUT, "text": MISSED["user"], "fires": True})
    assert (holds(made), made["mends"]) == ([False, True], [])


def test_what_is_no_sentence_and_no_command_gets_a_case_and_no_mend(cased_desk: Desk) -> None:
    made: Any = make_case(cased_desk, {**ABOUT, "text": "?!", "fires": True})
    assert (holds(made).count(False), made["mends"]) == (1, [])


def test_a_tool_call_and_a_conversation_are_cases_too(cased_desk: Desk, root: Path) -> None:
    make_case(
        cased_desk,
        {**ABOUT, "role": "tool_call", "text": "shopctl site:delete x", "earlier": "User: go on", "fires": True},
    )
    written = (root / "triggers/sites.cases.yaml").read_text()
    assert "shopctl site:delete x" in written
    assert "go on" in written


def test_a_secret_is_not_written_into_a_case(cased_desk: Desk, root: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    make_case(cased_desk, {**ABOUT, "text": f"delete the site with {secret}", "fires": True})
    assert secret not in (root / "triggers/sites.cases.yaml").read_text()
    assert secret not in (root / "telemetry/CHANGES.jsonl").read_text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"trigger": "no-such", "text": "x"}, "not a trigger of this project"),
        ({**ABOUT, "text": " "}, "nothing to make a case of"),
    ],
)
def test_what_cannot_be_a_case_is_refused_and_nothing_is_written(
    cased_desk: Desk, root: Path, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(DeiaError, match=said) as caught:
        make_case(cased_desk, asked)
    assert caught.value.fix
    assert (root / "triggers/sites.cases.yaml").read_text() == CASES


def test_a_mend_that_was_not_offered_is_refused(cased_desk: Desk) -> None:
    with pytest.raises(DeiaError, match="not offered any more"):
        mend(cased_desk, {"id": "un-123456"})


INNER = {"tool": "Bash", "tool_input": {"command": "shopctl site:delete x", "timeout": 5, "edits": [{"all": True}]}}


def test_a_case_keeps_all_that_a_tool_was_given(cased_desk: Desk, root: Path) -> None:
    call = {
        "tool": "MultiEdit",
        "tool_input": {"file_path": "a.py", "edits": [{"old_string": "x", "n": 2, "all": True, "password": "hunter2"}]},
    }
    make_case(cased_desk, {**ABOUT, "role": "tool_call", "text": json.dumps(call), "fires": False})
    make_case(cased_desk, {**ABOUT, "role": "tool_call", "text": json.dumps(INNER), "fires": True})
    many, command = (
        case.turns[-1].tool_input for case in load_commons(str(root)).cases if case.turns[-1].role == "tool_call"
    )
    if many == INNER["tool_input"]:
        many, command = command, many
    hidden = {"old_string": "x", "n": 2, "all": True, "password": "[secret]"}
    assert many == {"file_path": "a.py", "edits": [hidden]}
    assert command == INNER["tool_input"]


def test_a_case_that_would_be_judged_otherwise_than_what_was_typed_is_refused(cased_desk: Desk, root: Path) -> None:
    text = "".join(f"Well, that was day {number}. " for number in range(80)) + "I will delete the shop site now"
    said = {**ABOUT, "role": "assistant", "text": text, "fires": False}
    with pytest.raises(DeiaError, match="fires on what was typed, and stays silent on it as a case") as caught:
        make_case(cased_desk, said)
    assert caught.value.fix
    assert (root / "triggers/sites.cases.yaml").read_text() == CASES


def test_a_tool_call_that_is_nested_deeply_is_no_crash(cased_desk: Desk) -> None:
    for depth in (400, 90_000):
        text = '{"tool": "T", "tool_input": {"a": ' + "[" * depth + "]" * depth + "}}"
        with contextlib.suppress(DeiaError):
            make_case(cased_desk, {**ABOUT, "role": "tool_call", "text": text, "fires": False})


def test_what_is_taken_back_has_an_id(cased_desk: Desk, root: Path) -> None:
    make_case(cased_desk, {**ABOUT, "text": FALSE_ALARM, "fires": False})
    with pytest.raises(DeiaError, match="has no id"):
        take_back(cased_desk, {})
    assert FALSE_ALARM in (root / "triggers/sites.cases.yaml").read_text()
