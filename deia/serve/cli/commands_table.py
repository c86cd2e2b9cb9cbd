"""The commands as one click group, which imports a command's module when the command is used, and the help of each.

An ordinary `deia search` never gets here: `deia.serve.cli.quick_path` answers it without click.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

import deia
from deia.serve.cli import output
from deia.serve.cli.flags import COMMONS, COMPLETION
from deia.tables import Tables

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem  # imported only while a shell completes

TABLES = Tables(__file__)
HEADINGS = TABLES.lists("headings")
SHOWN = tuple(name for names in HEADINGS.values() for name in names)
COMMANDS = (*SHOWN, *TABLES.listed("hidden"))
WITHOUT_COMMONS = tuple(f"{name} " for name in TABLES.phrases("without --commons"))
MODULES = TABLES.pairs("modules")
CALLED = TABLES.pairs("former names")
MEANT = TABLES.pairs("meant")
LONGEST = 100  # characters of what the help says of a command


class HelpContext(click.Context):
    """The context of a command whose help ends with examples."""

    def get_help(self) -> str:
        """Return the help of the command."""
        shown = ["", "Examples:", *(f"  {line}" for line in examples(self.command_path))]
        return "\n".join((super().get_help().rstrip(), *shown[: None if shown[2:] else 0]))


def examples(name: str) -> list[str]:
    """Return the examples of the command with this full name."""
    try:
        return TABLES.lines(name)
    except KeyError:  # a new command has none yet; the tests ask for them
        return []


class LazyGroup(click.Group):
    """The group of all commands; each is imported when it is used."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which the help lists them."""
        return list(SHOWN)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command and return it."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = MODULES.get(cmd_name, cmd_name).partition(":")
        command = getattr(import_module(f"deia.serve.cli.commands.{module}"), attribute or cmd_name)
        return _completed(command, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                loaded = {name: self.get_command(ctx, name) for name in commands}
                formatter.write_dl(
                    [(name, command.get_short_help_str(LONGEST)) for name, command in loaded.items() if command]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names of commands without importing all of them, which would take too long."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only while a shell completes

        names = [CompletionItem(name) for name in SHOWN if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named, also by a former name, or suggest a similar one.

        Raise click.UsageError if there is no such command.
        """
        called = next((" ".join(args[:words]) for words in (2, 1) if " ".join(args[:words]) in CALLED), "")
        if called:
            if not ctx.resilient_parsing:
                output.complain(f"deia: `deia {called}` is called `deia {CALLED[called]}`.")
            args = [*CALLED[called].split(), *args[len(called.split()) :]]
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"There is no command {name!r}. {_advice(name)}", ctx)
        return super().resolve_command(ctx, args)


def _completed(command: click.Command, path: str) -> click.Command:
    """Return a command with examples in its help and, if it runs something, `--commons`; do so for those below it."""
    command.context_class = HelpContext
    for name, below in getattr(command, "commands", {}).items():
        below.short_help = below.get_short_help_str(LONGEST)  # click cuts it at 45 characters
        _completed(below, f"{path} {name}")
    is_run = not isinstance(command, click.Group) or command.invoke_without_command
    is_complete = f"{path} ".startswith(WITHOUT_COMMONS) or any(option.name == "commons" for option in command.params)
    if is_run and not is_complete:
        commons_option(command)
    return command


def _keep_commons(ctx: click.Context, _option: click.Parameter, folder: str) -> None:
    """Accept the option also after the command's name."""
    if folder:
        ctx.find_root().obj = folder


commons_option = click.option(
    COMMONS.name, metavar=COMMONS.metavar, default="", help=COMMONS.help, expose_value=False, callback=_keep_commons
)


def _advice(name: str) -> str:
    near = [MEANT[name]] if name in MEANT else difflib.get_close_matches(name, SHOWN, n=1, cutoff=0.6)
    return f"Did you mean: deia {near[0]}" if near else f'To search the commons, type: deia search "{name}"'


def _show_version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value and not ctx.resilient_parsing:
        output.say(f"deia {deia.__version__}")
        ctx.exit()


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(COMMONS.name, metavar=COMMONS.metavar, default="", help=COMMONS.help)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def cli(ctx: click.Context, commons: str) -> None:
    """Put the right lesson in front of an AI agent before it makes a mistake.

    A commons is a project's collection of lessons: documents to search, and triggers that watch what agents do.
    """
    ctx.obj = commons


def run_cli(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    if COMPLETION in os.environ:
        import_module("deia.serve.cli.shell_completion")  # registers PowerShell with click
    try:
        code: object = cli.main(list(arguments), prog_name="deia", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        output.say(error.format_message())
        return output.FOUND
    except click.ClickException as error:
        ctx = getattr(error, "ctx", None)
        output.complain(f"deia: {error.format_message()}")
        if ctx is not None:
            output.complain(f"For help, type: {ctx.command_path} --help")
        return output.BROKEN
    except click.Abort:
        return output.INTERRUPTED
    except SystemExit as exit_request:  # shell completion, and click's reaction to a broken pipe
        code = exit_request.code
    return code if isinstance(code, int) else output.FOUND
