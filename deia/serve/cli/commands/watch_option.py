"""The option `--watch`: a check runs again whenever a file of the commons changes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps

import click

from deia.compile.sources import read_sources
from deia.errors import DeiaError
from deia.folders import is_trusted
from deia.problems import SettingsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import Command, commons_root
from deia.settings import resolve

PAUSE = 0.3  # seconds between two looks at the files
REST = 0.1  # seconds that changed files must stay as they are: an editor may empty one before it writes it
MOST_LOOKS = 20  # at files that go on changing, such as a log


def watch_option(command: Command) -> Command:
    """Add the option `--watch`, of which the command itself sees nothing."""

    @wraps(command)
    def run(*, watch: bool, **options: object) -> int | None:
        if watch:
            _run_again(commons_root(), partial(command, **options))
            return None
        return command(**options)

    option = click.option("--watch", is_flag=True, help="Run again after every change of the files, until Ctrl-C.")
    return option(run)


def _run_again(root: str, check: Callable[[], object]) -> None:
    """Run a check now and after every change of the commons, until the person interrupts it."""
    interrupts: list[int] = []  # no longer empty once the person interrupts, even if that happens during an import

    def interrupt(number: int, _frame: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt  # which the callbacks of an import would swallow

    signal.signal(signal.SIGINT, interrupt)
    with suppress(KeyboardInterrupt):
        sources = stamped_sources(root, {})
        while not interrupts:
            began = time.perf_counter()
            try:
                check()
            except DeiaError as error:
                output.complain_of(error)
            if sys.stdout is not None:
                sys.stdout.flush()
            output.complain(f"{time.perf_counter() - began:.2f} s. Waiting for changes; to end, press Ctrl-C.")
            sources = changed_sources(root, sources, interrupts)
    output.complain("")


def changed_sources(root: str, before: dict[str, str], interrupts: Sequence[int]) -> dict[str, str]:
    """Wait until the sources differ from those of before, and for two seconds at most until they rest; return them.

    If the person interrupts, they are returned as they are.
    """
    sources, looks = before, 0
    while not interrupts:
        time.sleep(REST if looks else PAUSE)
        last, sources = sources, stamped_sources(root, sources)
        looks = 0 if sources == before else looks + 1
        if looks and (sources == last or looks > MOST_LOOKS):
            break
    return sources


def stamped_sources(root: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the sources of a commons with their stamps; `known` are those of the last look."""
    globs: Sequence[str] = ()
    with suppress(SettingsError):  # the check says what is wrong with them
        globs = resolve(root, environ=os.environ).documents
    return read_sources(root, known, globs=globs, starter=False, trusted=is_trusted(root, os.environ))
