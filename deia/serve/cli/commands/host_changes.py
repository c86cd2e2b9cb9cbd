"""`deia uninstall`, and what it shares with `deia install`: options, the places they mean, writing after a question.

It works with a deia that is half broken: it imports nothing that reads a commons, compiles or searches. With --purge it
removes everything that deia keeps on this machine.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps

import click

from deia.errors import HostError
from deia.folders import PACKAGE
from deia.serve.cli import output
from deia.serve.setup.connect import known_servers, only_servers
from deia.serve.setup.git_hook import GIT, leaving_parts
from deia.serve.setup.hook_installation import Spot, hook_parts
from deia.serve.setup.host_settings.hosts_table import BY_NAME, SCOPES, SETUPS, is_here, setup_of, this_machine
from deia.serve.setup.own_folders import leaving, own_folders, remove_folder, size_of
from deia.serve.setup.settings_changes import Change, carry_out, planned, tidy
from deia.text import counted

STAYS = (
    "What stays: your lessons and the log beside them, in telemetry/events, and hooks in the settings of other"
    " projects, which do nothing then."
)


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
    def scoped(*, project: bool, local: bool, user: bool, **options: object) -> int:
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
    is_asked = not agreed and any(change.before != change.after for change in changes)
    if is_asked and not _agrees("Write these changes?", option="--all" if every else "", default=True):
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


def _agrees(question: str, *, option: str = "", default: bool = False) -> bool:
    """Ask the person; without a terminal that counts as consent, unless an `option` means more than was named."""
    if sys.stdin is not None and sys.stdin.isatty() and output.at_terminal():
        return click.confirm(question, default=default)
    if option:
        fix = "Check what it does with --dry-run, then add --yes."
        raise HostError(f"{option} needs your consent, and this is not a terminal", fix=fix)
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


@click.command(short_help="Disconnect deia from agent hosts.")
@host_options
@click.option("--purge", is_flag=True, help="Remove it from every host, and its launcher, cache, log and memory.")
def uninstall(
    *, hosts: tuple[str, ...], scope: str | None, every: bool, dry_run: bool, agreed: bool, purge: bool
) -> int:
    """Disconnect deia from agent HOSTs: remove its hook from their settings.

    A file that nobody changed since becomes exactly what it was before. Without --project, --local or --user, the hook
    is removed from all of them.

    With --purge, everything that deia keeps on this machine goes as well, after a question: what it remembers of
    conversations, mutes, whom you trust, its own log and all compiled files. Your lessons are not touched.
    """
    if not purge:
        return remove_hooks(hosts, scope or "", dry_run=dry_run, agreed=agreed, every=every)
    if hosts or scope:
        raise click.UsageError("--purge removes everything at every host, so it takes no HOST and no scope.")
    return _purge(dry_run=dry_run, agreed=agreed)


def _purge(*, dry_run: bool, agreed: bool) -> int:
    folders = own_folders(this_machine())
    for folder in folders:
        output.say(f"To be removed: {folder} ({size_of(folder) / 1e6:.1f} MB)")
    output.say(STAYS)
    code = remove_hooks((), "", dry_run=dry_run, agreed=agreed, every=True)
    if dry_run:
        return code
    if folders and not agreed and not _agrees("Remove these folders for good?", option="--purge"):
        output.say("These folders were kept.")
        return code
    for folder in folders:
        remove_folder(folder)
        output.say(f"{folder} was removed.")
    output.say(f"To remove the program, type: {leaving(os.environ, PACKAGE)}")
    return code


def remove_hooks(hosts: Sequence[str], scope: str, *, dry_run: bool, agreed: bool, every: bool) -> int:
    """Remove all that is deia's from the files of hosts; a file that only might hold a server may be unreadable."""
    machine = this_machine()
    of_git = leaving_parts(machine.project) if every or GIT in hosts else []
    only_git, hosts = {*hosts} == {GIT}, [host for host in hosts if host != GIT]
    spots = [] if only_git and not every else spots_of(hosts, scope, every=every, removing=True)
    parts = [*(part for spot in spots for part in hook_parts(spot)), *of_git]
    servers = known_servers(hosts, scope, machine, every=every)
    plan = planned([*parts, *servers], removing=True, fence=machine.fence)
    paths = {part.path for part in parts}
    failed = [error for path, error in plan.failed.items() if path in paths]
    for error in failed:
        if not every:
            raise error
        output.complain_of(error)
    code = output.BROKEN if failed else output.FOUND
    touched = [change for change in plan.changes if change.before != change.after]
    if not touched:
        place = paths.pop() if len(paths) == 1 else "any of their settings"
        output.say(f"The hook is not in {place}; there is nothing to do.")
        return code
    if carry_out_all(touched, dry_run=dry_run, agreed=agreed, every=every):
        for change in touched:
            if not change.after:
                tidy(change.path, project=this_machine().project)
            output.say(f"{'The hook' if change.path in paths else 'The server'} was removed from {change.path}.")
    return code
