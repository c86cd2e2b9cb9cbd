"""Try: what deia makes of a sentence or a tool call as it is typed, and what each host would be told.

Everything is judged as `deia check --explain` does it, in a conversation of its own, of which nothing is remembered.
"""

from __future__ import annotations

import secrets
import time

from deia import fast_json
from deia.commons.layers.merge_layers import PROJECT
from deia.errors import QueryError
from deia.fast_json import Json
from deia.records import UNTRUSTED, Turn
from deia.serve.hooks.delivery import Delivery, deliver
from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.page.asked_values import Asked, choice, name, text
from deia.serve.server.desk import Desk
from deia.suggestions import nearest
from deia.watch.authoring.act_explanation import explain_acts, requirements
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.recall import InMemoryLog
from deia.watch.turn.conversation import turns_of
from deia.watch.verdict.escalation import numbers_of
from deia.watch.verdict.judge import Verdict
from deia.watch.watcher import Watched

SPEAKERS = ("user", "assistant", "tool_call", "tool_result")
MOMENTS = {"user": "prompt", "assistant": "stop", "tool_call": "before_tool", "tool_result": "after_tool"}
WARMING = "I will delete the production database now"  # loads whatever judging a sentence may need
OWN = (PROJECT, UNTRUSTED)  # the origins of a trigger of this commons, whether the person trusts it or not
MOST_EARLIER = 50  # turns before the one that is tried
NOTHING: dict[str, Json] = {"verdicts": [], "acts": [], "text": "", "injection": "", "host": {}, "ms": 0.0}
FIRING = ("urgency", "action", "because", "act", "message", "action_required", "confidence", "told")


def tried_turns(asked: Asked) -> list[Turn]:
    """Return the turns of what was typed: the earlier ones, one a line, and last the one that is tried."""
    role, typed = choice(asked, "role", SPEAKERS), text(asked, "text")
    earlier = [line for line in text(asked, "earlier").split("\n") if line.strip()][-MOST_EARLIER:]
    return turns_of([*earlier, _turn(role, typed)])


def _turn(role: str, typed: str) -> Turn:
    """Return a turn; a tool call is a command, or a JSON object with `tool` and `tool_input`."""
    if role != "tool_call":
        return Turn(role=role, text=typed)  # type: ignore[arg-type]  # one of SPEAKERS
    if typed.lstrip()[:1] == "{":
        try:
            call = fast_json.loads(typed)
        except (ValueError, RecursionError):
            call = {}
        tool, arguments = call.get("tool"), call.get("tool_input")
        if isinstance(tool, str) and isinstance(arguments, dict):
            command = arguments.get("command")
            return Turn(
                role="tool_call", text=command if isinstance(command, str) else "", tool=tool, tool_input=arguments
            )
    return Turn(role="tool_call", text=typed, tool="Bash", tool_input={"command": typed})


def try_turn(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return the verdicts on a turn, its acts, the injection, and the answer of a host."""
    began = time.perf_counter()
    turns = tried_turns(asked)
    if not (turns and (turns[-1].text.strip() or turns[-1].tool_input)):
        return {**NOTHING}
    artefact = desk.librarian.open_artefact()
    conversation = f"try-{secrets.token_hex(8)}"
    watched = desk.librarian.watch(turns, conversation_id=conversation, folder=desk.folder)[-1]
    return {
        "verdicts": [_verdict(artefact, verdict) for verdict in watched.verdicts],
        "acts": [act.values() for act in explain_acts(artefact, turns[-1])], "text": turns[-1].text,
        "injection": watched.injection.text if watched.injection else "",
        "host": _at_host(choice(asked, "host", HOSTS), turns[-1], watched, desk.folder, artefact),
        "ms": round((time.perf_counter() - began) * 1000, 2),
    }  # fmt: skip


def _verdict(artefact: Artefact, verdict: Verdict) -> dict[str, Json]:
    trigger, firing = artefact.trigger(verdict.number), verdict.firing
    firing_fields = {field: getattr(firing, field) for field in FIRING} if firing else {}
    documents = [artefact.document(number) for number, *_ in trigger.documents]
    return {
        "trigger": trigger.id, "title": trigger.title, "urgency": trigger.urgency, "action": trigger.action,
        "stage": verdict.stage, "detail": verdict.detail, "origin": trigger.origin, "own": trigger.origin in OWN,
        "documents": [{key: document[key] for key in ("id", "path", "title")} for document in documents],
        **firing_fields,
    }  # fmt: skip


def _at_host(host: str, turn: Turn, watched: Watched, folder: str, artefact: Artefact) -> dict[str, Json]:
    """Return what a host would be answered at the moment of this turn, as JSON or as a reason for exit code 2."""
    moment = MOMENTS[turn.role]
    event = sample(host, Happening(moment=moment, text=turn.text, folder=folder))
    module = host_module(host)
    occasion = module.read_event(event) if event is not None else None
    about: dict[str, Json] = {"name": host, "moment": moment, "known": occasion is not None}
    if occasion is None:
        return about
    can = module.CARRIES.get(occasion.moment, {})
    about["carries"] = {**can}
    hold = bool(artefact.meta.settings["hold"])
    message = deliver(Delivery(can=can, carries=module.CARRIES, hold=hold), InMemoryLog(), turn, watched)
    answer = module.write_answer(occasion, message) if watched.injection and message else None
    about["exit_code"] = 2 if isinstance(answer, bytes) else 0
    about["answer"] = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return about


def explain_trigger(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return what a trigger asks for, and for each act in a text what it lacks, as `deia trigger explain` does."""
    artefact, ident = desk.librarian.open_artefact(), name(asked, "trigger")
    number = next(numbers_of(artefact, [ident]), None)
    if number is None:
        known = {trigger.id for trigger in artefact.triggers()}
        raise QueryError(f"there is no trigger {ident!r} that can fire", fix=nearest(ident, known))
    trigger, turns = artefact.trigger(number), tried_turns(asked)
    acts = explain_acts(artefact, turns[-1], triggers=[ident]) if turns and turns[-1].text.strip() else []
    return {
        "trigger": ident, "title": trigger.title, "message": trigger.message, "origin": trigger.origin,
        "own": trigger.origin in OWN,
        "stance": [*trigger.stance], "context": [*trigger.context],
        "unless": [excuse.source for excuse in trigger.unless],
        "clauses": [{"kind": clause.kind, "source": clause.source} for clause in trigger.clauses],
        "asks": [
            {"source": source, "conditions": [*conditions]}
            for source, conditions in requirements(artefact, trigger).items()
        ],
        "acts": [act.values() for act in acts], "text": turns[-1].text if turns else "",
    }  # fmt: skip
