"""Commands that maintain a commons: compile, lint, explain, index, add a lesson, and start a new commons."""

from __future__ import annotations

import difflib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import click

from deia import files
from deia.commons.checks import lint as find_problems
from deia.commons.checks import setting_problems
from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.read_cache import cache_reads
from deia.commons.triggers.read_triggers import FOLDER as TRIGGERS
from deia.commons.write.add_lesson import EXAMPLE, add_lesson, drafted_effect
from deia.commons.write.index_store import BACKUP, build, migrate
from deia.commons.write.init import create_commons
from deia.compile.abandoned import remove_abandoned
from deia.compile.catalog.effort import DEFAULT_LIMIT, TIER
from deia.compile.compiler import Compiled, compile_commons
from deia.errors import QueryError
from deia.evaluate.trigger_drafting import NO_DRAFT, draft_for
from deia.fast_json import Json
from deia.folders import LIBRARY_STATE, MARKERS, STARTER, library_folder, nearest_commons
from deia.knowledge import Entry
from deia.ledger.tail import tidy
from deia.problems import CommonsError, Problem, SettingsError
from deia.records import URGENCIES
from deia.search.rendering.columns import wrap
from deia.serve.cli import output
from deia.serve.cli.ci_reports import CI_FORMS, print_problems
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.watch_option import watch_option
from deia.serve.startup.bytecode import keep_bytecode
from deia.settings import CHOICES, DEFAULTS, resolve
from deia.suggestions import nearest
from deia.text import counted

NOT_TRUSTED = (
    "This commons is not trusted: its settings do not count, and its lessons only add notes. If you trust its authors,"
    " type in a terminal: deia trust"
)
HOW_TO_WRITE = {
    "--write": "Nothing was written. To write the file, add --write.",
    "--dry-run": "Nothing was written (--dry-run).",
}
NAMED = 10  # triggers that a message names
SOURCES = ("bok", "triggers", "packs", "deia.lock")  # what a commons may consist of besides `MARKERS`
PAGE = f"{STARTER}/docs/ERRORS.md"  # the page that people read, whose tables are the data
ROW = re.compile(r"\| (`[^|]*`) \| (.*) \|")
ANY_FIELD = "bad-"  # and a field's name: the page describes all of them by one sentence
WIDTH = 100


@click.command("compile", short_help="Bring the compiled files up to date.")
@click.option("--force", is_flag=True, help="Compile everything, even what is up to date.")
@click.option(
    "--tier", type=click.Choice(CHOICES["tier"]),
    help="The embedding model for search: compact encodes all passages, which can take long; static none.",
)  # fmt: skip
def compile(*, force: bool, tier: str | None) -> int:  # noqa: A001 - the command's name
    """Bring the compiled triggers and the search catalog up to date with their sources.

    What has errors is left out, or counts as it was before, and the rest is
    compiled. If there are errors, exits 1, as `deia lint` does.
    """
    progress = output.complain if output.is_watched() else None
    root = shared.commons_root()
    keep_bytecode()
    compiled = compile_commons(root, environ=os.environ, force=force, progress=progress, tier=tier, requested=True)
    remove_abandoned(os.environ, now=time.time())
    if tier == TIER:
        from deia.compile.library_encoding import encode_library  # noqa: PLC0415 - few compiles encode everything

        if encode_library(root, os.environ, tell=progress):
            output.say("The library is being encoded by another process. To see how far it is, type: deia source list")
    output.say("\n".join(filter(None, (*compile_report(compiled), tidy(root, environ=os.environ, now=time.time())))))
    if force and files.exists(f"{library_folder(root, os.environ)}/{LIBRARY_STATE}"):
        from deia.compile.take_in import bring_up_to_date  # noqa: PLC0415 - few commons have a library

        bring_up_to_date(root, os.environ, force=True)
    return int(any(problem.severity == "error" for problem in compiled.problems))


def compile_and_say(root: str, *, requested: bool = False, tell: Callable[[str], None] = output.say) -> None:
    """Compile a commons and say what that did; a person who `requested` it waits for the sentence model."""
    tell("\n".join(compile_report(compile_commons(root, environ=os.environ, requested=requested))))


def compile_report(compiled: Compiled) -> list[str]:
    """Return what a compile did, as lines for a person."""
    written = f"Wrote {' and '.join(compiled.written)}" if compiled.written else "Everything was up to date"
    active = counted(compiled.triggers - compiled.deprecated, "trigger")
    off = f" and {compiled.deprecated} deprecated" if compiled.deprecated else ""
    documents = counted(compiled.documents, "document")
    lines = [f"{written}: {active}{off}, {documents}, {compiled.seconds:.2f} s ({compiled.folder})"]
    if compiled.ungated:
        named = ", ".join(compiled.ungated[:NAMED]) + (" …" if len(compiled.ungated) > NAMED else "")
        have = "trigger has" if len(compiled.ungated) == 1 else "triggers have"
        lines.append(f"{len(compiled.ungated)} {have} no required word and must be checked in every turn: {named}")
    if not compiled.trusted:
        lines.append(NOT_TRUSTED)
    if compiled.left_out:
        lines.append(
            f"Searches use word vectors only, since more than {DEFAULT_LIMIT} texts would have to be encoded for the"
            " sentence model. To wait for that, type: deia compile --tier compact"
        )
    if compiled.problems:
        errors = sum(problem.severity == "error" for problem in compiled.problems)
        counts = f"{counted(len(compiled.problems), 'problem')} ({counted(errors, 'error')})"
        effect = "; what has errors is left out, or counts as it was before" if errors else ""
        lines += [f"{counts}{effect}. Type: deia lint", *compiled.faults]
    return lines


