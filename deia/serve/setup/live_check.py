"""Tries an installed hook: runs the host's command in the host's shell, with events as the host sends them.

The events are made from a case of a trigger. The hook runs with a state folder of its own, so that no conversation's
memory is changed and no mute interferes.

Its answer is read as the host would: the text that its model reads, or why the host would drop it. The tables in
`live_check.toml` are the hosts' contracts, key by key (see the hosts' modules for their sources). An unknown key is a
fault: one host then runs the command, another drops the answer.
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
from deia.fast_json import Json, loads
from deia.folders import TRUSTED, find_commons, state_folder
from deia.knowledge import Case
from deia.records import Record
from deia.serve.hooks.run import host_module
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.host_settings.command import on_windows, script_start, shell_start
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import SCRIPT, Setup
from deia.tables import toml_beside
from deia.watch.authoring.replay import run_case
from deia.watch.gate.artefact import open_artefact

MOST_CHARS = 10_000  # of one string, at every host
EVENT, CONTEXT, DECISION, REASON, ASIDE = "event", "context", "decision", "reason", "aside"
BY_CODE = ("windsurf", "kiro")  # hosts that read a reason from standard error, with exit code 2
NO_COMMANDS: list[Json] = []
HOLDS = ("deny", "block", True, NO_COMMANDS)
PATIENCE = 5.0  # seconds; as long as the host waits for the hook
CONVERSATION = "deia-doctor"
PROMPT, BEFORE_TOOL, AFTER_TOOL = "prompt", "before_tool", "after_tool"


def _takes() -> dict[str, dict[str, dict[str, str]]]:
    """Return what hosts read of an answer: host → moment → key → its role."""
    hosts = toml_beside(__file__)
    forms = hosts.pop("forms")
    return {
        host: {
            moment: {key: role for name in names for role, key in forms[name].items()} for moment, names in own.items()
        }
        for host, own in hosts.items()
    }


TAKES: Mapping[str, Mapping[str, Mapping[str, str]]] = _takes()


class Heard(Record):
    """What reaches the model, or what is wrong with an answer."""

    text: str = ""
    held: bool = False
    problem: str = ""


class Output(Record):
    """The exit code and output of a hook."""

    code: int
    out: bytes
    err: bytes


def read_output(host: str, moment: str, event: str, output: Output) -> Heard:
    """Return what a host reads in a hook's output at a moment; `event` is the host's name of the event."""
    takes = TAKES[host]
    message = output.err.decode("utf-8", "replace").strip()
    if host in BY_CODE and moment == "before_tool" and output.code == 2 and message:
        return Heard(text=message, held=True)
    if output.code:  # with 0, hosts ignore standard error, to which a login shell's profile may write
        return Heard(problem=f"exits with {output.code}: {message[-300:] or 'no message'}")
    if not output.out.strip():
        return Heard()
    try:
        answer = loads(output.out.decode("utf-8"))
    except ValueError:
        return Heard(problem=f"answers what is not JSON: {output.out[:100]!r}")
    if not isinstance(answer, dict):
        return Heard(problem="answers what is not a JSON object")
    return _judged(_leaves(answer), takes.get(moment, {}), event)


def _leaves(answer: Mapping[str, Json]) -> dict[str, Json]:
    """Return an answer without its one level of nesting: inner keys are written with a dot."""
    nested = {key: value for key, value in answer.items() if isinstance(value, dict)}
    inner = {f"{key}.{name}": item for key, value in nested.items() for name, item in value.items()}
    return {key: value for key, value in answer.items() if key not in nested} | inner


def _judged(leaves: Mapping[str, Json], takes: Mapping[str, str], event: str) -> Heard:
    unknown = [key for key in leaves if key not in takes]
    if unknown:
        return Heard(problem=f"answers nothing that the host would show to the model, but {', '.join(unknown)}")
    roles = {takes[key]: value for key, value in leaves.items()}
    if EVENT in takes.values() and roles.get(EVENT) != event and set(roles) - {ASIDE}:
        return Heard(problem=f"names the event {roles.get(EVENT)!r} where the host wants {event}")
    values = [roles[role] for role in (REASON, CONTEXT, ASIDE) if role in roles]
    texts = [value for value in values if isinstance(value, str) and 0 < len(value) <= MOST_CHARS]
    if len(texts) < len(values):
        wrong = f"is not a text, is empty or is longer than {MOST_CHARS} characters"
        return Heard(problem=f"answers with a value that {wrong}")
    held = roles.get(DECISION) in HOLDS or (DECISION not in takes.values() and REASON in roles)
    if held and REASON not in roles:
        return Heard(problem="stops the call without a reason")
    return Heard(text="\n".join(dict.fromkeys(texts)), held=held)


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


def named_commons(command: Sequence[str]) -> str:
    """Return the commons that a hook's command names, or the empty text."""
    at = command.index("--commons") + 1 if "--commons" in command else len(command)
    return command[at] if at < len(command) else ""


def commons_of(command: Sequence[str], folder: str, environ: Mapping[str, str]) -> str:
    """Return the root of the commons that a hook in `folder` uses."""
    return find_commons(folder, environ=environ, explicit=named_commons(command))
