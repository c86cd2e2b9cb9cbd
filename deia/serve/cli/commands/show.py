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
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.search.find_document import FoundDocument, look_up, read_lines
from deia.search.rendering.columns import plain
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, form_option, here, named_commons
from deia.serve.cli.shell_completion import complete_documents

FACTS = (
    "urgency", "platforms", "audience", "clusters", "tags", "keywords", "category", "status", "created", "updated",
    "verified", "valid_until", "superseded_by", "review_after", "related_docs",
)  # fmt: skip
# The argument with which an editor opens a file at a line; other editors receive only the file.
AT_LINE = {
    **dict.fromkeys(
        ("vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "joe", "ed"), "+{line}"
    ),
    **dict.fromkeys(("code", "codium", "cursor", "windsurf"), "--goto"),
}
COLON = ("subl", "sublime_text", "zed", "hx", "helix", "micro", "mate")  # editors that accept FILE:LINE


def _look_up(name: str) -> FoundDocument:
    librarian = Librarian(named_commons() or None, agent="cli")
    found = look_up(librarian.open_catalog_of(name), name, root=librarian.root, folder=here())
    librarian.log("read", {"doc": found.document.entry.id, "via": "cli"})
    is_taken_in = found.document.entry.path.startswith(LIBRARY_PREFIX)
    return found.but(file=_original(librarian.root, found.document.entry.id)) if is_taken_in else found


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
@form_option("text", "json")
@commons_option
def show(*, document: str, span: str | None, edit: bool, form: str) -> int:
    """Show a document, with its description in the index.

    Name it by its id, or by its path as `deia search` prints it; with PATH:12-30 only these lines are shown. With
    --edit, but without an editor or outside a terminal, the path of its file is printed.
    """
    if edit:
        return _edit(document)
    lines_wanted = read_lines(span) if span is not None else None
    if span is not None and lines_wanted is None:
        raise click.BadParameter(
            f"{span!r} is not valid; write one or two line numbers, such as 12 or 12-30.", param_hint="--lines"
        )
    found = _look_up(document)
    lines = list(_numbered(found, lines_wanted or found.lines))
    if not lines and (lines_wanted or found.lines):
        first, last = found.document.first_line, found.document.first_line + len(_texts(found)) - 1
        raise QueryError(
            f"the text of {found.document.entry.path} is in lines {first}-{last}", fix="Name some of them."
        )
    if form == "json":
        output.say(fast_json.dumps(_fields(found, lines)))
    else:
        output.say("\n".join((*_facts(found), "", *lines)).rstrip("\n"))
    return output.FOUND


def _texts(found: FoundDocument) -> list[str]:
    return found.text.rstrip("\n").split("\n")


def _numbered(found: FoundDocument, lines: tuple[int, int] | None) -> Iterator[str]:
    first, last = lines or (1, len(found.text) + found.document.first_line)
    for number, line in enumerate(_texts(found), found.document.first_line):
        if first <= number <= last:
            yield line


def _facts(found: FoundDocument) -> Iterator[str]:
    entry = found.document.entry
    yield plain(entry.title or entry.id)
    yield plain(f"{entry.id}  {entry.path}")
    for name in ("summary", "action"):
        if getattr(entry, name):
            yield plain(f"{name}: {getattr(entry, name)}")
    for name in FACTS:
        value = getattr(entry, name)
        if value:
            yield plain(f"{name}: {value if isinstance(value, str) else ', '.join(value)}")


def _fields(found: FoundDocument, lines: list[str]) -> dict[str, Json]:
    entry = {name: value for name, value in found.document.entry.values().items() if name != "line"}
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in entry.items()}
    return {**fields, "extra": dict(found.document.entry.extra), "file": found.file, "text": "\n".join(lines)}


def _edit(document: str) -> int:
    found = _look_up(document)
    if not os.path.isfile(found.file):
        where = found.file or found.document.entry.path
        fix = "Type: deia show ID" if not found.file else "Type: deia compile, or: deia source update"
        raise CommonsError(f"there is no file {where} that could be edited", fix=fix)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor.strip() or not output.at_terminal():
        output.say(found.file)
        return output.FOUND
    try:
        command = editor_command(editor, found.file, found.lines[0] if found.lines else 0)
        code = subprocess.run(command, check=False).returncode  # noqa: S603 - the person's own editor
    except (OSError, ValueError) as error:
        raise CommonsError(
            f"the editor {editor!r} cannot be started: {error}", fix="Correct $VISUAL or $EDITOR."
        ) from error
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
