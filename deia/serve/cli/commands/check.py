"""`deia check` and `deia scan`: which triggers fire on a text or a transcript, and on what scripts and builds do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from deia import fast_json
from deia.commons.layers.merge_layers import local_path
from deia.commons.triggers.cases import ENDINGS
from deia.commons.triggers.read_triggers import FOLDER
from deia.compile.manifest import Manifest, read_manifest
from deia.errors import QueryError
from deia.evaluate.transcripts import read_transcript, why_no_transcript
from deia.fast_json import Json
from deia.firing import Injection
from deia.problems import Problem
from deia.records import ROLES, Turn
from deia.scan.scan_folders import Rules, scan_paths
from deia.serve.cli import colours, output
from deia.serve.cli.ci_reports import CI_FORMS, Checked, print_problems, print_report
from deia.serve.cli.commands.shared_options import form_option, here, message_if_slow, open_librarian
from deia.text import counted, one_line, shorten
from deia.typed_json import plain
from deia.watch.authoring.act_explanation import ExplainedAct, explain_acts
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.conversation import turns_of
from deia.watch.verdict.judge import Verdict
from deia.watch.watcher import Watched

if TYPE_CHECKING:
    from deia.records import Role  # exists only for type checkers

EXCERPT = 100  # characters of a turn that are shown
NAMED = 10  # triggers that a message names
MOST_INPUT = 64_000_000  # bytes, as for the hook


@click.command(short_help="Show which triggers fire on a text or transcript.")
@click.argument("text", nargs=-1)
@click.option(
    "--file", "path", metavar="TRANSCRIPT",
    help="A transcript: JSON, JSON lines or `User: …` lines; - is standard input.",
)  # fmt: skip
@click.option("--role", type=click.Choice(ROLES), help="Who speaks; by default the user.")
@click.option("--explain", is_flag=True, help="Show every trigger that was considered, and why it did not fire.")
@click.option("--full", is_flag=True, help="Show the whole text that the agent would read.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a trigger fires.")
@form_option("text", "json", *CI_FORMS)
def check(
    *, text: Sequence[str], path: str | None, role: Role | None, explain: bool, full: bool, exit_code: bool,
    form: str,
) -> int:  # fmt: skip
    """Show which triggers fire on a text or a transcript, why, and what would be shown to the agent.

    TEXT is one turn of a conversation; `-` reads it from standard input, and a prefix such as "Assistant:" says who
    speaks. To check a tool call, use --role tool_call. Nothing is logged or remembered.
    """
    turns = _turns(text, path, role)
    librarian = open_librarian()
    with message_if_slow("compiling the triggers …"):
        artefact = librarian.open_artefact()
    watched = librarian.watch(turns, folder=here())
    acts = [explain_acts(artefact, turn) if explain else [] for turn in turns]
    if form in CI_FORMS:
        print_report(form, "deia check", _checked(turns, watched, path or ""))
    elif form == "json":
        fields = [_as_fields(*of_turn, explain=explain) for of_turn in zip(turns, watched, acts, strict=True)]
        output.say(fast_json.dumps(fields))
    else:
        lines = _as_lines(turns, watched, acts, artefact, explain=explain, full=full)
        colours.say("\n".join(lines), colours.FIRINGS)
    omitted = omitted_triggers(read_manifest(librarian.derived))
    if omitted:
        output.complain(f"{omitted} Type: deia lint")
    return int(exit_code and any(turn.firings for turn in watched))


def _checked(turns: Sequence[Turn], watched: Sequence[Watched], path: str) -> list[Checked]:
    """Return each turn, once for every trigger that fires on it."""
    checked = []
    for turn, result in zip(turns, watched, strict=True):
        name = f"turn {turn.index}, {turn.role}: {shorten(one_line(turn.text), EXCERPT)}"
        for firing in result.firings or (None,):
            description = f"{name}: {firing.trigger} fires because {firing.because}" if firing else ""
            problem = Problem(path=path or "-", line=0, found=description, code=firing.trigger) if firing else None
            checked.append(Checked(group=path or "deia check", name=name, problem=problem))
    return checked


def omitted_triggers(manifest: Manifest) -> str:
    """Return a message about triggers that the compiled files do not contain because of errors, or ""."""
    broken = manifest.broken
    if broken:
        named = ", ".join(broken[:NAMED]) + (" …" if len(broken) > NAMED else "")
        verb = "has" if len(broken) == 1 else "have"
        return f"{counted(len(broken), 'trigger')} {verb} errors and cannot fire: {named}."
    paths = {
        problem.path: None
        for problem in manifest.problems
        if problem.severity == "error" and local_path(problem.path).startswith(f"{FOLDER}/")
        and not problem.path.endswith(ENDINGS)
    }  # fmt: skip
    return f"There are errors in {', '.join(paths)}; the triggers with errors cannot fire." if paths else ""


def _turns(text: Sequence[str], path: str | None, role: Role | None) -> list[Turn]:
    if path is not None:
        if text:
            raise click.UsageError("Give a text or a --file, not both.")
        content = _read(path)
        reason = why_no_transcript(content)
        if reason:
            name = "standard input" if path == "-" else path
            fix = "To check a text as one turn, type: deia check - < FILE"
            raise QueryError(f"{name} is not a transcript: {reason}", fix=fix)
        turns = turns_of(read_transcript(content))
        if not turns:
            raise click.UsageError(f"There are no turns in {path}.")
        return [turn.but(role=role) for turn in turns] if role else turns
    if not text and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("Give a text in quotes, - for standard input, or --file TRANSCRIPT.")
    turn = _read("-") if tuple(text) in ((), ("-",)) else " ".join(text)
    if not turn.strip():
        raise click.UsageError("There is no text to check. Give one in quotes, - for standard input, or --file.")
    if role == "tool_call":
        return [Turn(role="tool_call", text=turn, tool="Bash", tool_input={"command": turn})]
    return [Turn(role=role, text=turn, failed=role == "tool_result")] if role else turns_of([turn])


def _read(path: str) -> str:
    if path == "-":
        data = sys.stdin.buffer.read(MOST_INPUT)
    else:
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_INPUT)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", "") or str(error)
            raise QueryError(f"{path} cannot be read: {reason}", fix="Name a file with a transcript.") from error
    return data.decode("utf-8", "replace")


def _as_fields(turn: Turn, watched: Watched, acts: Sequence[ExplainedAct], *, explain: bool) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "turn": turn.index, "role": turn.role, "text": turn.text, "fired": plain(watched.firings),
        "injection": plain(watched.injection),
    }  # fmt: skip
    if explain:
        names = ("trigger", "stage", "detail")
        fields["verdicts"] = [{name: getattr(verdict, name) for name in names} for verdict in watched.verdicts]
        fields["acts"] = plain(acts)
    return fields


def _as_lines(
    turns: Sequence[Turn], watched: Sequence[Watched], acts: Sequence[Sequence[ExplainedAct]], artefact: Artefact, *,
    explain: bool, full: bool,
) -> Iterator[str]:  # fmt: skip
    for turn, result, acts_of_turn in zip(turns, watched, acts, strict=True):
        verdicts = [verdict for verdict in result.verdicts if explain or verdict.stage in {"fires", "muted", "quiet"}]
        if not verdicts and not explain:
            continue
        yield f"turn {turn.index}, {turn.role}: {shorten(one_line(turn.text), EXCERPT)}"
        if not verdicts:
            yield "  not considered: keywords missing for all triggers"
        for verdict in verdicts:
            yield from _verdict_lines(verdict, artefact.trigger(verdict.number).origin)
        for act in acts_of_turn:
            yield from act_lines(act)
        if result.injection:
            yield from ("", result.injection.text, "") if full else _injection_lines(result.injection)
    if not any(result.firings for result in watched):
        yield f"Nothing fires in {counted(len(turns), 'turn')}."


def _injection_lines(injection: Injection) -> Iterator[str]:
    yield f"  shows   {counted(len(injection.text), 'character')} to the agent; to read them, add --full"
    documents = [document for part in injection.parts for document in part["injection"]["documents"]]
    yield from (f"          {document['path']}" for document in documents)


def _verdict_lines(verdict: Verdict, origin: str) -> Iterator[str]:
    firing = verdict.firing
    owner = "" if origin == "project" else f" of {'the starter commons' if origin == 'starter' else origin}"
    if firing is None:
        yield f"  silent  {verdict.trigger}{owner}, at {verdict.stage}: {verdict.detail}"
        return
    yield f"  FIRES   {firing.trigger} ({firing.urgency}, {firing.action}){owner}: {one_line(firing.title)}"
    yield f"          because {firing.because}"


def act_lines(act: ExplainedAct) -> Iterator[str]:
    """Yield the lines that explain an act: how it was read, and the clause that it comes nearest to."""
    read = [f"verb {_with_classes(act.verb, act.verb_classes)}"]
    read.append(f"object {_with_classes(act.head, act.head_classes)}" if act.head else "no object")
    if act.lead:
        read.append(f'after "{act.lead}"')
    yield f'  act     "{shorten(act.text, EXCERPT)}": {"; ".join(read)}; {act.stance.replace("_", " ")}'
    clause = f"{act.trigger}, `{shorten(act.clause, EXCERPT)}`"
    yield f"          comes nearest to {clause}: {act.why}" if act.unmet else f"          is what {clause} is about"


def _with_classes(word: str, classes: Sequence[str]) -> str:
    return f"{word} ({', '.join(classes)})" if classes else f"{word} (of no class)"


@click.command(short_help="Show what the triggers find in scripts, builds and migrations.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, as in .gitignore; repeatable.")
@click.option("--strict", is_flag=True, help="Exit 1 for notes, too.")
@form_option("text", "json", *CI_FORMS)
def scan(*, paths: Sequence[str], exclude: Sequence[str], strict: bool, form: str) -> int:
    """Show what the triggers find in scripts, CI files, Dockerfiles, Makefiles, package scripts, migrations, notebooks.

    PATH is a file or folder, by default this folder; what `.gitignore` names is left out. What an agent would be warned
    of, asked about or stopped at is an error, and exits 1; what it would only be told is a warning. A line that has
    `# deia: ignore[TRIGGER]`, or stands below it, is passed over. Files that did not change are not read again.
    """
    librarian = open_librarian()
    with message_if_slow("The triggers are compiled, which is needed once …"):
        librarian.open_artefact()
    rules = Rules(
        triggers=f"{librarian.derived}/triggers", exceptions=librarian.settings.exceptions, root=librarian.root
    )
    with message_if_slow("Scanning …"):
        scanned = scan_paths(paths or (".",), rules, exclude=exclude, environ=os.environ)
    known = f" ({scanned.unchanged} unchanged)" if scanned.unchanged else ""
    scope = f"{counted(scanned.files, 'file')}{known}: "
    errors = print_problems(form, "deia scan", scanned.problems, scope=scope)
    return int(bool(errors or (strict and scanned.problems)))
