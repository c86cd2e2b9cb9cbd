"""`deia import`: notes become lessons; apart, since what it needs takes long to load."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import click

from deia.commons.source_files.read_cache import cache_reads
from deia.commons.write.add_lesson import folder_of
from deia.commons.write.import_notes import COPIED, IN_PLACE, KNOWN, Import, Note, import_notes, plan_import
from deia.compile.compiler import compile_commons
from deia.fast_json import Json
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.commons import compile_report
from deia.text import counted, one_line, shorten
from deia.typed_json import plain as plain_json

MOST_LINES = 20  # notes that are named after an import; a dry run names all
SUMMARY = 110  # characters of a summary that are shown
MOST_ENDINGS = 8


@click.command("import", short_help="Take existing notes into the commons.")
@click.argument("sources", nargs=-1, required=True, metavar="FOLDER|FILE...")
@click.option("--copy", is_flag=True, help="Copy notes into bok/ even if they are inside the commons.")
@click.option("--category", default="", help="The folder inside bok/ for copies. [default: by the kind of note]")
@click.option("--dry-run", is_flag=True, help="Only show what each note would become.")
@shared.json_option
def import_command(*, sources: Sequence[str], copy: bool, category: str, dry_run: bool, as_json: bool) -> int:
    """Take existing notes into the commons: folders or files of Markdown.

    Notes inside the commons are read where they are: the setting `documents` in deia.toml names them. Others are copied
    into bok/. Obsidian notes, decision records, runbooks, postmortems, editor rules, CLAUDE.md and AGENTS.md are read
    by their conventions. Nothing is overwritten. If a note could not be imported, exits 1.
    """
    root = shared.writable_root()
    if not dry_run:
        shared.trust_typed(root)
    with cache_reads():
        below = folder_of(category) if category else ""
        plan = plan_import(root, sources, copy=copy, category=below, environ=os.environ)
        if not dry_run:
            import_notes(root, plan, today=shared.today(), environ=os.environ)
    output.answer(_note_values(plan), _note_lines(plan, dry_run=dry_run), as_json=as_json)
    for problem in plan.problems:
        output.complain(f"{problem.path}: {problem.found} {problem.fix}")
    new = len(plan.having(IN_PLACE)) + len(plan.having(COPIED))
    if new and not dry_run:
        shared.log_change(root, f"imported {counted(new, 'note')}")
        compiled = compile_commons(root, environ=os.environ, requested=True)
        if not as_json:
            output.say("\n".join(compile_report(compiled)))
    return output.NOTHING if plan.problems else output.FOUND


def _note_values(plan: Import) -> Json:
    notes: list[Json] = [
        {
            "source": note.source, "how": note.how, "kind": note.kind.name,
            **{name: getattr(note.entry, name) for name in ("id", "path", "title", "summary", "status", "urgency")},
            "tags": list(note.entry.tags), "related_docs": list(note.entry.related_docs),
        }
        for note in plan.notes
    ]  # fmt: skip
    problems = plain_json(plan.problems)
    return {"notes": notes, "documents": list(plan.globs), "problems": problems, "left_out": dict(plan.left_out)}


def _note_lines(plan: Import, *, dry_run: bool) -> list[str]:
    new = [note for note in plan.notes if note.how != KNOWN]
    shown = new if dry_run else new[:MOST_LINES]
    lines = [line for note in shown for line in _described(note)]
    if len(new) > len(shown):
        kinds = Counter(note.kind.name for note in new)
        lines.append(f"… {len(new)} in all: {', '.join(counted(number, name) for name, number in kinds.items())}")
    if plan.left_out:
        parts = [f"{number} {name}" for name, number in Counter(plan.left_out).most_common(MOST_ENDINGS)]
        more = ", …" if len(plan.left_out) > MOST_ENDINGS else ""
        lines.append(f"Left out, as they are no notes: {', '.join(parts)}{more}")
    return [*lines, _summary(plan, dry_run=dry_run)]


def _described(note: Note) -> list[str]:
    entry = note.entry
    place = f"copied to {entry.path}" if note.how == COPIED else "read where it is"
    details = [note.kind.name, f"id {entry.id}", entry.status, entry.urgency, *(f"#{tag}" for tag in entry.tags)]
    lines = [f"{note.source}: {place}", f"  {one_line(entry.title)} ({', '.join(filter(None, details))})"]
    return [*lines, f"  {shorten(one_line(entry.summary), SUMMARY)}"] if entry.summary else lines


def _summary(plan: Import, *, dry_run: bool) -> str:
    done = "would be " if dry_run else ""
    happened = {IN_PLACE: f"{done}read in place", COPIED: f"{done}copied into bok/", KNOWN: "imported before"}
    numbers = {how: len(plan.having(how)) for how in happened}
    parts = [f"{counted(number, 'note')} {happened[how]}" for how, number in numbers.items() if number]
    what = ", ".join(parts) or "Nothing to import"
    settings = f"; deia.toml would get documents {', '.join(plan.globs)}" if plan.globs and dry_run else ""
    return f"{what}{settings}.{' Nothing was written.' if dry_run else ''}"
