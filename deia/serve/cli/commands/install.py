"""`deia install`, `deia uninstall` and `deia doctor`: connect, disconnect and check agent hosts."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any

import click

from deia import fast_json
from deia.compile.compiler import compile_commons
from deia.errors import HostError
from deia.folders import STARTER, find_commons, is_starter
from deia.serve.cli import output
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.shared_options import commons_option, here, json_option, named_commons, trust_typed
from deia.serve.cli.shell_completion import complete_hosts
from deia.serve.setup.check_results import DEAD, FINE, Finding, Patient
from deia.serve.setup.connect import (
    WARM_URL,
    chosen_by_tool,
    chosen_servers,
    chosen_warm,
    known_servers,
    only_servers,
    refuse_hookless,
)
from deia.serve.setup.doctor import diagnose
from deia.serve.setup.hook_installation import Spot, hook_command, hook_parts
from deia.serve.setup.host_list import listed
from deia.serve.setup.host_settings import status_line
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, SCOPES, SETUPS, USER
from deia.serve.setup.host_settings.places import is_here, setup_of, this_machine
from deia.serve.setup.interpreter import find_interpreter
from deia.serve.setup.live.live_findings import live_findings
from deia.serve.setup.settings_changes import Change, Part, Plan, carry_out, planned, tidy
from deia.serve.startup.bytecode import keep_bytecode
from deia.settings import resolve
from deia.text import counted

SHARED = "These files contain paths of this machine; if you share them with others, use --user instead"

REPLAYED = "To see how often deia would have spoken in your past conversations, type: deia trigger replay"

HOST_OPTIONS = {
    "hosts": click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=complete_hosts),
    "every": click.option("--all", "every", is_flag=True, help="Every host that is found on this machine."),
    "project": click.option("--project", is_flag=True, help="Use the settings of the project (the default)."),
    "local": click.option("--local", is_flag=True, help="Use the project's settings that are not shared with others."),
    "user": click.option("--user", is_flag=True, help="Use your own settings, which apply to all projects."),
    "dry_run": click.option("--dry-run", is_flag=True, help="Only show what would change."),
    "yes": click.option("--yes", "-y", "agreed", is_flag=True, help="Do not ask for confirmation."),
}


def _host_options(command: Callable[..., int]) -> Callable[..., int]:
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


@click.command(short_help="Connect deia with agent hosts such as Claude Code.")
@_host_options
@click.option(
    "--list", "listing", is_flag=True, help="Show which hosts are on this machine, and where deia is installed."
)
@click.option("--json", "as_json", is_flag=True, help="Print the output of --list as JSON.")
@click.option("--uninstall", is_flag=True, help="Remove the hook, as deia uninstall does.")
@click.option("--mcp", "server", is_flag=True, help="Also add the server that the agent can ask (deia serve --stdio).")
@click.option("--warm", is_flag=True, help="Also let Claude Code ask a running `deia serve`.")
@click.option(
    "--url", metavar="URL", default=WARM_URL, show_default=True, help="The address of that server, for --warm."
)
@click.option("--warm-mcp", "by_tool", is_flag=True, help="Also let Claude Code ask the session's own MCP server.")
@click.option("--statusline", "status", is_flag=True, help="Also show what deia said last in the host's status line.")
@commons_option
def install(  # noqa: PLR0913 - every option has a name of its own
    *, hosts: tuple[str, ...], scope: str | None, listing: bool, as_json: bool, uninstall: bool, status: bool,
    server: bool, warm: bool, url: str, by_tool: bool, **flags: bool,
) -> int:  # fmt: skip
    """Connect deia with agent HOSTs: add its hook to their settings, so that it sees what an agent is about to do.

    Nothing else in the files is changed. The changes are shown first and, in a terminal, must be confirmed.
    """
    if listing or as_json:
        return _list(listing=listing, as_json=as_json)
    every = flags["every"]
    scope = scope or SCOPES[0]
    if uninstall:
        return _remove(hosts, scope, **flags)
    spots = _spots(hosts, scope, every=every, removing=False)
    commons = named_commons()
    root = find_commons(here(), environ=os.environ, explicit=commons)
    refuse_hookless(hosts, server=server)
    parts = chosen_servers(hosts, scope, this_machine(), every=every, commons=commons, root=root) if server else []
    parts += _asking(spots, scope, url=url if warm else None, by_tool=by_tool, commons=commons, root=root)
    if not spots and not parts:
        output.say("No host was found on this machine. To see all that deia supports, type: deia install --list")
        return output.NOTHING
    if status:
        spots = _with_status(spots)
    command = partial(hook_command, find_interpreter(), commons=commons)
    wanted = [*(part for spot in spots for part in hook_parts(spot, command(spot.setup.host))), *parts]
    plan = planned(wanted, fence=this_machine().fence)
    code = _report_failures(plan, every=every)
    if not _carry_out(plan.changes, **flags):
        output.say(REPLAYED)
        return code
    _report_installed([spot for spot in spots if not plan.failed.keys() & spot.paths], plan.changes)
    if server or by_tool:
        output.say("Restart the hosts, so that they find the new server.")
    _report_status_lines(spots, plan.changes, command(status_line.HOST))
    keep_bytecode()
    if (scope or SCOPES[0]) != USER:
        trust_typed(root)
    if not is_starter(root) and resolve(root, environ=os.environ).starter:
        compile_commons(STARTER, environ=os.environ)  # it is used while a commons is not compiled
    compile_and_say(root)
    output.say(REPLAYED)
    output.say("To check that everything works, type: deia doctor")
    return code


def _report_failures(plan: Plan, *, every: bool) -> int:
    """Print the errors of files that cannot be used, and return the exit code."""
    for error in plan.failed.values():
        if not every:
            raise HostError(error.message, where=error.where, fix=f"{error.fix} Nothing was written.".strip())
        output.complain_of(error)
    if plan.failed:
        output.complain(f"deia: {counted(len(plan.failed), 'file')} cannot be used and was not changed.")
    return output.BROKEN if plan.failed else output.FOUND


def _asking(
    spots: Sequence[Spot], scope: str, *, url: str | None, by_tool: bool, commons: str, root: str
) -> list[Part]:
    """Return the settings for hooks that ask a running server, at an address or by its tool."""
    if url is not None and by_tool:
        raise click.UsageError("Use --warm or --warm-mcp, not both.")
    if by_tool:
        return chosen_by_tool(spots, scope, commons=commons, root=root)
    return chosen_warm(spots, url) if url is not None else []


@click.command(short_help="Disconnect deia from agent hosts.")
@_host_options
def uninstall(*, hosts: tuple[str, ...], scope: str | None, every: bool, dry_run: bool, agreed: bool) -> int:
    """Disconnect deia from agent HOSTs: remove its hook from their settings.

    A file that nobody changed since becomes exactly what it was before. Without --project, --local or --user, the hook
    is removed from all of them.
    """
    return _remove(hosts, scope or "", dry_run=dry_run, agreed=agreed, every=every)


def _spots(hosts: Sequence[str], scope: str, *, every: bool, removing: bool) -> list[Spot]:
    """Return the places that the command line means, without duplicates."""
    machine = this_machine()
    if not (hosts or every):
        verb = "uninstall" if removing else "install"
        fix = f"Type: deia {verb} HOST, or --all. HOST is one or more of: {', '.join(BY_NAME)}."
        raise HostError("no host is named", fix=fix)
    chosen = [setup_of(host) for host in dict.fromkeys(hosts) if host not in only_servers(hosts)]
    if every:
        chosen = [setup for setup in SETUPS if removing or is_here(setup, machine)]
    beside = tuple(setup.host for setup in chosen)
    spots = [
        Spot(setup=setup, scope=place, machine=machine, beside=beside)
        for setup in chosen
        for place in ((scope,) if scope else setup.places)
        if place in setup.places or not every
    ]
    by_paths = {tuple(spot.paths): spot for spot in reversed(spots)}  # in the home folder, two scopes are one file
    return [*by_paths.values()][::-1]


def _with_status(spots: Sequence[Spot]) -> list[Spot]:
    """Return the places, with the status line wanted for the hosts that have one."""
    if not any(spot.setup.host == status_line.HOST for spot in spots):
        message = "none of these hosts has a status line that can show deia"
        raise HostError(message, fix=f"Type: deia install {status_line.HOST} --statusline")
    return [spot.but(status=spot.setup.host == status_line.HOST) for spot in spots]


def _report_status_lines(spots: Sequence[Spot], changes: Sequence[Change], command: Sequence[str]) -> None:
    """Print what to add to a status line that is not deia's and was kept."""
    paths = {path for spot in spots if spot.status for path in spot.paths}
    for change in changes:
        if change.path not in paths:
            continue
        present = status_line.status_line_in(change.after, path=change.path)
        if not status_line.is_ours(present):
            output.say(f"The status line in {change.path} was not changed. To show deia in it, let its script pass")
            output.say(f"its input to this command and print the output: {status_line.status_command(command)}")


