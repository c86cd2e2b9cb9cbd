"""`deia triggers replay`: which triggers would have fired on past conversations, also compared with another commons."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import click

from deia.evaluate.replay_files import Plan, replay_files, transcript_files
from deia.fast_json import Json
from deia.librarian import Librarian
from deia.records import Record
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, form_option, named_commons
from deia.watch.authoring.replay import Count, Example, Tally
from deia.watch.gate.artefact import Artefact

REPORT_EVERY = 20_000  # turns


class _TriggerInfo(Record):
    """What is shown about a trigger besides its firings."""

    urgency: str
    action: str
    title: str


@click.command(short_help="Show which triggers would have fired on past conversations.")
@click.argument("transcripts", nargs=-1, required=True, metavar="TRANSCRIPTS…")
@click.option(
    "--against",
    metavar="FOLDER",
    help="An older commons to compare with: show which firings are new, and which are gone.",
)
@click.option("--examples", type=click.IntRange(0, 1000), default=2, show_default=True, help="Examples per trigger.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; by default one per core if the input is large.")
@form_option("text", "json")
@commons_option
def replay(*, transcripts: Sequence[str], against: str | None, examples: int, jobs: int | None, form: str) -> int:
    """Show which triggers would have fired on past conversations: how often, where, and why.

    TRANSCRIPTS are files or folders: the files of Claude Code, Codex and Cursor, JSON, JSON lines (optionally with a
    conversation_id in each), or Markdown. Nothing is logged or remembered.
    """
    paths = transcript_files(transcripts)
    newer = Librarian(named_commons() or None, agent="cli", ledger=False)
    sets = [newer, *([Librarian(os.path.abspath(against), agent="cli", ledger=False)] if against is not None else [])]
    triggers = _trigger_info([librarian.open_artefact() for librarian in sets])
    plan = Plan(artefacts=tuple(f"{librarian.derived}/triggers" for librarian in sets), examples=examples)
    on_progress = _progress() if output.is_watched() else None
    tally = replay_files(paths, plan, jobs=jobs or 0, on_progress=on_progress)
    fields = _as_fields(tally, triggers, compared=against is not None)
    output.answer(fields, _as_lines(tally, triggers, against=against), as_json=form == "json")
    return _report_unread(tally, transcripts)


def _report_unread(tally: Tally, named: Sequence[str]) -> int:
    """Print which files are not transcripts, because their silence proves nothing, and return the exit code."""
    unread = [path for path in named if path in tally.unread]
    for path in unread:
        output.complain(f"deia: {path} is not a transcript: {tally.unread[path]}")
    in_folders = [path for path in tally.unread if path not in unread]  # folders may contain other files
    if in_folders:
        are = "file is not a transcript and was" if len(in_folders) == 1 else "files are not transcripts and were"
        example = in_folders[0]
        output.complain(f"deia: {len(in_folders)} {are} skipped, such as {example}: {tally.unread[example]}")
    if unread:
        return output.BROKEN
    if not tally.turns:
        output.complain("deia: there are no turns in these files")
        return output.NOTHING
    return output.FOUND


def _progress() -> Callable[[int], None]:
    reported = 0

    def report(turns: int) -> None:
        """Print the number of turns from time to time."""
        nonlocal reported
        if turns - reported >= REPORT_EVERY:
            reported = turns
            output.complain(f"{turns:,} turns")

    return report


def _trigger_info(artefacts: Sequence[Artefact]) -> dict[str, _TriggerInfo]:
    """Return what is known about the triggers of one or two sets; the first set takes precedence."""
    known: dict[str, _TriggerInfo] = {}
    for artefact in artefacts:
        for number in range(artefact.meta.triggers):
            trigger = artefact.trigger(number)
            info = _TriggerInfo(urgency=trigger.urgency, action=trigger.action, title=trigger.title)
            known.setdefault(trigger.id, info)
    return known


def _ordered(fired: Mapping[str, int]) -> list[str]:
    return sorted(fired, key=lambda trigger: (-fired[trigger], trigger))


def _rate(number: int, turns: int) -> float:
    return round(number * 1000 / turns, 3) if turns else 0.0


def _as_lines(tally: Tally, triggers: Mapping[str, _TriggerInfo], *, against: str | None) -> Iterator[str]:
    total = sum(tally.after.fired.values())
    yield (
        f"{tally.turns:,} turns in {tally.conversations:,} conversations: {total:,} firings,"
        f" {_rate(total, tally.turns):g} per 1,000 turns."
    )
    yield from _count_lines(tally.after, tally.turns, triggers)
    silent = sum(trigger not in tally.after.fired for trigger in triggers)
    yield f"{silent} of {len(triggers)} triggers never fired."
    if against is not None:
        older, gained, lost = (sum(count.fired.values()) for count in (tally.before, tally.gained, tally.lost))
        yield f"\nAgainst {against}: {older:,} firings there; {gained:,} are new, {lost:,} are gone."
        for title, count in (("New:", tally.gained), ("Gone:", tally.lost)):
            if count.fired:
                yield title
                yield from _count_lines(count, tally.turns, triggers)


def _count_lines(count: Count, turns: int, triggers: Mapping[str, _TriggerInfo]) -> Iterator[str]:
    width = max(map(len, count.fired), default=0)
    for trigger in _ordered(count.fired):
        number, info = count.fired[trigger], triggers[trigger]
        yield (
            f"  {trigger:<{width}}  {number:>6,}  {_rate(number, turns):>8g} per 1,000  {info.urgency}, {info.action}"
        )
        for example in count.examples[trigger]:
            yield f"      {example.place} {example.role}: {example.text}"
            yield f"          because {example.because}"


def _as_fields(tally: Tally, triggers: Mapping[str, _TriggerInfo], *, compared: bool) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "turns": tally.turns,
        "conversations": tally.conversations,
        "firings": sum(tally.after.fired.values()),
        "per_1000": _rate(sum(tally.after.fired.values()), tally.turns),
        "triggers": _count_fields(tally.after, tally.turns, triggers),
        "never_fired": sorted(trigger for trigger in triggers if trigger not in tally.after.fired),
    }
    if compared:
        fields["against"] = {
            "firings": sum(tally.before.fired.values()),
            "triggers": dict(sorted(tally.before.fired.items())),
            "new": _count_fields(tally.gained, tally.turns, triggers),
            "gone": _count_fields(tally.lost, tally.turns, triggers),
        }
    return fields


def _count_fields(count: Count, turns: int, triggers: Mapping[str, _TriggerInfo]) -> list[dict[str, Json]]:
    return [
        {
            "trigger": trigger, **triggers[trigger].values(), "fired": count.fired[trigger],
            "per_1000": _rate(count.fired[trigger], turns),
            "examples": [_example_fields(example) for example in count.examples[trigger]],
        }
        for trigger in _ordered(count.fired)
    ]  # fmt: skip


def _example_fields(example: Example) -> dict[str, Json]:
    return {name: getattr(example, name) for name in ("place", "role", "text", "because")}
