"""Time commands and calls against each other, interleaved in one run, so that a busy machine affects all alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
FLOOR = (PYTHON, "-I", "-S", "-c", "pass")
BARE = (sys.executable, "-c", "pass")


def time_commands(
    commands: Mapping[str, Sequence[str]], *, rounds: int, inputs: Callable[[str, int], bytes] | None = None
) -> dict[str, list[float]]:
    """Run every command once per round and return wall times in ms; `inputs` gives standard input by name and round."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            given = inputs(name, number) if inputs else b""
            began = time.perf_counter()
            subprocess.run(command, input=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            taken[name].append((time.perf_counter() - began) * 1000)
    return taken


def time_calls(call: Callable[[int], object], *, rounds: int) -> list[float]:
    """Call a function so many times and return each call's time in µs."""
    taken = []
    for number in range(rounds):
        began = time.perf_counter_ns()
        call(number)
        taken.append((time.perf_counter_ns() - began) / 1000)
    return taken


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def report(taken: Mapping[str, Sequence[float]], *, against: str, unit: str = "ms", budgets: Mapping[str, str]) -> None:
    """Print median, p95 and the ratio of both to the median of one of them."""
    base = statistics.median(taken[against])
    print(f"{'':34} {'p50':>9} {'p95':>9}  {'p50 ×':>7} {'p95 ×':>7}  against {against} ({base:.2f} {unit})")
    for name, values in taken.items():
        middle, high = statistics.median(values), percentile(values, 0.95)
        budget = f"  budget {budgets[name]}" if name in budgets else ""
        print(f"{name:34} {middle:6.2f} {unit} {high:6.2f} {unit}  {middle / base:7.2f} {high / base:7.2f}{budget}")
