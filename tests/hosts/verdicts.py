"""Judge what a run showed: when the model read a lesson, what was executed, and what the person saw.

A verdict names results: `in time` (the model read it before the act that it is about), `late` (with the act's result or
afterwards), `never`, `yes` and `no`; and what was seen, in numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.hosts.scenarios import DESTROY, OURS, SCENARIOS
from tests.hosts.scripted_model import NO_TOOL, called, offered

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hosts.play import Seen
    from tests.hosts.scenarios import Scenario

    Verdict = dict[str, Any]

IN_TIME, LATE, NEVER, YES, NO, NOT_SEEN = "in time", "late", "never", "yes", "no", "not seen"
UNTRUSTED = "a commons that you have not trusted"
QUESTION = "stands between one command and the loss"
ASKED = re.compile(r'permissionDecision\\*":\s*\\*"ask')
MOST_PRINTED = 160  # characters of an output that went wrong
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def judge(scenario: Scenario, seen: Seen) -> Verdict:
    """Return the verdict on a run."""
    problem = failure(seen)
    facts = {
        "seconds": round(sum(done.seconds for done in seen.done), 1),
        "requests": len(seen.main),
        "executed": [command for _, command in seen.machine.executed],
        "triggers": sorted({name for one in seen.main for name in one.triggers}),
    }
    verdict = {NOT_SEEN: problem} if problem else JUDGES.get(scenario.name, _spoken)(scenario, seen)
    if NOT_SEEN in verdict:  # the names of folders are this machine's
        verdict = {NOT_SEEN: verdict[NOT_SEEN].replace(str(seen.machine.folder), "…")}
    return {**verdict, **facts}


def failure(seen: Seen) -> str:
    """Return why a run shows nothing, or the empty text."""
    last = seen.done[-1] if seen.done else None
    for name, done in seen.told.items():
        if done.code != 0 and name not in {"doctor", "mute"}:
            return f"deia {name} exits with {done.code}: {last_line(done.printed)}"
    if last is None or last.code is None:
        return "the host did not end in time"
    if len(seen.main) == 0:
        return f"the host asked the model nothing: {last_line(last.printed)}"
    return ""


def last_line(printed: str) -> str:
    """Return the last line of an output, short and without colours."""
    lines = [line.strip() for line in COLOUR.sub("", printed).splitlines() if line.strip()]
    return lines[-1][:MOST_PRINTED] if lines else ""


def reached(seen: Seen, trigger: str, *, at: int, since: float = 0.0) -> str:
    """Return when the model read about a trigger: by the request number `at`, later, or never."""
    requests = [one for one in seen.main if one.at >= since]
    first = next((number for number, one in enumerate(requests) if trigger in one.triggers), None)
    return NEVER if first is None else IN_TIME if first <= at else LATE


def noted(seen: Seen, trigger: str) -> str:
    """Whether the host showed the note for the person."""
    return YES if re.search(rf"deia: {trigger} \\?\(", seen.printed) else NO


def _spoken(scenario: Scenario, seen: Seen) -> Verdict:
    return {
        "context": reached(seen, scenario.trigger, at=scenario.at),
        "note": noted(seen, scenario.trigger),
    }


def _told(scenario: Scenario, seen: Seen) -> Verdict:
    """The trigger is one that the person is not told of."""
    return {"context": reached(seen, scenario.trigger, at=scenario.at)}


def _warned(scenario: Scenario, seen: Seen) -> Verdict:
    """A warning before a call: with its result it comes late, and the call is not stopped."""
    verdict = _spoken(scenario, seen)
    return verdict | {"context": LATE} if verdict["context"] == IN_TIME else verdict


def held(scenario: Scenario, seen: Seen, *, since: float = 0.0) -> Verdict:
    """Return whether the first call was stopped with its reason for the model, and its repeat passed."""
    ran = [at for at, command in seen.machine.executed if at >= since and command == DESTROY]
    asked = [one for one in seen.main if one.at >= since]
    read = next((one.at for one in asked if scenario.trigger in one.triggers), None)
    tries = sum(DESTROY in str(one.act.input) for one in asked)
    stopped = read is not None and len(ran) < tries and (not ran or read < ran[0])
    return {"hold": IN_TIME if stopped else NEVER, "repeat": YES if stopped and len(ran) == 1 else NO}


def _held(scenario: Scenario, seen: Seen) -> Verdict:
    return {**held(scenario, seen), "note": noted(seen, scenario.trigger)}


def _asked(scenario: Scenario, seen: Seen) -> Verdict:
    """A question: it reaches the person, or the host says that there is nobody, or the model reads a hold's reason."""
    ran = [at for at, command in seen.machine.executed if command.startswith("aws")]
    stopped = len(ran) < len(called(seen.main))
    first = next((one for one in seen.main if QUESTION in one.request.spoken), None)
    put = ASKED.search(seen.printed) or (first is not None and scenario.trigger not in first.triggers)
    return {"ask": NEVER if not stopped else "put" if put else "held"}


