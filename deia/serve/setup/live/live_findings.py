"""The checks of `deia doctor --live HOST`: what arrived when the host was run against a model on this machine."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from deia.errors import DeiaError
from deia.fast_json import Json
from deia.files import forward
from deia.librarian import Librarian
from deia.records import Record
from deia.serve.hooks.run import host_module
from deia.serve.setup.check_results import Finding, Patient, dead, fine, warning
from deia.serve.setup.hook_checks import HookFile, hook_files_of, may_be_run
from deia.serve.setup.hook_installation import Spot
from deia.serve.setup.host_settings.disabled import troubles
from deia.serve.setup.host_settings.hook_file import ROOT, RUNNABLE
from deia.serve.setup.host_settings.hosts_table import GROUPED, SCRIPT, USER, Machine, Setup
from deia.serve.setup.host_settings.launcher import lend_launcher
from deia.serve.setup.live.host_run import HEADLESS, Arrived, Headless, Trial, program_of, run_host, version_of, write
from deia.serve.setup.live_check import PROMPT, commons_of
from deia.serve.setup.settings_changes import read_settings
from deia.text import counted, one_line, shorten

# What is tried is deia's own and nothing of a commons, which may be a stranger's. The command is run in an empty folder
# and by a program of the same name that only leaves a line behind.
TRIAL = Trial(
    prompt="I'm going to delete the Netlify project and recreate it", command="terraform destroy -auto-approve",
    printed="deia live check: the command was run",
)  # fmt: skip
CHECK = "To see whether its hooks are up to date, type: deia doctor"
QUOTES = ('"', '\\"', "&quot;")  # of the frame's attributes, as they are, in JSON, and in XML
MOST_SHOWN = 200  # characters of what a host printed


class Expected(Record):
    """The triggers of a commons that speak at the prompt, and those that hold the call."""

    told: tuple[str, ...]
    holding: tuple[str, ...]


def live_findings(patient: Patient, setup: Setup) -> Iterator[Finding]:
    """Run a host once, and yield what arrived at its model."""
    headless = HEADLESS.get(setup.host, Headless(unseen="deia knows no way to start it without a person"))
    if headless.unseen:
        text = f"{setup.title} cannot be run here: {headless.unseen}. What it does is known by its contract only"
        yield dead(text, "Type: deia doctor, which starts its hook as the host does.")
        return
    if not program_of(headless, patient.machine.environ):
        cure = f"Start a terminal in which {headless.program} --version works, and try again."
        yield dead(f"{setup.title}: there is no program {headless.program} on the search path", cure)
        return
    hook_files = [file for scope in setup.places for file in hook_files_of(patient, setup, scope, seen=set())]
    usable = [file for file in hook_files if may_be_run(patient, file)]
    if not usable:
        text = f"{setup.title} is not connected" + (" by hooks that you trust" if hook_files else "")
        yield dead(text, f"Type: deia install {setup.host}")
        return
    yield from (dead(text, cure) for text, cure in troubles(setup.host, usable[0].hooks, patient.machine))
    try:
        expected = _expected(usable[0], patient)
    except DeiaError as error:
        yield dead(error.message, error.fix)
        return
    yield from _tried(patient, headless, usable[0], expected)


def _tried(patient: Patient, headless: Headless, hook_file: HookFile, expected: Expected) -> Iterator[Finding]:
    environ = patient.machine.environ
    name = f"{hook_file.setup.title} {version_of(headless, environ)}".strip()
    patient.tell(f"running {name} against a model on this machine; this takes up to two minutes …")
    arrived = run_host(headless, TRIAL, lambda machine: connect(hook_file, machine, environ), environ)
    took = f"{arrived.seconds:.0f} s"
    if not arrived.exchanges:
        problem = "was ended, since its time was over, and had" if arrived.late else "ended and had"
        yield dead(f"{name} {problem} asked the model nothing ({took})", _printed(arrived))
        return
    asked = counted(len(arrived.exchanges), "time")
    yield fine(f"{name} asked a model on this machine {asked} in {took}, with the hooks of {hook_file.path}")
    if arrived.late:
        yield warning(f"{name} was ended, since its time was over", _printed(arrived))
    if not arrived.hooked:
        text = "its hook did not run, or was sent no event that it knows"
        yield dead(text, f"{hook_file.setup.after} {CHECK}")
        return
    yield fine("its hook ran")
    yield _at_prompt(arrived, hook_file, expected)
    yield from _at_call(arrived, expected)


def _printed(arrived: Arrived) -> str:
    lines = [one_line(line) for line in arrived.output.splitlines() if line.strip()]
    return f"It printed last: {shorten(lines[-1], MOST_SHOWN)}" if lines else "It printed nothing."


# --- what is expected ---


def _expected(hook_file: HookFile, patient: Patient) -> Expected:
    """Return the triggers of the hooks' commons that fire in an empty folder."""
    environ = patient.machine.environ
    root = commons_of(hook_file.hooks[0].words, forward(tempfile.gettempdir()), environ)
    librarian = Librarian(root, agent="doctor", ledger=False)
    call = {"role": "tool_call", "tool": "Bash", "tool_input": {"command": TRIAL.command}}
    at_prompt = librarian.check_triggers([{"role": "user", "content": TRIAL.prompt}], conversation_id=PROMPT)
    at_call = librarian.check_triggers([call], conversation_id="call")
    holding = [firing for firing in at_call if firing.action == "hold"] if librarian.settings.hold else []
    return Expected(
        told=tuple(firing.trigger for firing in at_prompt), holding=tuple(firing.trigger for firing in holding)
    )


