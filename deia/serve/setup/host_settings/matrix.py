"""What each host carries at which moment, and when the model reads it: the hosts' tables made readable.

A cell says `✓` (read before the act that it is about), `✓ late` (with that act's result, or queued for the next moment
that carries it) or `✗`. Nothing here decides anything; the hook reads the tables themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts.event import BEFORE
from deia.serve.hosts.sample_events import Happening, sample

IN_TIME, LATER, NEVER = "✓", "✓ late", "✗"
MOMENTS = ("prompt", "before_tool", "after_tool", "tool_error", "stop", "session")
FORMS = {
    "prompt": ("context", "note"),
    "before_tool": ("context", "hold", "ask", "note"),
    "after_tool": ("context", "note"),
    "tool_error": ("context", "note"),
    "stop": ("context",),
    "session": ("context", "note"),
}


def cell(host: str, moment: str, form: str) -> str:
    """Say when a form at a moment reaches whom it is for."""
    carries = host_module(host).CARRIES
    when = carries.get(moment, {}).get(form)
    if when is not None:
        return IN_TIME if when == BEFORE else LATER
    waits = form == "context" and moment != "session" and any("context" in forms for forms in carries.values())
    return LATER if waits and is_watched(host, moment) else NEVER


def is_watched(host: str, moment: str) -> bool:
    """Say whether a host has an event for a moment."""
    return sample(host, Happening(moment=moment)) is not None


def columns() -> Iterator[tuple[str, str]]:
    """Yield every moment with every form that makes sense there."""
    for moment in MOMENTS:
        for form in FORMS[moment]:
            yield moment, form


def rows() -> Iterator[tuple[str, list[str]]]:
    """Yield every host with its cells."""
    for host in HOSTS:
        yield host, [cell(host, moment, form) for moment, form in columns()]
