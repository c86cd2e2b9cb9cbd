"""`deia completion`: the script with which a shell completes what is typed, and the manual page."""

from __future__ import annotations

import click

from deia.serve.cli import output
from deia.serve.cli.man_page import man_page
from deia.serve.cli.shell_completion import SHELLS, script

MAN = "man"


@click.command(short_help="Print the script that completes deia in a shell, or the manual page.")
@click.argument("shell", type=click.Choice((*SHELLS, MAN)))
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> int:
    """Print the script with which SHELL completes commands, options, document ids, triggers and filter values.

    \b
    bash        deia completion bash >> ~/.bashrc
    zsh         deia completion zsh >> ~/.zshrc
    fish        deia completion fish > ~/.config/fish/completions/deia.fish
    powershell  deia completion powershell >> $PROFILE

    `man` prints the manual page instead, as `deia completion man > ~/.local/share/man/man1/deia.1`.
    """  # noqa: D301 - click needs the backslash, with which it keeps line breaks
    if shell == MAN:
        output.say(man_page(ctx.find_root().command).rstrip("\n"))
        return output.FOUND
    output.say(script(shell, ctx.find_root().command).rstrip("\n"))
    return output.FOUND