# --- what arrived ---


def _at_prompt(arrived: Arrived, hook_file: HookFile, expected: Expected) -> Finding:
    """Return whether the lesson for the prompt reached the model, and with which request."""
    if not expected.told:
        return warning(f"its commons has nothing to say to {TRIAL.prompt!r}, so no lesson at a prompt was tried")
    number = _first(arrived, expected.told)
    if number == 0:
        return fine(f"the lesson at the prompt reached the model with the prompt ({expected.told[0]})")
    if number is not None:
        return warning(f"the lesson at the prompt reached the model only after a tool call ({expected.told[0]})")
    if "context" not in host_module(hook_file.setup.host).CARRIES.get(PROMPT, {}):
        return warning("the lesson at the prompt did not reach the model: this host has no way for it")
    return dead("the lesson at the prompt did not reach the model", CHECK)


def _at_call(arrived: Arrived, expected: Expected) -> Iterator[Finding]:
    """Yield whether the call was held, the model read why, and the call passed when it was repeated."""
    results = [result.text for result in arrived.exchanges[-1].request.results]
    if not any(exchange.act.tool for exchange in arrived.exchanges):
        yield warning("it offers its model no shell, so no call was tried")
    elif not expected.holding:
        yield warning(f"its commons and settings do not hold {TRIAL.command!r}, so no held call was tried")
    elif (results and TRIAL.printed in results[0]) or arrived.ran > 1:
        yield dead("the call ran at once: nothing held it", CHECK)
    elif _first(arrived, expected.holding) is None:
        yield dead("the call did not run, and the model was not told why", _printed(arrived))
    else:
        yield fine(f"the call was held, and the model read why ({expected.holding[0]})")
        if arrived.ran:
            yield fine("the same call passed when the model repeated it")
        else:
            yield dead("the same call did not pass when the model repeated it", _printed(arrived))


def _first(arrived: Arrived, triggers: Sequence[str]) -> int | None:
    """Return the number of the first request in which the model read one of the triggers, or None."""
    for number, exchange in enumerate(arrived.exchanges):
        spoken = exchange.request.spoken
        if any(f"trigger={quote}{trigger}{quote}" in spoken for trigger in triggers for quote in QUOTES):
            return number
    return None


# --- connecting the host of a run ---


def connect(hook_file: HookFile, machine: Machine, environ: Mapping[str, str]) -> None:
    """Enter the hooks of a file into the person's settings of another machine, and nothing else of that file."""
    lend_launcher(environ, machine.home)
    paths = Spot(setup=hook_file.setup, scope=USER, machine=machine).paths
    if hook_file.setup.shape in {GROUPED, "flat"}:
        settings = json.loads(read_settings(paths[0]) or "{}")
        write(paths[0], json.dumps(_with_hooks(settings, hook_file), indent=2))
        return
    for path in dict.fromkeys(hook.path for hook in hook_file.hooks):
        is_script = hook_file.setup.shape == SCRIPT
        target = os.path.join(os.path.dirname(paths[0]), os.path.basename(path)) if is_script else paths[0]
        write(target, read_settings(path), mode=RUNNABLE if is_script else 0)


def _with_hooks(settings: Mapping[str, Json], hook_file: HookFile) -> dict[str, Json]:
    hooks: dict[str, list[Json]] = {}
    for hook in hook_file.hooks:
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        item: Json = {**matcher, "hooks": [hook.entry]} if hook_file.setup.shape == GROUPED else hook.entry
        hooks.setdefault(hook.event, []).append(item)
    return {**settings, **hook_file.setup.head, ROOT: hooks}
