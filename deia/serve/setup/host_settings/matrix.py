"""Presents the hosts' tables for people: what each host carries at which moment, and when the model reads it.

A cell is `✓` (read before the act that it is about), `✓ late` (with that act's result, or at the next moment that
carries it) or `✗`. The hook does not use this; it reads the tables themselves.
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
    """Return when a form at a moment reaches the model or the person."""
    carries = host_module(host).CARRIES
    when = carries.get(moment, {}).get(form)
    if when is not None:
        return IN_TIME if when == BEFORE else LATER
    waits = form == "context" and moment != "session" and any("context" in forms for forms in carries.values())
    return LATER if waits and is_watched(host, moment) else NEVER


def is_watched(host: str, moment: str) -> bool:
    """Return whether a host has an event for a moment."""
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
