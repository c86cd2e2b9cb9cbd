"""The checks of `deia doctor` on installed hooks, which it finds in every host's files and runs as the host does."""

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
from deia.serve import hook as hook_script
from deia.serve.hooks.run import host_module
from deia.serve.setup.check_results import Finding, Patient, dead, fine, warning
from deia.serve.setup.hook_installation import Spot, hook_parts, installed_in, is_launcher_old, is_used
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.disabled import own_plugins, troubles
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, SCRIPT, SETUPS, USER, Setup, is_here
from deia.serve.setup.host_settings.launcher import NAME, find_interpreters, launched_command, launcher_path, target_of
from deia.serve.setup.live_check import (
    BEFORE_TOOL,
    Trial,
    case_to_try,
    commons_of,
    named_commons,
    tried_moments,
    try_hooks,
)
from deia.serve.setup.server_checks import warm_findings
from deia.serve.setup.settings_changes import read_settings
from deia.serve.startup.bytecode import has_bytecode
from deia.settings import resolve

PERSON, CALL = "user", "tool_call"  # the role of a case's turn
CLAUDE_CODE = SETUPS[0]


class HookFile(Record):
    """The hooks in one file, or in one folder of executables."""

    setup: Setup
    scope: str
    path: str
    hooks: tuple[Installed, ...]

    @property
    def reinstall(self) -> str:
        """What to type to install them again."""
        return f"Type: deia install {self.setup.host}" + ("" if self.scope == PROJECT else f" --{self.scope}")


class Trying(Record):
    """What the hooks of one commons are tried with."""

    commons: Commons
    holding: bool  # whether the settings let a call be held
    cases: Mapping[str, Case | None]  # role → a case to which the commons should respond


def hook_findings(patient: Patient) -> Iterator[Finding]:
    """Yield the findings about the hooks of all hosts."""
    connected: list[HookFile] = []
    tryings: dict[str, Trying] = {}  # by commons: reading one takes long, and most hosts share theirs
    for setup in SETUPS:
        hook_files: list[HookFile] = []
        for scope in setup.places:
            try:
                hook_files += hook_files_of(patient, setup, scope, seen={hook_file.path for hook_file in hook_files})
            except HostError as error:
                yield dead(f"{setup.title}: {error}")
        hooks = [hook for hook_file in hook_files for hook in hook_file.hooks]
        if hooks or setup is CLAUDE_CODE:  # whose switch is reported even before an installation
            yield from (dead(text, cure) for text, cure in troubles(setup.host, hooks, patient.machine))
        for hook_file in hook_files:
            yield from _file_findings(patient, hook_file, tryings)
        connected += hook_files
    if connected and not has_bytecode() and files.writable(PACKAGE):
        text = "what the hook imports is not prepared for this Python, which costs each call some milliseconds"
        yield warning(text, "Type: deia compile")
    yield from warm_findings(patient)
    plugins = own_plugins(patient.machine)
    yield from twice(connected, patient)
    yield from _plugin_findings(connected, plugins)
    if not plugins or connected:
        yield from _unconnected(connected, patient)


def hook_files_of(patient: Patient, setup: Setup, scope: str, *, seen: set[str]) -> list[HookFile]:
    """Return a scope's hooks by file; in a home folder, two scopes are one file, which counts once."""
    hooks = installed_in(Spot(setup=setup, scope=scope, machine=patient.machine))
    return [HookFile(setup=setup, scope=scope, path=path, hooks=own) for path, own in hooks.items() if path not in seen]


# --- where hooks are, and where they are missing ---


def _unconnected(connected: Sequence[HookFile], patient: Patient) -> Iterator[Finding]:
    """Yield a warning if no host has a hook, or the hosts on this machine that have none."""
    names = {hook_file.setup.host for hook_file in connected}
    here = [setup for setup in SETUPS if is_here(setup, patient.machine)]
    missing = [setup.host for setup in here if setup.host not in names]
    if not connected:
        host = missing[0] if missing else CLAUDE_CODE.host
        yield warning("no hook is installed, so nothing is watched", f"Type: {connecting(host)}")
    elif missing:
        text = f"{', '.join(BY_NAME[name].title for name in missing)}: found here, and not connected"
        yield fine(text, f"To connect: {connecting(*missing)}")


def connecting(*hosts: str) -> str:
    """Return the command that connects hosts, for all projects of the person if their settings allow that."""
    personal = all(USER in BY_NAME[host].places for host in hosts)
    return f"deia install {' '.join(hosts)}{' --user' if personal else ''}"


