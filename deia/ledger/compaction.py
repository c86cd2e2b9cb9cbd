"""Keeping a ledger small: closed days become Parquet, days become months, and what is too old or too much goes.

Works while hooks write: only days before yesterday are touched, which nobody appends to any more. A crash at any moment
loses and doubles nothing (`parts` says how), and of two that compact at once one does. Refuses to touch the segments of
other machines, whose own deia compacts them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence

from deia import files
from deia.errors import CommonsError
from deia.ledger.segments import COMPACTING, PARQUET, SEGMENT, Part, find_parts
from deia.ledger.warehouse import MEMORY, quoted, typed
from deia.ledger.warehouse_schema import COLUMNS, SCHEMA
from deia.records import Record

LOCK = "compacting.lock"
STALE = 3600  # seconds after which a lock is taken for that of somebody killed
DUE_PARTS = 8  # closed segments from which `deia compile` compacts without being asked
DAY = 86_400


class Compacted(Record):
    """What a compaction came to."""

    folded: int = 0  # files that became others
    removed: int = 0  # files that were too old or too much
    before: int = 0  # bytes
    after: int = 0
    busy: bool = False  # somebody else was at it


def is_due(folder: str, *, now: float, days: int = 0, megabytes: int = 0) -> bool:
    """Say whether a ledger is worth compacting; costs a look at the folder and no more."""
    parts = find_parts([folder])
    if not parts.counting:
        return False
    oldest = min((part.day for part in parts.counting if part.day), default="9")
    too_old = bool(days) and oldest < _day(now - (days + 31) * DAY)
    too_much = bool(megabytes) and parts.size > megabytes * 1_000_000
    return too_old or too_much or len(_closed(parts.segments, now)) >= DUE_PARTS


def compact(folder: str, *, now: float, days: int = 0, megabytes: int = 0) -> Compacted:
    """Fold what is closed into Parquet and remove what is older than `days` or more than `megabytes`; 0 is no bound.

    Raises:
        OSError: the folder cannot be written.
        CommonsError: a file cannot be read or written; what was there is there still.
    """
    before = find_parts([folder]).size
    if not os.path.isdir(folder):
        return Compacted()
    if not _take_lock(f"{folder}/{LOCK}", now):
        return Compacted(busy=True, before=before, after=before)
    try:
        _finish_what_was_begun(folder)
        folded = _fold_days(folder, now) + _fold_months(folder, now)
        removed = _remove_old(folder, now, days) + _remove_most(folder, now, megabytes)
    finally:
        os.unlink(f"{folder}/{LOCK}")
    return Compacted(folded=folded, removed=removed, before=before, after=find_parts([folder]).size)


def _take_lock(path: str, now: float) -> bool:
    for _ in range(2):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            stamp = files.stamp(path)
            if stamp is None or now - stamp[1] / 1e9 < STALE:
                return False
            os.unlink(path)
        else:
            return True
    return False


def _finish_what_was_begun(folder: str) -> None:
    """Do what a killed compaction left: remove what its Parquet holds already, fold the rest."""
    for name in os.listdir(folder):
        if name.endswith(f"{PARQUET}.new"):
            os.unlink(f"{folder}/{name}")
    for name in os.listdir(folder):
        if name.startswith(COMPACTING) and os.path.isdir(f"{folder}/{name}"):
            _write(folder, name.removeprefix(COMPACTING))


def _closed(segments: Sequence[Part], now: float) -> list[Part]:
    """Give the segments of this machine that nobody appends to any more."""
    last = _day(now - DAY)
    return [part for part in segments if part.day and part.day < last and _is_ours(part.name)]


def _is_ours(name: str) -> bool:
    writer = name[11:].rpartition(".")[0]
    return writer == files.writer() or writer.startswith("import-") or (os.name == "nt" and writer.isdecimal())


def _fold_days(folder: str, now: float) -> int:
    """Make one Parquet file of the closed days of each month."""
    closed = _closed([part for part in find_parts([folder]).segments if _directly(part, folder)], now)
    for month in sorted({part.day[:7] for part in closed}):
        chosen = [part for part in closed if part.day.startswith(month)]
        _fold(folder, chosen, f"{chosen[0].day}_{chosen[-1].day[8:]}-{files.writer()}")
    return len(closed)


def _fold_months(folder: str, now: float) -> int:
    """Make one Parquet file of those of a month that is over."""
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
    """Move files out of the way and put one Parquet file in their place."""
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
    """Write the Parquet file of what was moved out of the way, and then remove that."""
    aside, target = f"{folder}/{COMPACTING}{stem}", f"{folder}/{stem}{PARQUET}"
    parts = find_parts([aside]).counting
    if parts and not os.path.exists(target):
        segments = [part.path for part in parts if part.name.endswith(SEGMENT)]
        packed = [part.path for part in parts if part.packed]
        columns = ", ".join(f'"{name}"' for name in COLUMNS)
        asked = [typed(segments)] if segments else []
        asked += [f"SELECT {columns} FROM read_parquet([{', '.join(map(quoted, packed))}])"] if packed else []
        _copy(" UNION ALL ".join(asked), target)
    shutil.rmtree(aside)


def _copy(sql: str, target: str) -> None:
    """Write what a question gives to a Parquet file, in the order of time, whole or not at all."""
    ending = f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{deia_schema: '{SCHEMA}'}})"
    _run(f"COPY (SELECT * FROM ({sql}) ORDER BY ts) TO {quoted(target + '.new')} {ending}")
    with open(f"{target}.new", "rb+") as file:
        os.fsync(file.fileno())
    os.replace(f"{target}.new", target)


def _run(sql: str) -> list[tuple[int, ...]]:
    """Run a statement; what does not fit into memory is sorted on disk."""
    import duckdb  # noqa: PLC0415 - 100 ms, and only where something is to do

    with tempfile.TemporaryDirectory(prefix="deia-compacting-") as scratch, duckdb.connect(":memory:") as connection:
        try:
            connection.execute(f"SET memory_limit = {quoted(MEMORY)}")
            connection.execute(f"SET temp_directory = {quoted(scratch)}")
            return connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise CommonsError(
                f"the ledger cannot be compacted: {error}", fix="Nothing was lost; try again."
            ) from error


def _remove_old(folder: str, now: float, days: int) -> int:
    """Remove events older than some days: whole files, and from a file that holds younger ones the older."""
    if not days:
        return 0
    removed = 0
    for part in find_parts([folder]).counting:
        if not part.packed:
            if part.day and part.day < _day(now - days * DAY):
                os.unlink(part.path)
                removed += 1
        elif part.day < _day(now - days * DAY):
            removed += _trim(part, now - days * DAY)
    return removed


def _trim(part: Part, oldest: float) -> int:
    until = quoted(time.strftime("%Y-%m-%d", time.gmtime(oldest)))
    counted = f"SELECT count(*) FILTER (ts < {until}), count(*) FROM read_parquet({quoted(part.path)})"
    old, every = _run(counted)[0]
    if old == every:
        os.unlink(part.path)
    elif old:
        _copy(f"SELECT * FROM read_parquet({quoted(part.path)}) WHERE ts >= {until} OR ts IS NULL", part.path)
    return int(old > 0)


def _remove_most(folder: str, now: float, megabytes: int) -> int:
    """Remove the oldest files until the ledger is within its size; today's and yesterday's stay."""
    parts = sorted(find_parts([folder]).counting, key=lambda part: part.name)
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
