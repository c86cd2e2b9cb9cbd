"""Trying an installed hook: the very command that the host runs, with an event made from a trigger's own case.

It runs with a state folder of its own, so that no conversation's memory is touched and no mute interferes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from deia import freshness
from deia.records import Record
from deia.settings import find_commons, state_folder
from deia.watch.artefact import open_artefact
from deia.watch.case_runner import run_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.commons.commons import Commons
    from deia.knowledge import Case

PATIENCE = 5.0  # seconds; what the installed hook is given by the host
CONVERSATION = "deia-doctor"


class Trial(Record):
    """What an installed hook answered to one event."""

    event: str
    seconds: float
    problem: str = ""  # what is wrong, or the empty text
    answer: Mapping[str, Any] = {}


def try_hook(command: Sequence[str], event: Mapping[str, Any], *, environ: Mapping[str, str]) -> Trial:
    """Run a hook's command with an event on its standard input, as the host does."""
    name = str(event["hook_event_name"])
    with tempfile.TemporaryDirectory(prefix="deia-doctor-") as state:
        began = time.perf_counter()
        try:
            done = subprocess.run(  # noqa: S603 - the command that the host runs at every event
                list(command), input=json.dumps(event).encode(), capture_output=True, timeout=PATIENCE, check=False,
                env=_environment(environ, state), cwd=event["cwd"],
            )  # fmt: skip
        except (OSError, ValueError) as error:
            return Trial(event=name, seconds=0.0, problem=f"does not start: {error}")
        except subprocess.TimeoutExpired:
            return Trial(event=name, seconds=PATIENCE, problem=f"no answer within {PATIENCE:g} s")
        seconds = time.perf_counter() - began
    return _judged(name, seconds, done)


def _environment(environ: Mapping[str, str], state: str) -> dict[str, str]:
    """Give the environment of a trial: the person's own, with an empty state that knows who compiled the triggers."""
    maker = freshness.maker_path(state_folder(environ))
    if os.path.isfile(maker):
        shutil.copy(maker, freshness.maker_path(state))
    own = {name: value for name, value in environ.items() if name != "DEIA_OFF"}
    return {**own, "DEIA_STATE": state, "DEIA_TELEMETRY": "off"}


def _judged(name: str, seconds: float, done: subprocess.CompletedProcess[bytes]) -> Trial:
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode or said:
        told = f"exits with {done.returncode}: {said[-300:] or 'no message'}"
        return Trial(event=name, seconds=seconds, problem=told)
    if not done.stdout.strip():
        return Trial(event=name, seconds=seconds, problem="answers nothing to a text that should fire")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return Trial(event=name, seconds=seconds, problem=f"answers what is not JSON: {done.stdout[:100]!r}")
    specific = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    if not isinstance(specific, dict) or specific.get("hookEventName") != name:
        return Trial(event=name, seconds=seconds, problem="answers nothing that the host would show to the model")
    return Trial(event=name, seconds=seconds, answer=specific)


def event_for(case: Case, *, folder: str) -> dict[str, Any]:
    """Make the host's event from a case of one turn."""
    turn = case.turns[0]
    common = {"session_id": CONVERSATION, "cwd": folder, "transcript_path": "", "permission_mode": "default"}
    if turn.role == "user":
        return {**common, "hook_event_name": "UserPromptSubmit", "prompt": turn.text}
    given = dict(turn.tool_input or {"command": turn.text})
    return {**common, "hook_event_name": "PreToolUse", "tool_name": turn.tool or "Bash", "tool_input": given}


def case_to_try(commons: Commons, derived: str, *, role: str, action: str = "") -> Case | None:
    """Give a case of one turn by `role` that fires a stable trigger (of this action) as compiled, or None.

    Raises:
        ArtefactError: the triggers are not compiled.
    """
    artefact = open_artefact(f"{derived}/triggers")
    stable = {each.id for each in commons.triggers if each.status == "stable" and action in ("", each.action)}
    for case in commons.cases:
        fitting = case.fires and case.trigger in stable and len(case.turns) == 1 and not case.cwd_files
        if fitting and case.turns[0].role == role and run_case(artefact, case, now=time.time()).holds:
            return case
    return None


def commons_of(command: Sequence[str], folder: str, environ: Mapping[str, str]) -> str:
    """Give the commons that a hook run in `folder` uses.

    Raises:
        CommonsError: its command names a folder that holds none.
    """
    at = command.index("--commons") + 1 if "--commons" in command else len(command)
    return find_commons(folder, environ=environ, explicit=command[at] if at < len(command) else "")
