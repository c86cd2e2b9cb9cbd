"""One line for each call that a server answered: when, who, what, with which outcome, and how long it took.

Only the names of arguments are logged, never their values. The files are in the person's own folder and are deleted
after 14 days.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from deia import fast_json, files, spool

FOLDER = "audit"
DAYS = 14
MOST_NAME = 200  # characters of a name, which a client chooses
MOST_ARGUMENTS = 20
MOST_ARGUMENT_NAME = 40  # characters


class CallLog:
    """The log of one server; `transport` is how clients reach it."""

    def __init__(self, state: str, *, transport: str) -> None:
        self.folder = f"{state}/{FOLDER}"
        self.transport = transport
        self._delete_old()

    def write(
        self, kind: str, name: str, *, outcome: str, began: float, arguments: Iterable[str] = (), client: str = ""
    ) -> None:
        """Write a line about a call; `began` is a reading of `time.perf_counter`."""
        now = time.time()
        line = {
            "ts": spool.timestamp(now), "transport": self.transport, "client": client[:MOST_NAME], "what": kind,
            "name": name[:MOST_NAME],
            "given": sorted(str(argument)[:MOST_ARGUMENT_NAME] for argument in arguments)[:MOST_ARGUMENTS],
            "outcome": outcome, "ms": round((time.perf_counter() - began) * 1000, 2), "process": files.process(),
        }  # fmt: skip
        path = f"{self.folder}/{spool.timestamp(now)[:10]}-{files.writer()}.jsonl"
        files.append(path, f"\n{fast_json.dumps(line)}\n".encode())

    def _delete_old(self) -> None:
        oldest = spool.timestamp(time.time() - DAYS * 86_400)[:10]
        for name in files.names(self.folder):
            if name.endswith(".jsonl") and name[:10] < oldest:
                files.remove(f"{self.folder}/{name}")
