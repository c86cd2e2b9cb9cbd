"""Measure on labelled sets how often the starter commons speaks when it should, and when it should not.

    python bench/accuracy.py FOLDER [--write docs/ACCURACY.md] [--missed] [--fired] [--unlabelled FILE]

FOLDER holds `commands/command_cases.jsonl` (command, expect, tier); in `conversations*/` each `conversations.jsonl`
(source, conversation_id, turn, role, tool, text), `positives.jsonl` and `hard_negatives.jsonl` (also topic, severity);
`acts/acts.jsonl` (role, sentence, worth) and `acts/commands.jsonl` (command, worth). `--missed` lists misses and false
alarms, by the id under which `labels/missed.jsonl` keeps the reason; a wrong row without a reason is shown as not yet
read. `--fired` lists what fired on real turns; `--unlabelled` writes what nobody has judged of it, as `label.py`
does, which also asks. The lists show no text of the repositories that are held out, so that nobody who writes triggers
reads it by accident.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import real_turns
from firings import FOLDER, HELD_OUT, all_fired, conversations, fired, rows, write_unlabelled

from deia import folders
from deia.commons.index.load_commons import load_commons
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from firings import Row

    from deia.watch.gate.artefact import Artefact

Counts = dict[str, Counter[str]]  # topic → how often "caught", "missed", "silent", "false alarm"
REASONS = FOLDER / "missed.jsonl"
NOT_READ = "not yet read"


class Wrong(NamedTuple):
    """A row whose result differs from its label: its id, whether it was missed or a false alarm, and what it is."""

    identity: str
    missed: bool
    topic: str
    shown: str


class Measured(NamedTuple):
    """The results of one set: lines of the table, counts by topic, rows whose result differs from their label."""

    line: str
    topics: Counts
    wrong: list[Wrong]
    scored: list[real_turns.Scored]


def outcome(*, heard: bool, wanted: bool) -> str:
    """Return the name of a row's outcome."""
    if wanted:
        return "caught" if heard else "missed"
    return "false alarm" if heard else "silent"


def commands(artefact: Artefact, path: Path) -> Measured:
    """Score commands that other guards' tests say must be caught, or left alone; by the part of the guard they test."""
    measured = Measured("", {}, [], [])
    counts: dict[str, Counter[str]] = {"engine": Counter(), "policy": Counter()}
    for row in rows(path):
        heard = bool(fired(artefact, [{"role": "tool_call", "tool": "Bash", "text": row["command"]}]))
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


def labelled(folder: Path, name: str) -> list[Row]:
    """Return the rows of a file that each set of conversations has."""
    return [row for path in sorted(folder.glob(f"conversations*/{name}")) for row in rows(path)]


def turns(artefact: Artefact, labelled_rows: Iterable[Row], *, wanted: bool, label: str) -> Measured:
    """Score single turns of real conversations that deserve a warning, or that only look as if they did."""
    measured = Measured("", {}, [], [])
    counts = Counter[str]()
    for row in labelled_rows:
        found = [firing.trigger for firing in fired(artefact, [row])]
        became = outcome(heard=bool(found), wanted=wanted)
        counts[became] += 1
        measured.topics.setdefault(row["topic"], Counter())[became] += 1
        measured.scored.append(real_turns.Scored(row, heard=bool(found), wanted=wanted))
        if bool(found) != wanted:
            shown = "held out" if row["source"] in HELD_OUT else f"{row['role']} {found}: {row['text'][:160]!r}"
            measured.wrong.append(Wrong(row["id"], wanted, row["topic"], shown))
    good, bad = ("caught", "missed") if wanted else ("false alarm", "silent")
    return measured._replace(line=f"| {label} | {_share(counts, good, bad)} fire |")


def _share(counts: Counter[str], good: str, bad: str) -> str:
    total = counts[good] + counts[bad]
    return f"{counts[good]} of {total} ({counts[good] / max(total, 1):.3f})"


def page(measured: Sequence[Measured], real: real_turns.Real) -> str:
    """Return docs/ACCURACY.md."""
    commons = load_commons(folders.STARTER)
    fires = sum(case.fires for case in commons.cases)
    topics: Counts = {}
    for one in measured:
        for name, counts in one.topics.items():
            topics.setdefault(name, Counter()).update(counts)
    return PAGE.format(
        triggers=len(commons.triggers), documents=len(commons.entries), fires=fires,
        silent=len(commons.cases) - fires, table=table(measured, real),
        repositories=real_turns.by_repository(real), kinds=real_turns.by_kind(real),
        drawn=real_turns.drawn(real), forms=real_turns.by_form(real), noisy=real_turns.by_trigger(real),
        topics="\n".join(_topic_line(name, topics[name]) for name in sorted(topics)),
        wrong=_reasons([wrong for one in measured for wrong in one.wrong if wrong.identity]),
    )  # fmt: skip


