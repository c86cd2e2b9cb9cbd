"""A model that follows a script through several conversations: the person's, a subagent's, and what is left of one."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deia.serve.setup.live.fake_model import Answer, FakeModel, answer_to
from deia.serve.setup.live.model_request import (
    CHAT,
    GEMINI,
    RESPONSES,
    SEARCHERS,
    SHELLS,
    Act,
    Request,
    Tool,
    shell_input,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.hosts.scenarios import Step

MOST_REQUESTS = 60  # a host that goes round in circles is told to stop
MOST_SEARCHES = 2
MOST_WAITING = 15.0  # seconds for a subagent
MOST_DEPTH = 4  # of a tool's input
TURNS = {RESPONSES: "input", GEMINI: "contents", CHAT: "messages"}
HARMLESS: Mapping[str, object] = {"boolean": False, "integer": 1, "number": 1, "object": {}, "array": []}
SUMMARY = (
    "<analysis>ok</analysis><summary>The work goes on.</summary><state_snapshot>The work goes on.</state_snapshot>"
)
REFERENCE = re.compile(r'(?:<|&lt;|\\u003c)deia-reference trigger=\\*(?:"|&quot;)([\w., -]+)')
COMPACTION = re.compile(  # what hosts say to the model when they want a conversation made short
    r"detailed summary of (the|our|this) conversation|checkpoint compaction|state_snapshot|summari[sz]es? internal chat"
    r"|summary of (the|our) conversation|conversation summary|prompt for continuing our conversation|anchored summary"
    r"|summari[sz]e (the|our|this) (conversation|session|work)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request, when it came, and what was answered."""

    request: Request
    act: Act
    at: float = field(default_factory=time.time)

    @property
    def triggers(self) -> frozenset[str]:
        """The triggers whose lessons are in the conversation."""
        return triggers_in(self.request.spoken)

    @property
    def is_compaction(self) -> bool:
        """Whether the host asks for a summary, to go on with that alone."""
        return is_compaction(self.request)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered."""
        return [tool.name for tool in self.request.tools]


class ScriptedModel(FakeModel):
    """The next step is due when a conversation comes that was not seen before."""

    def __init__(self) -> None:
        super().__init__(())
        self.asked: list[Asked] = []
        self._steps: list[Step] = []
        self._searches = 0
        self._answered: dict[str, Act] = {}

    def expect(self, steps: Sequence[Step]) -> None:
        """Take the steps of the person's next turn."""
        with self._lock:
            self._steps = list(steps)

    def answer(self, request: Request) -> Answer:
        """Return the answer to a request, which is remembered."""
        self._let_others_go_first(request)
        with self._lock:
            key = json.dumps(turns_of(request), sort_keys=True)
            act = self._answered.get(key) if request.tools else None
            act = act or self._next(request)
            self._answered[key] = act
            self.asked.append(Asked(request=request, act=act))
        return answer_to(request, act)

    def _let_others_go_first(self, request: Request) -> None:
        """Wait while a step is for another conversation: who delegates may not be answered before who does the work."""
        end = time.monotonic() + MOST_WAITING
        while request.tools and time.monotonic() < end:
            with self._lock:
                if not self._steps or self._steps[0].within in said_in(request):
                    return
            time.sleep(0.05)

    def _next(self, request: Request) -> Act:
        if len(self.asked) >= MOST_REQUESTS:
            return Act(text="Enough.")
        if is_compaction(request):
            return Act(text=SUMMARY)
        if not request.tools:  # a title, or a check of what was typed
            return Act(text="ok")
        if not self._steps:
            return Act(text="Done.")
        step = self._steps[0]
        if step.within and step.within not in said_in(request):
            return Act(text="I wait.")
        act = act_of(step, request, searched=self._searches)
        is_search = act.tool is not None and act.tool.name in SEARCHERS
        self._searches = self._searches + 1 if is_search else 0
        if not is_search:
            del self._steps[0]
        return act


def triggers_in(text: str) -> frozenset[str]:
    """Return the triggers whose lessons are in a text."""
    return frozenset(name.strip() for match in REFERENCE.findall(text) for name in match.split(","))


def turns_of(request: Request) -> list[Any]:
    """Return the turns of the conversation, the oldest first."""
    turns = request.body.get(TURNS.get(request.protocol, "messages"))
    return turns if isinstance(turns, list) else [turns] if turns else []


