"""Keep a ledger small: fold closed days into Parquet files, days into months, and remove what exceeds the limits.

This works while hooks write, because it only touches days before yesterday, which nobody appends to any more. A crash
at any moment neither loses nor duplicates an event (`segments` explains how). If two processes compact at once, one of
them does nothing. Segments of other machines are left to their own deia.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence

from deia import files
from deia.ledger.segments import COMPACTING, PARQUET, SEGMENT, Part, find_parts, nameable
from deia.ledger.warehouse import MEMORY, events_sql, quoted
from deia.ledger.warehouse_schema import COLUMNS, SCHEMA
from deia.problems import CommonsError
from deia.records import Record

LOCK = "compacting.lock"
DUE_PARTS = 8  # closed segments from which `deia compile` compacts by itself
DAY = 86_400


class Compacted(Record):
    """What a compaction did."""

    folded: int = 0  # files that were merged into others
    removed: int = 0  # files that exceeded a limit
    before: int = 0  # bytes
    after: int = 0
    busy: bool = False  # whether another process was compacting


def is_due(folder: str, *, now: float, days: int = 0, megabytes: int = 0) -> bool:
    """Return whether a ledger is worth compacting, judging only by the names and sizes of its files."""
    refuse_link(folder)
    parts = find_parts([folder])
    if not parts.readable:
        return False
    oldest = min((part.day for part in parts.readable if part.day), default="9")
    too_old = bool(days) and oldest < _day(now - (days + 31) * DAY)
    too_much = bool(megabytes) and parts.size > megabytes * 1_000_000
    return too_old or too_much or len(_closed(parts.segments, now)) >= DUE_PARTS


def compact(folder: str, *, now: float, days: int = 0, megabytes: int = 0) -> Compacted:
    """Fold closed days into Parquet, and remove events older than `days` or beyond `megabytes`; 0 means no limit."""
    refuse_link(folder)
    if not os.path.isdir(folder):
        return Compacted()
    with tempfile.TemporaryDirectory(prefix="deia-compacting-") as scratch:
        return _compact(nameable(folder, scratch), now=now, days=days, megabytes=megabytes)


def _compact(folder: str, *, now: float, days: int, megabytes: int) -> Compacted:
    from filelock import FileLock, Timeout  # noqa: PLC0415 - costs 35 ms, and there is often nothing to do

    before = find_parts([folder]).size
    try:
        with FileLock(f"{folder}/{LOCK}", timeout=0):
            _finish_interrupted(folder)
            folded = _fold_days(folder, now) + _fold_months(folder, now)
            removed = _remove_old(folder, now, days) + _remove_most(folder, now, megabytes)
            with contextlib.suppress(OSError):  # Windows does not remove an open file
                os.unlink(f"{folder}/{LOCK}")
    except Timeout:
        return Compacted(busy=True, before=before, after=before)
    return Compacted(folded=folded, removed=removed, before=before, after=find_parts([folder]).size)


def refuse_link(folder: str) -> None:
    """Raise a CommonsError if a ledger's folder, or the one that it is in, is a link: it may be somebody else's."""
    for path in (folder, os.path.dirname(folder.rstrip("/"))):
        if os.path.islink(path):
            fix = "Nothing was changed there. Put a folder in its place."
            raise CommonsError(f"{path} is a link, so the log behind it is left alone.", fix=fix)


def _finish_interrupted(folder: str) -> None:
    """Finish what a killed compaction left: remove files that its Parquet file already contains, fold the others."""
    for name in os.listdir(folder):
        if name.endswith(f"{PARQUET}.new"):
            os.unlink(f"{folder}/{name}")
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if name.startswith(COMPACTING) and os.path.isdir(path) and not os.path.islink(path):
            _write(folder, name.removeprefix(COMPACTING))


def _closed(segments: Sequence[Part], now: float) -> list[Part]:
    """Return the segments of this machine that nobody appends to any more."""
    last = _day(now - DAY)
    return [part for part in segments if part.day and part.day < last and _is_ours(part.name)]


def _is_ours(name: str) -> bool:
    writer = name[11:].rpartition(".")[0]
    return writer == files.writer() or (os.name == "nt" and writer.isdecimal())


def _fold_days(folder: str, now: float) -> int:
    """Fold the closed days of each month into one Parquet file."""
    closed = _closed([part for part in find_parts([folder]).segments if _directly(part, folder)], now)
    for month in sorted({part.day[:7] for part in closed}):
        chosen = [part for part in closed if part.day.startswith(month)]
        _fold(folder, chosen, f"{chosen[0].day}_{chosen[-1].day[8:]}-{files.writer()}")
    return len(closed)


def _fold_months(folder: str, now: float) -> int:
    """Fold the Parquet files of each past month into one."""
    packed = [part for part in find_parts([folder]).parquet if _directly(part, folder) and _is_packed_here(part)]
    folded = 0
    for month in sorted({part.day[:7] for part in packed if part.day[:7] < _day(now - DAY)[:7]}):
        chosen = [part for part in packed if part.day.startswith(month)]
        if len(chosen) > 1:
            _fold(folder, chosen, f"{month}-01_all-{files.writer()}")
            folded += len(chosen)
    return folded


def _is_packed_here(part: Part) -> bool:
    return part.name.partition("_")[2].partition("-")[2].rpartition("~")[0] == files.writer()


def _directly(part: Part, folder: str) -> bool:
    return part.path == f"{folder}/{part.name}"


def _fold(folder: str, parts: Sequence[Part], stem: str) -> None:
    """Move files into a folder of their own, and write one Parquet file in their place."""
    number = 1
    while os.path.lexists(f"{folder}/{stem}~{number}{PARQUET}") or os.path.lexists(
        f"{folder}/{COMPACTING}{stem}~{number}"
    ):
        number += 1
    aside = f"{folder}/{COMPACTING}{stem}~{number}"
    os.mkdir(aside, 0o700)
    for part in parts:
        os.rename(part.path, f"{aside}/{part.name}")
    _write(folder, f"{stem}~{number}")


def _write(folder: str, stem: str) -> None:
    """Write the Parquet file of the files that were moved aside, and then remove those."""
    aside, target = f"{folder}/{COMPACTING}{stem}", f"{folder}/{stem}{PARQUET}"
    parts = find_parts([aside]).readable
    if parts and not os.path.exists(target):
        segments = [part.path for part in parts if part.name.endswith(SEGMENT)]
        packed = [part.path for part in parts if part.is_parquet]
        columns = ", ".join(f'"{name}"' for name in COLUMNS)
        selects = [events_sql(segments)] if segments else []
        selects += [f"SELECT {columns} FROM read_parquet([{', '.join(map(quoted, packed))}])"] if packed else []
        _copy(" UNION ALL ".join(selects), target)
    shutil.rmtree(aside)


def _copy(sql: str, target: str) -> None:
    """Write the rows of a SELECT to a Parquet file, sorted by time, completely or not at all."""
    ending = f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{deia_schema: '{SCHEMA}'}})"
    _run(f"COPY (SELECT * FROM ({sql}) ORDER BY ts) TO {quoted(target + '.new')} {ending}")
    with open(f"{target}.new", "rb+") as file:
        os.fsync(file.fileno())
    os.replace(f"{target}.new", target)


def _run(sql: str) -> list[tuple[int, ...]]:
    """Run a statement; sorting that does not fit into memory is done on disk."""
    import duckdb  # noqa: PLC0415 - takes 100 ms, and there is often nothing to do

    with tempfile.TemporaryDirectory(prefix="deia-compacting-") as scratch, duckdb.connect(":memory:") as connection:
        try:
            connection.execute(f"SET memory_limit = {quoted(MEMORY)}")
            connection.execute(f"SET temp_directory = {quoted(scratch)}")
            return connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise CommonsError(f"the log cannot be compacted: {error}", fix="No event was lost. Try again.") from error


def _remove_old(folder: str, now: float, days: int) -> int:
    """Remove events older than some days: whole files, or the older rows of a Parquet file; return how many files."""
    if not days:
        return 0
    removed = 0
    for part in find_parts([folder]).readable:
        if not part.is_parquet:
            if part.day and part.day < _day(now - days * DAY):
                os.unlink(part.path)
                removed += 1
        elif part.day < _day(now - days * DAY):
            oldest = now - days * DAY
            until = quoted(time.strftime("%Y-%m-%d", time.gmtime(oldest)))
            count = f"SELECT count(*) FILTER (ts < {until}), count(*) FROM read_parquet({quoted(part.path)})"
            old, total = _run(count)[0]
            if old == total:
                os.unlink(part.path)
            elif old:
                _copy(f"SELECT * FROM read_parquet({quoted(part.path)}) WHERE ts >= {until} OR ts IS NULL", part.path)
            removed += int(old > 0)
    return removed


def _remove_most(folder: str, now: float, megabytes: int) -> int:
    """Remove the oldest files until the ledger is within its size limit; the files of today and yesterday stay."""
    parts = sorted(find_parts([folder]).readable, key=lambda part: part.name)
    size, removed = sum(part.size for part in parts), 0
    for part in parts:
        if not megabytes or size <= megabytes * 1_000_000 or not part.day or part.day >= _day(now - DAY):
            break
        os.unlink(part.path)
        size -= part.size
        removed += 1
    return removed


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(max(seconds, 0)))
