"""Measure on labelled sets how often the starter commons speaks when it should, and when it should not.

    python bench/accuracy.py FOLDER [--write docs/ACCURACY.md] [--missed]

FOLDER holds `commands/command_cases.jsonl` (command, expect, tier), `conversations/positives.jsonl`,
`hard_negatives.jsonl` (role, tool, text, topic) and `conversations.jsonl` (also conversation_id, turn). `--missed`
lists misses and false alarms, by the id under which `labels/missed.jsonl` keeps the reason; `--fired` lists what fired
on real turns, for reading and labelling. A reason whose row is right by now is not shown, and a wrong row without a
reason is shown as not yet read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deia import folders
from deia.commons.index.load_commons import load_commons
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]
Counts = dict[str, Counter[str]]  # topic → how often "caught", "missed", "silent", "false alarm"
LABELS = Path(__file__).resolve().parent / "labels" / "real_firings.jsonl"
REASONS = Path(__file__).resolve().parent / "labels" / "missed.jsonl"
NOT_READ = "not yet read"
EXPORTED = "Tool use: **"  # how an editor's Markdown export begins a call


def rows(path: Path) -> list[Row]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def fired(librarian: Librarian, turns: Iterable[Row], name: str) -> list[str]:
    """Return the triggers that fire on a fresh conversation of these turns."""
    conversation = [_message(turn) for turn in turns]
    return [firing.trigger for firing in librarian.check_triggers(conversation, conversation_id=name, folder="/")]


def _message(turn: Row) -> Row:
    """Return a row as a host would send it: the input of a tool as fields, the command of an exported call alone."""
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


class Wrong(NamedTuple):
    """A row whose result differs from its label: its id, whether it was missed or a false alarm, and what it is."""

    identity: str
    missed: bool
    topic: str
    shown: str


class Measured(NamedTuple):
    """The results of one set: rows of the table, counts by topic, rows whose result differs from their label."""

    line: str
    topics: Counts
    wrong: list[Wrong]


def outcome(*, heard: bool, wanted: bool) -> str:
    """Return the name of a row's outcome."""
    if wanted:
        return "caught" if heard else "missed"
    return "false alarm" if heard else "silent"


def commands(librarian: Librarian, path: Path) -> Measured:
    """Score commands that other guards' tests say must be caught, or left alone; by the part of the guard they test."""
    measured = Measured("", {}, [])
    counts: dict[str, Counter[str]] = {"engine": Counter(), "policy": Counter()}
    for number, row in enumerate(rows(path)):
        turn = {"role": "tool_call", "tool": "Bash", "text": row["command"]}
        heard = bool(fired(librarian, [turn], f"command {number}"))
        became = outcome(heard=heard, wanted=row["expect"] == "block")
        counts[row["tier"]][became] += 1
        if row["tier"] != "engine":
            continue  # somebody's house rules: counted, not aimed at
        topic = f"{row['source'].partition('@')[0]}, {row['category'].rpartition('/')[2]}"
        measured.topics.setdefault(topic, Counter())[became] += 1
        if became in {"missed", "false alarm"}:
            name = "C-" + hashlib.sha256(row["command"].encode()).hexdigest()[:8]
            measured.wrong.append(Wrong(name, became == "missed", topic, row["command"]))
    lines = [
        f"| commands that other guards catch | {_share(counts['engine'], 'caught', 'missed')} caught |",
        f"| commands that they leave alone | {_share(counts['engine'], 'silent', 'false alarm')} left alone |",
        f"| house rules of other guards, forbidden | {_share(counts['policy'], 'caught', 'missed')} caught |",
        f"| house rules of other guards, allowed | {_share(counts['policy'], 'silent', 'false alarm')} left alone |",
    ]
    return measured._replace(line="\n".join(lines))


def turns(librarian: Librarian, path: Path, *, wanted: bool, label: str) -> Measured:
    """Score single turns of real conversations that deserve a warning, or that only look as if they did."""
    measured = Measured("", {}, [])
    counts = Counter[str]()
    for number, row in enumerate(rows(path)):
        found = fired(librarian, [row], f"{path.name} {number}")
        became = outcome(heard=bool(found), wanted=wanted)
        counts[became] += 1
        measured.topics.setdefault(row["topic"], Counter())[became] += 1
        if bool(found) != wanted:
            shown = f"{row['role']} {found}: {row['text'][:160]!r}"
            measured.wrong.append(Wrong(row["id"], wanted, row["topic"], shown))
    good, bad = ("caught", "missed") if wanted else ("false alarm", "silent")
    return measured._replace(line=f"| {label} | {_share(counts, good, bad)} fire |")


