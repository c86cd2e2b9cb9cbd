"""`deia chunker`: chunkers of a person's own, for formats that deia does not know."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

import click

from deia import files
from deia.compile.take_in import registered_sources
from deia.errors import DeiaError
from deia.ingest.added_chunkers import add, added_chunkers, chunker_in, remove, with_native_code
from deia.ingest.custom.declared import cut_declared, written
from deia.ingest.custom.drafting import component_source, drafted, figures
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig, Reading
from deia.ingest.source import MOST_BYTES, Source, SourceError
from deia.search.rendering.columns import plain
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared

AGAIN = "What was taken in before is cut again by: deia source reprocess"
samples_argument = click.argument("samples", nargs=-1, required=True, metavar="SAMPLE…")
files_option = click.option("--files", "globs", multiple=True, metavar="GLOB", help="Cut files like *.log by it.")


@click.group(short_help="Cut files of a kind that deia does not know.")
def chunker() -> None:
    """Chunkers of your own: declared in TOML, or components in WebAssembly. Only what you add ever runs."""


@chunker.command("new", short_help="Draft a chunker from samples.")
@samples_argument
@files_option
@click.option("--to", "target", default="", metavar="FILE", help="Write it into this new file.")
@click.option("--component", type=click.Choice(["python", "rust"]), help="Give the source of a component instead.")
def chunker_new(*, samples: Sequence[str], globs: tuple[str, ...], target: str, component: str | None) -> None:
    """Draft a declared chunker for files like SAMPLE, and say what it makes of them.

    With --component, give the source of a WebAssembly component that does the same; how to compile it stands at its
    beginning.
    """
    with ReaderProcess() as process:
        readings = [_reading(process, path) for path in samples]
    empty = next((reading.path for reading in readings if not reading.text.strip()), None)
    if empty is not None:
        fix = "Name a file of that format with some records, best with twenty or more."
        raise SourceError("this sample has no text to draft a chunker from", where=empty, fix=fix)
    draft = drafted(readings, globs=globs)
    text = component_source(draft, component) if component else written(draft)
    if target:
        output.write_new(target, text)
    else:
        output.say(text)
    for reading in readings:
        chunks = cut_declared(draft, reading, "", ChunkerConfig())
        output.complain(f"{plain(reading.path)}: {figures(reading, chunks)}")


@chunker.command("test", short_help="Try a chunker on samples.")
@click.argument("chunker", metavar="CHUNKER")
@samples_argument
def chunker_test(*, chunker: str, samples: Sequence[str]) -> None:
    """Say what CHUNKER makes of each SAMPLE; it is the name of one that you added, or a .toml or .wasm file."""
    known = next((added for added in added_chunkers(os.environ) if added.name == chunker), None)
    ready = with_native_code(known or chunker_in(chunker), os.environ)
    with ReaderProcess() as process:
        for path in samples:
            reading = _reading(process, path)
            output.say(f"{plain(path)}: {figures(reading, process.chunk(reading, id='', custom=ready))}")


def _reading(process: ReaderProcess, path: str) -> Reading:
    content = files.read(files.full(path), most=MOST_BYTES)
    if content is None:
        raise SourceError("this sample cannot be read, or is too large", where=path, fix="Name a file.")
    return process.read(path, content)


@chunker.command("add", short_help="Let a chunker cut your files.")
@click.argument("path", metavar="FILE")
@click.option("--name", default="", help="What it is called; by default as the file.")
@files_option
def chunker_add(*, path: str, name: str, globs: tuple[str, ...]) -> None:
    """Keep the chunker in FILE, a .toml declaration or a .wasm component, and use it from now on.

    It cuts files that --files names, or its declaration, and those of sources that are taken in with --chunker NAME.
    """
    added = add(chunker_in(path, name=name, globs=globs), os.environ)
    which = f"files like {', '.join(added.files)}" if added.files else f"what is taken in with --chunker {added.name}"
    output.say(f"{added.name} cuts {which}. {AGAIN}")


@chunker.command("list", short_help="Show your chunkers.")
@shared.json_option
def chunker_list(*, as_json: bool) -> int:
    """Show the chunkers that you added, what they cut, and where they are kept."""
    known = added_chunkers(os.environ)
    lines = [f"{added.name}  {plain(' '.join(added.files)) or '-'}  {added.path}" for added in known]
    nothing = ["You added no chunker. To draft one, type: deia chunker new SAMPLE"]
    output.answer([added.values() for added in known], lines or nothing, as_json=as_json)
    return output.FOUND if known else output.NOTHING


@chunker.command("remove", short_help="Forget chunkers.")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
def chunker_remove(*, names: Sequence[str]) -> None:
    """Forget chunkers of yours; what they cut stays as it is until it is read again."""
    remove(names, os.environ)
    output.say(f"Removed {', '.join(names)}. {AGAIN}")
    for source in _sources_cut_by(names):
        what = f"{source.name} was taken in with --chunker {source.config.custom}, and is not read again before it has"
        how = f"deia ingest {shlex.quote(plain(source.place))} --chunker recursive"
        how = f"Type, with its other options: {how}" if source.place else "Hand its files over again without it."
        output.say(f"{what} another one. {how}")


def _sources_cut_by(names: Sequence[str]) -> list[Source]:
    """Return the sources of the commons that were taken in with one of these chunkers."""
    try:
        known = registered_sources(shared.commons_root(), os.environ)
    except (
        DeiaError
    ):  # without a commons that can be read there is none to name, and the chunkers are gone all the same
        return []
    return [registered.source for registered in known if registered.source.config.custom in names]