def twice(connected: Sequence[HookFile], patient: Patient) -> Iterator[Finding]:
    """Yield the events that would start two processes: of two scopes, or of a host that runs another's hooks."""
    for setup in SETUPS:
        own = [hook_file for hook_file in connected if hook_file.setup.host == setup.host]
        scopes = list(dict.fromkeys(hook_file.scope for hook_file in own))
        if len(scopes) > 1:
            text = f"{setup.title} is connected twice ({', '.join(scopes)}): every event starts two hooks, one speaks"
            yield warning(text, f"Type: deia uninstall {setup.host} --{scopes[0]}")
        for hook_file in own:
            yield from _read_by_others(hook_file, connected, patient)


def _plugin_findings(connected: Sequence[HookFile], plugins: Sequence[str]) -> Iterator[Finding]:
    title, host = CLAUDE_CODE.title, CLAUDE_CODE.host
    for name in plugins:
        if any(hook_file.setup.host == host for hook_file in connected):
            text = f"{title} has the plugin {name} besides its hooks: every event starts two hooks, one speaks"
            yield warning(text, f"Type: deia uninstall {host}")
        else:
            yield fine(f"{title} has the plugin {name}, whose hooks are not tried here")


def _read_by_others(hook_file: HookFile, connected: Sequence[HookFile], patient: Patient) -> Iterator[Finding]:
    setup = hook_file.setup
    spot = Spot(setup=setup, scope=hook_file.scope, machine=patient.machine)
    for name, scopes in setup.readers.items():
        if hook_file.scope not in scopes or not is_used(name, spot):
            continue
        title = BY_NAME[name].title
        if any(not hook.line for hook in hook_file.hooks):
            text = f"{title} runs the hooks of {hook_file.path} too, and knows no argument list"
            yield warning(text, f"Switch that off in {title}." if on_windows() else hook_file.reinstall)
        if any(other.setup.host == name for other in connected):
            twice = "an event that arrives twice is judged once"
            yield fine(f"{title} runs its own hooks and those of {hook_file.path}; {twice}")


# --- whether they can start ---


def _file_findings(patient: Patient, hook_file: HookFile, tryings: dict[str, Trying]) -> Iterator[Finding]:
    path, reinstall = hook_file.path, hook_file.reinstall
    missing = [event for event in hook_file.setup.events if event not in {hook.event for hook in hook_file.hooks}]
    if missing:
        yield warning(f"{path} lacks the hook for {', '.join(missing)}", reinstall)
    environ = patient.machine.environ
    broken = {problem for hook in hook_file.hooks if (problem := _start_problem(hook_file.setup, hook, environ))}
    yield from (dead(f"{path}: {problem}", reinstall) for problem in sorted(broken))
    if broken:
        return
    own = os.path.realpath(hook_script.__file__)
    scripts = filter(None, (_script(hook, environ) for hook in hook_file.hooks))
    foreign = next((script for script in scripts if os.path.realpath(script) != own), "")
    if foreign:
        yield warning(f"{path} runs another installation, {foreign}", reinstall)
    if not all(map(_is_launched, hook_file.hooks)):
        text = f"{path} starts deia's own file, as earlier versions did; if deia is removed, the host may block calls"
        yield warning(text, reinstall)
    elif is_launcher_old(environ):
        yield warning(f"the launcher {launcher_path(environ)} was written by another version of deia", reinstall)
    if not may_be_run(patient, hook_file):
        reason = "this project is not trusted and deia would write other commands"
        yield warning(f"{path}: its hooks were not tried, since {reason}", reinstall)
        return
    yield from _trial_findings(patient, hook_file, tryings)


def may_be_run(patient: Patient, hook_file: HookFile) -> bool:
    """Return whether the hooks of a file are the person's own, or exactly what deia would write there."""
    if patient.owns(hook_file.scope):
        return True
    spot = Spot(setup=hook_file.setup, scope=hook_file.scope, machine=patient.machine)
    named = named_commons(hook_file.hooks[0].words)
    try:
        command = launched_command(
            find_interpreters()[0], spot.setup.host, environ=patient.machine.environ, commons=named
        )
        parts = [part for part in hook_parts(spot, command) if part.path.startswith(hook_file.path)]
        texts = [read_settings(part.path) for part in parts]
        return all(part.enter is None or part.enter(text) == text for part, text in zip(parts, texts, strict=True))
    except HostError:
        return False


def _is_launched(hook: Installed) -> bool:
    """Return whether a hook starts the launcher, or is found by its name, as a plugin's is."""
    return any(NAME in word for word in hook.words)