def said_in(request: Request) -> str:
    """Return what was said to the model, without its own words and the results of its calls."""
    return texts([turn for turn in turns_of(request) if _is_said(turn)])


def _is_said(turn: object) -> bool:
    if not isinstance(turn, dict) or turn.get("role") not in {"user", "system", "developer"}:
        return isinstance(turn, str)
    parts = turn.get("content") or turn.get("parts")
    results = (part for part in (parts if isinstance(parts, list) else ()) if isinstance(part, dict))
    return not any(part.get("type") == "tool_result" or "functionResponse" in part for part in results)


def is_compaction(request: Request) -> bool:
    """Whether the host asks for a summary, to go on with that alone."""
    last = texts(turns_of(request)[-1:]).split("\n\n")[-1] if turns_of(request) else ""
    whole = texts(turns_of(request)[-1:])[-6000:]
    system = texts(request.body.get("systemInstruction") or "")[:2000]
    asked = COMPACTION.search(last) or ("deia-reference" not in whole and COMPACTION.search(whole))
    return bool(asked or COMPACTION.search(system))


def act_of(step: Step, request: Request, *, searched: int = 0) -> Act:
    """Return what a step comes to with the tools of a request."""
    if not step.shell and not step.tool:
        return Act(text=step.text, tokens=step.tokens)
    pattern = "^(" + "|".join(map(re.escape, SHELLS)) + ")$" if step.shell else step.tool
    tool = next((tool for tool in request.tools if re.search(pattern, tool.name, re.IGNORECASE)), None)
    if tool is None:
        return _searching(step, request, searched)
    given = shell_input(tool, step.shell) if step.shell else filled(tool.schema, step.given)
    return Act(tool=tool, input=given, tokens=step.tokens)


def _searching(step: Step, request: Request, searched: int) -> Act:
    """Return a call of the tool that finds tools, where a host keeps most of them back; else a text that says so."""
    search = next((tool for tool in request.tools if tool.name in SEARCHERS), None)
    if search is not None and searched < MOST_SEARCHES and "search" in step.given:
        return Act(tool=search, input=filled(search.schema, {"query": step.given["search"]}))
    return Act(text=f"{NO_TOOL} {', '.join(tool.name for tool in request.tools)}.")


NO_TOOL = "There is no such tool among"


def filled(schema: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """Return an input for a tool: of what is given, the fields that it knows; something harmless where one must be."""
    fields = schema.get("properties") or {}
    known = {name: value for name, value in given.items() if name in fields and _takes(fields[name], value)}
    text = str(given.get("text") or "run it")
    return {name: sample(fields.get(name) or {}, text) for name in schema.get("required") or []} | known


def sample(schema: Mapping[str, Any], text: str, *, depth: int = 0) -> object:
    """Return a value that a JSON schema allows, with `text` wherever there is room for one."""
    schema = next(iter(schema.get("anyOf") or schema.get("oneOf") or ()), schema)
    kind = _kind(schema)
    if schema.get("enum"):
        return schema["enum"][0]
    if depth > MOST_DEPTH or kind not in {"object", "array"}:
        return HARMLESS.get(kind, text)
    if kind == "array":
        return [sample(schema.get("items") or {}, text, depth=depth + 1)]
    fields = schema.get("properties") or {}
    return {name: sample(fields.get(name) or {}, text, depth=depth + 1) for name in schema.get("required") or []}


def _takes(schema: Mapping[str, Any], value: object) -> bool:
    """Whether a field takes a value: a text does not stand for a list or an object."""
    return not isinstance(value, str) or (_kind(schema) in {"", "string"} and value in schema.get("enum", [value]))


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type") or ("object" if "properties" in schema else "")
    return str(kind[0] if isinstance(kind, list) else kind).lower()


def offered(asked: Sequence[Asked], name: str) -> list[str]:
    """Return the tools with a name in theirs that any request offered."""
    return sorted({tool for one in asked for tool in one.tools if name in tool})


def called(asked: Sequence[Asked]) -> list[Tool]:
    """Return the tools that the model called, those that find tools left out."""
    return [one.act.tool for one in asked if one.act.tool is not None and one.act.tool.name not in SEARCHERS]
