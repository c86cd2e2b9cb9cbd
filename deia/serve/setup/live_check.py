"""Tries an installed hook: runs the host's command in the host's shell, with events as the host sends them.

The events are made from a case of a trigger. The hook runs with a state folder of its own, so that no conversation's
memory is changed and no mute interferes.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from deia import files
from deia.commons.index.load_commons import Commons
from deia.folders import TRUSTED, find_commons, state_folder
from deia.knowledge import Case
from deia.records import Record
from deia.serve.hooks.run import host_module
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.host_settings.command import on_windows, script_start, shell_start
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import SCRIPT, Setup
from deia.serve.setup.host_settings.reads_answer import Heard, Output, read_output
from deia.watch.authoring.replay import run_case
from deia.watch.gate.artefact import open_artefact

PATIENCE = 5.0  # seconds; as long as the host waits for the hook
CONVERSATION = "deia-doctor"
PROMPT, BEFORE_TOOL, AFTER_TOOL = "prompt", "before_tool", "after_tool"


class Trial(Record):
    """What an installed hook answered to an event, or at the next moment that carries the answer."""

    event: str
    seconds: float
    heard: Heard


def started(setup: Setup, hook: Installed, environ: Mapping[str, str]) -> list[str]:
    """Return what the host starts for a hook: a shell with its line or its file, or the program itself."""
    if setup.shape == SCRIPT:
        return script_start(hook.path)
    if not hook.line:
        return hook.words
    return [*shell_start(setup.windows if on_windows() else setup.posix, environ), hook.line]


def tried_moments(setup: Setup) -> Iterator[tuple[str, ...]]:
    """Yield the moments at which a host is tried, each followed by the next moment that can carry the answer."""
    carries = host_module(setup.host).CARRIES
    if "context" in carries.get(PROMPT, {}):
        yield (PROMPT,)
    elif "context" in carries.get(AFTER_TOOL, {}) and PROMPT in setup.tried:
        yield (PROMPT, AFTER_TOOL)
    yield (BEFORE_TOOL,)


def try_hooks(
    setup: Setup, hooks: Mapping[str, Installed], case: Case, *, moments: Sequence[str], folder: str,
    environ: Mapping[str, str],
) -> Trial:  # fmt: skip
    """Run a host's hooks with the events of some moments, one after the other, and return the last answer."""
    text = spoken(case)
    heard, seconds = Heard(), 0.0
    with own_environment(environ) as own:
        for number, moment in enumerate(moments):
            happening = Happening(
                moment=moment, text="done" if number else text, command="ls", conversation=CONVERSATION, folder=folder,
                mark=f"m{number}",
            )  # fmt: skip
            event = sample(setup.host, happening)
            command = started(setup, hooks[setup.tried[moment]], environ)
            began = time.perf_counter()
            heard = _run(setup, moment, command, json.dumps(event).encode(), folder, own)
            seconds += time.perf_counter() - began
            if heard.problem:
                break
    return Trial(event=setup.tried[moments[0]], seconds=seconds, heard=heard)


def _run(
    setup: Setup, moment: str, command: Sequence[str], event: bytes, folder: str, environ: Mapping[str, str]
) -> Heard:
    try:
        done = subprocess.run(  # noqa: S603 - the command that the host runs at every event
            list(command), input=event, capture_output=True, timeout=PATIENCE, check=False, env=environ, cwd=folder
        )
    except (OSError, ValueError) as error:
        return Heard(problem=f"does not start: {error}")
    except subprocess.TimeoutExpired:
        return Heard(problem=f"no answer within {PATIENCE:g} s")
    output = Output(code=done.returncode, out=done.stdout, err=done.stderr)
    return read_output(setup.host, moment, setup.tried[moment], output)


@contextmanager
def own_environment(environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the environment of a trial: the person's, but with a state folder that holds only whom they trust."""
    with tempfile.TemporaryDirectory(prefix="deia-doctor-") as state:
        own = {name: value for name, value in environ.items() if name != "DEIA_OFF"}
        files.keep(f"{state}/{TRUSTED}", files.read(f"{state_folder(environ)}/{TRUSTED}") or b"")
        yield {**own, "DEIA_STATE": state, "DEIA_TELEMETRY": "off"}


def spoken(case: Case) -> str:
    """Return what is said or run in a case of one turn; the empty text if a call runs no command."""
    turn = case.turns[0]
    if turn.role == "user":
        return turn.text
    tool_input: Mapping[str, object] = turn.tool_input or {}
    command = tool_input.get("command")
    return command if isinstance(command, str) and set(tool_input) <= {"command", "description"} else turn.text


def case_to_try(commons: Commons, derived: str, *, role: str, action: str = "") -> Case | None:
    """Return a case with one turn by `role` that fires a compiled stable trigger (of this action), or None."""
    artefact = open_artefact(f"{derived}/triggers")
    stable = {
        trigger.id for trigger in commons.triggers if trigger.status == "stable" and action in ("", trigger.action)
    }
    for case in commons.cases:
        fitting = case.fires and case.trigger in stable and len(case.turns) == 1 and not case.cwd_files
        if not (fitting and case.turns[0].role == role and spoken(case)):
            continue
        if run_case(artefact, case, now=time.time()).holds:
            return case
    return None


def commons_of(command: Sequence[str], folder: str, environ: Mapping[str, str]) -> str:
    """Return the root of the commons that a hook in `folder` uses."""
    at = command.index("--commons") + 1 if "--commons" in command else len(command)
    return find_commons(folder, environ=environ, explicit=command[at] if at < len(command) else "")
