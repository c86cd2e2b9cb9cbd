"""The part of `deia doctor` that is about installed hooks: found in every host's files, and run as by that host."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence

from deia import files
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import load_layered
from deia.errors import DeiaError, HostError
from deia.folders import PACKAGE, derived_folder
from deia.knowledge import Case
from deia.records import Record
from deia.serve import hook as hook_file
from deia.serve.hooks.run import host_module
from deia.serve.setup.check_results import DEAD, FINE, WARNING, Finding, Patient
from deia.serve.setup.hook_installation import Spot, installed_in, is_used
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.disabled import own_plugins, troubles
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, SCRIPT, SETUPS, Setup
from deia.serve.setup.host_settings.places import is_here
from deia.serve.setup.live_check import BEFORE_TOOL, Trial, case_to_try, commons_of, tried_moments, try_hooks
from deia.serve.setup.server_checks import warm_findings
from deia.serve.startup.bytecode import has_bytecode
from deia.settings import resolve

MILLISECONDS = 1000
PERSON, CALL = "user", "tool_call"  # who speaks in a case


class Found(Record):
    """The hooks that one file, or one folder of executables, holds."""

    setup: Setup
    scope: str
    path: str
    hooks: tuple[Installed, ...]

    @property
    def again(self) -> str:
        """What to type to install them anew."""
        return f"Type: deia install {self.setup.host}" + ("" if self.scope == PROJECT else f" --{self.scope}")


class Trying(Record):
    """What hooks of one commons are tried with."""

    commons: Commons
    holding: bool  # whether the settings let a call be held
    cases: Mapping[str, Case | None]  # who speaks → a case that should make the commons speak


def hook_findings(patient: Patient) -> Iterator[Finding]:
    """Yield what there is to say about the hooks of all hosts."""
    everything: list[Found] = []
    known: dict[str, Trying] = {}  # by commons, since reading one takes long and most hosts have the same
    for setup in SETUPS:
        found: list[Found] = []
        for scope in setup.places:
            try:
                found += _found(patient, setup, scope, seen={each.path for each in found})
            except HostError as error:
                yield Finding(level=DEAD, text=f"{setup.title}: {error}")
        hooks = [hook for each in found for hook in each.hooks]
        if hooks or setup.host == SETUPS[0].host:  # its switch is told of even before an installation
            for text, cure in troubles(setup.host, hooks, project=patient.project, environ=patient.environ):
                yield Finding(level=DEAD, text=text, cure=cure)
        for each in found:
            yield from _file_findings(patient, each, known)
        everything += found
    if everything and not has_bytecode() and files.writable(PACKAGE):
        slow = "what the hook imports is not prepared for this Python, which costs each call some milliseconds"
        yield Finding(level=WARNING, text=slow, cure="Type: deia compile")
    yield from warm_findings(patient, _held_case(known))
    plugins = own_plugins(project=patient.project, environ=patient.environ)
    yield from twice(everything, patient)
    yield from _plugin_findings(everything, plugins)
    if not plugins or everything:
        yield from _absent(everything, patient)


def _held_case(known: Mapping[str, Trying]) -> Case | None:
    """Give a case of a call that is held, from a commons whose hooks were tried."""
    return next((trying.cases[CALL] for trying in known.values() if trying.holding), None)


def _found(patient: Patient, setup: Setup, scope: str, *, seen: set[str]) -> list[Found]:
    """Give a scope's hooks by file; in a home folder, two scopes are one file, which counts once."""
    spot = Spot(setup=setup, scope=scope, project=patient.project, environ=patient.environ)
    hooks: dict[str, list[Installed]] = {}
    for hook in installed_in(spot):
        name = os.path.dirname(hook.path) if setup.shape == SCRIPT else hook.path
        hooks.setdefault(name, []).append(hook)
    return [
        Found(setup=setup, scope=scope, path=path, hooks=tuple(own)) for path, own in hooks.items() if path not in seen
    ]


