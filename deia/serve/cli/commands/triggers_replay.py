"""`deia trigger replay`: how often triggers would have fired in past conversations; a person may then mute them."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

import click

from deia.evaluate.replay_files import Plan, files_below, replay_files, transcript_files
from deia.fast_json import Json
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.records import Record
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.mute import write
from deia.serve.setup.host_settings.hosts_table import SETUPS, USER, Machine, folder_of, this_machine
from deia.suggestions import nearest
from deia.text import counted, one_line
from deia.watch.authoring.replay import Count, Tally
from deia.watch.compiled_trigger import CompiledTrigger
from deia.watch.silence.mutes import Mute, muted_for_good

TRIGGER_FIELDS = ("urgency", "action", "title")
LEAST_MEASURED = 0.5  # seconds; the speed of a shorter run says nothing
PATIENCE = 100_000_000  # bytes; so many take some minutes
OFFERED = 8  # triggers that the question names at most
# Hosts set these for what an agent starts; then no question is asked, since the agent would answer it.
AGENT_VARIABLES = (
    "CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE",
)  # fmt: skip


class ReplayRun(Record):
    """A replay: its tally, the triggers, the seconds it took, and what the person has muted."""

    tally: Tally
    triggers: Mapping[str, CompiledTrigger]
    found: Sequence[PastConversations]  # empty if the files were named
    seconds: float
    muted: Collection[str]
    machine: Machine
    against: str | None

    @property
    def heard(self) -> dict[str, int]:
        """How often each trigger would have been heard, without those that are muted."""
        return {trigger: number for trigger, number in self.tally.after.fired.items() if trigger not in self.muted}

    def acted(self, action: str) -> int:
        """Return how many firings would have had an action."""
        return sum(self.tally.after.acted[trigger].get(action, 0) for trigger in self.heard)


def by_frequency(fired: Mapping[str, int]) -> list[str]:
    """Return the triggers that fired, the most frequent first."""
    return sorted(fired, key=lambda trigger: (-fired[trigger], trigger))


def run_lines(run: ReplayRun) -> Iterator[str]:
    """Yield the result for a person: how often deia would have spoken, and where."""
    tally = run.tally
    total = sum(run.heard.values())
    speed = f", {tally.turns / run.seconds:,.0f} a second" if run.seconds >= LEAST_MEASURED else ""
    conversations = counted(tally.conversations, "conversation")
    yield f"{tally.turns:,} turns in {conversations}, judged in {run.seconds:.1f} s{speed}."
    yield (
        f"deia would have spoken {times(total)}, {_shown_rate(total, tally.turns)} per 1,000 turns."
        f" {run.acted('hold'):,} of these would have stopped a call once, {run.acted('ask'):,} would have asked you."
    )
    yield from _count_lines(tally.after, run)
    silent = sum(trigger not in tally.after.fired for trigger in run.triggers)
    yield f"{silent} of {len(run.triggers)} triggers never fired."
    if run.against is not None:
        older, gained, lost = (sum(count.fired.values()) for count in (tally.before, tally.gained, tally.lost))
        yield f"\nAgainst {run.against}: {older:,} firings there; {gained:,} are new, {lost:,} are gone."
        for title, count in (("New:", tally.gained), ("Gone:", tally.lost)):
            if count.fired:
                yield title
                yield from _count_lines(count, run)


def times(number: int) -> str:
    """Return how often something happened, in words for a person."""
    return "once" if number == 1 else f"{number:,} times"


def _rate(number: int, turns: int) -> float:
    return round(number * 1000 / turns, 3) if turns else 0.0


def _shown_rate(number: int, turns: int) -> str:
    rate = _rate(number, turns)
    return f"{rate:.2f}" if rate < 10 else f"{rate:.0f}"


def _count_lines(count: Count, run: ReplayRun) -> Iterator[str]:
    width = max(map(len, count.fired), default=0)
    for trigger in by_frequency(count.fired):
        number, info = count.fired[trigger], run.triggers[trigger]
        muted = ", muted by you" if trigger in run.muted else ""
        yield (
            f"  {trigger:<{width}}  {number:>6,}  {_shown_rate(number, run.tally.turns):>8} per 1,000"
            f"  {info.urgency}, {info.action}{muted}"
        )
        for example in count.examples[trigger]:
            file, _, turn = one_line(below_home(example.place, run.machine)).rpartition(":")
            yield f"      {file}, turn {turn}, {example.role}: {example.text}"
            yield f"          because {example.because}"


def run_fields(run: ReplayRun) -> dict[str, Json]:
    """Return the result for a program."""
    tally = run.tally
    total = sum(tally.after.fired.values())
    folders: list[Json] = [{"host": past.title, "folder": past.folder, "files": len(past.paths)} for past in run.found]
    fields: dict[str, Json] = {
        "turns": tally.turns, "conversations": tally.conversations, "seconds": round(run.seconds, 3),
        "folders": folders, "firings": total, "per_1000": _rate(total, tally.turns),
        "muted": sorted(trigger for trigger in tally.after.fired if trigger in run.muted),
        "triggers": _count_fields(tally.after, run),
        "never_fired": sorted(trigger for trigger in run.triggers if trigger not in tally.after.fired),
    }  # fmt: skip
    if run.against is not None:
        fields["against"] = {
            "firings": sum(tally.before.fired.values()),
            "triggers": dict(sorted(tally.before.fired.items())),
            "new": _count_fields(tally.gained, run),
            "gone": _count_fields(tally.lost, run),
        }
    return fields


def _count_fields(count: Count, run: ReplayRun) -> list[dict[str, Json]]:
    return [
        {
            "trigger": trigger, **{name: getattr(run.triggers[trigger], name) for name in TRIGGER_FIELDS},
            "fired": count.fired[trigger],
            "per_1000": _rate(count.fired[trigger], run.tally.turns), "actions": count.acted[trigger],
            "examples": [
                {name: getattr(example, name) for name in ("place", "role", "text", "because")}
                for example in count.examples[trigger]
            ],
        }
        for trigger in by_frequency(count.fired)
    ]  # fmt: skip


@click.command(short_help="Show how often deia would have spoken in past conversations.")
@click.argument("transcripts", nargs=-1, metavar="[TRANSCRIPTS]...")
@click.option(
    "--against", metavar="FOLDER",
    help="An older commons to compare with: show which firings are new, and which are gone.",
)  # fmt: skip
@click.option("--examples", type=click.IntRange(0, 1000), default=2, show_default=True, help="Examples per trigger.")
@click.option(
    "--mute", "mutes", metavar="TRIGGER", multiple=True, help="Then mute this trigger for you; may be repeated."
)
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; by default one per core if the input is large.")
@shared.since_option
@shared.json_option
def replay(
    *, transcripts: Sequence[str], against: str | None, examples: int, mutes: Sequence[str], jobs: int | None,
    since: str, as_json: bool,
) -> int:  # fmt: skip
    """Show how often deia would have spoken in past conversations: by which triggers, where, and why.

    TRANSCRIPTS are files or folders: the files of agent hosts, JSON, JSON lines (optionally with a conversation_id in
    each), or Markdown. Without any, the folders are read in which Claude Code, Codex, Copilot, Gemini, Cursor, Cline,
    Amp and Droid keep conversations. Nothing is logged, and nothing leaves the machine. At a terminal, you are then
    asked which triggers are noise to you. With --since, only files that changed lately are read.
    """
    machine, newer_than = this_machine(), datetime.fromisoformat(since).timestamp() if since else 0.0
    past_folders = [] if transcripts else list(past_conversations(machine, newer_than=newer_than))
    transcript_paths = (
        transcript_files(transcripts) if transcripts else [path for past in past_folders for path in past.paths]
    )
    paths = [path for path in transcript_paths if changed_after(path, newer_than)]
    if not transcripts and not paths:
        places = [place for setup in SETUPS for place in setup.conversations]
        looked_at = ", ".join(below_home(folder_of(place, USER, machine), machine) for place in places)
        lately = f" that changed since {since[:10]}" if since else ""
        output.complain(f"deia: there are no past conversations{lately} on this machine; looked in {looked_at}")
        return output.NOTHING
    for past in past_folders if not as_json else ():
        output.say(f"{past.title}: {counted(len(past.paths), 'file')} in {one_line(below_home(past.folder, machine))}")
    if past_folders and not since:
        _announce_patience(paths)
    librarians = [shared.open_librarian()]
    librarians += [Librarian(os.path.abspath(against), agent="cli", ledger=False)] if against is not None else []
    with shared.message_if_slow("The triggers are compiled, which is needed once …"):
        artefacts = [librarian.open_artefact() for librarian in librarians]
    # Of two sets, the first takes precedence.
    triggers = {compiled.id: compiled for artefact in reversed(artefacts) for compiled in artefact.triggers()}
    for trigger in mutes:
        shared.check_trigger(trigger, triggers)
    plan = Plan(artefacts=tuple(f"{librarian.derived}/triggers" for librarian in librarians), examples=examples)
    began = time.perf_counter()
    tally = replay_files(paths, plan, jobs=jobs or 0, on_progress=lambda turns: output.progress(f"{turns:,} turns"))
    run = ReplayRun(
        tally=tally, triggers=triggers, found=past_folders, seconds=time.perf_counter() - began, against=against,
        muted=muted_for_good(state_folder(os.environ), now=time.time()), machine=machine,
    )  # fmt: skip
    output.progress()
    output.answer(run_fields(run), run_lines(run), as_json=as_json)
    code = _report_unread(tally, transcripts)
    tell = output.complain if as_json else output.say
    for trigger in dict.fromkeys(mutes or (() if as_json else _noise_named(run))):
        write(state_folder(os.environ), Mute(trigger=trigger))
        tell(f"{trigger} is muted for you. To end that, type: deia mute {trigger} --off")
    return code


def _announce_patience(paths: Sequence[str]) -> None:
    size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
    if size >= PATIENCE:
        megabytes = f"{size / 1e6:,.0f} MB"
        output.complain(f"These are {megabytes}, which take some minutes; to read only recent ones: --since 30d")


# --- muting what is noisy ---


def _noise_named(run: ReplayRun) -> list[str]:
    """Return the triggers that the person calls noise; if nobody is at the terminal, print how to mute one."""
    heard = by_frequency(run.heard)
    if not heard:
        return []
    if not (shared.is_person() and output.at_terminal()) or any(map(os.environ.get, AGENT_VARIABLES)):
        output.say("To mute one of them for yourself, type in a terminal: deia mute TRIGGER --for 7d")
        return []
    offered = ", ".join(f"{trigger} ({times(run.heard[trigger])})" for trigger in heard[:OFFERED])
    output.say(f"\nIs one of these noise to you? {offered}{', …' if len(heard) > OFFERED else ''}")
    named = _answer(heard)
    return [trigger for trigger in named if _is_meant(trigger, run)]


def _answer(heard: Sequence[str]) -> list[str]:
    """Return the triggers that the person names, of those that fired; ask again if one did not fire."""
    while True:
        text = click.prompt("Names of triggers to mute for yourself, or Enter for none", default="", show_default=False)
        named = text.replace(",", " ").split()
        unknown = [name for name in named if name not in heard]
        if not unknown:
            return list(dict.fromkeys(named))
        output.say(f"{unknown[0]} did not fire. {nearest(unknown[0], list(heard))}".strip())


def _is_meant(trigger: str, run: ReplayRun) -> bool:
    """Return whether to mute a trigger; the person is asked again if it guards against what cannot be undone."""
    info = run.triggers[trigger]
    if info.urgency != "critical":
        return True
    does = {"hold": "stops calls", "ask": "asks about calls"}.get(info.action, "warns")
    return click.confirm(f"{trigger} is critical and {does}: {info.title}. Mute it all the same?", default=False)


# --- what was read ---


def _report_unread(tally: Tally, named: Sequence[str]) -> int:
    """Print which files are not transcripts, since their silence proves nothing; return the exit code."""
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


class PastConversations(Record):
    """The files in which one host keeps past conversations in one folder."""

    title: str  # of the host
    folder: str
    paths: tuple[str, ...]


def past_conversations(machine: Machine, *, newer_than: float = 0.0) -> Iterator[PastConversations]:
    """Yield the hosts' folders with conversations that changed after a time; raise QueryError for too many."""
    for setup in SETUPS:
        for place in setup.conversations:
            folder = folder_of(place, USER, machine)
            paths = [path for path in files_below(folder, place.file) if changed_after(path, newer_than)]
            if paths:
                yield PastConversations(title=setup.title, folder=folder, paths=tuple(paths))


def changed_after(path: str, moment: float) -> bool:
    """Return whether a file changed at a moment or after it; 0 is before everything."""
    try:
        return not moment or os.path.getmtime(path) >= moment
    except OSError:
        return False


def below_home(path: str, machine: Machine) -> str:
    """Return a path as a person would write it, with the home folder as `~`."""
    home = machine.home.rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path
