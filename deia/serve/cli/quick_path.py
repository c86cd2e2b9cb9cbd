"""The command line. A search in its ordinary form is answered at once, without click; the rest goes to click.

A cold search is counted in milliseconds, so this reaches only what a search needs, and leaves the process without the
interpreter's farewell.
"""

from __future__ import annotations

import os
import sys

from deia.errors import DeiaError
from deia.serve.cli import output
from deia.serve.cli.flags import COMPLETION, read_search
from deia.serve.cli.quick_search import search
from deia.serve.startup.importer import remove


def answer() -> int:
    """Run the command line; give its exit code."""
    output.prepare()
    code = _guarded(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = output.BROKEN_PIPE
    os._exit(code)


def _guarded(arguments: list[str]) -> int:
    """Run a command line; turn what is foreseen to go wrong into a message and an exit code."""
    try:
        return run(arguments)
    except DeiaError as error:
        output.complain_of(error)
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except BrokenPipeError:
        return output.BROKEN_PIPE
    except OSError as error:
        output.complain_of(_plainly(error))
    return output.BROKEN


def _plainly(error: OSError) -> DeiaError:
    """Give what the system said as an error that names the file and what to look at."""
    where = error.filename if isinstance(error.filename, str) else ""
    fix = f"Look at it: ls -ld {where}" if where else "Try again; where it stays, look at the disk and the rights."
    return DeiaError((error.strerror or str(error)).lower(), where=where, fix=fix)


def run(arguments: list[str]) -> int:
    """Run a command line; give its exit code.

    Raises:
        DeiaError: what was asked cannot be done.
    """
    options = None if COMPLETION in os.environ else read_search(arguments)
    if options is not None:
        return search(**options)
    remove()  # a server imports in several threads
    from deia.serve.cli.commands_table import run_cli  # noqa: PLC0415 - click costs three times a whole search

    return run_cli(arguments)