def _report_installed(spots: Sequence[Spot], changes: Sequence[Change]) -> None:
    for change in (change for change in changes if change.keep):
        output.say(f"A copy of the old settings is in {change.keep}.")
    if any(spot.scope == PROJECT for spot in spots):
        local = " (Claude Code: --local)" if any("local" in spot.setup.places for spot in spots) else ""
        output.say(f"{SHARED}{local}.")
    for spot in spots:
        output.say(spot.setup.after)


def _remove(hosts: Sequence[str], scope: str, *, dry_run: bool, agreed: bool, every: bool) -> int:
    """Remove all that is deia's from the files of hosts; a file that only might hold a server may be unreadable."""
    spots = _spots(hosts, scope, every=every, removing=True)
    parts = [part for spot in spots for part in hook_parts(spot)]
    machine = this_machine()
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
    if _carry_out(touched, dry_run=dry_run, agreed=agreed, every=every):
        for change in touched:
            if not change.after:
                tidy(change.path, project=this_machine().project)
            output.say(f"{'The hook' if change.path in paths else 'The server'} was removed from {change.path}.")
    return code


def _carry_out(changes: Sequence[Change], *, dry_run: bool, agreed: bool, every: bool) -> bool:
    """Show the changes, ask for confirmation if that is possible, and write them; return whether they were written."""
    for change in changes:
        output.say(_difference(change) or f"{change.path} is up to date.")
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