@click.command(short_help="Show all problems of the commons.")
@click.option("--fix", is_flag=True, help="First add missing entries to the index, and update its views and counts.")
@click.option("--dry-run", is_flag=True, help="With --fix, only show what would change.")
@shared.form_option("text", "json", *CI_FORMS)
@watch_option
def lint(*, fix: bool, dry_run: bool, form: str) -> int:
    """Show all problems of the index, the documents and the triggers, by file and line.

    If there are errors, exits 1; warnings alone do not count. To read what a problem
    means, type: deia explain CODE
    """
    if dry_run and not fix:
        raise click.UsageError("--dry-run belongs to --fix.")
    if fix:
        _rewrite(build, write=not dry_run, tell=output.say if form == "text" else output.complain, option="--dry-run")
    root = shared.commons_root()
    return int(print_problems(form, "deia lint", _problems(root), root=root) > 0)


def _problems(root: str) -> list[Problem]:
    """Return every problem of a commons; wrong settings hide no others, as the defaults count in their place."""
    try:
        settings, wrong = resolve(root, environ=os.environ), []
    except SettingsError as error:
        settings, wrong = DEFAULTS, list(setting_problems(error))
    return [*wrong, *find_problems(root, starter=settings.starter, settings=settings)]


@click.group(short_help="Work on the index of documents.")
def index() -> None:
    """Work on the index of documents. Without --write, a command only shows what it would change."""


@index.command("build")
@click.option("--write", is_flag=True, help="Write the file.")
def index_build(*, write: bool) -> None:
    """Add missing entries for documents, and update the views and counts.

    With --write, everything is then brought up to date, as `deia compile` does.
    """
    _rewrite(build, write=write)


@index.command("migrate")
@click.option("--write", is_flag=True, help="Write the file and keep a copy of the old one.")
def index_migrate(*, write: bool) -> None:
    """Convert an index in an older format."""
    _rewrite(migrate, write=write)


def _rewrite(
    change: Callable[..., str], *, write: bool, tell: Callable[[str], None] = output.say, option: str = "--write"
) -> None:
    root = shared.writable_root()
    path = find_index(root) or "commons_index.yaml"
    before = (safe_files.read_bytes(root, path) or b"").decode("utf-8", "replace")
    after = change(root, write=write, today=shared.today())
    if before == after:
        tell(f"{path} is up to date.")
    else:
        tell("".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), path, path)).rstrip("\n"))
        kept = f" The old file is {path}{BACKUP}." if change is migrate else ""
        tell(f"Written.{kept}" if write else HOW_TO_WRITE[option])
    if write:
        compile_and_say(root, requested=True, tell=tell)


