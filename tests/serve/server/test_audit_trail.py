"""The audit log: whatever is changed, removed or moved in it shows."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.serve.server.audit_trail import AuditTrail, read_trail

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys
from deia.serve.server.audit_trail import AuditTrail
trail = AuditTrail(sys.argv[1])
for number in range(50):
    assert trail.append({"number": number})
"""


def written(folder: Path, count: int = 6) -> Path:
    """Write some lines; give the file of the day."""
    trail = AuditTrail(str(folder))
    assert all(trail.append({"user": "anna", "number": number}) for number in range(count))
    return next(folder.glob("*.jsonl"))


def problems(folder: Path) -> list[str]:
    """Give what is wrong with the log in a folder."""
    return [damage.problem for damage in read_trail(str(folder)).damages]


def test_an_untouched_log_is_whole(tmp_path: Path) -> None:
    written(tmp_path)
    checked = read_trail(str(tmp_path))
    assert checked.damages == ()
    assert [line["number"] for line in checked.lines] == [0, 1, 2, 3, 4, 5]
    assert checked.head.seq == 6


def test_a_changed_line_shows_also_if_its_own_hash_was_made_anew(tmp_path: Path) -> None:
    from deia.serve.server.audit_trail import hash_of  # noqa: PLC0415 - what a forger would use

    path = written(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[2]["user"] = "bert"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert problems(tmp_path) == ["line 3 was changed"]
    lines[2]["hash"] = hash_of(lines[2])
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert problems(tmp_path) == ["line 4 does not follow the line before it"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ([0, 1, 3, 4, 5], "line 3 is missing"),
        ([0, 1, 2], "lines 4 to 6 are missing"),
        ([2, 3, 4, 5], "lines 1 to 2 are missing"),
        ([], "lines 1 to 6 are missing"),
        ([0, 2, 1, 3, 4, 5], "line 2 is missing"),
    ],
)
def test_a_removed_or_moved_line_shows(tmp_path: Path, kept: list[int], said: str) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[number] for number in kept))
    assert said in problems(tmp_path)


def test_a_removed_end_still_shows_after_more_was_written(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    AuditTrail(str(tmp_path)).append({"number": 6})
    assert problems(tmp_path) == ["lines 5 to 6 are missing"]


def test_a_line_that_a_killed_server_did_not_finish_hides_no_other(tmp_path: Path) -> None:
    path = written(tmp_path)
    with path.open("a") as file:
        file.write('{"user": "an')
    AuditTrail(str(tmp_path)).append({"number": 6})
    checked = read_trail(str(tmp_path))
    assert [damage.problem for damage in checked.damages] == ["this is no line of the log"]
    assert checked.head.seq == 7


def test_old_days_are_deleted_and_the_rest_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.rename(tmp_path / "2020-01-01.jsonl")
    AuditTrail(str(tmp_path)).append({"number": 6})
    assert problems(tmp_path) == []
    AuditTrail(str(tmp_path), days=30).append({"number": 7})
    checked = read_trail(str(tmp_path))
    assert checked.damages == ()
    assert [line["seq"] for line in checked.lines] == [7, 8]


def test_several_servers_write_one_chain(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen(command) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    checked = read_trail(str(tmp_path))
    assert checked.damages == ()
    assert len(checked.lines) == 150


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_content_of_the_files_raises(tmp_path: Path, content: bytes) -> None:
    for name in ("2026-01-01.jsonl", "head.json"):
        (tmp_path / name).write_bytes(content)
    read_trail(str(tmp_path))
    AuditTrail(str(tmp_path)).append({"number": 1})