def _absent(everything: Sequence[Found], patient: Patient) -> Iterator[Finding]:
    """Name the hosts that are here without a hook; where none has one, nothing is watched."""
    connected = {each.setup.host for each in everything}
    here = [setup for setup in SETUPS if is_here(setup, project=patient.project, environ=patient.environ)]
    missing = [setup.host for setup in here if setup.host not in connected]
    if not everything:
        cure = f"Type: deia install {missing[0] if missing else SETUPS[0].host}"
        yield Finding(level=WARNING, text="no hook is installed, so nothing is watched", cure=cure)
    elif missing:
        text = f"{', '.join(BY_NAME[name].title for name in missing)}: found here, and not connected"
        yield Finding(level=FINE, text=text, cure=f"To connect: deia install {' '.join(missing)}")


def twice(everything: Sequence[Found], patient: Patient) -> Iterator[Finding]:
    """Tell of events that would start more than one process: of two scopes, or of a host that runs another's hooks."""
    for setup in SETUPS:
        places = [each for each in everything if each.setup.host == setup.host]
        scopes = list(dict.fromkeys(each.scope for each in places))
        if len(scopes) > 1:
            told = f"{setup.title} is connected twice ({', '.join(scopes)}): every event starts two hooks, one speaks"
            yield Finding(level=WARNING, text=told, cure=f"Type: deia uninstall {setup.host} --{scopes[0]}")
        for each in places:
            yield from _read_by_others(each, everything, patient)


def _plugin_findings(everything: Sequence[Found], plugins: Sequence[str]) -> Iterator[Finding]:
    title = SETUPS[0].title
    for name in plugins:
        if any(each.setup.host == SETUPS[0].host for each in everything):
            told = f"{title} has the plugin {name} besides its hooks: every event starts two hooks, one speaks"
            yield Finding(level=WARNING, text=told, cure=f"Type: deia uninstall {SETUPS[0].host}")
        else:
            yield Finding(level=FINE, text=f"{title} has the plugin {name}, whose hooks are not tried here")


def _read_by_others(found: Found, everything: Sequence[Found], patient: Patient) -> Iterator[Finding]:
    for name, scopes in found.setup.readers.items():
        spot = Spot(setup=found.setup, scope=found.scope, project=patient.project, environ=patient.environ)
        if found.scope not in scopes or not is_used(name, spot):
            continue
        title = BY_NAME[name].title
        if any(not hook.line for hook in found.hooks):
            told = f"{title} runs the hooks of {found.path} too, and knows no argument list"
            cure = "" if on_windows() else found.again
            yield Finding(level=WARNING, text=told, cure=cure or f"Switch that off in {title}.")
        if any(each.setup.host == name for each in everything):
            told = f"{title} runs its own hooks and those of {found.path}; an event that arrives twice is judged once"
            yield Finding(level=FINE, text=told)


def _file_findings(patient: Patient, found: Found, known: dict[str, Trying]) -> Iterator[Finding]:
    missing = [event for event in found.setup.events if event not in {hook.event for hook in found.hooks}]
    if missing:
        yield Finding(level=WARNING, text=f"{found.path} lacks the hook for {', '.join(missing)}", cure=found.again)
    broken = {problem for hook in found.hooks if (problem := _dead_end(found.setup, hook))}
    for problem in sorted(broken):
        yield Finding(level=DEAD, text=f"{found.path}: {problem}", cure=found.again)
    if broken:
        return
    other = next((script for hook in found.hooks if (script := _other_installation(hook))), "")
    if other:
        yield Finding(level=WARNING, text=f"{found.path} runs another installation, {other}", cure=found.again)
    yield from _tried(patient, found, known)


def _dead_end(setup: Setup, hook: Installed) -> str:
    """Say what a hook's command lacks to start at all, or give the empty text."""
    if not any(hook.words):
        return "its command cannot be read"
    if setup.shape == SCRIPT and not (on_windows() or os.access(hook.path, os.X_OK)):
        return f"{hook.path} may not be run"
    program, *arguments = hook.words
    if not arguments and not os.path.isfile(program):
        return "" if shutil.which(program.split(" ", 1)[0]) else f"there is no program {program}"
    if not (os.path.isfile(program) or shutil.which(program)):
        return f"there is no interpreter {program}"
    script = _script(hook)
    return f"there is no hook file {script}" if script and not os.path.isfile(script) else ""


