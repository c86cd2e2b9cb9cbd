"""Reads a hook's answer as the host would: the text that its model reads, or why the host would drop it.

The tables are the hosts' contracts, key by key (see the hosts' modules for their sources). An unknown key is a fault:
one host then runs the command, another drops the answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from deia.fast_json import Json, loads
from deia.records import Record

MOST_CHARS = 10_000  # of one string, at every host
EVENT, CONTEXT, DECISION, REASON, ASIDE = "event", "context", "decision", "reason", "aside"
BY_CODE = ("windsurf", "kiro")  # hosts that read a reason from standard error, with exit code 2
OWN = "hookSpecificOutput."
SPEAKS = {OWN + "hookEventName": EVENT, OWN + "additionalContext": CONTEXT}
DECIDES = {**SPEAKS, OWN + "permissionDecision": DECISION, OWN + "permissionDecisionReason": REASON}
STRICT = {key: role for key, role in DECIDES.items() if role != CONTEXT}
NOTE = {"systemMessage": ASIDE}
GENERIC = {"context": CONTEXT, "note": ASIDE}
HELD = {"hold": REASON}

TAKES: Mapping[str, Mapping[str, Mapping[str, str]]] = {  # host → moment → key → its role
    "claude-code": {"prompt": SPEAKS | NOTE, "before_tool": DECIDES | NOTE, "after_tool": SPEAKS | NOTE},
    "codex": {"prompt": SPEAKS, "before_tool": STRICT, "after_tool": SPEAKS},
    "droid": {"prompt": SPEAKS, "before_tool": STRICT, "after_tool": SPEAKS},
    "qwen": {"prompt": SPEAKS, "before_tool": STRICT, "after_tool": SPEAKS},
    "vscode": {"before_tool": DECIDES, "after_tool": SPEAKS},
    "copilot": {
        "prompt": {"modifiedTransformedPrompt": CONTEXT},
        "before_tool": {"permissionDecision": DECISION, "permissionDecisionReason": REASON},
        "after_tool": {"additionalContext": CONTEXT},
    },
    "gemini": {
        "prompt": {OWN + "additionalContext": CONTEXT} | NOTE,
        "before_tool": {"decision": DECISION, "reason": REASON} | NOTE,
        "after_tool": {OWN + "additionalContext": CONTEXT} | NOTE,
    },
    "cursor": {
        "before_tool": {"permission": DECISION, "agent_message": REASON, "user_message": ASIDE},
        "after_tool": {"additional_context": CONTEXT},
    },
    "cline": {
        "before_tool": {"overrideInput.commands": DECISION, "contextModification": REASON},
        "after_tool": {"contextModification": CONTEXT},
    },
    "opencode": {"prompt": GENERIC, "before_tool": HELD, "after_tool": GENERIC},
    "amp": {"before_tool": HELD},
    "windsurf": {},
    "kiro": {},
}
NO_COMMANDS: list[Json] = []
HOLDS = ("deny", "block", True, NO_COMMANDS)


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
    leaves: dict[str, Json] = {}
    for key, value in answer.items():
        if isinstance(value, dict):
            leaves.update({f"{key}.{name}": item for name, item in value.items()})
        else:
            leaves[key] = value
    return leaves


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
        return Heard(
            problem=f"answers with a value that is not a text, is empty or is longer than {MOST_CHARS} characters"
        )
    held = roles.get(DECISION) in HOLDS or (DECISION not in takes.values() and REASON in roles)
    if held and REASON not in roles:
        return Heard(problem="stops the call without a reason")
    return Heard(text="\n".join(dict.fromkeys(texts)), held=held)
