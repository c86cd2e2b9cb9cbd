"""What a terminal is taken to show."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.folders import STARTER
from deia.serve.cli.terminal import address, in_colour, look_of, opens_links

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process


@pytest.mark.skipif(sys.platform == "win32", reason="other signs count there")
@pytest.mark.parametrize(
    ("environ", "colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_person_can_have_no_colour(environ: dict[str, str], *, colour: bool) -> None:
    assert in_colour(environ) is colour


@pytest.mark.parametrize(
    ("environ", "linked"),
    [
        ({}, False), ({"TERM": "xterm-256color"}, False), ({"TERM": "xterm-kitty"}, True), ({"WT_SESSION": "x"}, True),
        ({"VTE_VERSION": "7600"}, True), ({"VTE_VERSION": "4200"}, False), ({"VTE_VERSION": "x"}, False),
        ({"TERM_PROGRAM": "vscode"}, True), ({"TERM_PROGRAM": "Apple_Terminal"}, False),
    ],
)  # fmt: skip
def test_links_are_written_where_they_are_known_to_work(environ: dict[str, str], *, linked: bool) -> None:
    assert opens_links(environ) is linked


def test_addresses_are_encoded() -> None:
    assert address("/c d", "bok/é;\x1b.md") == "file:///c%20d/bok/%C3%A9%3B%1B.md"
    assert address("/c", "starter:bok/a.md") == f"file://{STARTER}/bok/a.md"
    assert address("C:/c", "a.md") == "file:///C%3A/c/a.md"


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=60)
def test_any_path_gives_a_plain_address(root: str, path: str) -> None:
    found = address(root, path)
    assert found.isascii()
    assert found.isprintable()
    assert " " not in found


@pytest.mark.parametrize(("columns", "width"), [("77", 77), ("0", 100), ("x", 100), ("", 100), ("٣", 100)])
def test_the_width_is_that_of_the_environment_or_an_ordinary_one(columns: str, width: int) -> None:
    assert look_of("/c", colour="auto", environ={"COLUMNS": columns}).width == width


def test_what_is_piped_has_no_codes_unless_they_are_asked_for(process: Process) -> None:
    assert b"\x1b" not in process("search", "delete a site", "--format", "table").stdout
    forced = process("search", "delete a site", "--color", "always")
    assert b"\x1b[1;97;41m CRITICAL \x1b[0m" in forced.stdout
    assert b"\x1b]8" not in forced.stdout
    assert b"\x1b" not in process("search", "delete a site", "--format", "table", "--color", "never").stdout


def test_signs_become_ascii_where_the_encoding_has_no_others(process: Process) -> None:
    done = process("search", "delete a site", "--format", "table", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.stdout.isascii()
    assert b"\\u" not in done.stdout
    assert b"| Save the domain records first." in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals there")
def test_a_terminal_gets_a_table_in_colour(process: Process, environ: dict[str, str], commons: Path) -> None:
    assert process("compile").returncode == 0
    code = "import pty, sys; pty.spawn([sys.executable, '-m', 'deia.serve.main', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, "search", "delete a site"],
        check=True, capture_output=True, cwd=commons, env={**environ, "TERM": "xterm-kitty", "COLUMNS": "60"},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert b"\x1b[1;97;41m CRITICAL \x1b[0m" in done.stdout
    assert b"\x1b]8;;file://" in done.stdout


def test_a_budget_is_for_what_a_model_is_given(deia: Deia) -> None:
    told = deia("search", "delete a site", "--budget", "250")
    assert "> Save the domain records first." in told.out
    assert deia("search", "delete a site", "--budget", "250", "--format", "full").out == told.out
    refused = deia("search", "delete a site", "--budget", "250", "--format", "json")
    assert refused.code == 2
    assert "--format full" in refused.err
    assert deia("search", "x", "--budget", "5").code == 2
