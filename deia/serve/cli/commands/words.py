"""`deia help` and `deia version`: the options `--help` and `--version` as words."""

from __future__ import annotations

from collections.abc import Sequence

import click

from deia.serve.cli import output


@click.command("help", short_help="Show the help of a command.")
@click.argument("words", nargs=-1, metavar="[COMMAND]…")
@click.pass_context
def show_help(ctx: click.Context, *, words: Sequence[str]) -> int:
    """Show the help of a COMMAND, or of deia itself."""
    return _as_option(ctx, [*words, "--help"])


@click.command("version", short_help="Show the version.")
@click.pass_context
def show_version(ctx: click.Context) -> int:
    """Show the version, as `deia --version` does."""
    return _as_option(ctx, ["--version"])


def _as_option(ctx: click.Context, arguments: list[str]) -> int:
    root = ctx.find_root()
    root.command.main(arguments, prog_name=root.info_name, standalone_mode=False)
    return output.FOUND