def _start_problem(setup: Setup, hook: Installed, environ: Mapping[str, str]) -> str:
    """Return what keeps a hook's command from starting, or the empty text."""
    if not any(hook.words):
        return "its command cannot be read"
    if setup.shape == SCRIPT and not (on_windows() or os.access(hook.path, os.X_OK)):
        return f"{hook.path} may not be run"
    program, *arguments = hook.words
    if not arguments and not os.path.isfile(program):
        return "" if shutil.which(program.split(" ", 1)[0]) else f"there is no program {program}"
    if not (os.path.isfile(program) or shutil.which(program)):
        return f"there is no interpreter {program}"
    script, launcher = _script(hook, environ), launcher_path(environ)
    if not script:
        return f"there is no launcher {launcher}" if arguments and _is_launched(hook) else ""
    if not os.path.isfile(script):
        return f"there is no hook file {script}"
    target = target_of(launcher) if _is_launched(hook) else None
    if target and not any(os.access(python, os.X_OK) for python in target.pythons):
        return f"the launcher {launcher} finds no interpreter {target.pythons[0]}"
    return ""


def _script(hook: Installed, environ: Mapping[str, str]) -> str:
    """Return the hook file that is run in the end, or the empty text if that cannot be found out."""
    if _is_launched(hook):
        target = target_of(launcher_path(environ))
        return target.hook if target else ""
    return next((word for word in hook.words[1:] if word.endswith(".py")), "")


# --- what they answer ---


def _trial_findings(patient: Patient, hook_file: HookFile, tryings: dict[str, Trying]) -> Iterator[Finding]:
    """Run the hooks for a prompt and for a tool call to which their commons should respond."""
    hooks = {hook.event: hook for hook in hook_file.hooks}
    folder = files.forward(patient.machine.project)
    for moments in tried_moments(hook_file.setup):
        names = [hook_file.setup.tried[moment] for moment in moments]
        if not all(name in hooks for name in names):
            continue
        try:
            root = commons_of(hooks[names[0]].words, folder, patient.machine.environ)
            tryings[root] = trying = tryings.get(root) or _prepared(root, patient)
        except DeiaError as error:
            yield dead(f"{hook_file.path}: {names[0]} cannot be tried: {error.message}", error.fix)
            continue
        role = CALL if moments == (BEFORE_TOOL,) else PERSON
        case = trying.cases[role]
        if case is None:
            kind = "stable trigger that holds" if role == CALL else "stable trigger"
            text = f"{hook_file.path}: {names[0]} was not tried: no {kind} has a case of one turn"
            yield warning(text, "Give a trigger a case of one turn that fires it, and type: deia doctor")
            continue
        trial = try_hooks(hook_file.setup, hooks, case, moments=moments, folder=folder, environ=patient.machine.environ)
        yield _verdict(hook_file, trial, case, _answer_problem(hook_file.setup, trial, trying, case))


def _prepared(root: str, patient: Patient) -> Trying:
    derived = derived_folder(root, patient.machine.environ)
    settings = resolve(root, environ=patient.machine.environ)
    commons = load_layered(root, starter=settings.starter, trusted=settings.trusted)
    cases = {
        PERSON: case_to_try(commons, derived, role=PERSON),
        CALL: case_to_try(commons, derived, role=CALL, action="hold"),
    }
    return Trying(commons=commons, holding=settings.hold, cases=cases)


def _answer_problem(setup: Setup, trial: Trial, trying: Trying, case: Case) -> str:
    if trial.heard.problem:
        return trial.heard.problem
    at_call = trial.event == setup.tried.get(BEFORE_TOOL)
    carries = host_module(setup.host).CARRIES.get(BEFORE_TOOL, {})
    if at_call and not trying.holding and "context" not in carries:
        return ""  # the settings allow no hold, and nothing else can be said at this moment
    if not trial.heard.text:
        return "answers nothing to a text that should fire"
    if case.trigger not in trial.heard.text:
        return f"answers without what {case.trigger} says"
    action = next(trigger.action for trigger in trying.commons.triggers if trigger.id == case.trigger)
    expected = at_call and action == "hold" and trying.holding
    return f"does not hold the call that {case.trigger} holds" if expected and not trial.heard.held else ""


def _verdict(hook_file: HookFile, trial: Trial, case: Case, problem: str) -> Finding:
    milliseconds = f"{trial.seconds * 1000:.0f} ms"
    about = f"{hook_file.path}: the hook of {trial.event}"
    if problem:
        cure = f"Type: deia compile. If that does not help: {hook_file.reinstall.removeprefix('Type: ')}"
        return dead(f"{about} {problem} ({milliseconds})", cure)
    return fine(f"{about} answered in {milliseconds} (tried with {case.trigger})")
