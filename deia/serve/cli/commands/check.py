"""`deia check`: what the triggers make of a text or a transcript."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from deia import fast_json
from deia.commons.layers.merge_layers import local_path
from deia.commons.triggers.cases import ENDINGS
from deia.commons.triggers.read_triggers import FOLDER
from deia.compile.manifest import Manifest, read_manifest
from deia.errors import QueryError
from deia.evaluate.transcripts import read_transcript, why_no_transcript
from deia.librarian import Librarian
from deia.records import ROLES, Firing, Turn
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, form_option, given_commons, here, telling_if_slow
from deia.text import one_line, shorten
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.conversation import turns_of
from deia.watch.verdict.judge import Verdict
from deia.watch.watcher import Watched

EXCERPT = 100  # characters of a turn that are shown
NAMED = 10  # triggers that a message names
MOST_INPUT = 64_000_000  # bytes, as for the hook


@click.command(short_help="Show what a text or a transcript makes fire.")
@click.argument("text", nargs=-1)
@click.option(
    "--file", "path", metavar="TRANSCRIPT", help="A transcript: JSON, JSON lines, or `User: …` lines; - is input."
)
@click.option("--role", type=click.Choice(ROLES), help="Who says the text; by default the user.")
@click.option("--explain", is_flag=True, help="Show every trigger that was considered, and where it stopped.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where something fires.")
@form_option("text", "json")
@commons_option
def check(*, text: Sequence[str], path: str | None, role: str | None, explain: bool, exit_code: bool, form: str) -> int:
    """Show what a text or a transcript makes fire, why, and what would be injected.

    TEXT is one turn; `-` reads it from standard input, and "Assistant: …" says who speaks. A tool call is checked with
    --role tool_call. Nothing is logged or remembered.
    """
    turns = _turns(text, path, role)
    librarian = Librarian(given_commons() or None, agent="cli", ledger=False)
    with telling_if_slow("compiling the triggers …"):
        librarian.open_artefact()
    watched = librarian.watch(turns, folder=here())
    if form == "json":
        output.say(fast_json.dumps([_as_fields(*pair, explain=explain) for pair in zip(turns, watched, strict=True)]))
    else:
        output.say("\n".join(_as_lines(turns, watched, librarian.open_artefact(), explain=explain)))
    left = left_out(read_manifest(librarian.derived))
    if left:
        output.complain(f"{left} Type: deia lint")
    return int(exit_code and any(each.firings for each in watched))


def left_out(manifest: Manifest) -> str:
    """Say what of the triggers was left out of the compiled files, or the empty text."""
    broken = manifest.broken
    if broken:
        named = ", ".join(broken[:NAMED]) + (" …" if len(broken) > NAMED else "")
        were = "trigger was" if len(broken) == 1 else "triggers were"
        return f"{len(broken)} {were} left out ({named}): there are errors in what is written of them."
    wrong = {
        problem.path: None
        for problem in manifest.problems
        if problem.severity == "error" and local_path(problem.path).startswith(f"{FOLDER}/")
        and not problem.path.endswith(ENDINGS)
    }  # fmt: skip
    return f"There are errors in {', '.join(wrong)}; what is broken was left out." if wrong else ""


def _turns(text: Sequence[str], path: str | None, role: str | None) -> list[Turn]:
    """Give the turns to check.

    Raises:
        UsageError: there is nothing to check, or a text and a file.
        QueryError: the file cannot be read, or is no transcript.
    """
    if path is not None:
        if text:
            raise click.UsageError("Give a text or a --file, not both.")
        given = _read(path)
        why = why_no_transcript(given)
        if why:
            aloud = "standard input" if path == "-" else path
            fix = "To check a text as one turn, type: deia check - < FILE"
            raise QueryError(f"{aloud} is no transcript: {why}", fix=fix)
        turns = turns_of(read_transcript(given))
        if not turns:
            raise click.UsageError(f"There is no turn in {path}.")
        return [turn.but(role=role) for turn in turns] if role else turns
    if not text and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("Give a text in quotes, - for standard input, or --file TRANSCRIPT.")
    words = _read("-") if tuple(text) in ((), ("-",)) else " ".join(text)
    if not words.strip():
        raise click.UsageError("There is no text to check. Give one in quotes, - for standard input, or --file.")
    if role == "tool_call":
        return [Turn(role="tool_call", text=words, tool="Bash", tool_input={"command": words})]
    spoken: Any = role
    return [Turn(role=spoken, text=words, failed=role == "tool_result")] if role else turns_of([words])


def _read(path: str) -> str:
    if path == "-":
        data = sys.stdin.buffer.read(MOST_INPUT)
    else:
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_INPUT)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "") or str(error)
            raise QueryError(f"{path} cannot be read: {why}", fix="Name a file that holds a transcript.") from error
    return data.decode("utf-8", "replace")


def _as_fields(turn: Turn, watched: Watched, *, explain: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "turn": turn.index,
        "role": turn.role,
        "text": turn.text,
        "fired": [_firing_fields(firing) for firing in watched.firings],
        "injection": watched.injection.values() if watched.injection else None,
    }
    if explain:
        names = ("trigger", "stage", "detail")
        fields["verdicts"] = [{name: getattr(verdict, name) for name in names} for verdict in watched.verdicts]
    return fields


def _firing_fields(firing: Firing) -> dict[str, Any]:
    return {**firing.values(), "documents": [document.values() for document in firing.documents]}


def _as_lines(turns: Sequence[Turn], watched: Sequence[Watched], artefact: Artefact, *, explain: bool) -> Iterator[str]:
    for turn, each in zip(turns, watched, strict=True):
        told = [verdict for verdict in each.verdicts if explain or verdict.stage in {"fires", "muted", "quiet"}]
        if not told and not explain:
            continue
        yield f"turn {turn.index}, {turn.role}: {shorten(one_line(turn.text), EXCERPT)}"
        if not told:
            yield "  no trigger has all the words it needs in this turn"
        for verdict in told:
            yield from _verdict_lines(verdict, artefact.trigger(verdict.number).origin)
        if each.injection:
            yield from ("", each.injection.text, "")
    if not any(each.firings for each in watched):
        yield f"Nothing fires in {len(turns)} turn{'s' * (len(turns) != 1)}."


def _verdict_lines(verdict: Verdict, origin: str) -> Iterator[str]:
    firing = verdict.firing
    whose = "" if origin == "project" else f" of {'the starter commons' if origin == 'starter' else origin}"
    if firing is None:
        yield f"  silent  {verdict.trigger}{whose}, at {verdict.stage}: {verdict.detail}"
        return
    yield f"  FIRES   {firing.trigger} ({firing.urgency}, {firing.action}){whose}: {one_line(firing.title)}"
    yield f"          because {firing.because}"
