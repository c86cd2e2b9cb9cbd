"""`deia trigger replay`: how often deia would have spoken in past conversations, which a person may then mute."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import click

from deia.evaluate.replay_files import Plan, replay_files, transcript_files
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import (
    commons_option,
    form_option,
    is_person,
    message_if_slow,
    moment_of,
    named_commons,
    since_option,
)
from deia.serve.cli.replay_report import ReplayRun, TriggerInfo, by_frequency, found_lines, run_fields, run_lines, times
from deia.serve.setup.host_settings.places import this_machine
from deia.serve.setup.past_conversations import PastConversations, changed_after, past_conversations, places_looked_at
from deia.suggestions import nearest
from deia.watch.authoring.replay import Tally
from deia.watch.gate.artefact import Artefact
from deia.watch.silence.mutes import Mute, muted_for_good, write_mute

PATIENCE = 100_000_000  # bytes that take some minutes
REPORT_EVERY = 500  # turns
CLEAR_LINE = "\r\033[K"
OFFERED = 8  # triggers at most that are named in the question
# Set by hosts in what an agent starts: then no question is asked, since the agent would answer it.
AGENT_VARIABLES = (
    "CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE",
)  # fmt: skip


@click.command(short_help="Show how often deia would have spoken in past conversations.")
@click.argument("transcripts", nargs=-1, metavar="[TRANSCRIPTS]...")
@click.option(
    "--against",
    metavar="FOLDER",
    help="An older commons to compare with: show which firings are new, and which are gone.",
)
@click.option("--examples", type=click.IntRange(0, 1000), default=2, show_default=True, help="Examples per trigger.")
@click.option(
    "--mute", "mutes", metavar="TRIGGER", multiple=True, help="Then mute this trigger for you; may be repeated."
)
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; by default one per core if the input is large.")
@since_option
@form_option("text", "json")
@commons_option
def replay(
    *, transcripts: Sequence[str], against: str | None, examples: int, mutes: Sequence[str], jobs: int | None,
    since: str | None, form: str,
) -> int:  # fmt: skip
    """Show how often deia would have spoken in past conversations: by which triggers, where, and why.

    TRANSCRIPTS are files or folders: the files of agent hosts, JSON, JSON lines (optionally with a conversation_id in
    each), or Markdown. Without any, the folders are read in which Claude Code, Codex, Copilot, Gemini, Cursor, Cline,
    Amp and Droid keep conversations. Nothing is logged, and nothing leaves the machine. At a terminal, you are then
    asked which triggers are noise to you. With --since, only files that changed lately are read.
    """
    paths, found = _files(transcripts, newer_than=moment_of(since))
    if not transcripts and not paths:
        looked_at = ", ".join(places_looked_at(this_machine()))
        lately = f" that changed in the last {since}" if since is not None else ""
        output.complain(f"deia: there are no past conversations{lately} on this machine; looked in {looked_at}")
        return output.NOTHING
    if form == "text" and found:
        output.say("\n".join(found_lines(found)))
    if found and since is None:
        _announce_patience(paths)
    newer = Librarian(named_commons() or None, agent="cli", ledger=False)
    sets = [newer, *([Librarian(os.path.abspath(against), agent="cli", ledger=False)] if against is not None else [])]
    with message_if_slow("The triggers are compiled, which is needed once …"):
        triggers = _trigger_info([librarian.open_artefact() for librarian in sets])
    _check_known(mutes, triggers)
    plan = Plan(artefacts=tuple(f"{librarian.derived}/triggers" for librarian in sets), examples=examples)
    began = time.perf_counter()
    tally = replay_files(paths, plan, jobs=jobs or 0, on_progress=_progress() if output.is_watched() else None)
    run = ReplayRun(
        tally=tally, triggers=triggers, found=found, seconds=time.perf_counter() - began, against=against,
        muted=muted_for_good(state_folder(os.environ), now=time.time()), machine=this_machine(),
    )  # fmt: skip
    if output.is_watched():
        sys.stderr.write(CLEAR_LINE)
    output.answer(run_fields(run), run_lines(run), as_json=form == "json")
    code = _report_unread(tally, transcripts)
    _mute(
        mutes or (_noise_named(run) if form == "text" else ()), tell=output.say if form == "text" else output.complain
    )
    return code


def _files(named: Sequence[str], *, newer_than: float) -> tuple[list[str], list[PastConversations]]:
    """Return the files to replay, and where they were found if none are named."""
    found = [] if named else list(past_conversations(this_machine(), newer_than=newer_than))
    paths = transcript_files(named) if named else [path for past in found for path in past.paths]
    return [path for path in paths if changed_after(path, newer_than)], found


def _announce_patience(paths: Sequence[str]) -> None:
    """Say that a replay will take long, and how to make it shorter."""
    size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
    if size >= PATIENCE:
        output.complain(
            f"These are {size / 1e6:,.0f} MB, which take some minutes; to read only recent ones: --since 30d"
        )


def _check_known(mutes: Sequence[str], triggers: Mapping[str, TriggerInfo]) -> None:
    """Raise CommonsError if there is no such trigger."""
    for trigger in mutes:
        if trigger not in triggers:
            raise CommonsError(f"there is no trigger {trigger!r}", fix=nearest(trigger, list(triggers)))


# --- muting what is noisy ---


def _noise_named(run: ReplayRun) -> list[str]:
    """Return the triggers that the person at the terminal calls noise; without one, say how to mute."""
    heard = by_frequency(run.heard)
    if not heard:
        return []
    if not (is_person() and output.at_terminal()) or any(map(os.environ.get, AGENT_VARIABLES)):
        output.say("To mute one of them for yourself, type in a terminal: deia mute TRIGGER --for 7d")
        return []
    some = ", ".join(f"{trigger} ({times(run.heard[trigger])})" for trigger in heard[:OFFERED])
    output.say(f"\nIs one of these noise to you? {some}{', …' if len(heard) > OFFERED else ''}")
    named = _answer(heard)
    return [trigger for trigger in named if _is_meant(trigger, run)]


def _answer(heard: Sequence[str]) -> list[str]:
    """Return the triggers that the person names, of those that fired; ask again after a name that is none."""
    while True:
        text = click.prompt("Names of triggers to mute for yourself, or Enter for none", default="", show_default=False)
        named = text.replace(",", " ").split()
        unknown = [name for name in named if name not in heard]
        if not unknown:
            return list(dict.fromkeys(named))
        output.say(f"{unknown[0]} did not fire. {nearest(unknown[0], list(heard))}".strip())


def _is_meant(trigger: str, run: ReplayRun) -> bool:
    """Return whether a trigger is to be muted; one that guards against what cannot be undone is asked about again."""
    info = run.triggers[trigger]
    if info.urgency != "critical":
        return True
    does = {"hold": "stops calls", "ask": "asks about calls"}.get(info.action, "warns")
    return click.confirm(f"{trigger} is critical and {does}: {info.title}. Mute it all the same?", default=False)


def _mute(triggers: Sequence[str], *, tell: Callable[[str], None]) -> None:
    """Mute triggers for the person, everywhere and for good."""
    state = state_folder(os.environ)
    for trigger in dict.fromkeys(triggers):
        if not write_mute(state, Mute(trigger=trigger)):
            raise CommonsError("the mute cannot be written", where=state, fix="Check the permissions of that folder.")
        tell(f"{trigger} is muted for you. To end that, type: deia mute {trigger} --off")


# --- what was read ---


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
        """Show the number of turns from time to time, on one line of the terminal."""
        nonlocal reported
        if turns - reported >= REPORT_EVERY:
            reported = turns
            sys.stderr.write(f"{CLEAR_LINE}{turns:,} turns")
            sys.stderr.flush()

    return report


def _trigger_info(artefacts: Sequence[Artefact]) -> dict[str, TriggerInfo]:
    """Return what is known about the triggers of one or two sets; the first set takes precedence."""
    known: dict[str, TriggerInfo] = {}
    for artefact in artefacts:
        for number in range(artefact.meta.triggers):
            trigger = artefact.trigger(number)
            info = TriggerInfo(urgency=trigger.urgency, action=trigger.action, title=trigger.title)
            known.setdefault(trigger.id, info)
    return known
