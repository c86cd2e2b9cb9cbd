"""Hidden text in a line: decoded if possible, ignored if not, and seen by the gate."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.gate.word_gate import candidates
from deia.watch.shell.obfuscation import MOST_DECODED, decoded, hidden_text

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Make

ENCODED = base64.b64encode("wipe disk".encode("utf-16-le")).decode()


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), min_size=1, max_size=200))
def test_base64_comes_back_as_it_was(text: str) -> None:
    assert decoded(base64.b64encode(text.encode()).decode()) == text


@pytest.mark.parametrize("text", ["Remove-Item -Recurse ~", "rm x", "dir"])
def test_base64_of_powershell_comes_back_as_it_was(text: str) -> None:
    assert decoded(base64.b64encode(text.encode("utf-16-le")).decode()) == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_no_word_raises(word: str) -> None:
    assert isinstance(decoded(word) + hidden_text(word), str)


def test_what_is_too_long_is_not_decoded() -> None:
    assert decoded("YWJj" * (MOST_DECODED // 4 + 1)) == ""


@pytest.mark.parametrize(
    "command",
    [
        "wi\\pe disk",
        "wi''pe d\"\"isk",
        "$'\\x77ipe' disk",
        "echo d2lwZSBkaXNr | base64 -d | sh",
        f"powershell -enc {ENCODED}",
        "wipe \\\n disk",
    ],
)
def test_the_gate_sees_what_quotes_and_codes_hide(make: Make, build: Build, command: str) -> None:
    artefact = build(make(("command", "wipe disk")))
    assert list(candidates(artefact, Turn(role="tool_call", text=command, tool="Bash"))[0]) == [0]
    assert list(candidates(artefact, Turn(role="assistant", text="echo d2lwZSBkaXNr"))[0]) == []


@pytest.mark.parametrize("command", [":(){ :|:& };:", "f() { f|f& }; f"])
def test_the_gate_sees_a_fork_bomb(make: Make, build: Build, command: str) -> None:
    artefact = build(make(("command", "fork-bomb")))
    assert list(candidates(artefact, Turn(role="tool_call", text=command, tool="Bash"))[0]) == [0]
