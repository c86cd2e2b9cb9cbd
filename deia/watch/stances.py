"""The stances that an act may have, by name, and which of them are meant by which: without what tells them apart."""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

ANNOUNCED, REQUESTED, RUNNING, NEGATED = "announced", "requested", "running", "negated"
REPORTED, DONE_NOW, ASKED, SUPPOSED = "reported", "done", "asked", "supposed"
QUOTED, DRY_RUN = "quoted", "dry_run"
DENIALS = frozenset(("not", "never", "without", "no"))
# Stances that were told apart later: a trigger that lists the wider one means both.
WIDER = {RUNNING: ANNOUNCED, DONE_NOW: REPORTED, SUPPOSED: ASKED}
NARROWER = {wide: narrow for narrow, wide in WIDER.items()}


def counts(stance: str, listed: Container[str]) -> bool:
    """Say whether a trigger that lists some stances means this one: `announced` includes running, and so on."""
    return stance in listed or WIDER.get(stance) in listed
