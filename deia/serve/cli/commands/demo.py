"""`deia demo`: a mistake is noticed, a call is held and a question is answered, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import click

from deia.errors import DeiaError
from deia.folders import PACKAGE
from deia.serve.cli import output

MISTAKE = "I'm going to delete the Netlify project and recreate it"
QUESTION = "the deploy fails on Netlify, should I delete the site and make it again?"
EVENT = {
    "session_id": "demo", "hook_event_name": "PreToolUse", "tool_name": "Bash",
    "tool_input": {"command": "terraform destroy"},
}  # fmt: skip
MOST_LINES, WIDTH = 16, 110  # of an output that is shown
NEXT = """
Next: let it watch your own sessions, or write down a lesson of your own.

    deia install claude-code --user
    deia init"""


@click.command(short_help="See a mistake noticed, a call held and a question answered.")
def demo() -> None:
    """See a mistake noticed, a call held and a question answered, by the lessons that come with deia.

    It works in a temporary folder: nothing of yours is read, changed or logged.
    """
    with tempfile.TemporaryDirectory() as folder:
        output.say(f'1. Somebody announces a known mistake.\n\n$ deia check "{MISTAKE}"')
        output.say(_shortened(_deia(folder, "check", MISTAKE)))
        _show_hold(folder)
        output.say(f'\n3. Anybody can ask.\n\n$ deia search "{QUESTION}"')
        output.say(_shortened(_deia(folder, "search", QUESTION)))
    output.say(NEXT)


def _show_hold(folder: str) -> None:
    """Show the hook as Claude Code calls it: the first call held, the repeat let through."""
    output.say(f"\n2. Claude Code is about to run a tool, and asks the hook: {json.dumps(EVENT['tool_input'])}\n")
    command = ("-I", "-S", f"{PACKAGE}/serve/hook.py", "claude-code")
    event = json.dumps({**EVENT, "cwd": folder})
    first, second = (_run(folder, *command, stdin=event) for _ in range(2))
    answer = json.loads(first or "{}").get("hookSpecificOutput", {})
    if answer.get("permissionDecision") != "deny" or second:
        raise DeiaError(f"the hook should hold the first call and pass the second; it said: {first}", fix="deia doctor")
    output.say("The call is denied once. The model reads:\n")
    output.say(_shortened(answer["permissionDecisionReason"]))
    output.say("\nThe same call again: the hook says nothing, and the call runs.")


def _deia(folder: str, *arguments: str) -> str:
    return _run(folder, "-m", "deia.serve.main", *arguments)


def _run(folder: str, *arguments: str, stdin: str = "") -> str:
    """Run a program of deia that keeps everything in one folder, and return what it printed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DEIA_")}
    environ |= {"DEIA_STATE": f"{folder}/state", "DEIA_CACHE": f"{folder}/cache", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.run(  # noqa: S603 - our own interpreter and files
        [sys.executable, *arguments], input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        cwd=folder, env=environ, check=False,
    )  # fmt: skip
    return process.stdout.decode("utf-8", "replace").strip()


def _shortened(text: str) -> str:
    lines = text.splitlines()
    shown = [line if len(line) <= WIDTH else line[: WIDTH - 2] + " …" for line in lines[:MOST_LINES]]
    rest = len(lines) - len(shown)
    return "\n".join([*shown, *([f"[… {rest} more lines]"] if rest > 0 else [])])
