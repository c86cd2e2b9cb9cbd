"""The part of `deia doctor` that is about installed hooks: found in every settings file, and run as by the host."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from deia.commons.layers import load_layered
from deia.errors import DeiaError, HostError
from deia.serve.hosts.claude_settings import EVENTS, HOST, SCOPES, installed, read_settings, settings_path, switched_off
from deia.serve.live_hook import case_to_try, commons_of, event_for, try_hook
from deia.serve.report import DEAD, FINE, WARNING, Finding
from deia.settings import derived_folder, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.commons.commons import Commons
    from deia.knowledge import Case
    from deia.serve.hosts.claude_settings import Installed
    from deia.serve.live_hook import Trial
    from deia.serve.report import Patient

INSTALL = f"Type: deia install {HOST}"
MILLISECONDS = 1000


def hook_findings(patient: Patient) -> Iterator[Finding]:
    """Yield what there is to say about the hooks in all settings files."""
    present = False
    paths = {settings_path(scope, project=patient.project, environ=patient.environ): scope for scope in SCOPES}
    for path, scope in paths.items():  # in a home folder, two scopes are one file
        again = INSTALL if scope == "project" else f"{INSTALL} --{scope}"
        try:
            text = read_settings(path)
            hooks = installed(text, path=path)
            is_off = switched_off(text, path=path)
        except HostError as error:
            yield Finding(level=DEAD, text=str(error))
            continue
        if is_off:
            cure = f"Take disableAllHooks out of {path}"
            yield Finding(level=DEAD, text=f"{path} disables all hooks", cure=cure)
        if hooks:
            present = True
            yield from _file_findings(patient, path, hooks, again)
    if not present:
        yield Finding(level=WARNING, text="no hook is installed, so nothing is watched", cure=INSTALL)


def _file_findings(patient: Patient, path: str, hooks: Sequence[Installed], again: str) -> Iterator[Finding]:
    missing = [event for event in EVENTS if event not in {hook.event for hook in hooks}]
    if missing:
        yield Finding(level=WARNING, text=f"{path} lacks the hook for {', '.join(missing)}", cure=again)
    broken = {problem for hook in hooks if (problem := _dead_end(hook))}
    for problem in sorted(broken):
        yield Finding(level=DEAD, text=f"{path}: {problem}", cure=again)
    if not broken:
        yield from _tried(patient, path, hooks, again)


def _dead_end(hook: Installed) -> str:
    """Say what a hook's command lacks to start at all, or give the empty text."""
    program, *arguments = hook.command
    if not arguments and not os.path.isfile(program):
        return "" if shutil.which(program.split(" ", 1)[0]) else f"there is no program {program}"
    if not (os.path.isfile(program) or shutil.which(program)):
        return f"there is no interpreter {program}"
    script = next((word for word in arguments if word.endswith(".py")), "")
    return f"there is no hook file {script}" if script and not os.path.isfile(script) else ""


def _tried(patient: Patient, path: str, hooks: Sequence[Installed], again: str) -> Iterator[Finding]:
    """Run the hooks for a prompt and for a tool call that should make their commons speak."""
    for event, role, action in (("UserPromptSubmit", "user", ""), ("PreToolUse", "tool_call", "hold")):
        hook = next((hook for hook in hooks if hook.event == event), None)
        if hook is None:
            continue
        try:
            root = commons_of(hook.command, patient.project.replace("\\", "/"), patient.environ)
            derived = derived_folder(root, patient.environ)
            settings = resolve(root, environ=patient.environ)
            commons = load_layered(root, starter=settings.starter)
            case = case_to_try(commons, derived, role=role, action=action)
        except DeiaError as error:
            yield Finding(level=DEAD, text=f"{path}: {event} cannot be tried: {error.message}", cure=error.fix)
            continue
        if case is None:
            kind = "stable trigger that holds" if action else "stable trigger"
            cure = "Give a trigger a case of one turn that fires it, and type: deia doctor"
            text = f"{path}: {event} was not tried: no {kind} has a case of one turn"
            yield Finding(level=WARNING, text=text, cure=cure)
            continue
        trial = try_hook(hook.command, event_for(case, folder=patient.project), environ=patient.environ)
        yield _verdict(path, trial, case, _problem(trial, commons, case, holding=settings.hold), again)


def _problem(trial: Trial, commons: Commons, case: Case, *, holding: bool) -> str:
    """Say what is missing from an answer that came, or give the empty text."""
    if trial.problem:
        return trial.problem
    held = trial.answer.get("permissionDecision") == "deny"
    said = str(trial.answer.get("permissionDecisionReason" if held else "additionalContext", ""))
    if case.trigger not in said:
        return f"answers without what {case.trigger} says"
    action = next(trigger.action for trigger in commons.triggers if trigger.id == case.trigger)
    expected = trial.event == "PreToolUse" and action == "hold" and holding
    return f"does not hold the call that {case.trigger} holds" if expected and not held else ""


def _verdict(path: str, trial: Trial, case: Case, problem: str, again: str) -> Finding:
    took = f"{trial.seconds * MILLISECONDS:.0f} ms"
    if problem:
        cure = f"Type: deia compile. If that does not help: {again.removeprefix('Type: ')}"
        return Finding(level=DEAD, text=f"{path}: the hook of {trial.event} {problem} ({took})", cure=cure)
    return Finding(level=FINE, text=f"{path}: the hook of {trial.event} answered in {took} (tried with {case.trigger})")