def table(measured: Sequence[Measured], real: real_turns.Real) -> str:
    """Return the lines of the table at the top of the page."""
    return "\n".join((*(one.line for one in measured), real_turns.summary(real)))


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
by reading. The starter commons ({triggers} triggers, {documents} documents) was developed with most of these sets in
view, so figures on sets that nobody looked at will be lower; the repositories marked "held out" were not looked at by
anybody who wrote triggers. Its own cases ({fires} that must fire, {silent} that must stay silent) pass in every test
run. What fires on real turns is read and judged; the judgements are in `bench/labels/firings.jsonl` (deserved, arguable
or noise, with the reason; no text of a conversation), and what nobody has judged counts as noise.
[CONTRIBUTING.md](../CONTRIBUTING.md#a-label) says how a new firing gets its label.

| what was watched | result |
|---|---|
{table}

## By repository

The conversations are replayed as `deia trigger replay` does it, without what their exporters wrapped around a call.
Nothing is fitted to any of them: a `meaning` clause is compiled from its exemplars and a table of synonyms alone, and
an `act` clause names classes of words. The words of the triggers were chosen with the repositories in view that are not
held out.

{repositories}

## Turns drawn by chance

330 turns of the repositories that are held out, two in three of them with a word of risk, labelled by readers who had
not seen the rules (`bench/labels/blind_turns.jsonl`), and replayed in their conversations.

| turns that | fire |
|---|---|
{drawn}

## By kind of clause

The kind of the clause that decided; "said" means that a person or the assistant mentioned a command in prose.

| kind | deserved | arguable | noise | unlabelled | noise per 1,000 turns |
|---|---|---|---|---|---|
{kinds}

Triggers that were noise at least twice in the repositories that are not held out:

| trigger | deserved | arguable | noise | unlabelled | noise per 1,000 turns |
|---|---|---|---|---|---|
{noisy}

## By form

Turns that deserve a warning, by how bad it would be to miss them, and turns that look alike.

| form | high | medium | low | look alike: fire |
|---|---|---|---|---|
{forms}

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


def real_conversations(artefact: Artefact, folder: Path, scored: Sequence[real_turns.Scored]) -> real_turns.Real:
    """Replay every conversation, and judge the sentences and calls that were labelled alone."""
    paths = sorted(folder.glob("conversations*/conversations.jsonl"))
    members = [members for path in paths for members in conversations(path)]
    return real_turns.Real(
        found=list(all_fired(artefact, members)),
        turns=Counter(row["source"] for conversation in members for row in conversation),
        scored=scored,
        acts=real_turns.acts(artefact, folder / "acts"),
        calls=real_turns.calls(artefact, folder / "acts"),
    )


def main() -> None:
    """Measure, print, and write the page when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--fired", action="store_true")
    parser.add_argument("--unlabelled", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ.update(DEIA_STATE=f"{state}/state", DEIA_CACHE=f"{state}/cache", DEIA_TRUST="*")
        artefact = Librarian(folders.STARTER, ledger=False).open_artefact()
        folder: Path = options.folder
        positives, alike = labelled(folder, "positives.jsonl"), labelled(folder, "hard_negatives.jsonl")
        measured = [
            commands(artefact, folder / "commands" / "command_cases.jsonl"),
            turns(artefact, positives, wanted=True, label="turns that deserve a warning"),
            turns(artefact, alike, wanted=False, label="turns that look alike"),
        ]
        real = real_conversations(artefact, folder, [one for part in measured for one in part.scored])
    print(table(measured, real))
    print(f"\n{real_turns.by_repository(real)}\n\n{real_turns.by_kind(real)}\n\n{real_turns.by_form(real)}")
    if options.missed:
        print("\n".join(f"  {one.identity} {one.topic}: {one.shown}" for part in measured for one in part.wrong))
    if options.fired:
        print("\n".join(f"  {one.label} {one.key}: {one.shown}" for one in real.found))
    if options.unlabelled:
        print(f"{write_unlabelled(real.found, options.unlabelled)} unlabelled in {options.unlabelled}")
    if options.write:
        options.write.write_text(page(measured, real), encoding="utf-8")


if __name__ == "__main__":
    main()
