"""Keeping a commons: compile it, check it, bring its index up to date, add a lesson, start a new one."""

from __future__ import annotations

import difflib
import os
import sys
import time
from collections.abc import Callable, Sequence

import click

from deia import fast_json, files, spool
from deia.commons.checks import lint as find_problems
from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.read_cache import cache_reads
from deia.commons.write.add_lesson import add_lesson
from deia.commons.write.index_store import BACKUP, build, migrate
from deia.commons.write.init import create_commons
from deia.compile.compiler import Compiled, compile_commons
from deia.compile.triggers.calibration import report
from deia.errors import CommonsError, Problem
from deia.evaluate.trigger_drafting import NO_DRAFT, draft_for
from deia.folders import events_folder, nearest_commons
from deia.ledger.tail import tidy
from deia.records import URGENCIES
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option, today, writable_root
from deia.serve.startup.bytecode import keep_bytecode
from deia.settings import CHOICES, resolve
from deia.text import counted

NAMED = 10  # triggers that a message names


@click.command("compile", short_help="Bring the compiled files up to date.")
@click.option("--force", is_flag=True, help="Make everything anew, even what looks fresh.")
@click.option(
    "--tier",
    type=click.Choice(CHOICES["tier"]),
    help="What searches are to go by: compact encodes all passages however long it takes, static none.",
)
@click.option("--verbose", is_flag=True, help="Tell what `meaning` clauses of packs and of the starter came to, too.")
@commons_option
def compile(*, force: bool, tier: str | None, verbose: bool) -> int:  # noqa: A001 - the command's name
    """Bring the compiled triggers and the search catalog up to date with their sources.

    What has errors is left out, the rest is compiled. Exits with 1 where there are errors, as `deia lint` does.
    """
    progress = output.complain if sys.stderr is not None and sys.stderr.isatty() else None
    root = commons_root()
    keep_bytecode()
    done = compile_commons(root, environ=os.environ, force=force, progress=progress, tier=tier, requested=True)
    output.say(
        "\n".join(
            filter(None, (*tell_compiled(done, verbose=verbose), tidy(root, environ=os.environ, now=time.time())))
        )
    )
    return int(any(problem.severity == "error" for problem in done.problems))


def tell_compiled(done: Compiled, *, verbose: bool = False) -> list[str]:
    """Give what a compile did, as lines; of `meaning` clauses only the project's own, where `verbose` is not set."""
    written = " and ".join(done.written)
    off = f" and {done.deprecated} deprecated" if done.deprecated else ""
    counts = f"{counted(done.triggers - done.deprecated, 'trigger')}{off}, {counted(done.documents, 'document')}"
    lines = [
        f"{f'Wrote {written}' if written else 'Everything was fresh'}: {counts}, {done.seconds:.2f} s ({done.folder})"
    ]
    if done.ungated:
        named = ", ".join(done.ungated[:NAMED]) + (" …" if len(done.ungated) > NAMED else "")
        have = "trigger has" if len(done.ungated) == 1 else "triggers have"
        lines.append(f"{len(done.ungated)} {have} no required word and cost every turn a look: {named}")
    lines += report([one for one in done.meaning if verbose or one.trigger in done.own])
    if done.left_out:
        lines.append("Searches go by word vectors; the sentence model would take long: deia compile --tier compact")
    if done.problems:
        errors = sum(problem.severity == "error" for problem in done.problems)
        counts = f"{counted(len(done.problems), 'problem')} ({counted(errors, 'error')})"
        lines.append(f"{counts}{'; what is broken is left out' if errors else ''}. Type: deia lint")
    return lines


@click.command(short_help="Show everything that is wrong with the commons.")
@form_option("text", "json", "github")
@commons_option
def lint(*, form: str) -> int:
    """Show everything that is wrong with the index, the documents and the triggers, by file and line.

    Exits with 1 where there are errors, 0 where there are only warnings.
    """
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    problems = find_problems(root, starter=settings.starter, settings=settings)
    errors = sum(problem.severity == "error" for problem in problems)
    if form == "json":
        output.say(fast_json.dumps([problem.values() for problem in problems]))
    else:
        write: Callable[[Problem], str] = str if form == "text" else _annotation
        for problem in problems:
            output.say(write(problem.but(path=_from_here(root, problem.path))))
    if form == "text":
        output.say(f"{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}.")
    return int(errors > 0)


def _from_here(root: str, path: str) -> str:
    """Give a file's path from the working folder, where an editor or a build finds it."""
    try:
        shown = os.path.relpath(os.path.join(root, path))
    except ValueError:  # another drive
        shown = os.path.join(root, path)
    return shown.replace(os.sep, "/")


def _annotation(problem: Problem) -> str:
    """Write a problem as a workflow command of GitHub Actions, with the escapes its documentation names."""
    told = f"{problem.found} {problem.fix}".strip().replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    path = problem.path
    for char, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        path = path.replace(char, code)
    return f"::{problem.severity} file={path},line={max(problem.line, 1)},title=deia {problem.code}::{told}"


@click.group(short_help="Work on the master index.")
def index() -> None:
    """Work on the master index. Without --write, a command shows what it would change."""


