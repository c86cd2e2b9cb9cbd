"""A ledger may be anybody's: what it contains, and where its folder leads, harms neither the person nor their log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deia import files, spool
from deia.folders import events_folder
from deia.learn.signals import read_evidence
from deia.ledger.compaction import compact, is_due
from deia.ledger.tail import is_plausible, read_ledger, tidy
from deia.ledger.warehouse import ask, read_through
from deia.problems import CommonsError
from tests.ledger.conftest import DAY, NOW, firing, question, raw

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.conftest import Write

OLD = "2020-01-{:02d}"
COUNT = "SELECT count(*) FROM events"
links = pytest.mark.skipif(sys.platform == "win32", reason="needs links")
IMPOSSIBLE = (
    '"99999-01-01T00:00:00Z"', '"10000-01-01"', '"9999-12-31T23:59:59Z"', '"0000-00-00"', "1e999", "1e300", "-5",
    '"290309-12-22"',
)  # fmt: skip


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def somebodys(write: Write, tmp_path: Path) -> Path:
    """Return another ledger, whose days are all long past."""
    folder = tmp_path / "somebodys"
    for day in range(1, 12):
        write(question("pods", "a"), day=OLD.format(day), folder=folder)
        write(question("pods", "a"), day=OLD.format(day), folder=folder, writer=files.writer())
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "clone"
    root.mkdir()
    (root / "deia.toml").write_text("telemetry_days = 1\n", encoding="utf-8")
    return root


@links
@pytest.mark.parametrize("link", ["telemetry", "telemetry/events"])
def test_compile_leaves_the_ledger_behind_a_link_alone(root: Path, somebodys: Path, link: str) -> None:
    target = somebodys
    if link == "telemetry":
        target = somebodys.parent / "outer"
        target.mkdir()
        somebodys = somebodys.rename(target / "events")
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(target)
    before = listing(somebodys)
    environ = {"DEIA_STATE": str(root.parent / "state"), "DEIA_CACHE": str(root.parent / "cache")}
    environ["DEIA_TRUST"] = "*"
    assert tidy(str(root), environ=environ, now=NOW) == ""
    for work in (compact, is_due):
        with pytest.raises(CommonsError, match="is a link"):
            work(f"{root}/telemetry/events", now=NOW, days=1)
    assert listing(somebodys) == before
    folder = events_folder(str(root), environ)
    assert folder.startswith(environ["DEIA_STATE"])
    assert spool.append(folder, "query", {"query": "x"})
    assert listing(somebodys) == before


@links
def test_links_inside_a_ledger_are_neither_read_nor_emptied(write: Write, somebodys: Path) -> None:
    folder = write(question("mine", "a"), day=OLD.format(1), writer=files.writer())
    (folder / "compacting-x~1").symlink_to(somebodys)
    (folder / "2020-01-02-linked.jsonl").symlink_to(next(somebodys.iterdir()))
    before = listing(somebodys)
    compact(str(folder), now=NOW, days=1, megabytes=1)
    assert listing(somebodys) == before


def test_a_real_folder_is_still_compacted(root: Path, write: Write) -> None:
    for day in range(1, 12):
        write(question("pods"), day=OLD.format(day), folder=root / "telemetry/events", writer=files.writer())
    assert "compacted" in tidy(str(root), environ={"DEIA_STATE": str(root.parent), "DEIA_TRUST": "*"}, now=NOW)
    assert not list((root / "telemetry/events").glob("2020-*.jsonl"))


def test_git_ignores_the_ledger_before_its_first_line_is_written(root: Path) -> None:
    folder = f"{root}/telemetry/events"
    assert spool.append(folder, "query", {"query": "x"})
    assert (root / "telemetry/.gitignore").read_text("utf-8") == "events/\n.gitignore\n"
    assert spool.append(folder, "query", {"query": "x"})
    assert (root / "telemetry/.gitignore").read_text("utf-8").count("events/") == 1


def test_the_lines_of_an_ignore_file_that_is_there_stay(root: Path) -> None:
    (root / "telemetry").mkdir()
    (root / "telemetry/.gitignore").write_text("*.tmp", encoding="utf-8")
    assert spool.append(f"{root}/telemetry/events", "query", {"query": "x"})
    assert (root / "telemetry/.gitignore").read_text("utf-8").splitlines()[:2] == ["*.tmp", "events/"]


@links
def test_no_line_is_written_that_git_would_not_ignore(root: Path) -> None:
    (root / "telemetry").mkdir()
    (root / "telemetry/.gitignore").symlink_to(root.parent / "elsewhere")
    assert spool.append(f"{root}/telemetry/events", "query", {"query": "x"}) == ""
    assert not (root.parent / "elsewhere").exists()
    assert not os.path.exists(root / "telemetry/events")


@pytest.mark.parametrize("ts", IMPOSSIBLE)
def test_a_line_of_an_impossible_time_counts_as_broken(tmp_path: Path, ts: str) -> None:
    folder = tmp_path / "events"
    sound = json.dumps({"ts": "2026-11-20T10:00:00.000Z", "event": "query", "query": "x"})
    raw(folder, "2026-11-20-a.jsonl", f'{sound}\n{{"ts": {ts}, "event": "query", "query": "y"}}\n'.encode())
    counts = "SELECT (SELECT count(*) FROM events), (SELECT sum(lines)::INT FROM damage)"
    assert read_through([str(folder)], lambda connection: ask(connection, counts)) == [(1, 1)]
    assert read_through([str(folder)], read_evidence).days == 1
    ledger = read_ledger(str(folder))
    assert (len(ledger.events), ledger.broken) == (1, 1)


@pytest.mark.parametrize("ts", ["NaN", "Infinity", '"infinity"', '"NaN"', "[]", "{}", "true", "9" * 5000])
def test_a_strange_time_stops_no_report(tmp_path: Path, ts: str) -> None:
    folder = tmp_path / "events"
    raw(folder, "2026-11-20-a.jsonl", f'{{"ts": {ts}, "event": "query", "query": "y"}}\n'.encode())
    read_through([str(folder)], read_evidence)
    assert len(read_ledger(str(folder)).events) <= 1


@pytest.mark.parametrize(
    "ts", ["2026-11-20T10:00:00.000Z", "1970-01-01", "2199-12-31", None, 1, 1.7e9, "yesterday", ""]
)
def test_possible_times_and_none_are_sound(ts: Any) -> None:
    assert is_plausible(ts)


def test_one_forged_line_does_not_stretch_the_days_of_the_evidence(write: Write) -> None:
    folder = write(question("pods", "a"), question("pods", "b"))
    write(question("pods", "a"), day="1999-01-01", writer="forged")
    assert read_through([str(folder)], read_evidence).days == 2


def test_the_newest_events_of_many_are_read_in_order(write: Write) -> None:
    folder = write(*(question(f"q{number}", "a") for number in range(50)))
    whole = read_ledger(str(folder)).events
    assert read_ledger(str(folder), last=7).events == whole[-7:]


JUNK = {
    "empty": "{}", "lists": "[" * 4000 + "]" * 4000, "objects": '{"a": ' * 600 + "1" + "}" * 600,
    "one line": "x" * 32_000_000,
}  # fmt: skip
MOST_LINES = 300_000
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "deia.serve.main", *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does")
@pytest.mark.slow
@pytest.mark.parametrize("name", JUNK)
def test_a_large_ledger_of_junk_takes_no_more_than_half_a_gigabyte(tmp_path: Path, name: str) -> None:
    (tmp_path / "commons_index.yaml").write_text("version: '1.0'\nclusters: {}\n", encoding="utf-8")
    folder = tmp_path / "telemetry/events"
    folder.mkdir(parents=True)
    text = f"{JUNK[name]}\n" * (min(16_000_000 // (len(JUNK[name]) + 1), MOST_LINES) or 1)
    (folder / "2026-11-20-a.jsonl").write_text(text, encoding="utf-8")
    environ = {**os.environ, "DEIA_STATE": f"{tmp_path}/state", "DEIA_CACHE": f"{tmp_path}/cache"}
    for command in ("stats", "log"):
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, command], cwd=tmp_path, env=environ, capture_output=True, check=False
        )
        assert int(done.stdout.split()[-1]) < 512_000, command
        assert b"Traceback" not in done.stderr


def test_absurd_numbers_stop_no_report(write: Write) -> None:
    folder = write(
        question("pods", "a", response_time_ms=1e308), question("pods", "a", response_time_ms=1e308),
        firing("t", chars=10**18), firing("t", chars=10**30),
    )  # fmt: skip
    totals = "SELECT sum(response_time_ms), (SELECT sum(chars) FROM events) FROM events"
    assert read_through([str(folder)], lambda connection: ask(connection, totals)) == [(None, None)]


# --- one process that poses as many people ---


def posing(number: int) -> list[dict[str, Any]]:
    """Return what a process writes that poses as a new person with every sign."""
    name = {"conversation": f"c{number}", "agent": f"a{number}", "host": f"h{number}"}
    return [
        question("How do pods die?", "a", "b", id=f"q{number}", **name),
        {"event": "read", "doc": "b", "via": "cli", **name},
        {"event": "read", "doc": "z", "via": "cli", **name},
        {"event": "feedback", "of": f"q{number}", "verdict": "wrong", "doc": "a", **name},
        question("other words", **name),
        question("kubernetes pods", "b", **name),
        firing("t", "held", id=f"f{number}", **name),
        {"event": "feedback", "of": f"f{number}", "verdict": "noise", **name},
        firing("u", "muted", **name),
    ]


def strengths(folder: Path) -> tuple[Any, ...]:
    """Return everything in the evidence that counts people."""
    found = read_through([str(folder)], read_evidence)
    return (
        {(pair.question, pair.document): (dict(pair.signals), pair.people) for pair in found.pairs},
        {firing.trigger: dict(firing.signals) for firing in found.firings},
        {item.text: item.people for item in found.questions},
        {(item.first, item.then): item.people for item in found.rephrased},
        [item.people for item in found.together],
        {item.document: item.passed_over for item in found.shown},
    )


def test_one_process_that_poses_as_thirty_conversations_counts_as_one(write: Write, tmp_path: Path) -> None:
    once = strengths(write(*posing(0), folder=tmp_path / "one"))
    often = strengths(write(*(event for number in range(30) for event in posing(number)), folder=tmp_path / "thirty"))
    assert often == once


def test_a_process_of_windows_that_starts_anew_for_each_sign_counts_as_one(write: Write, tmp_path: Path) -> None:
    once = strengths(write(*posing(0), folder=tmp_path / "one"))
    for number in range(30):
        write(*posing(number), folder=tmp_path / "thirty", writer=str(1000 + number))
    assert strengths(tmp_path / "thirty") == once


def test_people_at_several_machines_and_on_several_days_still_count_each(write: Write, tmp_path: Path) -> None:
    for number in range(3):
        write(*posing(number), folder=tmp_path / "team", writer=f"machine-{number}")
        write(*posing(10 + number), folder=tmp_path / "week", day=f"2026-11-{10 + number}")
    for name in ("team", "week"):
        pairs, firings, questions, rephrased, together, passed_over = strengths(tmp_path / name)
        assert pairs["how do pods die?", "b"] == ({"opened": 3}, 3)
        assert firings["t"]["noise"] == 3
        assert firings["u"]["muted"] == 3
        assert questions["how do pods die?"] == 3
        assert set(rephrased.values()) == {3}
        assert together == [3]
        assert passed_over["a"] == 3


def test_who_repeats_a_sign_on_many_days_in_one_conversation_counts_once(write: Write, tmp_path: Path) -> None:
    for day in range(3):
        write(*posing(0)[:2], folder=tmp_path / "one", day=f"2026-11-{10 + day}")
    assert strengths(tmp_path / "one")[0]["how do pods die?", "b"] == ({"opened": 1}, 1)


def test_voices_outlast_compaction(write: Write, tmp_path: Path) -> None:
    for number in range(30):
        write(*posing(number), folder=tmp_path / "thirty", writer=files.writer(), day="2026-11-10")
    before = strengths(tmp_path / "thirty")
    assert compact(str(tmp_path / "thirty"), now=NOW + 30 * DAY).folded == 1
    assert strengths(tmp_path / "thirty") == before


@links
@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\xed\xa0\x80", b"*", b"a[b]c", b"what?"])
def test_a_ledger_is_read_and_compacted_whatever_its_folder_is_called(
    write: Write, tmp_path: Path, name: bytes
) -> None:
    write(question("other"), folder=tmp_path / "other")
    folder = tmp_path / os.fsdecode(name)
    for day in range(1, 12):
        write(question("pods"), day=OLD.format(day), folder=folder, writer=files.writer())
    assert read_through([str(folder)], lambda connection: ask(connection, COUNT)) == [(11,)]
    assert compact(str(folder), now=NOW).folded == 11
    assert list(folder.glob("*.parquet"))
    assert read_through([str(folder)], lambda connection: ask(connection, COUNT)) == [(11,)]
    assert len(read_ledger(str(folder)).events) == 11


@links
@pytest.mark.parametrize("name", [b"\xff\xfe.jsonl", b"*.jsonl", b"2026-11-2?-here.jsonl", b"\xff.parquet"])
def test_a_file_whose_name_stands_for_others_is_damaged_and_stops_no_report(write: Write, name: bytes) -> None:
    folder = write(question("pods"), question("pods"))
    raw(folder, os.fsdecode(name), b'{"event": "query", "query": "forged"}\n')
    assert read_through([str(folder)], lambda connection: ask(connection, COUNT)) == [(2,)]
    compact(str(folder), now=NOW, days=1, megabytes=1)
    assert (folder / os.fsdecode(name)).exists()
