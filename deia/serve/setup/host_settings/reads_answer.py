"""What a host would make of a hook's answer: the text that its model reads, or why the host would drop it.

The tables are the hosts' contracts, key by key (their sources stand in the hosts' modules). A key that a host does not
know is a fault: one of them runs the command then, another drops the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia.fast_json import loads
from deia.records import Record

MOST = 10_000  # characters a string, at every host
EVENT, CONTEXT, DECISION, REASON, ASIDE = "event", "context", "decision", "reason", "aside"
BY_CODE = ("windsurf", "kiro")  # hosts that take a reason on standard error, with exit code 2
OWN = "hookSpecificOutput."
SPEAKS = {OWN + "hookEventName": EVENT, OWN + "additionalContext": CONTEXT}
DECIDES = {**SPEAKS, OWN + "permissionDecision": DECISION, OWN + "permissionDecisionReason": REASON}
STRICT = {key: role for key, role in DECIDES.items() if role != CONTEXT}
NOTE = {"systemMessage": ASIDE}
GENERIC = {"context": CONTEXT, "note": ASIDE}
HELD = {"hold": REASON}

TAKES: Mapping[str, Mapping[str, Mapping[str, str]]] = {  # host → moment → key → what it says
    "claude-code": {"prompt": SPEAKS | NOTE, "before_tool": DECIDES | NOTE, "after_tool": SPEAKS | NOTE},
    "codex": {"prompt": SPEAKS, "before_tool": STRICT, "after_tool": SPEAKS},
    "droid": {"prompt": SPEAKS, "before_tool": STRICT, "after_tool": SPEAKS},
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
        "prompt": {"cancel": DECISION, "contextModification": CONTEXT},
        "before_tool": {"cancel": DECISION, "errorMessage": REASON, "contextModification": CONTEXT},
        "after_tool": {"cancel": DECISION, "contextModification": CONTEXT},
    },
    "opencode": {"prompt": GENERIC, "before_tool": HELD, "after_tool": GENERIC},
    "amp": {"before_tool": HELD},
    "windsurf": {},
    "kiro": {},
}
HOLDS = ("deny", "block", True)


class Heard(Record):
    """What reaches the model, or what is wrong with an answer."""

    text: str = ""
    held: bool = False
    problem: str = ""


class Output(Record):
    """What a hook left when it ended."""

    code: int
    out: bytes
    err: bytes


def read_output(host: str, moment: str, event: str, output: Output) -> Heard:
    """Give what a host makes of a hook's output at a moment; `event` is the host's own name of it.

    Raises:
        KeyError: nobody knows the host.
    """
    takes = TAKES[host]
    said = output.err.decode("utf-8", "replace").strip()
    if host in BY_CODE and moment == "before_tool" and output.code == 2 and said:
        return Heard(text=said, held=True)
    if output.code:  # with 0, hosts pass over standard error, where a login shell's profile may write
        return Heard(problem=f"exits with {output.code}: {said[-300:] or 'no message'}")
    if not output.out.strip():
        return Heard()
    try:
        answer = loads(output.out.decode("utf-8"))
    except ValueError:
        return Heard(problem=f"answers what is not JSON: {output.out[:100]!r}")
    if not isinstance(answer, dict):
        return Heard(problem="answers what is not a JSON object")
    return _judged(_leaves(answer), takes.get(moment, {}), event)


def _leaves(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Give an answer with its one level of nesting told by dots."""
    leaves: dict[str, Any] = {}
    for key, value in answer.items():
        inner = value.items() if isinstance(value, dict) else ()
        leaves.update({f"{key}.{name}": each for name, each in inner} if isinstance(value, dict) else {key: value})
    return leaves


def _judged(leaves: Mapping[str, Any], takes: Mapping[str, str], event: str) -> Heard:
    unknown = [key for key in leaves if key not in takes]
    if unknown:
        return Heard(problem=f"answers nothing that the host would show to the model, but {', '.join(unknown)}")
    roles = {takes[key]: value for key, value in leaves.items()}
    if EVENT in takes.values() and roles.get(EVENT) != event and set(roles) - {ASIDE}:
        return Heard(problem=f"names the event {roles.get(EVENT)!r} where the host wants {event}")
    texts = [roles[role] for role in (REASON, CONTEXT, ASIDE) if role in roles]
    if not all(isinstance(text, str) and 0 < len(text) <= MOST for text in texts):
        return Heard(problem=f"answers with a text that is none, is empty or is longer than {MOST} characters")
    held = roles.get(DECISION) in HOLDS or (DECISION not in takes.values() and REASON in roles)
    if held and REASON not in roles:
        return Heard(problem="stops the call without a reason")
    return Heard(text="\n".join(dict.fromkeys(texts)), held=held)
