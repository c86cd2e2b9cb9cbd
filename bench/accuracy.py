"""How often the starter commons speaks when it should, and when it should not: measured on labelled sets.

    python bench/accuracy.py FOLDER [--write docs/ACCURACY.md] [--missed]

FOLDER holds `commands/command_cases.jsonl` (command, expect, tier), `conversations/positives.jsonl`,
`hard_negatives.jsonl` (role, tool, text, topic) and `conversations.jsonl` (also conversation_id, turn). `--missed`
lists what was missed and what fired in vain; `--fired` what fired on real turns, for reading and labelling.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deia import settings
from deia.commons.commons import load_commons
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def fired(librarian: Librarian, turns: Iterable[Row], name: str) -> list[str]:
    """Give the triggers that fire on a fresh conversation of these turns."""
    conversation = [_message(turn) for turn in turns]
    return [firing.trigger for firing in librarian.check_triggers(conversation, conversation_id=name, folder="/")]


def _message(turn: Row) -> Row:
    role, text = turn["role"], turn["text"]
    tool = turn.get("tool") or ("Bash" if role == "tool_call" else "")
    if role != "tool_call":
        return {"role": role, "text": text, "tool": tool}
    return {"role": role, "text": text, "tool": tool, "tool_input": {"command": text}}


def commands(librarian: Librarian, path: Path) -> tuple[str, list[str]]:
    """Score commands that other guards' tests say must be caught, or left alone."""
    scored = [row for row in rows(path) if row["tier"] == "engine"]
    wrong, counts = [], Counter[str]()
    for number, row in enumerate(scored):
        turn = {"role": "tool_call", "tool": "Bash", "text": row["command"]}
        caught = bool(fired(librarian, [turn], f"command {number}"))
        counts[f"{row['expect']} {caught}"] += 1
        if caught != (row["expect"] == "block"):
            wrong.append(f"{row['expect']}: {row['command']}")
    return (
        f"| commands that other guards catch | {_share(counts, 'block True', 'block False')} caught |\n"
        f"| commands that they leave alone | {_share(counts, 'allow False', 'allow True')} left alone |"
    ), wrong


def turns(librarian: Librarian, path: Path, *, wanted: bool, label: str) -> tuple[str, list[str]]:
    """Score single turns of real conversations that deserve a warning, or that only look as if they did."""
    wrong, counts = [], Counter[str]()
    for number, row in enumerate(rows(path)):
        found = fired(librarian, [row], f"{path.name} {number}")
        counts[str(bool(found))] += 1
        if bool(found) != wanted:
            wrong.append(f"{row['topic']} {row['role']} {found}: {row['text'][:160]!r}")
    return f"| {label} | {_share(counts, 'True', 'False')} fire |", wrong


def real(librarian: Librarian, path: Path) -> tuple[str, list[str]]:
    """Count how often real conversations would have been spoken into."""
    conversations: dict[str, list[Row]] = {}
    total = 0
    for row in rows(path):
        conversations.setdefault(f"{row['source']} {row['conversation_id']}", []).append(row)
        total += 1
    shown = []
    for name, members in conversations.items():
        ordered = [_message(turn) for turn in sorted(members, key=lambda row: int(row["turn"]))]
        for watched in librarian.watch(ordered, conversation_id=name, folder="/"):
            shown += [f"{firing.trigger}: {firing.because}" for firing in watched.firings]
    rate = 1000 * len(shown) / max(total, 1)
    return f"| {total:,} real turns in a row | {len(shown)} injections, {rate:.2f} per 1,000 turns |", shown


def _share(counts: Counter[str], good: str, bad: str) -> str:
    total = counts[good] + counts[bad]
    return f"{counts[good]} of {total} ({counts[good] / max(total, 1):.3f})"


def page(lines: Sequence[str]) -> str:
    """Give docs/ACCURACY.md."""
    commons = load_commons(settings.STARTER)
    fires = sum(case.fires for case in commons.cases)
    table = "\n".join(lines)
    return f"""# How accurate

Made by `python bench/accuracy.py FOLDER --write docs/ACCURACY.md`, where FOLDER holds labelled sets that are not part
of this project: shell commands from the tests of other guards, and turns of real coding agents' conversations, labelled
by reading. The starter commons ({len(commons.triggers)} triggers, {len(commons.entries)} documents) was written without
them. Its own cases ({fires} that must fire, {len(commons.cases) - fires} that must stay silent) pass in every test run.

| what was watched | result |
|---|---|
{table}

A command that another guard catches may be one that deserves no more than a note, or none: the starter commons is
silent about single files and ordinary clean-up on purpose. Turns that deserve a warning are rare (about 1 in 200 real
turns), so what counts as much as catching them is the last row.
"""


def main() -> None:
    """Measure, print, and write the page when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--fired", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ.update(DEIA_STATE=f"{state}/state", DEIA_CACHE=f"{state}/cache")
        librarian = Librarian(settings.STARTER, ledger=False)
        folder: Path = options.folder
        scored = [
            commands(librarian, folder / "commands" / "command_cases.jsonl"),
            turns(librarian, folder / "conversations" / "positives.jsonl", wanted=True, label="turns that deserve it"),
            turns(
                librarian,
                folder / "conversations" / "hard_negatives.jsonl",
                wanted=False,
                label="turns that look alike",
            ),
        ]
        lively, shown = real(librarian, folder / "conversations" / "conversations.jsonl")
    lines = [line for line, _ in scored] + [lively]
    print("\n".join(lines))
    if options.missed:
        print("\n".join(f"  {item}" for _, wrong in scored for item in wrong))
    if options.fired:
        print("\n".join(f"  {item}" for item in shown))
    if options.write:
        options.write.write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
