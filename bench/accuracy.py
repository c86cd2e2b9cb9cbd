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
from typing import TYPE_CHECKING, Any, NamedTuple

from deia import settings
from deia.commons.commons import load_commons
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]
Counts = dict[str, Counter[bool]]
LABELS = Path(__file__).resolve().parent / "labels" / "real_firings.jsonl"
EXPORTED = "Tool use: **"  # how an editor's Markdown export begins a call


def rows(path: Path) -> list[Row]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def fired(librarian: Librarian, turns: Iterable[Row], name: str) -> list[str]:
    """Give the triggers that fire on a fresh conversation of these turns."""
    conversation = [_message(turn) for turn in turns]
    return [firing.trigger for firing in librarian.check_triggers(conversation, conversation_id=name, folder="/")]


def _message(turn: Row) -> Row:
    """Give a row as a host would send it: the input of a tool as fields, the command of an exported call alone."""
    role, text = turn["role"], turn["text"]
    tool = turn.get("tool") or ("Bash" if role == "tool_call" else "")
    if role != "tool_call":
        return {"role": role, "text": text, "tool": tool}
    if text.startswith(EXPORTED):
        text = text.partition("```")[2].partition("\n")[2].partition("\n```")[0]
    try:
        given = json.loads(text) if text.startswith("{") else {"command": text}
    except ValueError:  # cut off by whoever collected it
        given = {"command": text}
    return {"role": role, "text": "" if "command" not in given else text, "tool": tool, "tool_input": given}


class Measured(NamedTuple):
    """What one set came to: a row of the table, rows by topic, and what went otherwise than its label says."""

    line: str
    topics: Counts
    wrong: list[str]


def commands(librarian: Librarian, path: Path) -> Measured:
    """Score commands that other guards' tests say must be caught, or left alone."""
    scored = [row for row in rows(path) if row["tier"] == "engine"]
    wrong: list[str] = []
    counts = Counter[str]()
    topics: Counts = {}
    for number, row in enumerate(scored):
        turn = {"role": "tool_call", "tool": "Bash", "text": row["command"]}
        caught = bool(fired(librarian, [turn], f"command {number}"))
        counts[f"{row['expect']} {caught}"] += 1
        right = caught == (row["expect"] == "block")
        topics.setdefault(f"{row['category'].rpartition('/')[2]}, {row['expect']}", Counter())[right] += 1
        if not right:
            wrong.append(f"{row['expect']}: {row['command']}")
    line = (
        f"| commands that other guards catch | {_share(counts, 'block True', 'block False')} caught |\n"
        f"| commands that they leave alone | {_share(counts, 'allow False', 'allow True')} left alone |"
    )
    return Measured(line, topics, wrong)


def turns(librarian: Librarian, path: Path, *, wanted: bool, label: str) -> Measured:
    """Score single turns of real conversations that deserve a warning, or that only look as if they did."""
    wrong: list[str] = []
    counts = Counter[str]()
    topics: Counts = {}
    for number, row in enumerate(rows(path)):
        found = fired(librarian, [row], f"{path.name} {number}")
        counts[str(bool(found))] += 1
        topics.setdefault(f"{row['topic']}, {'deserves it' if wanted else 'looks alike'}", Counter())[
            bool(found) == wanted
        ] += 1
        if bool(found) != wanted:
            wrong.append(f"{row['topic']} {row['role']} {found}: {row['text'][:160]!r}")
    return Measured(f"| {label} | {_share(counts, 'True', 'False')} fire |", topics, wrong)


