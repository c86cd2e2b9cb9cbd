"""`deia ingest` and `deia source`: documents go into the library."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence

import click

from deia import fast_json, files
from deia.compile.encoding_progress import read_encoding
from deia.compile.encoding_start import start_encoding
from deia.compile.take_in import TakenIn, forget, open_library, registered_sources, said_of_replica, take_in, update
from deia.folders import derived_folder, is_packaged
from deia.ingest.checked_source import checked
from deia.ingest.ingesting import Progress, planned
from deia.ingest.library_store import Registered
from deia.ingest.naming import said_of
from deia.ingest.reading import MISSING, STRATEGIES
from deia.ingest.source import Source, SourceError, typed
from deia.search.rendering.columns import plain
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.text import counted, shorten
from deia.typed_json import plain as plain_json

MOST_PLANNED = 200  # files that --dry-run lists
MOST_NOTES = 100
LONGEST_NOTE = 400  # characters


def _chunker(text: str) -> dict[str, str | int]:
    """Return the settings of a chunker that a person typed; raise SourceError if a number is malformed."""
    settings: dict[str, str | int] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        is_number = name in ("max_chars", "overlap_chars")
        if is_number and not (value.isascii() and value.isdecimal() and len(value) < 9):
            raise SourceError(f"{part!r} is no setting of a chunker", fix="Write it as max_chars=800")
        alone = "strategy" if name in STRATEGIES else "custom"
        settings[name if equals else alone] = int(value) if is_number else value if equals else name
    return settings


def _show(progress: Progress) -> None:
    left = progress.seconds / max(1, progress.files) * (progress.of - progress.files)
    text = f"{progress.name}: {progress.files} of {progress.of} files, {counted(progress.chunks, 'chunk')}"
    output.progress(f"{text}, {left:.0f} s left" if progress.files < progress.of else f"{text}\nCompiling …")


@click.command(short_help="Take documents into the library.")
@click.argument("places", nargs=-1, required=True, metavar="SOURCE…")
@click.option("--type", "kind", type=click.Choice(["folder", "git", "url", "s3", "chunks"]), help="What SOURCE is.")
@click.option("--name", default="", help="The name of the source; by default the last part of its place.")
@click.option("--collection", default="", help="The collection that its documents belong to.")
@click.option("--branch", default="", help="The branch or tag of a git repository.")
@click.option("--filter", multiple=True, metavar="GLOB", help="Only files like docs/**/*.md; may be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No files like this; may be repeated.")
@click.option("--include", multiple=True, metavar="GLOB", help="Files that a .gitignore names, all the same.")
@click.option("--depth", type=click.IntRange(0), help="How many folders deep to look.")
@click.option("--tag", "tags", multiple=True, help="A tag for its documents; may be repeated.")
@click.option("--chunker", default="", metavar="HOW", help="A strategy, max_chars=800, or a chunker of yours.")
@click.option("--track", default="", metavar="15m", help="How often `deia serve` takes it in again.")
@click.option(
    "--private/--no-private", default=None, help="Let it be at an address of this machine or its network, or no more."
)
@click.option("--force", is_flag=True, help="Read every file again.")
@click.option("--dry-run", is_flag=True, help="Only show which files would be read.")
@shared.json_option
def ingest(
    *, places: tuple[str, ...], kind: str | None, depth: int | None, chunker: str, force: bool, dry_run: bool,
    as_json: bool, **fields: object,
) -> int:  # fmt: skip
    """Take SOURCE into the library, so that `deia search` finds passages in it beside the lessons.

    SOURCE is a folder, a file, a git repository, the address of a document, or s3://BUCKET/PREFIX. It is remembered:
    `deia source update` reads again what changed. The library is your own; nothing is written into the commons.
    """
    root = shared.commons_root()
    fields |= {"depth": -1 if depth is None else depth, "chunker": _chunker(chunker)}
    sources, problems = _there(places, kind or "", {**fields, "private": bool(fields["private"])})
    sources = _as_permitted(root, sources) if fields["private"] is None else sources
    if dry_run:
        _plan(root, sources)
        code = output.FOUND
    else:
        code = _report(root, take_in(root, sources, os.environ, force=force, progress=_show), as_json=as_json)
    for problem in problems:
        output.complain_of(problem)
    return output.BROKEN if problems else code


def _there(places: Sequence[str], kind: str, fields: Mapping[str, object]) -> tuple[list[Source], list[SourceError]]:
    """Return the sources that can be taken in, and why others cannot; raise the first reason if none can."""
    sources: list[Source] = []
    problems: list[SourceError] = []
    for place in places:
        try:
            sources.append(checked(typed(place, kind=kind).but(**fields)))
        except SourceError as error:
            problems.append(error)
    if not sources:
        raise problems[0]
    return sources, problems


def _as_permitted(root: str, sources: Sequence[Source]) -> list[Source]:
    """Return sources, each of which may be where a person let the same one be; nothing permits that to another."""
    with open_library(root, os.environ) as library:
        permitted = {registered.source.name for registered in library.registry() if registered.source.private}
        return [source.but(private=library.named(source).name in permitted) for source in sources]


def _plan(root: str, sources: Sequence[Source]) -> None:
    with open_library(root, os.environ) as library:
        known = {registered.source.name: registered for registered in library.sources()}
        for source in map(library.named, sources):
            said = said_of(source, [registered.source for registered in known.values()], is_planned=True)
            if said:
                output.say(said)
            stand_in = Registered(source=source, prefix=f"{source.collection}/")
            registered = known.get(source.name, stand_in).but(source=source)
            steps = [step for step in planned(library, registered, os.environ) if step[1]]
            output.say(f"{source.name}: {counted(len(steps), 'file')} would change")
            for line in output.first([f"  {step:8} {plain(path)}" for path, step in steps], MOST_PLANNED):
                output.say(line)


def _report(root: str, taken: TakenIn, *, as_json: bool) -> int:
    """Report the sources that were taken in, start encoding the new passages, and return the exit code."""
    is_encoding = start_encoding(root, os.environ)
    output.progress()
    if as_json:
        output.say(fast_json.dumps([outcome.values() for outcome in taken.outcomes]))
        return output.BROKEN if taken.errors else output.FOUND
    for outcome in taken.outcomes:
        if outcome.said:
            output.say(outcome.said)
        if outcome.error:
            output.complain(f"deia: {outcome.name}: {outcome.error}")
            continue
        counts = {"removed": outcome.removed, "failed": outcome.failed, "of no known type": outcome.skipped}
        parts = [f"{outcome.read} read", *(f"{number} {what}" for what, number in counts.items() if number)]
        output.say(f"{outcome.name}: {', '.join(parts)}, in {outcome.seconds:.1f} s")
    noted = [outcome.name for outcome in taken.outcomes if outcome.failed or outcome.noted]
    if noted:
        output.say(f"There is something to say about files; to see it, type: deia source list {noted[0]}")
    with open_library(root, os.environ) as library:
        notes = [note.partition(f"{MISSING}. ")[2] for name in noted for _, _, note in library.notes(name)]
    for install, count in sorted(Counter(filter(None, notes)).items()):
        output.say(f"To read {counted(count, 'file')} more, type: {install}, then: deia source reprocess --failed")
    if is_packaged(root):
        output.say("This folder has no commons, so the library is that of all such folders.")
    if is_encoding:
        output.say("The sentence model encodes the passages now; until then, searches use word vectors.")
    output.say(taken.summary)
    return output.BROKEN if taken.errors else output.FOUND


@click.group(short_help="List, update and remove what was taken into the library.")
def source() -> None:
    """The sources of the library: folders, repositories and addresses that were taken in."""


source.add_command(ingest, "add")


@source.command("list", short_help="Show the sources, or what there is to say about one.")
@click.argument("name", default="")
@shared.json_option
def source_list(*, name: str, as_json: bool) -> int:
    """Show every source with its status; with NAME, the files of it that failed or had secrets, and why."""
    root = shared.commons_root()
    known = [
        registered for registered in registered_sources(root, os.environ) if not name or registered.source.name == name
    ]
    if name and not known:
        raise SourceError(f"there is no source {name!r}", fix="To see them, type: deia source list")
    encoding = read_encoding(f"{derived_folder(root, os.environ)}/library").sentence(time.time()) if known else ""
    lines = [*(line for registered in known for line in _lines(registered)), *([f"{encoding}."] if encoding else [])]
    lines += _notes(root, name) if name else []
    nothing = said_of_replica(root, os.environ) or "Nothing was taken in yet. To do that, type: deia ingest FOLDER"
    output.answer(plain_json(known), lines or [nothing], as_json=as_json)
    return output.FOUND if known else output.NOTHING


def _lines(registered: Registered) -> list[str]:
    place = plain(registered.source.place) or "files that were handed over"
    counts = f"{counted(registered.documents, 'document')}, {counted(registered.chunks, 'chunk')}"
    counts += f", {registered.failed} failed" if registered.failed else ""
    first = f"{registered.source.name}  {registered.source.kind}  {registered.status}  {counts}  {place}"
    return [first, *([f"  {plain(registered.error)}"] if registered.error else [])]


def _notes(root: str, name: str) -> list[str]:
    with open_library(root, os.environ) as library:
        notes = library.notes(name)
    lines = [f"  {state:8} {plain(path)}: {shorten(plain(note), LONGEST_NOTE)}" for path, state, note in notes]
    return output.first(lines, MOST_NOTES)


@source.command("update", short_help="Read again what changed.")
@click.argument("names", nargs=-1, metavar="[NAME]…")
@shared.json_option
def source_update(*, names: tuple[str, ...], as_json: bool) -> int:
    """Read again what changed in the sources, all of them if none is named."""
    root = shared.commons_root()
    return _report(root, update(root, names, os.environ, progress=_show), as_json=as_json)


@source.command("reprocess", short_help="Read everything again, or what failed.")
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--failed", is_flag=True, help="Only what failed.")
@shared.json_option
def source_reprocess(*, names: tuple[str, ...], failed: bool, as_json: bool) -> int:
    """Read every file of the sources again, or with --failed those that could not be read."""
    root = shared.commons_root()
    taken = update(root, names, os.environ, force=not failed, failed=failed, progress=_show)
    return _report(root, taken, as_json=as_json)


@source.command("export", short_help="Give the chunks of a source to other programs.")
@click.argument("name")
@click.option(
    "--xml", "folder", default="", metavar="FOLDER", help="An XML file for each chunk, instead of JSON lines."
)
def source_export(*, name: str, folder: str) -> None:
    """Write the chunks of the source NAME, a line of JSON for each, with their parents and children.

    `deia ingest FILE --type chunks` takes such lines, or a folder of such XML files, in again as they are.
    """
    from deia.ingest.chunk_export import exported, xml_files  # noqa: PLC0415 - XML, which no other command needs

    with open_library(shared.commons_root(), os.environ) as library:
        known = next((registered for registered in library.sources() if registered.source.name == name), None)
        if known is None:
            raise SourceError(f"there is no source {name!r}", fix="To see them, type: deia source list")
        rows = exported(library, name)
        if not folder:
            for row in rows:
                output.say(fast_json.dumps(row))
            return
        for file, content in xml_files(rows, known.source.collection):
            if not files.keep(f"{os.path.abspath(folder)}/{file}", content.encode("utf-8", "replace")):
                raise SourceError(f"{folder} cannot be written to", fix="Name another folder.")
    output.say(f"{counted(known.chunks, 'chunk')} in {folder}")


@source.command("remove", short_help="Take a source out of the library.")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
def source_remove(*, names: tuple[str, ...]) -> None:
    """Take sources and all of their documents out of the library; what they were read from stays as it is."""
    forget(shared.commons_root(), names, os.environ)
    output.say(f"Removed {', '.join(names)}.")
