"""Colour in lines: only for a terminal, and the text stays the same."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.cli.colours import CASES, FINDINGS, FIRINGS, PROBLEMS, coloured

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

CODES = re.compile(r"\x1b\[\d*m")
LINES = st.lists(
    st.sampled_from(["a.yaml:3: ", "error: ", "warning: ", "turn 1, user: ", "  FIRES   x", "✓ ", " [a-b]"])
)


@pytest.mark.parametrize("styles", [CASES, FINDINGS, FIRINGS, PROBLEMS])
@given(pieces=LINES)
def test_colour_changes_no_text(styles: tuple[tuple[str, str], ...], pieces: list[str]) -> None:
    line = "".join(pieces)
    assert CODES.sub("", coloured(line, styles)) == line


def test_what_matters_is_coloured() -> None:
    assert coloured("a.yaml:3: error: x [bad-id]", PROBLEMS) == (
        "\x1b[1ma.yaml:3\x1b[0m: \x1b[31merror\x1b[0m: x\x1b[2m [bad-id]\x1b[0m"
    )


@pytest.mark.skipif(shutil.which("script") is None, reason="nothing here makes a terminal")
@pytest.mark.parametrize(("variables", "wanted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
@pytest.mark.parametrize("command", [["check", "I will delete the shop site"], ["lint"], ["trigger", "test"]])
def test_a_terminal_gets_colour_unless_no_color_is_set(
    commons: Path, environ: dict[str, str], variables: dict[str, str], command: list[str], *, wanted: bool
) -> None:
    (commons / "triggers" / "bad.yaml").write_text("- id: broken\n", encoding="utf-8")
    line = shlex.join([sys.executable, "-m", "deia.serve.main", *command])
    terminal = ["script", "-qec", line, "/dev/null"]  # gives the command a terminal
    shown = subprocess.run(
        terminal, cwd=commons, env={"TERM": "xterm", **environ, **variables}, capture_output=True, check=False
    ).stdout
    assert (b"\x1b[" in shown) == wanted, shown


def test_a_pipe_gets_no_colour(deia: Deia) -> None:
    assert "\x1b" not in deia("check", "I will delete the shop site").out
