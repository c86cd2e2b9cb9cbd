"""Measure what reading commands costs: parsing a line, and judging the whole call, in µs per command.

    python bench/commands.py FOLDER [--most 2000]

FOLDER holds `commands/command_cases.jsonl` (command) and `conversations/conversations.jsonl` (role, tool, text), as for
`bench/accuracy.py`. Judging is the gate and, if it opens, everything behind it, with the starter's triggers; a call
that the gate stops is never parsed. Each text is measured three times and its best time counts, to reduce the influence
of a busy machine. The slowest text is identified by its length.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deia import folders
from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.clauses.confirm import confirm
from deia.watch.gate.word_gate import candidates
from deia.watch.shell.parse import parse_commands
from deia.watch.turn.parsed_turn import Reading
from deia.watch.turn.tool_call import command_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.watch.gate.artefact import Artefact

REPEATS = 3
SHELLS = frozenset(("bash", "exec_command", "shell", "powershell"))


def given(folder: Path, most: int) -> dict[str, list[str]]:
    """Return the command lines of each set, without duplicates, evenly sampled if there are too many."""
    cases = folder / "commands" / "command_cases.jsonl"
    said = folder / "conversations" / "conversations.jsonl"
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    turns = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    calls = [row for row in turns if row["role"] == "tool_call" and str(row.get("tool", "")).lower() in SHELLS]
    sets = {
        "commands of other guards": [row["command"] for row in rows],
        "shell calls of conversations": [_command(row["text"]) for row in calls],
    }
    return {name: _picked(sorted(set(lines)), most) for name, lines in sets.items()}


def _command(text: str) -> str:
    try:
        fields = json.loads(text)
    except ValueError:
        return text
    return command_of(
        Turn(role="tool_call", text=text, tool="Bash", tool_input=fields if isinstance(fields, dict) else {})
    )


def _picked(lines: list[str], most: int) -> list[str]:
    return lines[:: max(1, len(lines) // most)]


def best(call: Callable[[str], object], line: str) -> float:
    """Return the best time of a call with a line, in µs."""
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter_ns()
        call(line)
        taken.append((time.perf_counter_ns() - began) / 1000)
    return min(taken)


def judge(artefact: Artefact, line: str) -> bool:
    """Gate a call and confirm what the gate lets through; return whether it had to be read."""
    turn = Turn(role="tool_call", text=line, tool="Bash", tool_input={"command": line})
    numbers, _ = candidates(artefact, turn)
    reading = Reading(turn)
    for number in numbers:
        trigger = artefact.trigger(number)
        for clause in trigger.clauses:
            list(confirm(clause, reading))
    return bool(numbers)


def table(sets: dict[str, list[str]], artefact: Artefact) -> list[str]:
    """Return the rows of the table."""
    rows = ["| what | texts | µs p50 | p95 | longest | at characters |", "|---|---|---|---|---|---|"]
    for name, lines in sets.items():
        rows.append(_row(f"{name}: parsed", lines, parse_commands))
        rows.append(_row(f"{name}: judged", lines, partial(judge, artefact)))
        read = sum(judge(artefact, line) for line in lines)
        rows.append(f"| {name}: let through by the gate | {read:,} ({read / max(len(lines), 1):.1%}) | | | | |")
    return rows


def _row(name: str, lines: Sequence[str], call: Callable[[str], object]) -> str:
    taken = [best(call, line) for line in lines]
    cuts = statistics.quantiles(taken, n=20)
    slowest = max(range(len(taken)), key=taken.__getitem__)
    where = len(lines[slowest])
    return f"| {name} | {len(taken):,} | {cuts[9]:.0f} | {cuts[18]:.0f} | {taken[slowest]:,.0f} | {where:,} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=2_000, help="texts of each set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ.update(DEIA_STATE=f"{state}/state", DEIA_CACHE=f"{state}/cache", DEIA_TRUST="*")
        artefact = Librarian(folders.STARTER, ledger=False).open_artefact()
        print("\n".join(table(given(options.folder, options.most), artefact)))


if __name__ == "__main__":
    main()
