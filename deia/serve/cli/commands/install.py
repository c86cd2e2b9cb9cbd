"""`deia install`, `deia uninstall` and `deia doctor`: agent hosts connected, disconnected and checked."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from deia import fast_json
from deia.compile.compiler import compile_commons
from deia.errors import HostError
from deia.folders import STARTER, find_commons, is_starter
from deia.serve.cli import output
from deia.serve.cli.commands.commons import tell_compiled
from deia.serve.cli.commands.shared_options import commons_option, given_commons, here
from deia.serve.setup.check_results import DEAD, FINE, Patient
from deia.serve.setup.connect import (
    WARM_URL,
    besides_the_hook,
    chosen_by_tool,
    chosen_servers,
    chosen_warm,
    only_servers,
    refuse_hookless,
)
from deia.serve.setup.doctor import diagnose
from deia.serve.setup.hook_installation import Spot, hook_command, plan_install, plan_removal
from deia.serve.setup.host_list import listed
from deia.serve.setup.host_settings import status_line
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, SCOPES, SETUPS
from deia.serve.setup.host_settings.places import is_here, project_folder, setup_of
from deia.serve.setup.interpreter import find_interpreter
from deia.serve.setup.settings_changes import Change, Target, carry_out, entered, taken_out, tidy
from deia.serve.startup.bytecode import keep_bytecode
from deia.settings import resolve
from deia.text import counted

SHARED = "These files name paths of this machine; where they are shared with others, use --user instead"


def complete_hosts(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Give the hosts whose names begin so, for a shell's completion."""
    return [name for name in BY_NAME if name.startswith(incomplete)]


EVERY = {
    "hosts": click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=complete_hosts),
    "every": click.option("--all", "every", is_flag=True, help="Every host that is found here."),
    "project": click.option("--project", is_flag=True, help="The settings of the project (the default)."),
    "local": click.option("--local", is_flag=True, help="The project's, those that are not shared."),
    "user": click.option("--user", is_flag=True, help="The person's own settings, for all projects."),
    "dry_run": click.option("--dry-run", is_flag=True, help="Only show what would change."),
    "yes": click.option("--yes", "-y", "agreed", is_flag=True, help="Do not ask."),
}


