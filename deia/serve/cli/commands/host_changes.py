"""What `deia install` and `deia uninstall` share: their options, the places they mean, and writing after a question."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from deia.errors import HostError
from deia.serve.cli import output
from deia.serve.setup.connect import only_servers
from deia.serve.setup.git_hook import GIT
from deia.serve.setup.hook_installation import Spot
from deia.serve.setup.host_settings.hosts_table import BY_NAME, SCOPES, SETUPS
from deia.serve.setup.host_settings.places import is_here, setup_of, this_machine
from deia.serve.setup.settings_changes import Change, carry_out
from deia.text import counted


def complete_hosts(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the hosts whose names begin with what was typed."""
    return [name for name in (*BY_NAME, GIT) if name.startswith(typed)]


HOST_OPTIONS = {
    "hosts": click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=complete_hosts),
    "every": click.option("--all", "every", is_flag=True, help="Every host that is found on this machine."),
    "project": click.option("--project", is_flag=True, help="Use the settings of the project (the default)."),
    "local": click.option("--local", is_flag=True, help="Use the project's settings that are not shared with others."),
    "user": click.option("--user", is_flag=True, help="Use your own settings, which apply to all projects."),
    "dry_run": click.option("--dry-run", is_flag=True, help="Only show what would change, line by line."),
    "yes": click.option("--yes", "-y", "agreed", is_flag=True, help="Do not ask for confirmation."),
}


def host_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that install and uninstall share; the command receives the chosen scope as one argument."""

    @wraps(command)
    def scoped(*, project: bool, local: bool, user: bool, **options: Any) -> int:
        """Call the command with the scope, or refuse several scopes."""
        chosen = [name for name, is_set in zip(SCOPES, (project, local, user), strict=True) if is_set]
        if len(chosen) > 1:
            raise click.UsageError(f"Use only one of {' and '.join(f'--{name}' for name in chosen)}.")
        return command(scope=chosen[0] if chosen else None, **options)

    for option in reversed(HOST_OPTIONS.values()):
        scoped = option(scoped)
    return scoped


def spots_of(hosts: Sequence[str], scope: str, *, every: bool, removing: bool) -> list[Spot]:
    """Return the places that the command line means, without duplicates."""
    machine = this_machine()
    if not (hosts or every):
        verb = "uninstall" if removing else "install"
        fix = f"Type: deia {verb} HOST, or --all. HOST is one or more of: {', '.join(BY_NAME)}."
        raise HostError("no host is named", fix=fix)
    chosen = [setup_of(host) for host in dict.fromkeys(hosts) if host not in only_servers(hosts)]
    if every:
        chosen = [setup for setup in SETUPS if removing or is_here(setup, machine)]
    spots = [
        Spot(setup=setup, scope=place, machine=machine)
        for setup in chosen
        for place in ((scope,) if scope else setup.places)
        if place in setup.places or not every
    ]
    by_paths = {tuple(spot.paths): spot for spot in reversed(spots)}  # in the home folder, two scopes are one file
    return [*by_paths.values()][::-1]


def carry_out_all(changes: Sequence[Change], *, dry_run: bool, agreed: bool, every: bool) -> bool:
    """Show the changes, ask for confirmation if that is possible, and write them; return whether they were written."""
    for change in changes:
        output.say((_difference(change) if dry_run else _outline(change)) or f"{change.path} is up to date.")
    if dry_run:
        output.say("Nothing was written (--dry-run).")
        return False
    if not agreed and any(change.before != change.after for change in changes) and not _agrees(every=every):
        output.say("Nothing was written.")
        return False
    done: list[str] = []
    for change in changes:
        try:
            carry_out(change)
        except HostError as error:
            result = f"Already written: {', '.join(done)}." if done else "Nothing was written."
            raise HostError(error.message, where=error.where, fix=f"{error.fix} {result}") from error
        done += [change.path] if change.before != change.after else []
    return True


def _agrees(*, every: bool) -> bool:
    """Ask the person to confirm. Without a terminal, naming a host counts as consent, but `--all` does not."""
    if sys.stdin is not None and sys.stdin.isatty() and output.at_terminal():
        return click.confirm("Write these changes?", default=True)
    if every:
        raise HostError(
            "--all needs your consent, and this is not a terminal", fix="Check the changes, then add --yes."
        )
    return True


def _outline(change: Change) -> str:
    """Return a line that says how much of a file changes, or an empty text."""
    lines = _difference(change).splitlines()[2:]
    numbers = {word: sum(line.startswith(sign) for line in lines) for word, sign in (("added", "+"), ("removed", "-"))}
    counts = ", ".join(f"{counted(number, 'line')} {word}" for word, number in numbers.items() if number)
    verb = "change" if change.before and change.after else "create" if change.after else "remove"
    return f"Will {verb} {change.path}: {counts}. To see them first, add --dry-run" if counts else ""


def _difference(change: Change) -> str:
    before, after = change.before.splitlines(), change.after.splitlines()
    names = (change.path if change.before else "no file", change.path if change.after else "no file")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))
