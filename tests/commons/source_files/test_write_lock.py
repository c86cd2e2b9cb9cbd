"""Writers of a commons take turns across processes, a dead writer blocks nobody, and waiting has a limit."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia.commons.index.load_commons import load_commons
from deia.commons.source_files.write_lock import LOCK, hold_write_lock
from deia.commons.write.index_store import add_entry
from deia.commons.write.init import create_commons
from deia.knowledge import Entry
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

WRITERS = 6
ADD = """
import sys
from deia.commons.write.add_lesson import add_lesson
root, number = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
add_lesson(root, title=f"Lesson {number}", today="2026-11-20")
"""
SAME = ADD.replace('f"Lesson {number}"', '"The same lesson"')
HOLD = """
import sys, time
from deia.commons.source_files.write_lock import hold_write_lock
with hold_write_lock(sys.argv[1]):
    print("ready", flush=True)
    time.sleep(60)
"""


def started(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process and wait until it reports that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    return process


def at_once(root: Path, code: str) -> list[str]:
    """Let six processes write at the same moment and return the last line of what each had to complain about."""
    processes = [started(code, str(root), str(number)) for number in range(WRITERS)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n" or process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    complaints = [process.communicate()[1].decode().strip() for process in processes]
    return [complaint.rpartition("\n")[2] for complaint in complaints]


@pytest.mark.slow
def test_lessons_that_are_written_at_the_same_time_are_all_in_the_index(tmp_path: Path) -> None:
    create_commons(str(tmp_path), today="2026-11-20")
    assert at_once(tmp_path, ADD) == [""] * WRITERS
    listed = {entry.id for entry in load_commons(str(tmp_path)).index.entries}
    assert listed == {"read-before-you-overwrite", *(f"lesson-{number}" for number in range(WRITERS))}
    assert not (tmp_path / LOCK).exists()


@pytest.mark.slow
def test_of_writers_of_the_same_lesson_one_succeeds_and_its_files_stay(tmp_path: Path) -> None:
    create_commons(str(tmp_path), today="2026-11-20")
    assert [bool(complaint) for complaint in sorted(at_once(tmp_path, SAME))] == [False, *[True] * (WRITERS - 1)]
    assert "the-same-lesson" in {entry.id for entry in load_commons(str(tmp_path)).index.entries}
    assert (tmp_path / "bok" / "patterns" / "the-same-lesson.md").exists()


def test_who_waits_too_long_is_told_and_a_dead_writer_holds_nobody_up(tmp_path: Path) -> None:
    holder = started(HOLD, str(tmp_path))
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with (
            pytest.raises(CommonsError, match="Another process has been writing") as refused,
            hold_write_lock(str(tmp_path), wait=0.1),
        ):
            pass
        assert "Try again" in refused.value.fix
    finally:
        holder.kill()
        holder.communicate()
    began = time.monotonic()
    with hold_write_lock(str(tmp_path)):
        assert time.monotonic() - began < 5


def test_who_is_alone_may_call_others_that_want_to_be(tmp_path: Path) -> None:
    with hold_write_lock(str(tmp_path), wait=0):
        add_entry(str(tmp_path), Entry(id="a", path="bok/a.md", title="A"), "letters")
    assert (tmp_path / "commons_index.yaml").exists()


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommonsError, match="cannot be written"), hold_write_lock(str(tmp_path / "gone")):
        pass