def _where(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the flags that installing and its reverse share; of the scopes it gets the one that was named."""

    @wraps(command)
    def scoped(*, project: bool, local: bool, user: bool, **given: Any) -> int:
        """Refuse two scopes rather than take one of them."""
        named = [name for name, is_given in zip(SCOPES, (project, local, user), strict=True) if is_given]
        if len(named) > 1:
            raise click.UsageError(f"Give one of {' and '.join(f'--{name}' for name in named)}, not several.")
        return command(scope=named[0] if named else None, **given)

    for option in reversed(EVERY.values()):
        scoped = option(scoped)
    return scoped


@click.command(short_help="Connect agent hosts: enter the hook into their settings.")
@_where
@click.option("--list", "listing", is_flag=True, help="Show which hosts are here, and where deia is installed.")
@click.option("--json", "as_json", is_flag=True, help="Give what --list shows as JSON.")
@click.option("--uninstall", is_flag=True, help="Take the hook out again, as deia uninstall does.")
@click.option("--mcp", "server", is_flag=True, help="Also enter the server that an agent asks (deia mcp).")
@click.option("--warm", is_flag=True, help="Also have Claude Code ask a running `deia serve`, beside the command.")
@click.option("--url", metavar="URL", default=WARM_URL, show_default=True, help="Of that server, for --warm.")
@click.option("--warm-mcp", "by_tool", is_flag=True, help="The same by the server that the session is connected with.")
@click.option("--statusline", "status", is_flag=True, help="Also show in the host's status line what deia said last.")
@commons_option
def install(  # noqa: PLR0913 - every option has a name of its own
    *, hosts: tuple[str, ...], scope: str | None, listing: bool, as_json: bool, uninstall: bool, status: bool,
    server: bool, warm: bool, url: str, by_tool: bool, **given: bool,
) -> int:  # fmt: skip
    """Enter the hook into hosts' settings, leaving everything else in the files as it is.

    Shows what will change, and asks where somebody can be asked.
    """
    if listing or as_json:
        return _list(asked=listing, as_json=as_json)
    spots = _spots(hosts, scope or SCOPES[0], every=given["every"], removing=uninstall)
    if uninstall:
        given_out = {name: given[name] for name in ("dry_run", "agreed", "every")}
        return _remove(spots, besides_the_hook(hosts, scope or SCOPES[0], every=given["every"]), **given_out)
    commons = given_commons()
    refuse_hookless(hosts, server=server)
    targets = chosen_servers(hosts, scope or SCOPES[0], every=given["every"], commons=commons) if server else []
    targets += _asking(spots, scope or SCOPES[0], url=url if warm else None, by_tool=by_tool, commons=commons)
    if not spots and not targets:
        output.say("No host is found here. To see which deia knows: deia install --list")
        return output.NOTHING
    if status:
        spots = _with_status(spots)
    root = find_commons(here(), environ=os.environ, explicit=commons)
    interpreter = find_interpreter()
    failed: list[HostError] = []
    planned = _planned(spots, interpreter, commons, failed=failed if given["every"] else None)
    spots, plan = [spot for spot, _ in planned], [changes for _, changes in planned]
    whole = _entered(plan, targets, failed=failed if given["every"] else None)
    code = _complain(failed)
    if not _carried_out(whole, **given):
        return code
    _tell_installed(spots, [whole])
    if server or by_tool:
        output.say("The hosts read their servers when they start.")
    _tell_of_status_lines(spots, plan, hook_command(interpreter, status_line.HOST, commons=commons))
    keep_bytecode()
    if not is_starter(root) and resolve(root, environ=os.environ).starter:
        compile_commons(STARTER, environ=os.environ)  # it stands in where a commons is not compiled
    output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
    output.say("To see whether all works: deia doctor")
    return code


def _complain(failed: Sequence[HostError]) -> int:
    """Tell of files that cannot be used; give the exit code."""
    for error in failed:
        output.complain_of(error)
    if failed:
        output.complain(f"deia: {counted(len(failed), 'file')} cannot be used and stays as it is; the others go on.")
    return output.BROKEN if failed else output.FOUND


def _asking(spots: Sequence[Spot], scope: str, *, url: str | None, by_tool: bool, commons: str) -> list[Target]:
    """Give where hooks are to be entered that ask a running server, at an address or by its tool.

    Raises:
        click.UsageError: both were asked for.
        HostError: no host here can do that.
    """
    if url is not None and by_tool:
        raise click.UsageError("Give one of --warm and --warm-mcp, not both.")
    if by_tool:
        return chosen_by_tool(spots, scope, commons=commons)
    return chosen_warm(spots, scope, url, commons=commons) if url is not None else []


def _planned(
    spots: Sequence[Spot], interpreter: str, commons: str, *, failed: list[HostError] | None
) -> list[tuple[Spot, list[Change]]]:
    """Give how files change for every place; one that cannot be used goes to `failed`, so that the others go on.

    Raises:
        HostError: a file cannot be used, and there is no `failed`.
    """
    planned = []
    for spot in spots:
        try:
            planned.append((spot, plan_install(spot, hook_command(interpreter, spot.setup.host, commons=commons))))
        except HostError as error:
            if failed is None:
                raise _unwritten(error) from error
            failed.append(error)
    return planned


def _entered(
    plan: Sequence[Sequence[Change]], targets: Sequence[Target], *, failed: list[HostError] | None
) -> list[Change]:
    """Give all changes with what else is entered; a file that cannot be used as in `_planned`.

    Raises:
        HostError: a file cannot be used, and there is no `failed`.
    """
    whole = [change for changes in plan for change in changes]
    for target in targets:
        try:
            whole = entered(whole, [target])
        except HostError as error:
            if failed is None:
                raise _unwritten(error) from error
            if error.where not in [each.where for each in failed]:
                failed.append(error)
    return whole


def _unwritten(error: HostError) -> HostError:
    return HostError(error.message, where=error.where, fix=f"{error.fix} Nothing was written.".strip())


@click.command(short_help="Disconnect agent hosts: take the hook out of their settings.")
@_where
def uninstall(*, hosts: tuple[str, ...], scope: str | None, every: bool, dry_run: bool, agreed: bool) -> int:
    """Take the hook out of hosts' settings; a file that nobody else changed is as it was before.

    Without a scope's flag, out of every scope.
    """
    spots = _spots(hosts, scope or "", every=every, removing=True)
    besides = besides_the_hook(hosts, scope or "", every=every)
    return _remove(spots, besides, dry_run=dry_run, agreed=agreed, every=every)


def _spots(hosts: Sequence[str], scope: str, *, every: bool, removing: bool) -> list[Spot]:
    """Give the places that the command line means, each once.

    Raises:
        HostError: it names no host, an unknown one, or a scope that a host does not have.
    """
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    if not (hosts or every):
        verb = "uninstall" if removing else "install"
        fix = f"Type: deia {verb} HOST, or --all. HOST is one or more of: {', '.join(BY_NAME)}."
        raise HostError("which host?", fix=fix)
    chosen = [setup_of(host) for host in dict.fromkeys(hosts) if host not in only_servers(hosts)]
    if every:
        chosen = [setup for setup in SETUPS if removing or is_here(setup, project=project, environ=environ)]
    beside = tuple(setup.host for setup in chosen)
    spots = [
        Spot(setup=setup, scope=each, project=project, environ=environ, beside=beside)
        for setup in chosen
        for each in ((scope,) if scope else setup.places)
        if each in setup.places or not every
    ]
    return list({tuple(spot.paths): spot for spot in reversed(spots)}.values())[::-1]  # in a home, two scopes are one


def _with_status(spots: Sequence[Spot]) -> list[Spot]:
    """Ask for the status line where a host has one that a command fills.

    Raises:
        HostError: none of them has.
    """
    if not any(spot.setup.host == status_line.HOST for spot in spots):
        told = "none of these hosts has a status line that a command fills"
        raise HostError(told, fix=f"Type: deia install {status_line.HOST} --statusline")
    return [spot.but(status=spot.setup.host == status_line.HOST) for spot in spots]


def _tell_of_status_lines(spots: Sequence[Spot], plan: Sequence[Sequence[Change]], command: Sequence[str]) -> None:
    """Say what to add where somebody else's status line was kept."""
    for spot, changes in zip(spots, plan, strict=True):
        for change in changes if spot.status else ():
            present = status_line.status_line_in(change.after.removeprefix("\ufeff"), path=change.path)
            if not status_line.is_ours(present):
                output.say(
                    f"The status line in {change.path} is kept as it is. To show deia in it, let its script hand"
                )
                output.say(f"its input to this and print the answer: {status_line.status_command(command)}")


def _tell_installed(spots: Sequence[Spot], plan: Sequence[Sequence[Change]]) -> None:
    written = (change for changes in plan for change in changes if change.before != change.after)
    for change in (change for change in written if change.keep):
        output.say(f"The old settings are in {change.keep}.")
    if any(spot.scope == PROJECT for spot in spots):
        local = " (Claude Code: --local)" if any("local" in spot.setup.places for spot in spots) else ""
        output.say(f"{SHARED}{local}.")
    for spot in spots:
        output.say(spot.setup.after)


def _remove(spots: Sequence[Spot], besides: Sequence[Target], *, dry_run: bool, agreed: bool, every: bool) -> int:
    changes, code = _removals(spots, every=every)
    changes = taken_out(changes, besides)
    touched = [change for change in changes if change.before != change.after]
    if not touched:
        places = ", ".join(change.path for change in changes) if len(changes) == 1 else "any of their settings"
        output.say(f"The hook is not in {places}; nothing is to be done.")
        return code
    if _carried_out(touched, dry_run=dry_run, agreed=agreed, every=every):
        for change in touched:
            if not change.after:
                tidy(change.path, project=project_folder(os.getcwd()))
            what = "The hook" if any(change.path in spot.paths for spot in spots) else "The server"
            output.say(f"{what} is not in {change.path} any more.")
    return code


def _removals(spots: Sequence[Spot], *, every: bool) -> tuple[list[Change], int]:
    """Give the changes that take the hook out, and the exit code; one broken file does not keep the others.

    Raises:
        HostError: the file of a host that was named cannot be used.
    """
    changes: list[Change] = []
    code = output.FOUND
    for spot in spots:
        try:
            changes += plan_removal(spot)
        except HostError as error:
            if not every:
                raise
            output.complain_of(error)
            code = output.BROKEN
    return changes, code


def _carried_out(changes: Sequence[Change], *, dry_run: bool, agreed: bool, every: bool) -> bool:
    """Show changes, ask where somebody can be asked, and write them; say whether they were written."""
    for change in changes:
        output.say(_difference(change) or f"{change.path} is as it should be.")
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
            told = f"Written were: {', '.join(done)}." if done else "Nothing was written."
            raise HostError(error.message, where=error.where, fix=f"{error.fix} {told}") from error
        done += [change.path] if change.before != change.after else []
    return True


def _agrees(*, every: bool) -> bool:
    """Ask the person; where there is none, take a host that was named for consent, but not `--all`.

    Raises:
        HostError: nobody can be asked about every host.
    """
    if sys.stdin is not None and sys.stdin.isatty() and output.at_terminal():
        return click.confirm("Write this?", default=True)
    if every:
        raise HostError("nobody is there to agree to all of this", fix="Look at it, then add --yes.")
    return True


def _difference(change: Change) -> str:
    before, after = change.before.splitlines(), change.after.splitlines()
    names = (change.path if change.before else "no file", change.path if change.after else "no file")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


def _list(*, asked: bool, as_json: bool) -> int:
    """Show every host that deia knows: what says that it is here, and where the hook is installed.

    Raises:
        click.UsageError: only how to show it was said, and nobody asked for it.
    """
    if not asked:
        raise click.UsageError("--json goes with --list.")
    found = listed(project=project_folder(os.getcwd()), environ=dict(os.environ))
    if as_json:
        output.say(fast_json.dumps([each.values() for each in found]))
        return output.FOUND
    width = max(len(each.host) for each in found)
    for each in found:
        output.say("\n".join(each.lines(width)))
    return output.FOUND


@click.command(short_help="Check that everything works, and say what to do where it does not.")
@click.option("--json", "as_json", is_flag=True, help="Give it as JSON.")
@commons_option
def doctor(*, as_json: bool) -> int:
    """Check the commons, its compiled files and the installed hooks, by running the very commands that the hosts run.

    Exits with 1 where something is dead.
    """
    patient = Patient(
        explicit=given_commons(),
        folder=here(),
        project=project_folder(os.getcwd()),
        environ=dict(os.environ),
        tell=output.complain if output.is_watched() else str,
    )
    if as_json:
        return _tell_as_json(patient)
    marks = {FINE: output.mark("✓", "ok"), DEAD: output.mark("✗", "X")}
    worst = output.FOUND
    for finding in diagnose(patient):
        output.say(f"{marks.get(finding.level, '!')} {finding.text}")
        if finding.cure:
            output.say(f"    {finding.cure}")
        worst = max(worst, int(finding.level == DEAD))
    return worst


def _tell_as_json(patient: Patient) -> int:
    """Give all findings as one value; docs/schema/doctor.schema.json describes it."""
    findings = [{"level": each.level, "text": each.text, "cure": each.cure} for each in diagnose(patient)]
    dead = any(each["level"] == DEAD for each in findings)
    output.say(fast_json.dumps({"sound": not dead, "findings": findings}))
    return int(dead)
