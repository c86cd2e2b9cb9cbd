"""The command line as processes: exit codes, encodings, closed pipes, and what a search does not import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.serve.cli.commands_table import COMMANDS, SHOWN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process

# Each costs more than a whole search may (DESIGN §9).
HEAVY = {"click", "re", "json", "typing", "dataclasses", "pathlib", "argparse", "logging", "yaml", "rapidfuzz", "numpy"}


def test_a_search_says_by_its_exit_code_whether_it_found_anything(process: Process) -> None:
    found = process("search", "delete a site")
    assert found.returncode == 0
    assert b"Before a site is deleted" in found.stdout
    assert process("search", "zebra xylophone").returncode == 1
    refused = process("search", "site", "--platform", "shopctrl")
    assert refused.returncode == 2
    assert b"shopctl" in refused.stderr
    assert refused.stdout == b""


def test_the_package_itself_is_the_command_line(commons: Path, environ: dict[str, str]) -> None:
    command = [sys.executable, "-m", "deia", "search", "delete a site", "--format", "paths"]
    done = subprocess.run(command, cwd=commons, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "bok/site-checklist.md"), done.stderr


def test_a_search_imports_nothing_heavy(process: Process, commons: Path, environ: dict[str, str]) -> None:
    assert process("compile").returncode == 0
    code = (
        "import sys; from deia.serve.cli.quick_path import run; run(['search', 'a']);"
        "sys.stderr.write(','.join(sys.modules))"
    )
    started = [sys.executable, "-S", "-c", code]
    paths = os.pathsep.join(path for path in sys.path if path)
    environ = {**environ, "PYTHONPATH": paths}
    for tier, heavy in (("static", HEAVY), ("compact", HEAVY & {"click", "yaml", "rapidfuzz", "argparse"})):
        done = subprocess.run(
            started, capture_output=True, check=True, cwd=commons, env={**environ, "DEIA_TIER": tier}, timeout=60
        )
        assert not heavy & set(done.stderr.decode().split(",")), tier


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("table", "   bok/site-checklist.md:7-9"),
        ("summary", "- Before a site is deleted (bok/site-checklist.md"),
        ("full", "> Save the domain records first."),
        ("markdown", "1. [Before a site is deleted]"),
        ("json", '"matched":true'),
        ("yaml", "matched: true"),
        ("paths", "bok/site-checklist.md\n"),
        ("xml", '<primary_docs><doc path="bok/site-checklist.md"'),
        ("paths_only", "bok/site-checklist.md\n"),
        ("minimal", "bok/site-checklist.md\n"),
        ("full_context", "> Save the domain records first."),
    ],
)
def test_every_form_is_shown(deia: Deia, form: str, told: str) -> None:
    assert told in deia("search", "delete the site", "--format", form).out


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(["--platform", "shopctl"], "platform_filter"), (["--audience", "operators"], "audience_view")],
)
def test_a_platform_or_an_audience_alone_is_a_view(deia: Deia, arguments: list[str], kind: str) -> None:
    assert json.loads(deia("search", *arguments, "--format", "json").out)["query_type"] == kind


def test_keywords_are_a_search_of_their_own(deia: Deia) -> None:
    done = deia("search", "--keyword", "site", "--keyword=zebra", "--format", "json")
    assert json.loads(done.out)["query_type"] == "keyword_search"


def test_click_answers_a_search_just_the_same(deia: Deia, environ: dict[str, str], process: Process) -> None:
    assert environ
    quick = process("search", "delete", "a", "site", "--format", "paths")
    asked = process("search", "delete", "a", "--format", "paths", "--limit", "+5", "site")  # click alone reads +5
    assert (quick.returncode, quick.stdout) == (asked.returncode, asked.stdout)
    assert deia("search", "--help").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_encoding_of_the_terminal_can_be_written(process: Process, commons: Path, encoding: str) -> None:
    path = commons / "bok" / "site-checklist.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n日本 ✓ \x1b[31mred\n", encoding="utf-8")
    for arguments in (["search", "site", "--format", "full"], ["doctor"], ["check", "delete the site ✓"]):
        done = process(*arguments, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
        assert done.returncode in {0, 1}
        assert b"Traceback" not in done.stderr
        assert b"\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="no such pipes there")
@pytest.mark.parametrize("arguments", ["search site --format full", "config", "log -n 5"])
def test_a_reader_who_leaves_is_no_error(environ: dict[str, str], commons: Path, arguments: str) -> None:
    command = f"'{sys.executable}' -m deia.serve.main {arguments} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, check=False, cwd=commons, env=environ, timeout=60
    )
    assert done.returncode in {0, 141}
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="no such redirection there")
def test_closed_outputs_break_nothing(environ: dict[str, str], commons: Path) -> None:
    for closed in (">&-", "2>&-", "<&-"):
        command = f"'{sys.executable}' -m deia.serve.main search site {closed}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, cwd=commons, env=environ)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="folders in use stay there")
def test_a_working_folder_that_is_gone_is_told(environ: dict[str, str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd '{gone}' && rmdir '{gone}' && '{sys.executable}' -m deia.serve.main search site"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, cwd=gone, env=environ)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serch", "x"], "Did you mean: deia search"),
        (["how do I delete a site"], "type: deia search"),
        (["search", "--platfrom", "x"], "--platform"),
        (["lint", "--format", "xml"], "'github'"),
        (["--nope"], "--nope"),
        (["install"], "claude-code"),
        (["mute", "--fro", "2h"], "--for"),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(deia: Deia, arguments: list[str], told: str) -> None:
    refused = deia(*arguments)
    assert refused.code == 2
    assert told in refused.err
    assert refused.out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(deia: Deia, command: str) -> None:
    shown = deia(command, "--help")
    assert shown.code == 0
    assert f"Usage: deia {command}" in shown.out


def test_help_names_every_command_but_the_hidden_ones(deia: Deia) -> None:
    shown = deia("--help")
    assert [command for command in COMMANDS if f"\n  {command} " in shown.out] == list(SHOWN)
    assert deia("-h").out == shown.out
    assert deia().code == 0


def test_the_version_is_told(deia: Deia) -> None:
    assert deia("--version").out.startswith("deia ")


def test_a_shell_can_complete(process: Process) -> None:
    done = process(_DEIA_COMPLETE="bash_complete", COMP_WORDS="deia sea", COMP_CWORD="1")
    assert b"search" in done.stdout


@pytest.mark.slow
def test_an_index_that_cannot_be_read_is_told_without_a_traceback(process: Process, commons: Path) -> None:
    (commons / "commons_index.yaml").write_bytes(b"\xff\xfe{: [")
    for command in (["search", "x"], ["check", "x"], ["compile"], ["lint"], ["doctor"], ["trigger", "test"]):
        done = process(*command)
        assert done.returncode in {0, 1, 2}
        assert b"Traceback" not in done.stderr


@pytest.mark.slow
@given(st.lists(st.text(max_size=20) | st.sampled_from(["--tag", "--format=json", "--", "-", "--limit"]), max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_a_person_types_breaks_a_search(deia: Deia, arguments: list[str]) -> None:
    done = deia("search", *arguments)
    assert done.code in {0, 1, 2}
    assert done.out or done.err


@given(st.text(max_size=60))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_a_person_says_breaks_a_check(deia: Deia, text: str) -> None:
    assert deia("check", "--explain", "--", text).code in {0, 2}


def test_a_comment_that_zsh_passes_on_is_no_argument(process: Process) -> None:
    bare = process("install", "--list")
    assert bare.returncode == 0
    assert process("install", "--list", "#", "which", "agent", "hosts").stdout == bare.stdout
    assert process("search", "site", "#", "--nonsense").stdout == process("search", "site").stdout
