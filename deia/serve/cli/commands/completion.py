"""`deia completion`: the script by which a shell completes commands, ids, triggers and filter values."""

from __future__ import annotations

import click

from deia.serve.cli import output
from deia.serve.cli.shell_completion import SHELLS, script


@click.command(short_help="Print the script by which a shell completes.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> int:
    """Print the script by which SHELL completes commands, flags, document ids, triggers and filter values.

    \b
    bash        deia completion bash >> ~/.bashrc
    zsh         deia completion zsh >> ~/.zshrc
    fish        deia completion fish > ~/.config/fish/completions/deia.fish
    powershell  deia completion powershell >> $PROFILE
    """  # noqa: D301 - click wants the character itself, by which it leaves lines as they are
    output.say(script(shell, ctx.find_root().command).rstrip("\n"))
    return output.FOUND
