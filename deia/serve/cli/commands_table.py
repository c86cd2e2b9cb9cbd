"""The commands as one click group, which imports the module of a command when it is used.

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

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem  # imported only while a shell completes

COMMANDS = {
    "search": "deia.serve.cli.commands.search",
    "show": "deia.serve.cli.commands.show",
    "open": "deia.serve.cli.commands.show",
    "check": "deia.serve.cli.commands.check",
    "triggers": "deia.serve.cli.commands.triggers",
    "eval": "deia.serve.cli.commands.eval",
    "model": "deia.serve.cli.commands.model",
    "compile": "deia.serve.cli.commands.commons",
    "lint": "deia.serve.cli.commands.commons",
    "index": "deia.serve.cli.commands.commons",
    "add": "deia.serve.cli.commands.commons",
    "init": "deia.serve.cli.commands.commons",
    "import": "deia.serve.cli.commands.import_notes",
    "pack": "deia.serve.cli.commands.pack",
    "install": "deia.serve.cli.commands.install",
    "uninstall": "deia.serve.cli.commands.install",
    "doctor": "deia.serve.cli.commands.install",
    "mcp": "deia.serve.cli.commands.server",
    "serve": "deia.serve.cli.commands.server",
    "mute": "deia.serve.cli.commands.mute",
    "allow": "deia.serve.cli.commands.mute",
    "why": "deia.serve.cli.commands.why",
    "statusline": "deia.serve.cli.commands.statusline",
    "trust": "deia.serve.cli.commands.trust",
    "log": "deia.serve.cli.commands.mute",
    "telemetry": "deia.serve.cli.commands.telemetry",
    "feedback": "deia.serve.cli.commands.telemetry",
    "learn": "deia.serve.cli.commands.learn",
    "config": "deia.serve.cli.commands.mute",
    "completion": "deia.serve.cli.commands.completion",
}
# Commands that have the name of a builtin or keyword.
ATTRIBUTES = {"eval": "evaluation", "open": "open_document", "import": "import_command"}


class LazyGroup(click.Group):
    """The group of all commands; each is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which the help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command and return it."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), ATTRIBUTES.get(cmd_name, cmd_name))
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names of commands without importing all of them, which would take too long."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only while a shell completes

        names = [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named, or suggest a similar one.

        Raise click.UsageError if there is no such command.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)  # a question is not like any command
            advice = f"Did you mean: deia {near[0]}" if near else f'To search the commons, type: deia search "{name}"'
            raise click.UsageError(f"There is no command {name!r}. {advice}", ctx)
        return super().resolve_command(ctx, args)


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

    \b
    Search it:                      deia search "how do I move a site?"
    See which triggers would fire:  deia check "I'll delete the project"
    """  # noqa: D301 - click needs the backslash, with which it keeps line breaks
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
        _show(error)
        return output.BROKEN
    except click.Abort:
        return output.INTERRUPTED
    except SystemExit as exit_request:  # shell completion, and click's reaction to a broken pipe
        code = exit_request.code
    return code if isinstance(code, int) else output.FOUND


def _show(error: click.ClickException) -> None:
    ctx = getattr(error, "ctx", None)
    output.complain(f"deia: {error.format_message()}")
    if ctx is not None:
        output.complain(f"For help, type: {ctx.command_path} --help")
