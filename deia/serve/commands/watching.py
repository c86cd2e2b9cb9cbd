"""`deia check` and `deia triggers test`: what the triggers make of a text, a transcript, or their own cases."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from deia import fast_json
from deia.commons.commons import load_commons
from deia.errors import CommonsError
from deia.librarian import Librarian
from deia.records import ROLES, Turn
from deia.serve import output
from deia.serve.commands.options import commons_option, form_option, given_commons, here
from deia.serve.naming import nearest
from deia.serve.transcripts import read_transcript
from deia.text import one_line, shorten
from deia.watch.case_runner import run_cases
from deia.watch.conversation import turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.commons.commons import Commons
    from deia.records import Firing
    from deia.watch.case_runner import CaseResult
    from deia.watch.judge import Verdict
    from deia.watch.watcher import Watched

EXCERPT = 100  # characters of a turn that are shown
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
    watched = librarian.watch(turns, folder=here())
    if form == "json":
        output.say(fast_json.dumps([_as_fields(*pair, explain=explain) for pair in zip(turns, watched, strict=True)]))
    else:
        output.say("\n".join(_as_lines(turns, watched, explain=explain)))
    return int(exit_code and any(each.firings for each in watched))


def _turns(text: Sequence[str], path: str | None, role: str | None) -> list[Turn]:
    """Give the turns to check.

    Raises:
        UsageError: there is nothing to check, or a text and a file.
        OSError: the file cannot be read.
    """
    if path is not None:
        if text:
            raise click.UsageError("Give a text or a --file, not both.")
        turns = turns_of(read_transcript(_read(path)))
        if not turns:
            raise click.UsageError(f"There is no turn in {path}.")
        return [turn.but(role=role) for turn in turns] if role else turns
    if not text and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("Give a text in quotes, - for standard input, or --file TRANSCRIPT.")
    words = _read("-") if tuple(text) in ((), ("-",)) else " ".join(text)
    if role == "tool_call":
        return [Turn(role="tool_call", text=words, tool="Bash", tool_input={"command": words})]
    spoken: Any = role
    return [Turn(role=spoken, text=words, failed=role == "tool_result")] if role else turns_of([words])


def _read(path: str) -> str:
    if path == "-":
        data = sys.stdin.buffer.read(MOST_INPUT)
    else:
        with open(path, "rb") as file:
            data = file.read(MOST_INPUT)
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


def _as_lines(turns: Sequence[Turn], watched: Sequence[Watched], *, explain: bool) -> Iterator[str]:
    for turn, each in zip(turns, watched, strict=True):
        told = [verdict for verdict in each.verdicts if explain or verdict.stage in {"fires", "muted"}]
        if not told and not explain:
            continue
        yield f"turn {turn.index}, {turn.role}: {shorten(one_line(turn.text), EXCERPT)}"
        if not told:
            yield "  no trigger has all the words it needs in this turn"
        for verdict in told:
            yield from _verdict_lines(verdict)
        if each.injection:
            yield from ("", each.injection.text, "")
    if not any(each.firings for each in watched):
        yield f"Nothing fires in {len(turns)} turn{'s' * (len(turns) != 1)}."


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    firing = verdict.firing
    if firing is None:
        yield f"  silent  {verdict.trigger}, at {verdict.stage}: {verdict.detail}"
        return
    yield f"  FIRES   {firing.trigger} ({firing.urgency}, {firing.action}): {one_line(firing.title)}"
    yield f"          because {firing.because}"


@click.group(short_help="Work on the triggers.")
def triggers() -> None:
    """Work on the triggers."""


@triggers.command()
@click.argument("ids", nargs=-1, metavar="[ID]…")
@commons_option
def test(*, ids: Sequence[str]) -> int:
    """Run the cases beside the triggers: those that must fire, and those that must stay silent.

    Exits with 1 where a case does not hold.
    """
    librarian = Librarian(given_commons() or None, agent="cli", ledger=False)
    commons = load_commons(librarian.root)
    _refuse_unknown(commons, ids)
    cases = [case for case in commons.cases if not ids or case.trigger in ids]
    results = run_cases(librarian.open_artefact(), cases, now=time.time())
    failures = [result for result in results if not result.holds]
    for result in failures:
        output.say("\n".join(_failure(result)))
    _sum_up(commons, ids, results)
    return int(bool(failures))


def _refuse_unknown(commons: Commons, ids: Sequence[str]) -> None:
    known = [trigger.id for trigger in commons.triggers]
    for identity in ids:
        if identity not in known:
            raise CommonsError(f"there is no trigger {identity!r}", fix=nearest(identity, known))


def _failure(result: CaseResult) -> Iterator[str]:
    case = result.case
    wanted = "should fire" if case.fires else "should stay silent"
    turn = case.turns[result.turn - 1] if case.turns else None
    yield f"{case.path}:{case.line}: {case.trigger} {wanted}, but {'does not' if case.fires else 'fires'}"
    if turn is not None:
        yield f"  turn {result.turn}, {turn.role}: {shorten(one_line(turn.text or str(turn.tool_input)), EXCERPT)}"
    yield f"  {'stopped at ' + result.stage if case.fires else 'because'}: {result.detail}"


def _sum_up(commons: Commons, ids: Sequence[str], results: Sequence[CaseResult]) -> None:
    covered = {result.case.trigger for result in results}
    asked = [trigger.id for trigger in commons.triggers if not ids or trigger.id in ids]
    failed = sum(not result.holds for result in results)
    output.say(f"{len(asked)} triggers, {len(results)} cases, {failed} failed.")
    bare = [identity for identity in asked if identity not in covered]
    if bare:
        output.say(f"Without cases: {', '.join(bare)}.")
    broken = [
        problem for problem in commons.problems if problem.path.startswith("triggers/") and problem.severity == "error"
    ]
    if broken:
        output.say(f"{len(broken)} errors in the trigger files were left out. Type: deia lint")
