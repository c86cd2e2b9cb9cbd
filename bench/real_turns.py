"""The tables of docs/ACCURACY.md about real conversations: by repository, by kind of clause, by what was labelled."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from firings import ARGUABLE, DESERVED, FOLDER, HELD, HELD_OUT, NOISE, UNLABELLED, fired, rate, rows, shares

from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from firings import Fired, Row

    from deia.watch.gate.artefact import Artefact

SEVERITIES = {"high": "high", "med": "medium", "low": "low"}
ENGLISH = frozenset("the to and is of in with now it all under for let me push from i force not are".split())
REQUEST = "nl2bash"
DRAWN = FOLDER / "blind_turns.jsonl"
PROSE, REQUESTS, COMMANDS = "English prose", "requests for a command", "commands"
OTHERS = "other languages, files, questions asked by a tool"
COLUMNS = (
    "repository", "turns", DESERVED, ARGUABLE, NOISE, UNLABELLED, "noise per 1,000", "deserve a warning: fire",
    "look alike: fire", "sentences, warn", "sentences, no", "calls, warn", "calls, no",
)  # fmt: skip
WORTHS = {"warn": "deserve a warning", "note": "deserve a note", "no": "deserve nothing"}


class Scored(NamedTuple):
    """A labelled turn or sentence, judged alone: whether anything fired, and whether it should."""

    row: Row
    heard: bool
    wanted: bool

    @property
    def form(self) -> str:
        """What kind of turn it is."""
        row = self.row
        if row["role"] == "tool_call":
            return COMMANDS if row["tool"] in {"Bash", "exec_command", "run_terminal_cmd"} else OTHERS
        if not ENGLISH.intersection(words(row["text"])):
            return OTHERS
        return REQUESTS if row.get("kind") == REQUEST else PROSE


class Real(NamedTuple):
    """What was found in real conversations."""

    found: Sequence[Fired]
    turns: Counter[str]  # by repository
    scored: Sequence[Scored]
    acts: Sequence[Scored]  # sentences alone
    calls: Sequence[Scored]  # tool calls alone


def acts(artefact: Artefact, folder: Path) -> list[Scored]:
    """Score sentences that have an act and an object, each judged as a turn of its role."""
    result = []
    for row in rows(folder / "acts.jsonl"):
        heard = bool(fired(artefact, [{"role": row["role"], "text": row["sentence"]}]))
        result.append(Scored(row, heard=heard, wanted=row["worth"] == "warn"))
    return result


def calls(artefact: Artefact, folder: Path) -> list[Scored]:
    """Score tool calls that have a word of risk."""
    result = []
    for row in rows(folder / "commands.jsonl"):
        heard = bool(fired(artefact, [{"role": "tool_call", "tool": "Bash", "text": row["command"]}]))
        result.append(Scored(row, heard=heard, wanted=row["worth"] == "warn"))
    return result


def summary(real: Real) -> str:
    """Return the lines about real turns for the table at the top of the page."""
    labels = shares(real.found)
    total = max(len(real.found), 1)
    turns = real.turns.total()
    told = ", ".join(f"{labels[label]} {label}" for label in (DESERVED, ARGUABLE, NOISE, UNLABELLED))
    good = (labels[DESERVED] + labels[ARGUABLE]) / total
    held = sum(one.is_prose and one.firing.action in HELD for one in real.found)
    fair = [one for one in real.scored if one.wanted and one.row["severity"] in {"high", "med"}]
    positives = [one for one in fair if one.form in {PROSE, REQUESTS}]
    called = [one for one in real.scored if one.wanted and one.form == COMMANDS]
    lines = [
        f"| {turns:,} real turns in a row | {len(real.found)} injections ({told}) |",
        f"| noise per 1,000 real turns | {rate(real.found, turns):.2f} |",
        f"| deserved or arguable, of all injections | {good:.3f} |",
        f"| held or asked about only because somebody said it | {held} |",
        f"| English prose that deserves a warning, severity high or medium | {_of(positives)} fire |",
        f"| commands that deserve a warning | {_of(called)} fire |",
        *(f"| sentences alone that {told} | {_worth(real.acts, worth)} fire |" for worth, told in WORTHS.items()),
        *(f"| calls alone that {told} | {_worth(real.calls, worth)} fire |" for worth, told in WORTHS.items()),
    ]
    return "\n".join(lines)


def _worth(scored: Iterable[Scored], worth: str) -> str:
    return _of(one for one in scored if one.row["worth"] == worth)


def _of(scored: Iterable[Scored]) -> str:
    heard = Counter(one.heard for one in scored)
    return f"{heard[True]} of {heard.total()} ({heard[True] / max(heard.total(), 1):.3f})" if heard else ""


def by_repository(real: Real) -> str:
    """Return the table of repositories."""
    sources = sorted({*real.turns, *(one.row["source"] for one in real.scored)})
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for source in sources:
        found = [one for one in real.found if one.source == source]
        scored = [one for one in real.scored if one.row["source"] == source]
        of_acts, of_calls = ([one for one in part if one.row["source"] == source] for part in (real.acts, real.calls))
        turns = real.turns[source]
        name = f"{source} (held out)" if source in HELD_OUT else source
        cells = (
            name, f"{turns:,}", *_label_cells(found), f"{rate(found, turns):.2f}",
            _of(one for one in scored if one.wanted), _of(one for one in scored if not one.wanted),
            _worth(of_acts, "warn"), _worth(of_acts, "no"), _worth(of_calls, "warn"), _worth(of_calls, "no"),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def drawn(real: Real) -> str:
    """Return the table of the turns that were drawn by chance, replayed in their conversations."""
    heard = {(one.source, one.row["conversation_id"], one.row["turn"]) for one in real.found}
    scored = [
        Scored(row, heard=(row["source"], row["conversation_id"], row["turn"]) in heard, wanted=row["worth"] == "warn")
        for row in rows(DRAWN)
    ]
    return "\n".join(f"| {told} | {_worth(scored, worth)} |" for worth, told in WORTHS.items())


def by_kind(real: Real) -> str:
    """Return the table of the kinds of clauses that made deia speak."""
    return _table_by(real, lambda one: one.kind)


def by_trigger(real: Real) -> str:
    """Return the table of the triggers that were noise at least twice where rules may be learned from."""
    open_ = [one for one in real.found if one.source not in HELD_OUT]
    noise = Counter(one.firing.trigger for one in open_ if one.is_noise)
    noisy = [one for one in open_ if noise[one.firing.trigger] > 1]
    return _table_by(real._replace(found=noisy), lambda one: one.firing.trigger)


def _table_by(real: Real, name_of: Callable[[Fired], str]) -> str:
    groups: dict[str, list[Fired]] = {}
    for one in real.found:
        groups.setdefault(name_of(one), []).append(one)
    ordered = sorted(groups.items(), key=lambda item: (-rate(item[1], 1), item[0]))
    turns = real.turns.total()
    return "\n".join(
        f"| {name} | {' | '.join(_label_cells(found))} | {rate(found, turns):.2f} |" for name, found in ordered
    )


def _label_cells(found: Sequence[Fired]) -> tuple[str, ...]:
    labels = shares(found)
    return tuple(str(labels[label] or "") for label in (DESERVED, ARGUABLE, NOISE, UNLABELLED))


def by_form(real: Real) -> str:
    """Return the table of labelled turns by their form and severity."""
    positives = [one for one in real.scored if one.wanted]
    lines = []
    for form in (PROSE, REQUESTS, COMMANDS, OTHERS):
        parts = [[one for one in positives if one.form == form and one.row["severity"] == name] for name in SEVERITIES]
        alike = [one for one in real.scored if not one.wanted and one.form == form]
        lines.append(f"| {form} | {' | '.join(map(_of, parts))} | {_of(alike)} |")
    return "\n".join(lines)
