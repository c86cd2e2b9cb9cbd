"""`deia install` and `deia doctor`: the hook entered into an agent host's settings, and whether all of it works."""

from __future__ import annotations

import difflib
import os

import click

from deia.compile.compiler import compile_commons
from deia.serve import output
from deia.serve.commands.keeping import tell_compiled
from deia.serve.commands.options import commons_option, given_commons, here
from deia.serve.diagnosis import DEAD, FINE, Patient, diagnose
from deia.serve.hosts.claude_settings import HOST, SCOPES, project_folder, settings_path
from deia.serve.installing import Change, carry_out, hook_command, plan_install, plan_removal
from deia.serve.interpreter import find_interpreter
from deia.settings import find_commons


@click.command(short_help="Enter the hook into an agent host's settings.")
@click.argument("host", type=click.Choice([HOST]))
@click.option(
    "--project", "scope", flag_value="project", help="Into .claude/settings.json of the project (the default)."
)
@click.option("--local", "scope", flag_value="local", help="Into .claude/settings.local.json, which is not shared.")
@click.option("--user", "scope", flag_value="user", help="Into the person's own settings, for all projects.")
@click.option("--uninstall", is_flag=True, help="Take the hook out again.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@commons_option
def install(*, host: str, scope: str | None, uninstall: bool, dry_run: bool) -> int:
    """Enter the hook into a host's settings, leaving everything else in the file as it is."""
    scope = scope if scope in SCOPES else SCOPES[0]
    path = settings_path(scope, project=project_folder(os.getcwd()), environ=os.environ)
    if uninstall:
        if _carried_out(plan_removal(path), dry_run=dry_run):
            output.say(f"The hook is not in {path} any more.")
        return output.FOUND
    commons = given_commons()
    root = find_commons(here(), environ=os.environ, explicit=commons)
    change = plan_install(path, hook_command(find_interpreter(), commons=commons))
    if _carried_out(change, dry_run=dry_run):
        if change.keep:
            output.say(f"The old settings are in {change.keep}.")
        if scope == SCOPES[0]:
            output.say("This file names paths of this machine; if it is shared with others, use --local instead.")
        output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
        output.say(f"{host} reads its hooks when a session starts. To see whether all works: deia doctor")
    return output.FOUND


def _carried_out(change: Change, *, dry_run: bool) -> bool:
    """Show a change and, unless it is a dry run, write it; say whether it was written."""
    output.say(_difference(change) or f"{change.path} is as it should be.")
    if dry_run:
        output.say("Nothing was written (--dry-run).")
        return False
    carry_out(change)
    return True


def _difference(change: Change) -> str:
    before, after = change.before.splitlines(), change.after.splitlines()
    names = (change.path if change.before else "no file", change.path if change.after else "no file")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


@click.command(short_help="Check that everything works, and say what to do where it does not.")
@commons_option
def doctor() -> int:
    """Check the commons, its compiled files and the installed hooks, by running the very commands that the host runs.

    Exits with 1 where something is dead.
    """
    patient = Patient(
        explicit=given_commons(),
        folder=here(),
        project=project_folder(os.getcwd()),
        environ=dict(os.environ),
    )
    marks = {FINE: output.mark("✓", "ok"), DEAD: output.mark("✗", "X")}
    worst = output.FOUND
    for finding in diagnose(patient):
        output.say(f"{marks.get(finding.level, '!')} {finding.text}")
        if finding.cure:
            output.say(f"    {finding.cure}")
        worst = max(worst, int(finding.level == DEAD))
    return worst
