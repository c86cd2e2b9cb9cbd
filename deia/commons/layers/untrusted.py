"""What counts of a commons that the person does not trust: it may add a little, and takes nothing away.

Its lessons can be found, and a few of its triggers speak, as quiet notes that name their origin. Ids of the layers
below are taken. Packs, settings and everything that changes how searches rank or understand words do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.commons.index.load_commons import Commons
from deia.knowledge import Entry, Trigger
from deia.text import shorten

MOST_TRIGGERS = 20
MOST_DOCUMENTS = 2  # of a trigger
MOST_KEYWORDS = 20  # of an entry
MOST_CHARS = 300  # of a message or a summary: all its notes together leave room in a conversation


def restrain(own: Commons, below: Sequence[Commons]) -> Commons:
    """Return what counts of an untrusted commons over the layers below it."""
    taken_triggers = {trigger.id for layer in below for trigger in layer.triggers}
    taken_entries = {entry.id for layer in below for entry in layer.entries}
    triggers = [
        _quiet(trigger)
        for trigger in own.triggers
        if trigger.id not in taken_triggers and trigger.status != "deprecated"
    ][:MOST_TRIGGERS]
    entries = [_plain(entry) for entry in own.entries if entry.id not in taken_entries]
    paths = {entry.path for entry in entries}
    ids = {trigger.id for trigger in triggers}
    return own.but(
        triggers=tuple(triggers),
        cases=tuple(case for case in own.cases if case.trigger in ids),
        entries=tuple(entries),
        documents=tuple(document for document in own.documents if document.path in paths),
        clusters=(),
        query_patterns=(),
        concepts=(),
        learning_paths=(),
    )


def _quiet(trigger: Trigger) -> Trigger:
    """Return a trigger that only adds a note, once in a conversation, with the summaries of its documents."""
    return trigger.but(
        urgency="low",
        message=shorten(trigger.message, MOST_CHARS),
        action="note",
        action_required="",
        instead=(),
        repeat=-1.0,
        hides=(),
        documents=tuple(reference.but(mode="summary_only") for reference in trigger.documents[:MOST_DOCUMENTS]),
    )


def _plain(entry: Entry) -> Entry:
    """Return an entry without what raises it in a ranking or speaks for it."""
    return entry.but(
        summary=shorten(entry.summary, MOST_CHARS),
        urgency="",
        action="",
        why_relevant="",
        quick_tips=(),
        related_docs=(),
        clusters=(),
        keywords=entry.keywords[:MOST_KEYWORDS],
        extra={},
    )
