"""The second gate for changed text never drops a pattern that would fire, whichever way the text is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.watch.gate.pattern_gate import holding
from deia.watch.gate.word_gate import WRITTEN, candidates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

CLAUSE = {"adds": r"^verify_certificates = false$"}


def call(tool: str, given: Mapping[str, str]) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input=given)


def let_through(artefact: Artefact, turn: Turn) -> bool:
    return candidates(artefact, turn, second_gate=holding)[0] != {}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "a.toml", "content": "x = 1\nverify_certificates = false\n"}),
        ("Edit", {"file_path": "a.toml", "old_string": "", "new_string": "verify_certificates = false"}),
        ("apply_patch", {"input": "*** Update File: a.toml\n@@\n x = 1\n+verify_certificates = false\n"}),
        ("Bash", {"command": "cat > a.toml <<'EOF'\nverify_certificates = false\nEOF"}),
        ("Bash", {"command": "echo 'verify_certificates = false' >> a.toml"}),
        ("Bash", {"command": 'echo "verify_certificates = false" | tee -a a.toml'}),
        ("Bash", {"command": "echo verify_certificates = false>a.toml"}),
        ("Bash", {"command": "sed -i 's/verify_certificates = true/verify_certificates = false/' a.toml"}),
    ],
)
def test_what_a_call_writes_is_let_through_however_it_is_written(
    make: Make, build: Build, tool: str, given: dict[str, str]
) -> None:
    artefact = build(make(("write", CLAUSE)))
    assert let_through(artefact, call(tool, given))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "a.md", "content": "Never set `verify_certificates = false` in it."}),
        ("Edit", {"file_path": "a.toml", "old_string": "x", "new_string": "certificates: verify, never false"}),
        ("Bash", {"command": "grep -rn 'verify_certificates = false' . 2>/dev/null"}),
        ("Read", {"file_path": "verify_certificates = false"}),
    ],
)
def test_words_that_stand_otherwise_are_not(make: Make, build: Build, tool: str, given: dict[str, str]) -> None:
    artefact = build(make(("write", CLAUSE)))
    assert not let_through(artefact, call(tool, given))


def test_the_rows_of_such_clauses_are_marked(make: Make, build: Build) -> None:
    artefact = build(make(("write", CLAUSE)))
    assert all(artefact.row(number)[1] & WRITTEN for number in range(artefact.count(2)))
