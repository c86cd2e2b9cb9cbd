"""Measure what the ledger costs and withstands: writers that are killed, reports meanwhile, and millions of events.

    python bench/ledger.py [--writers 8] [--events 5000] [--millions 10] [--folder FOLDER]

Writers append as the hook does, half of them are killed with -9 while writing, and reports run all the time. Then
millions of events are made, compacted, and shown in every report: seconds, bytes and memory, in total and per event.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from deia import files, spool
from deia.ledger.compaction import compact
from deia.ledger.reports import REPORTS, Known, make_reports
from deia.ledger.segments import find_parts
from deia.ledger.warehouse import ask, open_warehouse, read_through

WRITER = """
import sys, time
from deia import spool
for number in range(int(sys.argv[2])):
    began = time.perf_counter_ns()
    identity = spool.append(sys.argv[1], "query", {"query": f"how do I move site {number}", "docs": ["a"]})
    took = time.perf_counter_ns() - began
    sys.stdout.write(f"{identity} {took}\\n"); sys.stdout.flush()
"""
TEXT = "how do I move the Netlify site to another team without losing its domain records?"
FIRST_DAY = 1_767_225_600  # 2026-01-01
DAYS = 300  # over which the millions are spread
# One event in SQL, number i of n: questions, firings, openings and judgements as a busy team makes them.
EVENT = """SELECT json_object('ts', strftime(make_timestamp((({first} + i * 86400.0 * {days} / {n}) * 1e6)::BIGINT),
    '%Y-%m-%dT%H:%M:%S.000Z'), 'v', 1, 'event', CASE i % 10 WHEN 0 THEN 'read' WHEN 1 THEN 'feedback'
    WHEN 2 THEN 'injection' WHEN 3 THEN 'injection' WHEN 4 THEN 'injection' ELSE 'query' END, 'id', 'e' || i,
    'conversation', 'c' || (i // 40), 'agent', 'agent-' || (i % 7), 'query', CASE WHEN i % 10 > 4 THEN
    'how do I ' || ['move','delete','restore','rename','deploy'][1 + (i % 5)]
    || ' the ' || (hash(i) % 20000) || ' thing' END,
    'matched', i % 3 > 0, 'confidence', ['high','medium','low'][1 + (i % 3)], 'docs', ['doc-' || (hash(i) % 3000),
    'doc-' || (i % 900)], 'response_time_ms', 1 + (hash(i) % 4000) / 100, 'tier', 'static', 'trigger',
    CASE WHEN i % 10 IN (2, 3, 4) THEN 'trigger-' || (hash(i) % 400) END, 'outcome', CASE WHEN i % 10 IN (2, 3, 4) THEN
    ['shown','held','passed'][1 + (i % 3)] END, 'of', 'e' || (i + 1), 'verdict', ['useful','noise'][1 + (i % 2)],
    'doc', 'doc-' || (i % 900)) AS line FROM range({low}, {high}) t(i)"""


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--millions", type=float, default=10)
    parser.add_argument("--folder", default="")
    given = parser.parse_args()
    appending()
    with tempfile.TemporaryDirectory(dir=given.folder or None) as folder:
        killed(f"{folder}/killed", writers=given.writers, events=given.events)
        if given.millions:
            millions(Path(folder) / "many", int(given.millions * 1_000_000))


def appending() -> None:
    """Time one event as the hook writes it, in a warm process."""
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for _ in range(2000):
            began = time.perf_counter_ns()
            spool.append(folder, "query", {"query": TEXT, "docs": ["a", "b"], "because": TEXT})
            taken.append((time.perf_counter_ns() - began) / 1000)
    print(f"one event, redacted and written: p50 {statistics.median(taken):.0f} µs, p95 {sorted(taken)[1900]:.0f} µs")


def killed(folder: str, *, writers: int, events: int) -> None:
    """Kill half of the writers in the middle, report meanwhile, and count what was written."""
    command = [sys.executable, "-c", WRITER, folder, str(events)]
    outputs = [tempfile.TemporaryFile("w+") for _ in range(writers)]  # noqa: SIM115 - closed with the process
    running = [subprocess.Popen(command, stdout=output) for output in outputs]
    reports = []
    began = time.perf_counter()
    while sum(part.size for part in find_parts([folder]).readable) < 180 * events:
        time.sleep(0.005)  # about one event in eight is written
    for one in running[: writers // 2]:
        one.kill()
    while any(one.poll() is None for one in running):
        start = time.perf_counter()
        read_through([folder], lambda connection: make_reports(connection, Known(), ["queries", "summary"]))
        reports.append(time.perf_counter() - start)
    took = time.perf_counter() - began
    told = []
    for output in outputs:
        output.seek(0)
        told += [line.split() for line in output.read().split("\n")[:-1]]
    acknowledged = {line[0] for line in told}
    waits = sorted(int(line[1]) / 1000 for line in told)
    kept = {row[0] for row in read_through([folder], lambda connection: ask(connection, "SELECT id FROM events"))}
    torn = read_through([folder], lambda connection: ask(connection, "SELECT coalesce(sum(lines), 0) FROM damage"))[0][
        0
    ]
    print(
        f"{writers} writers of {events:,}, {writers // 2} killed with -9: {len(acknowledged):,} acknowledged,"
        f" {len(acknowledged - kept)} of them missing, {torn} torn, {took:.1f} s\n"
        f"  an event meanwhile: p50 {waits[len(waits) // 2]:.0f} µs, p99 {waits[len(waits) * 99 // 100]:.0f} µs,"
        f" most {waits[-1] / 1000:.1f} ms; {len(reports)} reports meanwhile, the longest {max(reports):.1f} s"
    )


def millions(folder: Path, number: int) -> None:
    """Make many events, and time each step from lines to reports."""
    folder.mkdir(parents=True)
    days = DAYS
    began = time.perf_counter()
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2; SET memory_limit = '1GB'")
        step = number // days
        for day in range(days):
            name = time.strftime("%Y-%m-%d", time.gmtime(FIRST_DAY + day * 86_400))
            asked = EVENT.format(first=FIRST_DAY, days=days, n=number, low=day * step, high=(day + 1) * step)
            ending = "(FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\\x01')"
            connection.execute(f"COPY ({asked}) TO '{folder}/{name}-{files.writer()}.jsonl' {ending}")
    print(f"{number:,} events made in {time.perf_counter() - began:.0f} s")
    command = [sys.executable, __file__, "--measure", str(folder)]
    for what in ("reports from lines", "compaction", "reports from Parquet", "reports of 30 days"):
        size = find_parts([str(folder)]).size
        done = subprocess.run([*command, what], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        print(
            f"{what}: {told['seconds']:.1f} s ({told['processor']:.1f} s of processor), "
            f"{told['seconds'] / number * 1e6:.2f} µs an event,"
            f" {told['memory'] / 1024:.0f} MiB at most; {size / number:.0f} bytes an event before"
        )
        for name, seconds in told["each"].items():
            print(f"  {name:12} {seconds:6.2f} s")


def measure(folder: str, what: str) -> None:
    """Run one step in a process of its own and print its cost as JSON."""
    began = time.perf_counter()
    each = {}
    if what == "compaction":
        compact(folder, now=FIRST_DAY + 400 * 86_400)
    else:
        since = time.strftime("%Y-%m-%d", time.gmtime(FIRST_DAY + (DAYS - 30) * 86_400)) if "30" in what else ""
        with open_warehouse([folder], since=since) as connection:
            each["opening"] = time.perf_counter() - began
            for name in REPORTS:
                start = time.perf_counter()
                make_reports(connection, Known(today="2026-11-20"), [name])
                each[name] = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {"seconds": time.perf_counter() - began, "processor": used.ru_utime + used.ru_stime, "each": each}
    print(json.dumps({**told, "memory": used.ru_maxrss}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(os.path.abspath(sys.argv[2]), sys.argv[3])
    else:
        main()