def _script(hook: Installed) -> str:
    return next((word for word in hook.words[1:] if word.endswith(".py")), "")


def _other_installation(hook: Installed) -> str:
    """Give the hook file that is run where it is not this installation's, or the empty text."""
    script = _script(hook)
    return script if script and os.path.realpath(script) != os.path.realpath(hook_file.__file__) else ""


def _tried(patient: Patient, found: Found, known: dict[str, Trying]) -> Iterator[Finding]:
    """Run the hooks for a prompt and for a tool call that should make their commons speak."""
    hooks = {hook.event: hook for hook in found.hooks}
    folder = patient.project.replace("\\", "/")
    for moments in tried_moments(found.setup):
        names = [found.setup.tried[moment] for moment in moments]
        if not all(name in hooks for name in names):
            continue
        try:
            root = commons_of(hooks[names[0]].words, folder, patient.environ)
            known[root] = trying = known.get(root) or _prepared(root, patient)
        except DeiaError as error:
            yield Finding(level=DEAD, text=f"{found.path}: {names[0]} cannot be tried: {error.message}", cure=error.fix)
            continue
        role = CALL if moments == (BEFORE_TOOL,) else PERSON
        case = trying.cases[role]
        if case is None:
            kind = "stable trigger that holds" if role == CALL else "stable trigger"
            cure = "Give a trigger a case of one turn that fires it, and type: deia doctor"
            text = f"{found.path}: {names[0]} was not tried: no {kind} has a case of one turn"
            yield Finding(level=WARNING, text=text, cure=cure)
            continue
        trial = try_hooks(found.setup, hooks, case, moments=moments, folder=folder, environ=patient.environ)
        yield _verdict(found, trial, case, _problem(found.setup, trial, trying, case))


def _prepared(root: str, patient: Patient) -> Trying:
    """Read a commons and choose what to try its hooks with.

    Raises:
        CommonsError: it cannot be used.
        ArtefactError: it is not compiled.
    """
    derived = derived_folder(root, patient.environ)
    settings = resolve(root, environ=patient.environ)
    commons = load_layered(root, starter=settings.starter)
    cases = {
        PERSON: case_to_try(commons, derived, role=PERSON),
        CALL: case_to_try(commons, derived, role=CALL, action="hold"),
    }
    return Trying(commons=commons, holding=settings.hold, cases=cases)


def _problem(setup: Setup, trial: Trial, trying: Trying, case: Case) -> str:
    """Say what is missing from an answer that came, or give the empty text."""
    if trial.heard.problem:
        return trial.heard.problem
    at_call = trial.event == setup.tried.get(BEFORE_TOOL)
    carries = host_module(setup.host).CARRIES.get(BEFORE_TOOL, {})
    if at_call and not trying.holding and "context" not in carries:
        return ""  # nothing is stopped by the settings, and nothing else can be said at this moment
    if not trial.heard.text:
        return "answers nothing to a text that should fire"
    if case.trigger not in trial.heard.text:
        return f"answers without what {case.trigger} says"
    action = next(trigger.action for trigger in trying.commons.triggers if trigger.id == case.trigger)
    expected = at_call and action == "hold" and trying.holding
    return f"does not hold the call that {case.trigger} holds" if expected and not trial.heard.held else ""


def _verdict(found: Found, trial: Trial, case: Case, problem: str) -> Finding:
    took = f"{trial.seconds * MILLISECONDS:.0f} ms"
    path = found.path
    if problem:
        cure = f"Type: deia compile. If that does not help: {found.again.removeprefix('Type: ')}"
        return Finding(level=DEAD, text=f"{path}: the hook of {trial.event} {problem} ({took})", cure=cure)
    return Finding(level=FINE, text=f"{path}: the hook of {trial.event} answered in {took} (tried with {case.trigger})")
