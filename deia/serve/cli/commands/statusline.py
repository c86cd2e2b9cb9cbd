"""`deia statusline`: the text for a host's status line."""

from __future__ import annotations

import os
import sys
import time

import click

from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import here, named_commons
from deia.serve.statusline import MOST_INPUT, read_event, status_line


@click.command(short_help="Print a line for a host's status line.")
def statusline() -> None:
    """Print one line: what deia said last in a conversation, how often it spoke, and whether it is muted.

    The host passes the conversation and folder as JSON on standard input. Without it, the current folder is used.
    """
    at_terminal = sys.stdin is None or sys.stdin.isatty()
    event = None if at_terminal else read_event(sys.stdin.buffer.read(MOST_INPUT))
    known = event if isinstance(event, dict) else {"cwd": here()}
    output.say(status_line(known, environ=os.environ, commons=named_commons(), now=time.time()))
