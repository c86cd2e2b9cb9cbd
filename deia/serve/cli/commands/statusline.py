"""`deia statusline`: what a host shows in its status line, for trying it out and for hosts that run any command."""

from __future__ import annotations

import os
import sys
import time

import click

from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, given_commons, here
from deia.serve.statusline import MOST_INPUT, read_event, status_line


@click.command(short_help="Print one line for a host's status line.")
@commons_option
def statusline() -> int:
    """Print what deia said last in a conversation, how often, and whether it is silenced, on one line.

    A host's JSON on standard input says which conversation and folder; without it the working folder counts.
    """
    at_terminal = sys.stdin is None or sys.stdin.isatty()
    event = None if at_terminal else read_event(sys.stdin.buffer.read(MOST_INPUT))
    given = event if isinstance(event, dict) else {"cwd": here()}
    output.say(status_line(given, environ=os.environ, commons=given_commons(), now=time.time()))
    return output.FOUND