def _difference(change: Change) -> str:
    before, after = change.before.splitlines(), change.after.splitlines()
    names = (change.path if change.before else "no file", change.path if change.after else "no file")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


def _list(*, listing: bool, as_json: bool) -> int:
    """Print every host that deia supports: how it was detected, and where the hook is installed."""
    if not listing:
        raise click.UsageError("--json can only be used with --list.")
    hosts = listed(this_machine())
    if as_json:
        output.say(fast_json.dumps([host.values() for host in hosts]))
        return output.FOUND
    width = max(len(host.host) for host in hosts)
    for host in hosts:
        output.say("\n".join(host.lines(width)))
    return output.FOUND


@click.command(short_help="Check that everything works, and show how to fix what does not.")
@click.option(
    "--live", "host", metavar="HOST", shell_complete=complete_hosts,
    help="Run this host once against a model on this machine, and show what arrives. Needs no key and no network.",
)  # fmt: skip
@json_option
@commons_option
def doctor(*, host: str | None, as_json: bool) -> int:
    """Check the commons, its compiled files and the installed hooks, by running the same commands as the hosts.

    With --live, the host itself is run in a home folder of its own, with deia's hooks and nothing else of your
    settings, for at most two minutes. Its model is a script that asks for a command, which is not really run.

    The exit code is 1 if something does not work.
    """
    if host is not None and named_commons():
        raise click.UsageError("--live tries what is installed, with its own commons; leave out --commons.")
    patient = Patient(
        explicit=named_commons(),
        folder=here(),
        machine=this_machine(),
        tell=output.complain if output.is_watched() else str,
    )
    findings = diagnose(patient) if host is None else live_findings(patient, setup_of(host))
    if as_json:
        return _print_json(findings)
    marks = {FINE: output.mark("✓", "ok"), DEAD: output.mark("✗", "X")}
    worst = output.FOUND
    for finding in findings:
        output.say(f"{marks.get(finding.level, '!')} {finding.text}")
        if finding.cure:
            output.say(f"    {finding.cure}")
        worst = max(worst, int(finding.level == DEAD))
    return worst


def _print_json(findings: Iterable[Finding]) -> int:
    """Print all findings as JSON (docs/schema/doctor.schema.json) and return the exit code."""
    printed = [{"level": finding.level, "text": finding.text, "cure": finding.cure} for finding in findings]
    dead = any(finding["level"] == DEAD for finding in printed)
    output.say(fast_json.dumps({"sound": not dead, "findings": printed}))
    return int(dead)
