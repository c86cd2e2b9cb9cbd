"""SECURITY.md is true: the tests that it names exist, and the risks that it admits are as it says."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.redaction import redact
from deia.watch.silence.self_protection import refusal
from tests.paths import ROOT
from tests.watch.silence.test_self_protection import install

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
FINDINGS = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
RISKS = PAGE.partition("| what deia cannot see | a case |")[2].partition("\n\n")[0]
CASES = [
    case.replace("\\|", "|") for row in RISKS.splitlines()[2:] for case in row.rpartition(" | ")[2].split("`")[1::2]
]
SECRETS = ("my password is sunshine", "zip -P -x7hunter2 a.zip")


def test_every_finding_is_numbered_and_names_what_holds_it() -> None:
    assert [int(number) for number, *_ in FINDINGS] == list(range(1, len(FINDINGS) + 1))
    assert len(FINDINGS) >= 19
    assert all("::test_" in tests for *_, tests in FINDINGS)


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED)))
def test_a_test_that_the_page_names_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("command", [case for case in CASES if "=" not in case.partition(" ")[0] or ";" in case])
def test_a_call_that_the_page_says_passes_does_pass(tmp_path: Path, command: str) -> None:
    """If one of them is refused one day, the page has to say so."""
    home = tmp_path / "home" / "ada"
    install(home, "user")
    turn = Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})
    assert refusal(turn, folder=str(home / "work"), environ={"HOME": str(home)}, state="") == ""


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_that_the_page_says_stays_does_stay(text: str) -> None:
    assert f"`{text}`" in PAGE
    assert redact(text) == text
