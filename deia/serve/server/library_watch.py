"""Watches the sources of the library while a server runs, in a process of its own, so that no answer waits for it.

A change in a folder shows in the stamps of the files and folders that were there at the last look; reading a stamp
takes 2 µs. Other sources are taken in as often as they say. Of several servers, one watches.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from datetime import datetime

from filelock import FileLock

from deia import files
from deia.compile.take_in import is_up_to_date, registered_sources
from deia.durations import read_duration
from deia.folders import library_folder
from deia.ingest.library_store import DATABASE
from deia.ingest.source import FOLDER
from deia.ingest.source_kinds.from_folder import FolderFiles
from deia.records import TYPE_CHECKING
from deia.serve.server.library_process import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.ingest.library_store import Registered
    from deia.serve.server.desk import Desk

LOOK = 2.0  # seconds between two looks
IDLE_SHARE, BUSY_SHARE = 100, 4  # looking takes a hundredth of a processor's time at most, taking in a quarter
PATIENCE = 60.0  # seconds until a watch that broke down is started again
NICENESS = 5


async def keep_library_fresh(desk: Desk) -> None:
    """Have the library of a desk watched until cancelled, as soon as there is one."""
    while True:
        root = desk.root
        if desk.collections or not files.exists(f"{library_folder(root, os.environ)}/{DATABASE}"):
            await asyncio.sleep(LOOK)
            continue
        nobody = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", __name__, root, stdin=asyncio.subprocess.PIPE, stdout=nobody, stderr=nobody,
        )  # fmt: skip
        ended = asyncio.ensure_future(process.wait())
        try:
            while desk.root == root and not (await asyncio.wait([ended], timeout=LOOK))[0]:
                continue
            await asyncio.sleep(PATIENCE if ended.done() else 0)
        finally:
            if not ended.done():
                process.kill()
            await asyncio.shield(ended)


class Watch:
    """The sources of a commons' library, and when to take which of them in."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._database = f"{library_folder(root, os.environ)}/{DATABASE}"
        self._registry: tuple[object, list[Registered]] = None, []
        self._seen: dict[str, tuple[list[str], int]] = {}  # where to look, and the stamps there, for each folder

    def due(self) -> list[str]:
        """Return the names of the sources that are to be taken in."""
        return [registered.source.name for registered in self.sources() if self._is_due(registered)]

    def sources(self) -> list[Registered]:
        """Return the sources of the registry, which is read again only if it changed."""
        stamps = files.stamp(self._database), files.stamp(f"{self._database}-wal")
        if self._registry[0] != stamps:
            self._registry = stamps, registered_sources(self._root, os.environ)
        return self._registry[1]

    def _is_due(self, registered: Registered) -> bool:
        source = registered.source
        if source.kind != FOLDER:
            return bool(source.track) and _age(registered.checked) >= read_duration(source.track)
        key = repr(source.values())
        places, stamps = self._seen.get(key, ([], 0))
        if places and _stamps(places) == stamps:
            return False
        places = FolderFiles(source).places()
        stamps = _stamps(places)
        is_steady = places == FolderFiles(source).places()  # else what came meanwhile would not be looked at
        self._seen[key] = places, stamps if is_steady else 0
        return True


def _stamps(places: Sequence[str]) -> int:
    return hash(tuple(map(files.stamp, places)))


def _age(moment: str) -> float:
    """Return how many seconds ago something was; very many if it never was."""
    return time.time() - datetime.fromisoformat(moment).timestamp() if moment else float("inf")


def main() -> None:
    """Watch the library of the commons that the argument names until the server is gone."""
    root = sys.argv[1]
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if sys.platform != "win32":
        os.nice(NICENESS)
    with FileLock(f"{library_folder(root, os.environ)}/watch", poll_interval=LOOK):
        watch = Watch(root)
        while True:
            began = time.monotonic()
            due = watch.due()
            wait = max(LOOK, IDLE_SHARE * (time.monotonic() - began))
            if due or (watch.sources() and not is_up_to_date(root, os.environ)):
                subprocess.run(  # noqa: S603 - this interpreter, and a module of deia
                    command(root, due), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    check=False,
                )  # fmt: skip
                wait = max(LOOK, BUSY_SHARE * (time.monotonic() - began))
            time.sleep(wait)


def _end_with_the_server() -> None:
    """End this process when standard input does; what it has started ends by itself."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