@click.command(short_help="Add a lesson.")
@click.argument("words", nargs=-1, metavar="[TITLE]")
@click.option("--title", help="The same as TITLE.")
@click.option("--text", help="The lesson itself, as Markdown; - reads it from standard input.")
@click.option("--summary", help="One sentence for the index.")
@click.option("--platform", default="", help="The platform it is about.")
@click.option("--urgency", type=click.Choice(URGENCIES), help="How serious it is. [default: medium]")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--keyword", "keywords", multiple=True, help="A keyword for searches; may be repeated.")
@click.option("--category", default="patterns", show_default=True, help="The folder inside bok/.")
@click.option("--trigger/--no-trigger", default=None, help="Whether to draft a trigger for it.")
@shared.action_option
def add(  # noqa: PLR0913 - every option is a field of the lesson
    *, words: Sequence[str], title: str | None, text: str | None, summary: str | None, platform: str,
    urgency: str | None, tags: Sequence[str], keywords: Sequence[str], category: str, trigger: bool | None,
    action: str | None,
) -> None:  # fmt: skip
    """Add a lesson: create a document to fill in, index it and, with --trigger, draft a trigger.

    TITLE says what goes wrong, in a few words. Without it, deia asks for what is missing, if this is a terminal.
    """
    if words and title is not None:
        raise click.UsageError("There are two titles: leave out --title.")
    title = " ".join(words) if words else title
    root = shared.writable_root()
    interactive = title is None and shared.is_person()
    if title is None and not interactive:
        raise click.UsageError(f'A lesson needs a title, such as: deia add "{EXAMPLE}"')
    if interactive:
        title = click.prompt("What goes wrong, in a few words")
        summary = summary or click.prompt("In one sentence", default="", show_default=False)
        urgency = urgency or click.prompt("How serious is it", type=click.Choice(URGENCIES), default="medium")
        trigger = click.confirm("Draft a trigger for it") if trigger is None else trigger
    shared.trust_typed(root)
    body = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text or ""
    drafts: list[str] = []

    def draft(entry: Entry) -> tuple[str, str] | None:
        texts = draft_for(entry, body, action=action)
        drafts.extend(texts[:1] if texts else ())
        return texts

    with cache_reads():  # so that the compile does not read the index again
        lesson = add_lesson(
            root, title=title or "", text=body, summary=summary or "", platform=platform,
            urgency=urgency or "medium", tags=tuple(tags), keywords=tuple(keywords), category=category,
            today=shared.today(), draft=draft if trigger or action else None,
        )  # fmt: skip
        output.say("\n".join(f"wrote {path}" for path in lesson.paths))
        if lesson.avoided:
            output.say(f"The id is {lesson.entry.id}, because {lesson.avoided} stays as it is.")
        if trigger or action:
            output.say(drafted_effect(drafts[0]) if drafts else f"{NO_DRAFT} {lesson.entry.id}")
        shared.log_change(root, f"added {lesson.entry.id}")
        compile_and_say(root)
        drafted = next((path for path in lesson.paths if path.startswith(f"{TRIGGERS}/")), "")
        steps = [f"fill in {lesson.entry.path}"] if not body.strip() else []
        steps += [f"review {drafted}, then type: deia trigger test {lesson.entry.id}"] if drafted else []
        if steps:
            output.say(f"Next: {'; '.join(steps)}")


@click.command(short_help="Create a commons.")
@click.argument("folder", default=".")
def init(*, folder: str) -> None:
    """Create a commons in FOLDER and compile it. Existing files are kept."""
    root = files.forward(os.path.abspath(folder))
    if os.path.exists(root) and not os.path.isdir(root):
        raise CommonsError(f"{folder} is not a folder", fix="Name a folder, existing or new.")
    is_new = not any(os.path.lexists(f"{root}/{name}") for name in (*MARKERS, *SOURCES))
    started = create_commons(root, today=shared.today())
    if is_new:  # what somebody else wrote is not trusted by the way
        shared.trust_typed(root)
    for verb, paths in (("wrote", started.written), ("kept", started.existed)):
        for path in paths:
            output.say(f"{verb} {path}")
    compile_and_say(root, requested=True)
    note = _visibility_note(root, folder)
    if note:
        output.say(note)
    output.say("Next: deia install claude-code --user")


def _visibility_note(root: str, folder: str) -> str:
    """Return a note if the commons is inside a repository but not at its root, or an empty text."""
    repository = next((path for path in files.upwards(root) if files.exists(f"{path}/.git")), "")
    if repository in ("", root) or nearest_commons(files.parent(root)):
        return ""
    name = os.path.basename(root) if folder in (".", "") else folder
    return (
        f"Note: a session uses the nearest commons in its folder or above, so sessions started above {name} will not"
        " use this one.\n"
        f"  For a commons of the whole repository, type: deia init {repository}\n"
        f"  To use this commons wherever a session works, type: deia install HOST --commons {root}"
    )


@click.command(short_help="Show what the code of a problem means.")
@click.argument("code", required=False)
@shared.json_option
def explain(*, code: str | None, as_json: bool) -> None:
    """Show what the CODE of a problem means, which `deia lint` prints in brackets; without one, show all codes."""
    meanings = {str(meaning["code"]): meaning for meaning in _meanings()}
    if code is None:
        lines = [f"{name:<22} {meaning['about']}" for name, meaning in meanings.items()]
        output.answer([*meanings.values()], lines, as_json=as_json)
        return
    name = code.strip("[]`").lower()
    if name not in meanings and name.startswith(ANY_FIELD):
        means = f"a value that the field `{name.removeprefix(ANY_FIELD)}` does not allow"
        meanings[name] = {"code": name, "about": "Any file", "means": means}
    if name not in meanings:
        raise QueryError(f"there is no problem with the code {name!r}", fix=nearest(name, list(meanings)))
    meaning = meanings[name]
    lines = [f"{name} ({meaning['about']})", *(f"  {line}" for line in wrap(f"{meaning['means']}.", WIDTH))]
    output.answer(meaning, lines, as_json=as_json)


def _meanings() -> Iterator[dict[str, Json]]:
    """Yield each code with what it means and the heading under which it is, in the order of the page."""
    about = ""
    for line in (files.read(PAGE) or b"").decode().splitlines():
        if line.startswith("## "):
            about = line[3:]
        row = ROW.fullmatch(line.strip())
        for code in re.findall(r"`([^`]+)`", row[1]) if row else ():
            yield {"code": code, "about": about, "means": row[2] if row else ""}