@index.command("build")
@click.option("--write", is_flag=True, help="Write the file.")
@commons_option
def index_build(*, write: bool) -> int:
    """Add entries for documents that have none, and fill in the views and counts."""
    return _rewrite(build, write=write)


@index.command("migrate")
@click.option("--write", is_flag=True, help="Write the file, keeping the old one beside it.")
@commons_option
def index_migrate(*, write: bool) -> int:
    """Convert an index of an older shape."""
    return _rewrite(migrate, write=write)


def _rewrite(change: Callable[..., str], *, write: bool) -> int:
    root = writable_root()
    path = find_index(root) or "commons_index.yaml"
    before = (safe_files.read_bytes(root, path) or b"").decode("utf-8", "replace")
    after = change(root, write=write, today=today())
    if before == after:
        output.say(f"{path} is as it should be.")
    else:
        output.say(
            "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), path, path)).rstrip("\n")
        )
        kept = f" The old file is {path}{BACKUP}." if change is migrate else ""
        output.say(f"Written.{kept}" if write else "Nothing was written; add --write to do so.")
    return output.FOUND


@click.command(short_help="Write down a lesson.")
@click.option("--title", help="What goes wrong, in a few words.")
@click.option("--text", help="The lesson itself, as Markdown; - reads it from standard input.")
@click.option("--summary", help="One sentence for the index.")
@click.option("--platform", default="", help="The platform it is about.")
@click.option("--urgency", type=click.Choice(URGENCIES), help="How bad it is. [default: medium]")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--keyword", "keywords", multiple=True, help="A keyword to be found by; may be repeated.")
@click.option("--category", default="patterns", show_default=True, help="The folder below bok/.")
@click.option("--trigger/--no-trigger", default=None, help="Whether to draft a trigger for it.")
@commons_option
def add(  # noqa: PLR0913 - every option is a field of the lesson
    *, title: str | None, text: str | None, summary: str | None, platform: str, urgency: str | None,
    tags: Sequence[str], keywords: Sequence[str], category: str, trigger: bool | None,
) -> int:  # fmt: skip
    """Write down a lesson: the document, its entry in the index and, asked for, a draft of a trigger.

    At a terminal, what is not given is asked for.
    """
    root = writable_root()
    asking = title is None and sys.stdin is not None and sys.stdin.isatty()
    if title is None and not asking:
        raise click.UsageError("A lesson needs a title; give it with --title.")
    if asking:
        title = click.prompt("What goes wrong, in a few words")
        summary = summary or click.prompt("In one sentence", default="", show_default=False)
        urgency = urgency or click.prompt("How bad is it", type=click.Choice(URGENCIES), default="medium")
        trigger = click.confirm("Draft a trigger for it") if trigger is None else trigger
    body = _given_text(text)
    with cache_reads():  # the compile reads the index as it was just written
        lesson = add_lesson(
            root, title=title or "", text=body, summary=summary or "", platform=platform,
            urgency=urgency or "medium", tags=tuple(tags), keywords=tuple(keywords), category=category, today=today(),
            draft=(lambda entry: draft_for(entry, body)) if trigger else None,
        )  # fmt: skip
        output.say("\n".join(f"wrote {path}" for path in lesson.paths))
        if trigger and not any(path.startswith("triggers/") for path in lesson.paths):
            output.say(f"{NO_DRAFT} {lesson.entry.id}")
        _log_change(root, f"added {lesson.entry.id}")
        output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
    return output.FOUND


def _given_text(text: str | None) -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text or ""


def _log_change(root: str, change: str) -> None:
    telemetry = resolve(root, environ=os.environ).telemetry
    spool.append(events_folder(root, os.environ), "index", {"actor": "cli", "change": change}, telemetry=telemetry)


@click.command(short_help="Start a commons.")
@click.argument("folder", default=".")
def init(*, folder: str) -> int:
    """Start a commons in FOLDER, adding only what is not there, and compile it."""
    root = os.path.abspath(folder).replace("\\", "/")
    if os.path.exists(root) and not os.path.isdir(root):
        raise CommonsError(f"{folder} is not a folder", fix="Name a folder, existing or new.")
    started = create_commons(root, today=today())
    for verb, paths in (("wrote", started.written), ("kept", started.existed)):
        for path in paths:
            output.say(f"{verb} {path}")
    output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
    told = _out_of_sight(root, folder)
    if told:
        output.say(told)
    output.say("Next: deia install claude-code")
    return output.FOUND


def _out_of_sight(root: str, folder: str) -> str:
    """Say that sessions in the rest of a repository do not see a commons that lies below its root."""
    repository = next((one for one in files.upwards(root) if files.exists(f"{one}/.git")), "")
    if repository in ("", root) or nearest_commons(files.parent(root)):
        return ""
    name = os.path.basename(root) if folder in (".", "") else folder
    return (
        f"Note: a session uses the nearest commons upwards, so that sessions started above {name} will not see it.\n"
        f"  To have lessons for the whole repository, type: deia init {repository}\n"
        f"  To connect a host to this one, wherever a session works: deia install HOST --commons {root}"
    )
