"""`deia install` and `deia doctor`: connect and check agent hosts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

import click

from deia import fast_json
from deia.commons.source_files.read_cache import cache_reads
from deia.compile.compiler import compile_commons
from deia.errors import HostError
from deia.folders import PACKAGE, STARTER, find_commons, is_starter, is_trusted
from deia.serve.cli import colours, output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.host_changes import carry_out_all, complete_hosts, host_options, spots_of
from deia.serve.setup import connect
from deia.serve.setup.check_results import DEAD, FINE, Patient
from deia.serve.setup.doctor import diagnose
from deia.serve.setup.git_hook import GIT, entering_parts
from deia.serve.setup.hook_installation import Spot, enter_launcher, hook_parts, listed
from deia.serve.setup.host_settings.claude_code_settings import is_own_status_line, status_command, status_line_in
from deia.serve.setup.host_settings.hosts_table import (
    CLAUDE_CODE,
    PROJECT,
    SCOPES,
    SETUPS,
    USER,
    setup_of,
    this_machine,
)
from deia.serve.setup.host_settings.launcher import find_interpreters, launched_command
from deia.serve.setup.live.live_findings import live_findings
from deia.serve.setup.own_folders import is_temporary
from deia.serve.setup.settings_changes import Change, Part, Plan, planned
from deia.serve.startup.bytecode import keep_bytecode
from deia.settings import resolve
from deia.text import counted

PATHS = "These files contain paths of this machine; if you share them with others, use --user instead"
SHARED = "If you share these files: whoever has deia installed gets its hooks, and for everybody else they do nothing"

TEMPORARY = (
    "deia runs from a cache here, which is emptied now and then; then its hooks do nothing. To keep it, type:"
    " uv tool install deia (or pipx install deia), and install the hooks again."
)
REPLAYED = "To see how often deia would have spoken in your past conversations, type: deia trigger replay"


@click.command(short_help="Connect deia with agent hosts such as Claude Code.")
@host_options
@click.option(
    "--list", "listing", is_flag=True, help="Show which hosts are on this machine, and where deia is installed."
)
@click.option("--json", "as_json", is_flag=True, help="Print the output of --list as JSON.")
@click.option("--mcp", "server", is_flag=True, help="Also add the server that the agent can ask (deia serve --stdio).")
@click.option("--warm", is_flag=True, help="Also let Claude Code ask a running `deia serve`.")
@click.option(
    "--url", metavar="URL", default=connect.WARM_URL, show_default=True, help="The address of that server, for --warm."
)
@click.option("--warm-mcp", "by_tool", is_flag=True, help="Also let Claude Code ask the session's own MCP server.")
@click.option("--statusline", "status", is_flag=True, help="Also show what deia said last in the host's status line.")
def install(  # noqa: PLR0913 - every option has a name of its own
    *, hosts: tuple[str, ...], scope: str | None, listing: bool, as_json: bool, status: bool, server: bool, warm: bool,
    url: str, by_tool: bool, **flags: bool,
) -> int:  # fmt: skip
    """Connect deia with agent HOSTs: add its hook to their settings, so that it sees what an agent is about to do.

    Nothing else in the files is changed. In a terminal, the changes must be confirmed; --dry-run shows their lines.
    With git for a HOST, the repository's own hooks compile the lessons that a pull or a checkout brings.
    """
    if listing or as_json:
        _list(listing=listing, as_json=as_json)
        return output.FOUND
    every, scope = flags["every"], scope or SCOPES[0]
    if GIT in hosts:
        _install_git(hosts, **flags)
        return output.FOUND
    spots = spots_of(hosts, scope, every=every, removing=False)
    commons = shared.named_commons()
    root = find_commons(shared.here(), environ=os.environ, explicit=commons)
    parts: list[Part] = []
    if server:
        parts = connect.chosen_servers(hosts, scope, this_machine(), every=every, commons=commons, root=root)
    else:
        connect.refuse_hookless(hosts)
    parts += _asking(spots, scope, url=url if warm else None, by_tool=by_tool, commons=commons, root=root)
    if not spots and not parts:
        output.say("No host was found on this machine. To see all that deia supports, type: deia install --list")
        return output.NOTHING
    spots = _with_status(spots) if status else spots
    command = partial(launched_command, find_interpreters()[0], environ=os.environ, commons=commons)
    wanted = [*(part for spot in spots for part in hook_parts(spot, command(spot.setup.host))), *parts]
    plan = planned(wanted, fence=this_machine().fence)
    code = _report_failures(plan, every=every)
    if not carry_out_all(plan.changes, **flags):
        output.say(REPLAYED)
        return code
    launcher = enter_launcher(os.environ)
    connected = [spot for spot in spots if not plan.failed.keys() & spot.paths]
    _report_installed(connected, plan.changes, launcher=launcher)
    if server or by_tool:
        output.say("Restart the hosts, so that they find the new server.")
    _report_status_lines(spots, plan.changes, command(CLAUDE_CODE))
    _make_ready(root, scope)
    output.say(REPLAYED)
    output.say("To check that everything works, type: deia doctor")
    return code


def _make_ready(root: str, scope: str) -> None:
    """Compile what the hooks will need, and trust the project that they are entered in."""
    keep_bytecode()
    if scope != USER:
        shared.trust_typed(root)
    if not is_starter(root) and resolve(root, environ=os.environ).starter:
        compile_commons(STARTER, environ=os.environ)  # it is used while a commons is not compiled
    compile_and_say(root)


def _install_git(hosts: Sequence[str], **flags: bool) -> None:
    """Add the hooks of the repository that compile what git brings; only a trusted commons gets them."""
    if len(hosts) > 1 or flags["every"]:
        raise click.UsageError("git is no agent host; type it alone: deia install git")
    root = shared.writable_root()
    if not (shared.is_person() or is_trusted(root, os.environ)):
        raise HostError("this commons is not trusted", where=root, fix="Type in a terminal: deia trust")
    plan = planned(entering_parts(root))
    for error in plan.failed.values():
        raise error
    if carry_out_all(plan.changes, **flags):
        shared.trust_typed(root)
        output.say("Lessons are now compiled after git pull, merge, rebase and checkout.")


def _asking(
    spots: Sequence[Spot], scope: str, *, url: str | None, by_tool: bool, commons: str, root: str
) -> list[Part]:
    """Return the settings for hooks that ask a running server, at an address or by its tool."""
    if url is not None and by_tool:
        raise click.UsageError("Use --warm or --warm-mcp, not both.")
    if by_tool:
        return connect.chosen_by_tool(spots, scope, commons=commons, root=root)
    return connect.chosen_warm(spots, url) if url is not None else []


def _report_failures(plan: Plan, *, every: bool) -> int:
    for error in plan.failed.values():
        if not every:
            raise HostError(error.message, where=error.where, fix=f"{error.fix} Nothing was written.".strip())
        output.complain_of(error)
    if plan.failed:
        output.complain(f"deia: {counted(len(plan.failed), 'file')} cannot be used and was not changed.")
    return output.BROKEN if plan.failed else output.FOUND


def _with_status(spots: Sequence[Spot]) -> list[Spot]:
    """Return the places, with the status line wanted for the hosts that have one."""
    if not any(spot.setup.host == CLAUDE_CODE for spot in spots):
        message = "none of these hosts has a status line that can show deia"
        raise HostError(message, fix=f"Type: deia install {CLAUDE_CODE} --statusline")
    return [spot.but(status=spot.setup.host == CLAUDE_CODE) for spot in spots]


def _report_status_lines(spots: Sequence[Spot], changes: Sequence[Change], command: Sequence[str]) -> None:
    """Print what to add to a status line that is not deia's and was kept."""
    paths = {path for spot in spots if spot.status for path in spot.paths}
    for change in changes:
        if change.path not in paths:
            continue
        present = status_line_in(change.after, path=change.path)
        if not is_own_status_line(present):
            output.say(f"The status line in {change.path} was not changed. To show deia in it, let its script pass")
            output.say(f"its input to this command and print the output: {status_command(command)}")


