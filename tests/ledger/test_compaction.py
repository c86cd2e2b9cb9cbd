"""Compaction: closed days become Parquet files, old events are removed, and a crash loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from deia import files
from deia.ledger.compaction import compact, is_due
from deia.ledger.segments import COMPACTING, find_parts
from deia.ledger.warehouse import ask, read_through
from tests.ledger.conftest import NOW, question

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.conftest import Write


def asked(folder: Path) -> list[str]:
    return sorted(row[0] for row in read_through([str(folder)], lambda c: ask(c, "SELECT query FROM events")))


def fill(write: Write, *days: str) -> Path:
    for day in days:
        folder = write(question(f"of {day}", "a", extra="kept as written"), day=day, writer=files.writer())
    return folder


def test_closed_days_become_one_parquet_file_and_open_ones_stay(write: Write) -> None:
    folder = fill(write, "2026-11-16", "2026-11-17", "2026-11-19", "2026-11-20")
    before = asked(folder)
    done = compact(str(folder), now=NOW)
    assert (done.folded, done.removed, done.busy) == (2, 0, False)
    assert sorted(path.suffix for path in folder.iterdir()) == [".jsonl", ".jsonl", ".parquet"]
    assert asked(folder) == before
    lines = read_through([str(folder)], lambda c: ask(c, "SELECT line FROM events"))
    assert all("kept as written" in row[0] for row in lines)


def test_months_that_are_over_become_one_file(write: Write) -> None:
    folder = fill(write, "2026-10-03")
    compact(str(folder), now=NOW)
    fill(write, "2026-10-20")
    compact(str(folder), now=NOW)
    assert [path.name.partition("~")[0] for path in folder.iterdir()] == [f"2026-10-01_all-{files.writer()}"]
    assert asked(folder) == ["of 2026-10-03", "of 2026-10-20"]
    assert compact(str(folder), now=NOW).folded == 0


def test_an_event_that_comes_late_to_a_folded_day_still_counts(write: Write) -> None:
    folder = fill(write, "2026-11-16")
    compact(str(folder), now=NOW)
    write(question("late"), day="2026-11-16", writer=files.writer())
    assert asked(folder) == ["late", "of 2026-11-16"]
    compact(str(folder), now=NOW)
    assert asked(folder) == ["late", "of 2026-11-16"]


def test_other_machines_segments_are_left_to_them(write: Write) -> None:
    folder = write(question("theirs"), day="2026-10-01", writer="elsewhere")
    assert compact(str(folder), now=NOW).folded == 0
    assert asked(folder) == ["theirs"]


def test_what_is_too_old_goes_to_the_day(write: Write) -> None:
    folder = fill(write, "2026-08-01", "2026-10-01", "2026-10-02", "2026-10-25", "2026-11-20")
    compact(str(folder), now=NOW)
    done = compact(str(folder), now=NOW, days=49)  # the last day that counts is 2 October
    assert done.removed == 2
    assert asked(folder) == ["of 2026-10-02", "of 2026-10-25", "of 2026-11-20"]


def test_a_ledger_that_is_too_large_loses_its_oldest_and_never_today(write: Write) -> None:
    for number, day in enumerate(("2026-08-01", "2026-09-01", "2026-11-20")):
        folder = write(*(question(os.urandom(900).hex(), "a") for _ in range(700)), day=day, writer=files.writer())
        assert number < 3
    compact(str(folder), now=NOW, megabytes=1)
    left = find_parts([str(folder)])
    assert [part.day for part in left.readable] == ["2026-11-20"]


def test_it_is_due_when_there_is_something_to_do(write: Write) -> None:
    folder = fill(write, *(f"2026-11-{day:02d}" for day in range(1, 8)))
    assert not is_due(str(folder), now=NOW)
    assert is_due(str(folder), now=NOW + 400 * 86_400, days=300)
    fill(write, "2026-11-08")
    assert is_due(str(folder), now=NOW)
    compact(str(folder), now=NOW)
    assert not is_due(str(folder), now=NOW)
    assert not is_due(str(folder / "nowhere"), now=NOW)


def test_of_two_that_compact_at_once_one_does(write: Write) -> None:
    folder = fill(write, "2026-11-01")
    with FileLock(folder / "compacting.lock"):
        assert compact(str(folder), now=time.time()).busy
    assert compact(str(folder), now=time.time()).folded == 1
    assert not (folder / "compacting.lock").exists()


@pytest.mark.parametrize("written", [False, True])
def test_what_a_crash_left_counts_once_and_is_finished(write: Write, *, written: bool) -> None:
    folder = fill(write, "2026-11-01", "2026-11-02")
    before = asked(folder)
    aside = folder / f"{COMPACTING}2026-11-01_02-{files.writer()}~1"
    if written:
        copies = {path.name: path.read_bytes() for path in folder.iterdir()}
        compact(str(folder), now=NOW)
        aside.mkdir()
        for name, content in copies.items():
            (aside / name).write_bytes(content)
    else:
        aside.mkdir()
        for path in list(folder.glob("*.jsonl")):
            path.rename(aside / path.name)
        (folder / "2026-11-01_02-x~1.parquet.new").write_bytes(b"half")
    assert asked(folder) == before
    compact(str(folder), now=NOW)
    assert asked(folder) == before
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]


COMPACT = """
import sys
from deia.ledger.compaction import compact
sys.stdout.write("ready"); sys.stdout.flush()
compact(sys.argv[1], now=float(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_compaction_killed_at_any_moment_loses_and_doubles_nothing(write: Write) -> None:
    folder = fill(write, *(f"2026-11-{day:02d}" for day in range(1, 16)))
    before = asked(folder)
    for number in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", COMPACT, str(folder), str(NOW)], stdout=subprocess.PIPE
        ) as running:
            assert running.stdout is not None
            running.stdout.read(5)
            time.sleep(0.06 * number)
            running.send_signal(signal.SIGKILL)
        assert asked(folder) == before
    compact(str(folder), now=NOW)
    assert asked(folder) == before
    assert {path.suffix for path in folder.iterdir()} == {".parquet"}, "one, or two if a kill came between two files"
