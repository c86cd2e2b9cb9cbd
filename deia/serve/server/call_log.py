"""A line for every call that a server answered: when, who, what, how it went, how long it took.

Names of arguments and never their values. Kept in the person's own folder for a fortnight.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from deia import fast_json, files, spool

FOLDER = "audit"
DAYS = 14
MOST_NAME = 200  # characters of a name that a client made up


class Audit:
    """Where one server writes its lines; `transport` is how it was reached."""

    def __init__(self, state: str, *, transport: str) -> None:
        self.folder = f"{state}/{FOLDER}"
        self.transport = transport
        self._sweep()

    def note(
        self, what: str, name: str, *, outcome: str, began: float, given: Iterable[str] = (), client: str = ""
    ) -> None:
        """Write a line about a call; `began` is a reading of `time.perf_counter`."""
        now = time.time()
        line: Mapping[str, object] = {
            "ts": spool.timestamp(now), "transport": self.transport, "client": client[:MOST_NAME], "what": what,
            "name": name[:MOST_NAME], "given": sorted(str(one)[:40] for one in given)[:20], "outcome": outcome,
            "ms": round((time.perf_counter() - began) * 1000, 2), "process": files.process(),
        }  # fmt: skip
        path = f"{self.folder}/{spool.timestamp(now)[:10]}-{files.writer()}.jsonl"
        files.append(path, f"\n{fast_json.dumps(line)}\n".encode())

    def _sweep(self) -> None:
        oldest = spool.timestamp(time.time() - DAYS * 86_400)[:10]
        try:
            names = os.listdir(self.folder)
        except OSError:
            return
        for name in names:
            if name.endswith(".jsonl") and name[:10] < oldest:
                try:
                    os.unlink(f"{self.folder}/{name}")
                except OSError:
                    continue
