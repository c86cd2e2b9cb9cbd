"""What several commands share: the commons and its librarian, and the options for it and for the output format."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Timer
from typing import TypeAlias

import click

from deia import files, spool
from deia.durations import read_duration
from deia.folders import events_folder, find_commons, is_packaged, is_trusted, notes_folder
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.records import ACTIONS
from deia.serve.cli import output
from deia.settings import resolve
from deia.suggestions import nearest
from deia.trust import trust

Command: TypeAlias = Callable[..., int | None]  # with click's options as its parameters; returns the exit code

PATIENCE = 1.0  # seconds after which a person wants to know what takes so long


action_option = click.option(
    "--action", type=click.Choice(ACTIONS),
    help="What the drafted trigger does; by default hold for a critical command, warn for what else is critical"
    " or high, or else note.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def read_span(_ctx: click.Context, _option: click.Parameter, span: str | None) -> int:
    """Return the seconds of a span of time such as 30m, 2h or 7d, and 0 for none; raise click.BadParameter."""
    try:
        seconds = read_duration(span) if span is not None else 0
        spool.timestamp(time.time() - seconds)
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(str(error)) from error
    return seconds


def _start(ctx: click.Context, option: click.Parameter, span: str | None) -> str:
    return "" if span is None else spool.timestamp(time.time() - read_span(ctx, option, span))


# The command gets the time at which the span begins, as the log writes it, or an empty text.
since_option = click.option(
    "--since", metavar="TIME", callback=_start, help="Only the last 30m, 2h or 7d; by default everything."
)


def form_option(*forms: str) -> Callable[[Command], Command]:
    """Return the options for the form of the output, of which `--json` is one: the command receives one `form`.

    The first is the default.
    """

    def add(command: Command) -> Command:
        @wraps(command)
        def run(*, as_json: bool, form: str, **options: object) -> int | None:
            if as_json and form not in {forms[0], "json"}:
                raise click.UsageError(f"Use --json or --format {form}, not both.")
            return command(form="json" if as_json else form, **options)

        form_choice = click.option(
            "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True,
            help="The form of the output.",
        )  # fmt: skip
        return json_option(form_choice(run))

    return add


def named_commons() -> str:
    """Return the folder that `--commons` names, as an absolute path, or an empty text."""
    folder: str = click.get_current_context().find_root().obj or ""
    return files.forward(os.path.abspath(folder)) if folder else ""


def open_librarian(agent: str = "cli", *, ledger: bool = False) -> Librarian:
    """Return the librarian of the commons to use; what it does is logged only with `ledger`."""
    return Librarian(named_commons() or None, agent=agent, ledger=ledger)


def here() -> str:
    """Return the current folder, with forward slashes."""
    return files.forward(os.getcwd())


def commons_root() -> str:
    """Return the folder of the commons to use."""
    return find_commons(here(), environ=os.environ, explicit=named_commons())


def writable_root() -> str:
    """Return the folder of the commons to change.

    Raise CommonsError if there is only the packaged starter commons, the folder that `--commons` names contains none,
    or it is a folder of notes, as `--docs` names them.
    """
    root = commons_root()
    if is_packaged(root):
        raise CommonsError(
            "this project has no commons, and the starter commons of the package cannot be changed",
            fix="Type: deia init",
        )
    if files.full(root) == notes_folder(os.environ):
        fix = f"To make it a commons, type: deia init {root}, then the same with --commons instead of --docs"
        raise CommonsError(f"{root} is a folder of notes, in which nothing is written", fix=fix)
    return root


def is_person() -> bool:
    """Return whether a person at a terminal can answer, which an agent's tool call cannot."""
    return sys.stdin is not None and sys.stdin.isatty()


def require_person(command: str) -> None:
    """Raise CommonsError if no person at a terminal types this command."""
    if not is_person():
        raise CommonsError("only a person at a terminal can run this", fix=f"Type in a terminal: {command}")


def trust_typed(root: str) -> None:
    """Trust the commons that a person works on at a terminal, and say so."""
    if is_person() and not is_trusted(root, os.environ):
        line = trust(root, os.environ)
        output.say(f"You trust {line} from now on. To take that back, type: deia trust --remove {shlex.quote(line)}")


@contextmanager
def message_if_slow(message: str, *, after: float = PATIENCE) -> Iterator[None]:
    """Print a message to standard error, if that is a terminal, once the block takes longer than `after` seconds."""
    if not output.is_watched():
        yield
        return
    timer = Timer(after, output.complain, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def check_trigger(ident: str, known: Collection[str]) -> None:
    """Raise CommonsError if there is no trigger with this id."""
    if ident not in known:
        raise CommonsError(f"there is no trigger {ident!r}", fix=nearest(ident, list(known)))


def today() -> str:
    """Return the local date."""
    return time.strftime("%Y-%m-%d")


def log_change(root: str, change: str) -> None:
    """Log a change of the commons that was made with a command."""
    telemetry = resolve(root, environ=os.environ).telemetry
    spool.append(events_folder(root, os.environ), "index", {"actor": "cli", "change": change}, telemetry=telemetry)
