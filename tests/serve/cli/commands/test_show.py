"""`deia show` and `deia show --edit`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.find_document import read_lines, split_lines
from deia.serve.cli.commands.show import editor_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process

PATH = "bok/site-checklist.md"


def test_a_document_is_shown_with_what_the_index_says_of_it(deia: Deia) -> None:
    shown = deia("show", "site-checklist")
    assert shown.code == 0
    assert shown.out.startswith(f"Before a site is deleted\nsite-checklist  {PATH}\n")
    assert "urgency: critical\nplatforms: shopctl\n" in shown.out
    assert shown.out.endswith("# Before a site is deleted\n\nSave the domain records first.\n")


@pytest.mark.parametrize("name", ["site-checklist", PATH, f"./{PATH}", f"{PATH}:7-9", f"{PATH}:9"])
def test_a_document_is_found_by_its_id_and_its_path_as_it_is_written_anywhere(deia: Deia, name: str) -> None:
    assert "Save the domain records first." in deia("show", name).out


def test_a_document_is_found_by_its_path_from_the_working_folder(
    deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(commons / "bok")
    assert deia("show", "site-checklist.md").code == 0
    assert deia("show", str(commons / PATH)).code == 0


def test_only_some_lines_are_shown(deia: Deia) -> None:
    assert deia("show", "site-checklist", "--lines", "9").out.endswith("\n\nSave the domain records first.\n")
    whole = deia("show", "site-checklist", "--lines", "7-", "--json")
    assert json.loads(whole.out)["text"] == "# Before a site is deleted\n\nSave the domain records first."
    assert "# Before" not in deia("show", f"{PATH}:8-9").out


def test_lines_that_are_none_or_not_there_are_refused(deia: Deia) -> None:
    for lines in ("x", "0", "9-3", "-2", ""):
        assert deia("show", "site-checklist", f"--lines={lines}").code == 2
    refused = deia("show", "site-checklist", "--lines", "500")
    assert refused.code == 2
    assert "is in lines 6-9" in refused.err or "is in lines 7-9" in refused.err


def test_a_near_miss_suggests_ids(deia: Deia) -> None:
    refused = deia("show", "site-cheklist")
    assert refused.code == 2
    assert "Did you mean site-checklist?" in refused.err
    assert "deia search" in refused.err
    assert deia("show", "--edit", "../../etc/passwd").code == 2


def test_reading_a_document_is_an_event(deia: Deia) -> None:
    deia("show", "site-checklist")
    assert "site-checklist, cli" in deia("log", "--event", "read").out


def test_the_path_is_printed_where_no_editor_can_be_opened(deia: Deia, commons: Path) -> None:
    shown = deia("show", "--edit", f"{PATH}:7")
    assert shown.code == 0
    assert os.path.samefile(shown.out.strip(), commons / PATH)
    (commons / PATH).unlink()


def test_nothing_of_a_document_steers_the_terminal(deia: Deia, commons: Path) -> None:
    (commons / PATH).write_text("---\ntitle: x\n---\n\x1b[31mred\x07\n", encoding="utf-8")
    shown = deia("show", "site-checklist")
    assert "\x1b" not in shown.out
    assert "red" in shown.out


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of its own")
def test_the_editor_is_started_at_a_terminal(
    process: Process, environ: dict[str, str], commons: Path, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    editor = tmp_path / "my editor"
    editor.write_text(f"#!/bin/sh\necho \"$@\" > '{note}'\n")
    editor.chmod(0o755)
    code = (
        "import os, pty, sys\n"
        "sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.executable, '-m', 'deia.serve.main', *sys.argv[1:]])))"
    )
    assert process("compile").returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", code, "open", PATH],
        check=False,
        cwd=commons,
        env={**environ, "VISUAL": f"'{editor}' --wait"},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0
    assert note.read_text().strip() == f"--wait {commons / PATH}"


@pytest.mark.parametrize(
    ("editor", "line", "command"),
    [
        ("vim", 7, ["vim", "+7", "/f"]),
        ("vim", 0, ["vim", "/f"]),
        ("code --wait", 7, ["code", "--wait", "--goto", "/f:7"]),
        ("/usr/bin/subl -n", 7, ["/usr/bin/subl", "-n", "/f:7"]),
        ("unheard-of", 7, ["unheard-of", "/f"]),
        ("'my editor'", 7, ["my editor", "/f"]),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="quotation marks are others there")
def test_an_editor_is_told_the_line_in_its_own_way(editor: str, line: int, command: list[str]) -> None:
    assert editor_command(editor, "/f", line) == command


@pytest.mark.parametrize(
    ("text", "lines"), [("12", (12, 12)), ("12-30", (12, 30)), ("12-", (12, 10**9)), ("٣", None), ("1-2-3", None)]
)
def test_lines_are_read(text: str, lines: tuple[int, int] | None) -> None:
    assert read_lines(text) == lines


@given(st.text(max_size=40))
@settings(max_examples=100)
def test_any_name_is_split_without_loss(name: str) -> None:
    path, lines = split_lines(name)
    assert name.startswith(path)
    assert lines is not None or path == name
