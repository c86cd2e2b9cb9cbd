"""A check that watches the files runs again when they change, and ends when it is interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from deia.serve.cli.commands import watch_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there a process is interrupted in another way")


@contextmanager
def started(commons: Path, environ: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run deia as a process whose output is read while it runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "deia.serve.main", *arguments, "--watch"], cwd=commons, env=environ, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def one_run(process: subprocess.Popen[str]) -> str:
    """Return what is printed up to the line that says that it waits."""
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if "Waiting for changes" in line:
            return "".join(lines)
    raise AssertionError(f"it ended: {''.join(lines)}")


def replace(path: Path, text: str) -> None:
    """Write a file at once, as most editors do."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Interrupt a process as Ctrl-C does; return its exit code and its last words."""
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, rest.strip()


@pytest.mark.slow
def test_cases_run_again_when_a_file_changes_and_an_interrupt_ends_it(commons: Path, environ: dict[str, str]) -> None:
    cases = commons / "triggers" / "sites.cases.yaml"
    with started(commons, environ, "trigger", "test") as process:
        assert "3 triggers, 4 cases, 0 failed." in one_run(process)
        replace(cases, cases.read_text(encoding="utf-8") + "    - I will delete the shop site\n")
        again = one_run(process)
        assert "site-delete should not fire, but fires" in again
        assert "5 cases, 1 failed." in again
        assert interrupted(process) == (0, "")


@pytest.mark.slow
def test_an_edited_trigger_counts_in_the_next_run(commons: Path, environ: dict[str, str]) -> None:
    triggers = commons / "triggers" / "sites.yaml"
    text = triggers.read_text(encoding="utf-8")
    with started(commons, environ, "trigger", "test") as process:
        one_run(process)
        replace(triggers, text.replace("{delete|remove} … site", "{abolish} … site"))
        assert "site-delete should fire, but does not" in one_run(process)
        replace(triggers, text)
        assert "0 failed." in one_run(process)


@pytest.mark.slow
def test_lint_goes_on_past_files_and_settings_that_are_broken(commons: Path, environ: dict[str, str]) -> None:
    with started(commons, environ, "lint") as process:
        assert "0 errors" in one_run(process)
        replace(commons / "triggers" / "new.yaml", "- id: a,b\n")
        assert "triggers/new.yaml:1" in one_run(process)
        (commons / "triggers" / "new.yaml").unlink()
        assert "0 errors" in one_run(process)
        replace(commons / "deia.toml", "budget_tokens = 'many'\n")
        assert "deia.toml" in one_run(process)
        (commons / "deia.toml").unlink()
        assert "0 errors" in one_run(process)


def test_a_file_that_is_emptied_before_it_is_written_is_one_change(
    commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = commons / "deia.toml"
    before = watch_option.stamped_sources(str(commons), {})
    steps = iter(["", "answer_", "answer_tokens = 900\n"])

    def edit(_seconds: float) -> None:
        if (step := next(steps, None)) is not None:
            settings.write_text(step, encoding="utf-8")

    monkeypatch.setattr("time.sleep", edit)
    changed = watch_option.changed_sources(str(commons), before, [])
    assert changed != before
    assert changed == watch_option.stamped_sources(str(commons), {})
    assert settings.read_text(encoding="utf-8") == "answer_tokens = 900\n"


def test_a_file_that_never_rests_is_no_reason_to_wait_for_ever(commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = watch_option.stamped_sources(str(commons), {})
    edits: list[float] = []

    def edit(seconds: float) -> None:
        edits.append(seconds)
        (commons / "deia.toml").write_text("#" * len(edits), encoding="utf-8")

    monkeypatch.setattr("time.sleep", edit)
    assert watch_option.changed_sources(str(commons), before, []) != before
    assert sum(edits) < 3


@pytest.mark.slow
def test_what_lint_mends_is_not_a_change_forever(commons: Path, environ: dict[str, str]) -> None:
    (commons / "bok" / "new.md").write_text("# New\n\nText.\n", encoding="utf-8")
    with started(commons, environ, "lint", "--fix") as process:
        one_run(process)
        one_run(process)  # the index that it has written
        replace(commons / "bok" / "newer.md", "# Newer\n\nText.\n")
        assert "bok/newer.md" in one_run(process)
