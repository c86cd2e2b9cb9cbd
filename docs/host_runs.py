"""What runs in real hosts showed, as `python3 do.py hosts --all --write` keeps it in docs/hosts/runs, for the pages.

Where a run has shown nothing, the contract in the host's module counts, and is called that. Every ✗ has its sentence in
docs/hosts/why_not.toml.
"""
# ruff: noqa: INP001 - beside the documents, not a package

from __future__ import annotations

import fnmatch
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

RUNS = Path(__file__).resolve().parent / "hosts" / "runs"
WHY_NOT = RUNS.with_name("why_not.toml")
IN_TIME, LATE, NEVER, YES, NO = "in time", "late", "never", "yes", "no"  # the words of the verdicts
BY_CONTRACT, NOT_SEEN = "by contract only", "not seen"
NOT_TRIED = "no run has tried it yet"
OWN = "generic"  # a bot of one's own, whose contract is deia's
COSTS = ("a call without deia", "with deia", "added by each of its two events", "what the machine's cores had to do")
CELLS = {  # which result of which scenario shows a cell of the table of moments
    "prompt: context": ("prompt", "context"),
    "prompt: note": ("prompt", "note"),
    "before tool: context": ("warn", "context"),
    "before tool: hold": ("hold", "hold"),
    "before tool: ask": ("ask", "ask"),
    "before tool: note": ("hold", "note"),
    "after tool: context": ("result", "context"),
    "tool error: context": ("error", "context"),
    "tool error: note": ("failure", "note"),
    "stop: context": ("stop", "context"),
    "session: context": ("session", "context"),
    "session: note": ("session", "note"),
}
BEHAVIOURS = {  # what else is tried: the result, and the words for it
    "the repeat passes": ("hold", "repeat"),
    "held after a prompt about it": ("announced", "hold"),
    "quiet about what is only mentioned": ("quiet", "silent"),
    "a subagent's call is held": ("subagent", "hold"),
    "a plan": ("plan", "context"),
    "held again after a compaction": ("compaction", "hold"),
    "mute": ("mute", "silent"),
    "MCP: listed": ("mcp", "listed"),
    "MCP: called": ("mcp", "called"),
    "project scope": ("project", "hold"),
    "untrusted folder": ("untrusted", "hold"),
    "uninstall": ("uninstall", "silent"),
}


@cache
def runs_of(host: str) -> dict[str, Any]:
    """Return what is kept of a host's runs; empty if there were none."""
    path = RUNS / f"{host}.json"
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return known


def result(host: str, scenario: str, name: str) -> str:
    """Return a result of a scenario, or the empty text if no run showed it."""
    return str(runs_of(host).get("scenarios", {}).get(scenario, {}).get(name, ""))


def seen_cell(host: str, key: str, contract: str) -> str:
    """Return a cell of the table of moments: what a run showed, else what the contract says."""
    shown = result(host, *CELLS[key]) if key in CELLS else ""
    version = runs_of(host).get("version", "")
    if shown in {IN_TIME, YES, "put"}:
        return f"✓ seen in {version}"
    if shown == LATE:
        return f"✓ late, seen in {version}"
    if key == "before tool: ask" and shown == "held":
        return f"✗ a hold instead, seen in {version}"
    if shown in {NEVER, NO}:
        return f"✗ seen in {version}"
    return contract if contract.startswith("✗") or host == OWN else f"{contract}, {BY_CONTRACT}"


def behaviour_cell(host: str, name: str) -> str:
    """Return a cell of the table of everything else."""
    scenario, field = BEHAVIOURS[name]
    if not runs_of(host):
        return ""
    shown = result(host, scenario, field)
    return NOT_SEEN if not shown else "✓" if shown in {IN_TIME, YES} else "✓ late" if shown == LATE else "✗"


def why_not(host: str, key: str) -> str:
    """Return why something does not work in a host, or the empty text where nobody has said so."""
    table = reasons().get(host, {})
    return next((str(text) for pattern, text in table.items() if fnmatch.fnmatchcase(key, pattern)), "")


@cache
def reasons() -> dict[str, dict[str, str]]:
    """Return every sentence that is kept, by host and by cell."""
    with WHY_NOT.open("rb") as file:
        return tomllib.load(file)


def unseen(host: str, name: str) -> str:
    """Return why a run could not show something, as the run says."""
    scenario, _ = BEHAVIOURS.get(name) or CELLS.get(name) or ("", "")
    verdict = runs_of(host).get("scenarios", {}).get(scenario)
    return NOT_TRIED if verdict is None else str(verdict.get(NOT_SEEN, ""))


def costs(host: str) -> list[str]:
    """Return what a call of a tool takes without deia and with it, and the difference; empty if nobody measured."""
    cost = runs_of(host).get("cost") or {}
    if not cost:
        return []
    bare, with_deia = cost["bare_ms"], cost["deia_ms"]
    return [
        f"{bare:.0f} ms",
        f"{with_deia:.0f} ms",
        f"{cost['event_ms']:.0f} ms",
        f"{cost['load']:.0f} processes, {cost['cores']} cores",
    ]