def _report_installed(spots: Sequence[Spot], changes: Sequence[Change], *, launcher: str) -> None:
    if is_temporary(PACKAGE):
        output.say(TEMPORARY)
    for change in (change for change in changes if change.keep):
        output.say(f"A copy of the old settings is in {change.keep}.")
    if any(spot.scope == PROJECT for spot in spots):
        local = " (Claude Code: --local)" if any("local" in spot.setup.places for spot in spots) else ""
        names = (os.path.dirname(launcher), sys.executable, "--commons")
        is_bound = os.name == "nt" or any(name in change.after for change in changes for name in names)
        output.say(f"{PATHS}{local}." if is_bound else f"{SHARED}.")
    for spot in spots:
        output.say(spot.setup.after)


def _list(*, listing: bool, as_json: bool) -> None:
    """Print every host that deia supports: how it was detected, and where the hook is installed."""
    if not listing:
        raise click.UsageError("--json can only be used with --list.")
    machine = this_machine()
    hosts = [listed(setup, machine) for setup in SETUPS]
    width = max(len(host.host) for host in hosts)
    lines = (line for host in hosts for line in host.lines(width))
    output.answer([host.values() for host in hosts], lines, as_json=as_json)


@click.command(short_help="Check that everything works, and show how to fix what does not.")
@click.option(
    "--live", "host", metavar="HOST", shell_complete=complete_hosts,
    help="Run this host once against a model on this machine, and show what arrives. Needs no key and no network.",
)  # fmt: skip
@shared.json_option
def doctor(*, host: str | None, as_json: bool) -> int:
    """Check the commons, its compiled files and the installed hooks, by running the same commands as the hosts.

    With --live, the host itself is run in a home folder of its own, with deia's hooks and nothing else of your
    settings, for at most two minutes. Its model is a script that asks for a command, which is not really run.

    If something does not work, exits 1.
    """
    if host is not None and shared.named_commons():
        raise click.UsageError("--live tries what is installed, with its own commons; leave out --commons.")
    patient = Patient(
        explicit=shared.named_commons(),
        folder=shared.here(),
        machine=this_machine(),
        tell=output.complain if output.is_watched() else str,
    )
    marks = {FINE: output.mark("✓", "ok"), DEAD: output.mark("✗", "X")}
    findings = []
    with cache_reads():  # several checks read the whole commons
        for finding in diagnose(patient) if host is None else live_findings(patient, setup_of(host)):
            findings.append(finding)
            if not as_json:
                cure = f"\n    {finding.cure}" if finding.cure else ""
                colours.say(f"{marks.get(finding.level, '!')} {finding.text}{cure}", colours.FINDINGS)
    is_sound = all(finding.level != DEAD for finding in findings)
    if as_json:  # docs/schema/doctor.schema.json
        output.say(fast_json.dumps({"sound": is_sound, "findings": [finding.values() for finding in findings]}))
    return int(not is_sound)
