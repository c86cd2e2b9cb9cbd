"""Small sets of triggers, compiled in memory, and turns to judge by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.triggers.build_artefact import Payload, compile_triggers
from deia.firing import Reference
from deia.knowledge import Clause, Trigger
from deia.records import Turn
from deia.settings import DEFAULTS
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[..., Trigger]
    Build = Callable[..., Artefact]
    Fires = Callable[..., bool]

SETTINGS = DEFAULTS.by_name()


def make_trigger(*clauses: tuple[str, Any], **fields: Any) -> Trigger:
    """Return a trigger that needs one of the clauses; `all`, also as pairs, and every other field are given by name."""
    fields["all"] = tuple(Clause(kind=kind, value=value) for kind, value in fields.get("all", ()))
    given: dict[str, Any] = {
        "id": "t", "title": "T", "urgency": "high", "message": "Take care.", "who": ("user", "assistant", "tool_call"),
        "documents": (Reference(id="lesson", mode="full_context"),),
        "any": tuple(Clause(kind=kind, value=value) for kind, value in clauses),
    }  # fmt: skip
    return Trigger(**{**given, **fields})


def build_artefact(*triggers: Trigger, text: str = "Make a copy first.", **more: Any) -> Artefact:
    """Compile triggers that all refer to one lesson; `marks` and `known` as the compiler takes them."""
    lesson = Payload(id="lesson", path="bok/lesson.md", title="The lesson", summary="Copy.", text=text)
    data, _ = compile_triggers(triggers, {"lesson": lesson}, settings=SETTINGS, identity={}, **more)
    return Artefact(data)


@pytest.fixture(scope="session")
def make() -> Make:
    """Return the maker of triggers."""
    return make_trigger


@pytest.fixture(scope="session")
def build() -> Build:
    """Return the function that compiles triggers."""
    return build_artefact


@pytest.fixture(scope="session")
def fires() -> Fires:
    """Return a function that says whether a trigger fires: on a text a person says, or on a turn."""

    def fired(trigger: Trigger, said: str | Turn) -> bool:
        turn = said if isinstance(said, Turn) else Turn(role="user", text=said)
        return bool(watch(build_artefact(trigger), turn, InMemoryLog(), lambda: Surroundings(now=0.0)).firings)

    return fired


@pytest.fixture(scope="session")
def call() -> Callable[[str], Turn]:
    """Return a function that makes the turn in which an agent runs a shell command."""
    return lambda command: Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})