def _silent(_: Scenario, seen: Seen) -> Verdict:
    return {"silent": NO if any(one.triggers for one in seen.main) else YES}


def _session(_: Scenario, seen: Seen) -> Verdict:
    first = next((number for number, one in enumerate(seen.main) if UNTRUSTED in one.request.spoken), None)
    context = NEVER if first is None else LATE if first else IN_TIME
    return {"context": context, "note": YES if UNTRUSTED in seen.printed else NO}


def _stopped(scenario: Scenario, seen: Seen) -> Verdict:
    first = [one for one in seen.main if one.at < seen.begun[-1]]
    read = reached(seen, scenario.trigger, at=0, since=seen.begun[-1])
    again = any(scenario.trigger in one.triggers for one in first)
    if len(seen.main) == len(first):
        return {NOT_SEEN: f"the host asked nothing in the second turn: {last_line(seen.printed)}"}
    return {"context": IN_TIME if again else LATE if read != NEVER else NEVER}


def _compacted(scenario: Scenario, seen: Seen) -> Verdict:
    summaries = [one.at for one in seen.model.asked if one.is_compaction]
    if not summaries:
        return {NOT_SEEN: "the host made no summary, however long the model said the conversation was"}
    return held(scenario, seen, since=summaries[-1])


def _delegated(scenario: Scenario, seen: Seen) -> Verdict:
    tools = called(seen.main)
    if missing := _missing(seen):
        return {NOT_SEEN: missing}
    if sum(DESTROY in str(one.act.input) for one in seen.main) == 0:
        return {NOT_SEEN: f"{tools[0].name} asked the model nothing"}
    return {**held(scenario, seen), "tool": tools[0].name}


def _planned(scenario: Scenario, seen: Seen) -> Verdict:
    if missing := _missing(seen):
        return {NOT_SEEN: missing}
    at = next(number for number, one in enumerate(seen.main) if called([one]))
    return {"context": reached(seen, scenario.trigger, at=at + 1), "tool": called(seen.main)[0].name}


def _missing(seen: Seen) -> str:
    """Return that the host offers no tool for a step, or the empty text."""
    return next((one.act.text for one in seen.main if one.act.text.startswith(NO_TOOL)), "")


def _muted(_: Scenario, seen: Seen) -> Verdict:
    quiet = not any(one.triggers for one in seen.main)
    return {"silent": YES if quiet and seen.machine.executed else NO}


def _asked_server(_: Scenario, seen: Seen) -> Verdict:
    names = offered(seen.model.asked, OURS)
    answered = any("terraform/" in one.request.spoken or "bok/" in one.request.spoken for one in seen.main[1:])
    echo = sorted({name for one in seen.main for name in one.triggers})
    return {"listed": YES if names else NO, "called": YES if answered else NO, "echo": echo, "names": names}


def _untrusted(scenario: Scenario, seen: Seen) -> Verdict:
    doctor = seen.told["doctor"].printed
    warned = [line for line in doctor.splitlines() if "trust" in line and not line.startswith("✓")]
    return {**held(scenario, seen), "doctor": YES if warned else NO}


def _removed(_: Scenario, seen: Seen) -> Verdict:
    quiet = not any(one.triggers for one in seen.main)
    clean = [path.removeprefix(str(seen.machine.folder)) for path in seen.changed]
    return {"silent": YES if quiet and seen.machine.executed else NO, "left": clean}


JUDGES: dict[str, Callable[[Scenario, Seen], Verdict]] = {
    "error": _told, "result": _told,
    "hold": _held, "announced": _held, "project": _held, "warn": _warned, "ask": _asked, "quiet": _silent,
    "session": _session, "stop": _stopped, "compaction": _compacted, "subagent": _delegated, "plan": _planned,
    "mute": _muted, "mcp": _asked_server, "untrusted": _untrusted, "uninstall": _removed,
}  # fmt: skip

if unknown := JUDGES.keys() - SCENARIOS.keys():
    raise LookupError(f"There is no scenario {', '.join(sorted(unknown))}.")
