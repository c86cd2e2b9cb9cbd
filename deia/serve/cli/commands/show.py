"""`deia show`: read or edit a document."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator

import click

from deia import fast_json
from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX
from deia.ingest.library_store import library_at
from deia.problems import CommonsError
from deia.search.find_document import FoundDocument, look_up, read_lines
from deia.search.rendering.columns import plain
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import here, json_option, open_librarian
from deia.serve.cli.shell_completion import complete_documents
from deia.tables import Tables

FACTS = (
    "urgency", "platforms", "audience", "clusters", "tags", "keywords", "category", "status", "created", "updated",
    "verified", "valid_until", "superseded_by", "review_after", "related_docs",
)  # fmt: skip
TABLES = Tables(__file__)
AT_LINE = TABLES.pairs("at line")
COLON = TABLES.words("colon")


def _look_up(name: str) -> FoundDocument:
    librarian = open_librarian(ledger=True)
    match = look_up(librarian.open_catalog_of(name), name, root=librarian.root, folder=here())
    librarian.log("read", {"doc": match.document.entry.id, "via": "cli"})
    is_taken_in = match.document.entry.path.startswith(LIBRARY_PREFIX)
    return match.but(file=_original(librarian.root, match.document.entry.id)) if is_taken_in else match


def _original(root: str, ident: str) -> str:
    """Return the file that a document of the library was read from, or ""."""
    library = library_at(root, os.environ)
    if library is None:
        return ""
    with library:
        return library.original(ident)


@click.command(short_help="Show a document.")
@click.argument("document", metavar="ID|PATH", shell_complete=complete_documents)
@click.option("--lines", "span", metavar="A-B", help="Only these lines of the file, such as 12-30.")
@click.option("--edit", is_flag=True, help="Open it in the editor of $VISUAL or $EDITOR, with PATH:12 at that line.")
@json_option
def show(*, document: str, span: str | None, edit: bool, as_json: bool) -> int:
    """Show a document, with its description in the index.

    Name it by its id, or by its path as `deia search` prints it; with PATH:12-30 only these lines are shown. With
    --edit, but without an editor or outside a terminal, the path of its file is printed.
    """
    if edit:
        return _edit(document)
    span_wanted = read_lines(span) if span is not None else None
    if span is not None and span_wanted is None:
        problem = f"{span!r} is not valid; write one or two line numbers, such as 12 or 12-30."
        raise click.BadParameter(problem, param_hint="--lines")
    match = _look_up(document)
    lines, first = match.text.rstrip("\n").split("\n"), match.document.first_line
    begin, end = span_wanted or match.lines or (first, first + len(lines) - 1)
    shown = lines[max(0, begin - first) : max(0, end - first + 1)]
    if not shown:
        problem = f"the text of {match.document.entry.path} is in lines {first}-{first + len(lines) - 1}"
        raise QueryError(problem, fix="Name some of them.")
    if as_json:
        output.say(fast_json.dumps(_fields(match, shown)))
    else:
        output.say("\n".join((*_facts(match), "", *shown)).rstrip("\n"))
    return output.FOUND


def _facts(match: FoundDocument) -> Iterator[str]:
    entry = match.document.entry
    yield plain(entry.title or entry.id)
    yield plain(f"{entry.id}  {entry.path}")
    for name in ("summary", "action"):
        if getattr(entry, name):
            yield plain(f"{name}: {getattr(entry, name)}")
    for name in FACTS:
        value = getattr(entry, name)
        if value:
            yield plain(f"{name}: {value if isinstance(value, str) else ', '.join(value)}")


def _fields(match: FoundDocument, lines: list[str]) -> dict[str, Json]:
    entry = {name: value for name, value in match.document.entry.values().items() if name != "line"}
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in entry.items()}
    return {**fields, "extra": dict(match.document.entry.extra), "file": match.file, "text": "\n".join(lines)}


def _edit(document: str) -> int:
    match = _look_up(document)
    if not os.path.isfile(match.file):
        where = match.file or match.document.entry.path
        fix = "Type: deia show ID" if not match.file else "Type: deia compile, or: deia source update"
        raise CommonsError(f"there is no file {where} that could be edited", fix=fix)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor.strip() or not output.at_terminal():
        output.say(match.file)
        return output.FOUND
    try:
        command = editor_command(editor, match.file, match.lines[0] if match.lines else 0)
        code = subprocess.run(command, check=False).returncode  # noqa: S603 - the person's own editor
    except (OSError, ValueError) as error:
        problem = f"the editor {editor!r} cannot be started: {error}"
        raise CommonsError(problem, fix="Correct $VISUAL or $EDITOR.") from error
    return output.FOUND if code == 0 else output.BROKEN


def editor_command(editor: str, file: str, line: int) -> list[str]:
    """Return the command that opens a file in an editor, at a line unless that is 0.

    Raise ValueError if the editor is empty, or a quotation mark in it is not closed.
    """
    command = shlex.split(editor, posix=os.name != "nt")
    if not command:
        raise ValueError("it is empty")
    name = os.path.basename(command[0].strip('"')).lower().removesuffix(".exe").removesuffix(".cmd")
    if line and name in COLON:
        return [*command, f"{file}:{line}"]
    option = AT_LINE.get(name, "") if line else ""
    if option == "--goto":
        return [*command, option, f"{file}:{line}"]
    return [*command, *([option.format(line=line)] if option else []), file]
