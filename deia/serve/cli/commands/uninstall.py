"""`deia uninstall`: disconnect hosts, and with --purge remove everything that deia keeps on this machine.

It works with a deia that is half broken: it imports nothing that reads a commons, compiles or searches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from deia.errors import HostError
from deia.folders import PACKAGE
from deia.serve.cli import output
from deia.serve.cli.commands.host_changes import carry_out_all, host_options, spots_of
from deia.serve.setup.connect import known_servers
from deia.serve.setup.git_hook import GIT, leaving_parts
from deia.serve.setup.hook_installation import hook_parts
from deia.serve.setup.host_settings.places import this_machine
from deia.serve.setup.own_folders import leaving, own_folders, remove_folder, size_of
from deia.serve.setup.settings_changes import planned, tidy

STAYS = (
    "What stays: your lessons and the log beside them, in telemetry/events, and hooks in the settings of other"
    " projects, which do nothing then."
)


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
    """Remove the hooks of every host, and the folders that are deia's own."""
    folders = own_folders(this_machine())
    for folder in folders:
        output.say(f"To be removed: {folder} ({size_of(folder) / 1e6:.1f} MB)")
    output.say(STAYS)
    code = remove_hooks((), "", dry_run=dry_run, agreed=agreed, every=True)
    if dry_run:
        return code
    if folders and not agreed and not _agrees():
        output.say("These folders were kept.")
        return code
    for folder in folders:
        remove_folder(folder)
        output.say(f"{folder} was removed.")
    output.say(f"To remove the program, type: {leaving(os.environ, PACKAGE)}")
    return code


def _agrees() -> bool:
    """Ask the person; without a terminal nothing is removed that they did not agree to by --yes."""
    if sys.stdin is not None and sys.stdin.isatty() and output.at_terminal():
        return click.confirm("Remove these folders for good?", default=False)
    raise HostError(
        "--purge needs your consent, and this is not a terminal", fix="Type it in a terminal, or add --yes."
    )


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
        output.say(
            f"The hook is not in {paths.pop() if len(paths) == 1 else 'any of their settings'}; there is nothing to do."
        )
        return code
    if carry_out_all(touched, dry_run=dry_run, agreed=agreed, every=every):
        for change in touched:
            if not change.after:
                tidy(change.path, project=this_machine().project)
            output.say(f"{'The hook' if change.path in paths else 'The server'} was removed from {change.path}.")
    return code