def real(librarian: Librarian, path: Path) -> Measured:
    """Count the injections into real conversations, and how many of them are noise by the labels kept."""
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
    fell = [Wrong("", missed=False, topic="", shown=one) for one in shown]
    return Measured(f"| {total:,} real turns in a row | {spoken} |", {}, fell)


def _key(row: Row, trigger: str) -> str:
    return f"{row['source']} {row['conversation_id']} {row['turn']} {trigger}"


def _share(counts: Counter[str], good: str, bad: str) -> str:
    total = counts[good] + counts[bad]
    return f"{counts[good]} of {total} ({counts[good] / max(total, 1):.3f})"


def page(measured: Sequence[Measured]) -> str:
    """Return docs/ACCURACY.md."""
    commons = load_commons(folders.STARTER)
    fires = sum(case.fires for case in commons.cases)
    topics: Counts = {}
    for one in measured:
        for name, counts in one.topics.items():
            topics.setdefault(name, Counter()).update(counts)
    return PAGE.format(
        triggers=len(commons.triggers), documents=len(commons.entries), fires=fires,
        silent=len(commons.cases) - fires, table="\n".join(one.line for one in measured),
        topics="\n".join(_topic_line(name, topics[name]) for name in sorted(topics)),
        wrong=_reasons([wrong for one in measured for wrong in one.wrong if wrong.identity]),
    )  # fmt: skip


def _topic_line(name: str, counts: Counter[str]) -> str:
    deserving, alike = counts["caught"] + counts["missed"], counts["silent"] + counts["false alarm"]
    caught = f"{counts['caught']} of {deserving}" if deserving else ""
    alarms = f"{counts['false alarm']} of {alike}" if alike else ""
    return f"| {name} | {caught} | {alarms} |"


def _reasons(wrong: Sequence[Wrong]) -> str:
    """Group the wrong rows by the reason kept for them, the most frequent first."""
    kept = {row["id"]: row["reason"] for row in rows(REASONS)}
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in wrong:
        found = grouped.setdefault((kept.get(one.identity, NOT_READ), "missed" if one.missed else "false alarm"), [])
        found.append(f"{one.topic} {one.identity}")
    ordered = sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))
    return "\n".join(
        f"| {len(rows_)} {became} | {reason} | {'; '.join(sorted(rows_))} |" for (reason, became), rows_ in ordered
    )


PAGE = """# How accurate

Made by `python bench/accuracy.py FOLDER --write docs/ACCURACY.md`, where FOLDER holds labelled sets that are not part
of this project: shell commands from the tests of other guards, and turns of real coding agents' conversations, labelled
by reading. The starter commons ({triggers} triggers, {documents} documents) was developed with these sets in view, so
figures on sets that nobody looked at will be lower. Its own cases ({fires} that must fire, {silent} that must stay
silent) pass in every test run. Every firing on real turns was read and judged; the judgements are in
`bench/labels/real_firings.jsonl` (deserved or noise, with the reason; no text of a conversation).

| what was watched | result |
|---|---|
{table}

## By topic

Commands are grouped by the guard from whose tests they come, and by the part of it that they test; turns are grouped by
topic.

| topic | deserves a warning: caught | deserves none: false alarms |
|---|---|---|
{topics}

## What is missed, and why

Every row whose result differs from its label, with the reason found by reading it (`bench/labels/missed.jsonl`).

| how many | why | rows |
|---|---|---|
{wrong}

Deliberately left alone, in every set:

- Clean-up: `find . -name '*.pyc' -delete`, `*.tmp`, anything below a temporary folder, `rm -rf` of a relative folder
  that is neither sources nor data.
- A program that is only known at run time is not guessed: `xargs bash -c`, a bare `parallel`, a name substituted
  into `sh -c '… {{}} …'`.
- A symbolic link that leads out of a temporary folder is not noticed, because deia does not look at the disk.
- Sentences are understood in English. In other languages, only commands, error texts, borrowed words ("force push") and
  the phrases that the most serious triggers have in some languages count.
- An error that an assistant only mentions in passing, or writes into a document, does not count.
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
        librarian = Librarian(folders.STARTER, ledger=False)
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
        print("\n".join(f"  {one.identity} {one.topic}: {one.shown}" for part in scored for one in part.wrong))
    if options.fired:
        print("\n".join(f"  {one.shown}" for one in lively.wrong))
    if options.write:
        options.write.write_text(page(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
