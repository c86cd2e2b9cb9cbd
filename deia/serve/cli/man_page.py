"""The manual page deia(1), in roff, from the same tables as the help of the commands."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

import deia
from deia.serve.cli.commands_table import COMMANDS
from deia.serve.cli.help_page import examples

END = """\
.SH EXIT STATUS
0: success. 1: nothing was found, or there are problems. 2: the command could not run.
.SH FILES
.TP
.I deia.toml
the settings of a commons
.TP
.I ~/.local/state/deia
what deia remembers of conversations, and your mutes"""


def man_page(cli: click.Command) -> str:
    """Return the manual page."""
    lines = [f'.TH DEIA 1 "" "deia {deia.__version__}"', ".SH NAME"]
    for name, context in commands(cli, "deia", None):
        lines += _root(context) if context.parent is None else [f".SS {_roff(name)}", *_body(context)]
    return "\n".join((*lines, END, ""))


def commands(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    """Yield the full name and a context of a command and of its subcommands, the hidden ones included."""
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=parent)
    yield name, context
    if isinstance(command, click.Group):
        for below in command.list_commands(context) if parent else COMMANDS:
            found = command.get_command(context, below)
            if found is not None:
                yield from commands(found, f"{name} {below}", context)


def _root(context: click.Context) -> Iterator[str]:
    summary, *_ = _paragraphs(context.command)
    yield f"deia \\- {_roff(summary.rstrip('.'))}"
    yield from (".SH SYNOPSIS", ".B deia", "[\\-\\-commons FOLDER] COMMAND [ARGUMENT...]", ".SH DESCRIPTION")
    yield from _body(context)
    yield ".SH COMMANDS"


def _body(context: click.Context) -> Iterator[str]:
    """Yield what a command does, its options and its examples."""
    command = context.command
    if context.parent:
        yield _roff(" ".join((context.command_path, *command.collect_usage_pieces(context))))
    for paragraph in _paragraphs(command):
        yield from (".PP", _roff(paragraph))
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        names, text = record or ("", "")
        yield from (".TP", f".B {_roff(names)}", _roff(text)) if names else ()
    shown = examples(context.command_path)
    yield from (".PP", "Examples:", ".nf", *map(_roff, shown), ".fi") if shown else ()


def _paragraphs(command: click.Command) -> Iterator[str]:
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        yield paragraph.replace("\b\n", "").replace("\n", " ").strip()


def _roff(text: str) -> str:
    """Return a line of text that roff shows as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
