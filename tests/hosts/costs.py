"""What deia adds to a call of a tool in a real host: the same calls with it and without it, one after the other."""

from __future__ import annotations

import os
import shutil
import statistics
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.hosts.machine import make_machine
from tests.hosts.play import play
from tests.hosts.scenarios import Scenario, Turn, shell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.hosts_table import Host
    from tests.hosts.play import Seen

CALLS = 20
EVENTS = 2  # of a call: before it and after it
COUNTED = Turn(prompt="Count.", steps=tuple(shell(f"echo {number}") for number in range(CALLS)))


def measure(host: Host, program: Path, folder: Path, *, node: Path, compiled: Path) -> dict[str, float]:
    """Return the median time of a call in ms, without deia and with it, and what it adds to one event."""
    medians = {}
    for name, installed in (("bare_ms", False), ("deia_ms", True)):
        place = folder / host.name / name
        shutil.rmtree(place, ignore_errors=True)
        machine = make_machine(place, node=node, compiled=compiled)
        times = call_times(play(Scenario(name=name, turns=(COUNTED,), installed=installed), host, machine, program))
        if len(times) < CALLS:
            return {}
        medians[name] = round(statistics.median(times), 1)
    added = round((medians["deia_ms"] - medians["bare_ms"]) / EVENTS, 1)
    return {
        **medians,
        "event_ms": added,
        "calls": CALLS,
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count() or 1,
    }


def call_times(seen: Seen) -> list[float]:
    """Return the time of every call in ms: from the model's answer to the host's next request."""
    return [(later.at - earlier.at) * 1000 for earlier, later in pairwise(seen.main) if earlier.act.tool is not None]
