"""Write docs/CLI.md from the commands' own help, or check that it is up to date.

    python docs/make_cli.py           writes the file
    python docs/make_cli.py --check   exits with 1 if it differs in more than line breaks

The help is what click prints at a width of 100 characters; nothing is added here.
"""
# ruff: noqa: INP001 - a script beside the documents, not a package

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deia.serve.cli.commands_table import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent / "CLI.md"
WIDTH = 100
HEAD = """\
# The commands

Written by `python3 do.py docs` from the commands' own `--help`; change it there.

`deia` finds its commons by `--commons`, then `DEIA_COMMONS`, then upwards from the working folder; otherwise it uses
the starter commons. Exit codes: 0 success, 1 failure (nothing found, problems, a case that fails), 2 the command could
not run. `deia-hook HOST` is what an agent host runs; `deia install` enters it. Former names of commands still work and
name the new one.
"""


def page() -> str:
    """Return the whole page."""
    parts = [f"## {name}\n\n```text\n{text}\n```\n" for name, text in helps(cli, "deia", None)]
    return "\n".join([HEAD, *parts])


def helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """Yield the full name and the help of a command and of its subcommands."""
    own = name.rpartition(" ")[2]
    given: dict[str, Any] = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = command.context_class(command, info_name=own, parent=parent, **given)
    yield name, context.get_help().rstrip()
    if isinstance(command, click.Group):
        for below in COMMANDS if command is cli else command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from helps(found, f"{name} {below}", context)


def main() -> int:
    """Write the page or check it; return the exit code."""
    if sys.argv[1:] == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8").split() != page().split())
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
