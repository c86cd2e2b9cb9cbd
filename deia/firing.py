"""What a trigger that matched leads to: the firing, the documents it refers to, and what the model is shown."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from deia.records import Action, Mode, Urgency


class Reference(Record):
    """A document that a trigger puts in front of the model."""

    id: str
    mode: Mode
    reason: str = ""


class Firing(Record):
    """A trigger that matched a turn, and the reason."""

    trigger: str
    title: str
    urgency: Urgency
    action: Action
    timing: str
    message: str
    action_required: str
    documents: tuple[Reference, ...]
    because: str
    turn: int
    confidence: str = "high"
    instead: tuple[str, ...] = ()  # safe alternatives
    act: str = ""  # the words or command that it fired on; firings on the same act share a frame
    origin: str = "project"  # where the trigger comes from: project, untrusted, starter, or pack NAME
    told: str = ""  # why it would be silent, except that it stops a call that nobody was warned of


class Injection(Record):
    """What is put in front of the model for some firings, and the strongest action that a host may take."""

    text: str
    parts: tuple[Mapping[str, Any], ...]  # for programs, in the shape of FORMATS.md §3
    action: Action = "note"
    triggers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # triggers for which the budget had no room; they may be shown later
