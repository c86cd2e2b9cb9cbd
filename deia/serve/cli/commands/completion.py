"""`deia completion`: the script with which a shell completes commands, ids, triggers and filter values."""

from __future__ import annotations

import click

from deia.serve.cli import output
from deia.serve.cli.shell_completion import SHELLS, script


@click.command(short_help="Print the script that adds completion to a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> int:
    """Print the script with which SHELL completes commands, options, document ids, triggers and filter values.

    \b
    bash        deia completion bash >> ~/.bashrc
    zsh         deia completion zsh >> ~/.zshrc
    fish        deia completion fish > ~/.config/fish/completions/deia.fish
    powershell  deia completion powershell >> $PROFILE
    """  # noqa: D301 - click needs the backslash, with which it keeps line breaks
    output.say(script(shell, ctx.find_root().command).rstrip("\n"))
    return output.FOUND