def real(librarian: Librarian, path: Path) -> Measured:
    """Count how often real conversations would have been spoken into, and how often for nothing, by the labels kept."""
    labels = {_key(row, row["trigger"]): row["label"] for row in rows(LABELS)}
    conversations: dict[str, list[Row]] = {}
    for row in rows(path):
        conversations.setdefault(f"{row['source']} {row['conversation_id']}", []).append(row)
    shown: list[str] = []
    counts = Counter[str]()
    total = 0
    for name, members in conversations.items():
        ordered = sorted(members, key=lambda row: int(row["turn"]))
        total += len(ordered)
        heard = librarian.watch([_message(turn) for turn in ordered], conversation_id=name, folder="/")
        for row, watched in zip(ordered, heard, strict=True):
            for firing in watched.firings:
                label = labels.get(_key(row, firing.trigger), "unlabelled")
                counts[label] += 1
                shown.append(f"{label} {_key(row, firing.trigger)}: {firing.because}")
    kinds = ", ".join(f"{count} {label}" for label, count in sorted(counts.items()))
    rate = 1000 * (counts.total() - counts["deserved"]) / max(total, 1)
    spoken = f"{counts.total()} injections ({kinds}), {rate:.2f} noise per 1,000 turns"
    return Measured(f"| {total:,} real turns in a row | {spoken} |", {}, shown)


def _key(row: Row, trigger: str) -> str:
    return f"{row['source']} {row['conversation_id']} {row['turn']} {trigger}"


def _share(counts: Counter[str], good: str, bad: str) -> str:
    total = counts[good] + counts[bad]
    return f"{counts[good]} of {total} ({counts[good] / max(total, 1):.3f})"


def page(measured: Sequence[Measured]) -> str:
    """Give docs/ACCURACY.md."""
    commons = load_commons(settings.STARTER)
    fires = sum(case.fires for case in commons.cases)
    table = "\n".join(one.line for one in measured)
    topics = "\n".join(
        f"| {name} | {counts[True]} of {counts.total()} |"
        for one in measured
        for name, counts in sorted(one.topics.items())
    )
    return PAGE.format(
        triggers=len(commons.triggers), documents=len(commons.entries), fires=fires,
        silent=len(commons.cases) - fires, table=table, topics=topics,
    )  # fmt: skip


PAGE = """# How accurate

Made by `python bench/accuracy.py FOLDER --write docs/ACCURACY.md`, where FOLDER holds labelled sets that are not part
of this project: shell commands from the tests of other guards, and turns of real coding agents' conversations, labelled
by reading. The starter commons ({triggers} triggers, {documents} documents) was developed with these sets in view, so
figures on sets that nobody looked at will be lower. Its own cases ({fires} that must fire, {silent} that must stay
silent) pass in every test run. What fires on real turns was read one by one; the judgements are kept in
`bench/labels/real_firings.jsonl` (deserved or noise, with the reason; no text of a conversation).

| what was watched | result |
|---|---|
{table}

## By topic

| topic | as labelled |
|---|---|
{topics}

## What is missed, and why

- Clean-up is left alone on purpose: `find . -name '*.pyc' -delete`, empty folders, `*.tmp`, anything below a temporary
  folder, `rm -rf` of a relative folder that is neither sources nor data. Other guards catch every one of them.
- What a command will run is not guessed when it arrives at run time: `xargs bash -c`, a bare `parallel`, a name put
  into `sh -c '… {{}} …'`.
- `command -v` and `git clean -nf` only print; some guards catch them all the same.
- A lease is a note on a shared branch: `git push --force-with-lease origin main` counts as a false alarm here, although
  the same command is labelled as deserving a warning among the real turns.
- `git checkout --track direct main` and `--recurse-submodules checkout main` are read as git reads them, as a branch
  and a path; another guard takes the word for the option's value, so these count as false alarms.
- A symbolic link that leads out of a temporary folder is not seen, because the disk is not looked at.
- Sentences are read in English. In other languages commands, error texts and borrowed words ("force push") still count.
- An error that an assistant only mentions in passing, or writes into a document, is not taken up.
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
        lively = real(librarian, folder / "conversations" / "conversations.jsonl")
    measured = [*scored, lively]
    print("\n".join(one.line for one in measured))
    if options.missed:
        print("\n".join(f"  {item}" for one in scored for item in one.wrong))
    if options.fired:
        print("\n".join(f"  {item}" for item in lively.wrong))
    if options.write:
        options.write.write_text(page(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
