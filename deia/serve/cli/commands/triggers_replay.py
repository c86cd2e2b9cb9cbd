"""`deia triggers replay`: what would have fired on past conversations, and what a change of triggers would change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from deia import fast_json
from deia.evaluate.replay_files import Plan, replay_files, transcript_files
from deia.librarian import Librarian
from deia.records import Record
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, form_option, given_commons
from deia.watch.authoring.replay import Count, Example, Tally
from deia.watch.gate.artefact import Artefact

TOLD_EVERY = 20_000  # turns


class _About(Record):
    """What is shown of a trigger besides what it did."""

    urgency: str
    action: str
    title: str


@click.command(short_help="Show what would have fired on past conversations.")
@click.argument("transcripts", nargs=-1, required=True, metavar="TRANSCRIPTS…")
@click.option("--against", metavar="FOLDER", help="Another commons, the older one: show what fires now and did not.")
@click.option("--examples", type=click.IntRange(0, 1000), default=2, show_default=True, help="How many for a trigger.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; by default one a core where the input is large.")
@form_option("text", "json")
@commons_option
def replay(*, transcripts: Sequence[str], against: str | None, examples: int, jobs: int | None, form: str) -> int:
    """Show what would have fired on past conversations: how often, where, and why.

    TRANSCRIPTS are files or folders: Claude Code's and Codex's own files, Cursor's, JSON, JSON lines (rows with a
    conversation_id among them), Markdown. Nothing is logged or remembered.
    """
    paths = transcript_files(transcripts)
    newer = Librarian(given_commons() or None, agent="cli", ledger=False)
    sets = [newer, *([Librarian(os.path.abspath(against), agent="cli", ledger=False)] if against is not None else [])]
    about = _known([each.open_artefact() for each in sets])
    plan = Plan(artefacts=tuple(f"{each.derived}/triggers" for each in sets), examples=examples)
    heard = _heard() if sys.stderr is not None and sys.stderr.isatty() else None
    tally = replay_files(paths, plan, jobs=jobs or 0, on_progress=heard)
    if form == "json":
        output.say(fast_json.dumps(_as_fields(tally, about, compared=against is not None)))
    else:
        output.say("\n".join(_as_lines(tally, about, against=against)))
    return _told_of_unread(tally, transcripts)


def _told_of_unread(tally: Tally, named: Sequence[str]) -> int:
    """Say what was no transcript, so that nothing fired is no all-clear; give the exit code."""
    wrong = [path for path in named if path in tally.unread]
    for path in wrong:
        output.complain(f"deia: {path} is no transcript: {tally.unread[path]}")
    others = [path for path in tally.unread if path not in wrong]  # of folders, which may hold anything
    if others:
        are = "file is no transcript and was" if len(others) == 1 else "files are no transcripts and were"
        output.complain(f"deia: {len(others)} {are} left out, such as {others[0]}: {tally.unread[others[0]]}")
    if wrong:
        return output.BROKEN
    if not tally.turns:
        output.complain("deia: there is no turn in any of these files")
        return output.NOTHING
    return output.FOUND


def _heard() -> Any:
    told = [0]

    def hear(turns: int) -> None:
        """Tell how far it is, now and then."""
        if turns - told[0] >= TOLD_EVERY:
            told[0] = turns
            output.complain(f"{turns:,} turns")

    return hear


def _known(artefacts: Sequence[Artefact]) -> dict[str, _About]:
    """Give what there is to say about the triggers of one or two sets; the first counts."""
    about: dict[str, _About] = {}
    for artefact in artefacts:
        for number in range(artefact.meta.triggers):
            one = artefact.trigger(number)
            about.setdefault(one.id, _About(urgency=one.urgency, action=one.action, title=one.title))
    return about


def _ordered(fired: Mapping[str, int]) -> list[str]:
    return sorted(fired, key=lambda trigger: (-fired[trigger], trigger))


def _rate(number: int, turns: int) -> float:
    return round(number * 1000 / turns, 3) if turns else 0.0


def _as_lines(tally: Tally, about: Mapping[str, _About], *, against: str | None) -> Iterator[str]:
    total = sum(tally.after.fired.values())
    yield (
        f"{tally.turns:,} turns in {tally.conversations:,} conversations: {total:,} firings,"
        f" {_rate(total, tally.turns):g} per 1,000 turns."
    )
    yield from _count_lines(tally.after, tally.turns, about)
    quiet = sum(trigger not in tally.after.fired for trigger in about)
    yield f"{quiet} of {len(about)} triggers never fired."
    if against is not None:
        older, gained, lost = (sum(count.fired.values()) for count in (tally.before, tally.gained, tally.lost))
        yield f"\nAgainst {against}: {older:,} firings there; {gained:,} are new, {lost:,} are gone."
        for title, count in (("New:", tally.gained), ("Gone:", tally.lost)):
            if count.fired:
                yield title
                yield from _count_lines(count, tally.turns, about)


def _count_lines(count: Count, turns: int, about: Mapping[str, _About]) -> Iterator[str]:
    width = max(map(len, count.fired), default=0)
    for trigger in _ordered(count.fired):
        number, known = count.fired[trigger], about[trigger]
        yield (
            f"  {trigger:<{width}}  {number:>6,}  {_rate(number, turns):>8g} per 1,000  {known.urgency}, {known.action}"
        )
        for example in count.examples[trigger]:
            yield f"      {example.place} {example.role}: {example.text}"
            yield f"          because {example.because}"


def _as_fields(tally: Tally, about: Mapping[str, _About], *, compared: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "turns": tally.turns,
        "conversations": tally.conversations,
        "firings": sum(tally.after.fired.values()),
        "per_1000": _rate(sum(tally.after.fired.values()), tally.turns),
        "triggers": _count_fields(tally.after, tally.turns, about),
        "never_fired": sorted(trigger for trigger in about if trigger not in tally.after.fired),
    }
    if compared:
        fields["against"] = {
            "firings": sum(tally.before.fired.values()),
            "triggers": dict(sorted(tally.before.fired.items())),
            "new": _count_fields(tally.gained, tally.turns, about),
            "gone": _count_fields(tally.lost, tally.turns, about),
        }
    return fields


def _count_fields(count: Count, turns: int, about: Mapping[str, _About]) -> list[dict[str, Any]]:
    return [
        {
            "trigger": trigger, **about[trigger].values(), "fired": count.fired[trigger],
            "per_1000": _rate(count.fired[trigger], turns),
            "examples": [_example_fields(example) for example in count.examples[trigger]],
        }
        for trigger in _ordered(count.fired)
    ]  # fmt: skip


def _example_fields(example: Example) -> dict[str, Any]:
    return {name: getattr(example, name) for name in ("place", "role", "text", "because")}
