"""`deia completion`, `deia help` and `deia version`: a shell's completion script, the manual page deia(1), the help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

import click

import deia
from deia.serve.cli import output
from deia.serve.cli.commands_table import COMMANDS, examples
from deia.serve.cli.shell_completion import SHELLS, script
from deia.tables import text_beside

MAN = "man"


def man_page(cli: click.Command) -> str:
    """Return the manual page."""
    lines = [f'.TH DEIA 1 "" "deia {deia.__version__}"', ".SH NAME"]
    for name, context in commands(cli, "deia", None):
        lines += _root(context) if context.parent is None else [f".SS {_roff(name)}", *_body(context)]
    return "\n".join((*lines, text_beside(__file__, ".man")))


def commands(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    """Yield the full name and a context of a command and of its subcommands, the hidden ones included."""
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=parent)
    yield name, context
    if isinstance(command, click.Group):
        for subname in command.list_commands(context) if parent else COMMANDS:
            subcommand = command.get_command(context, subname)
            if subcommand is not None:
                yield from commands(subcommand, f"{name} {subname}", context)


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


@click.command(short_help="Print the script that completes deia in a shell, or the manual page.")
@click.argument("shell", type=click.Choice((*SHELLS, MAN)))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print the script with which SHELL completes commands, options, document ids, triggers and filter values.

    \b
    bash        deia completion bash >> ~/.bashrc
    zsh         deia completion zsh >> ~/.zshrc
    fish        deia completion fish > ~/.config/fish/completions/deia.fish
    powershell  deia completion powershell >> $PROFILE

    `man` prints the manual page instead, as `deia completion man > ~/.local/share/man/man1/deia.1`.
    """  # noqa: D301 - click needs the backslash, with which it keeps line breaks
    cli = ctx.find_root().command
    output.say((man_page(cli) if shell == MAN else script(shell, cli)).rstrip("\n"))


@click.command("help", short_help="Show the help of a command.")
@click.argument("words", nargs=-1, metavar="[COMMAND]…")
@click.pass_context
def show_help(ctx: click.Context, *, words: Sequence[str]) -> None:
    """Show the help of a COMMAND, or of deia itself."""
    _as_option(ctx, [*words, "--help"])


@click.command("version", short_help="Show the version.")
@click.pass_context
def show_version(ctx: click.Context) -> None:
    """Show the version, as `deia --version` does."""
    _as_option(ctx, ["--version"])


def _as_option(ctx: click.Context, arguments: list[str]) -> None:
    root = ctx.find_root()
    root.command.main(arguments, prog_name=root.info_name, standalone_mode=False)
