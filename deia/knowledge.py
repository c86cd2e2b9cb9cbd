"""What a commons holds and what is asked of it, as values: triggers, cases, entries, documents, passages, questions.

Apart from `records`, because the hook's quiet path needs none of these and making a class costs 15 µs.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from deia.records import Action, Reference, Role, Turn, Urgency


class Clause(Record):
    """One condition of a trigger, as written."""

    kind: str  # phrase, pattern, command, error, write, tool
    value: str | Mapping[str, Any] | tuple[str, ...]
    line: int = 0
    language: str = ""  # of a phrase, such as "de"; "" where nobody said


class Earlier(Record):
    """What must have been said in a conversation before a trigger counts: one of some clauses, not taken back since."""

    any: tuple[Clause, ...]
    until: tuple[Clause, ...] = ()
    within: int = 0  # turns; 0 is the whole conversation


class Trigger(Record):
    """A trigger as its author wrote it, checked and with its defaults filled in."""

    id: str
    title: str
    urgency: Urgency
    message: str
    documents: tuple[Reference, ...]
    who: tuple[Role, ...]
    any: tuple[Clause, ...] = ()
    all: tuple[Clause, ...] = ()
    earlier: Earlier | None = None
    status: str = "experimental"
    timing: str = "pre-action"
    action: Action = "note"
    action_required: str = ""
    instead: tuple[str, ...] = ()  # safe ways to the same end
    context: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    stance: tuple[str, ...] = ("announced", "requested")
    repeat: float = -1.0  # seconds until it may fire again; 0 is every time, negative is once a conversation
    references: tuple[str, ...] = ()
    since: str = ""
    hides: tuple[str, ...] = ()  # layers whose trigger of the same id is hidden on purpose: starter, or a pack's name
    path: str = ""  # the file it was read from, relative to the commons
    line: int = 0


class Case(Record):
    """One example beside a trigger: a short conversation that must fire it, or must not."""

    trigger: str
    fires: bool
    turns: tuple[Turn, ...]
    cwd_files: tuple[str, ...] = ()
    path: str = ""
    line: int = 0


class Entry(Record):
    """One document as the master index describes it."""

    id: str
    path: str
    title: str
    summary: str = ""
    keywords: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    urgency: str = ""  # "" where nobody said
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()  # the owner first
    related_docs: tuple[str, ...] = ()
    category: str = ""
    action: str = ""
    why_relevant: str = ""
    quick_tips: tuple[str, ...] = ()
    status: str = ""
    created: str = ""
    updated: str = ""
    verified: str = ""
    extra: Mapping[str, Any] = {}
    line: int = 0


class Document(Record):
    """A document as it lies in the commons: its metadata, its text, and where the text begins."""

    path: str  # relative to the commons, with forward slashes
    title: str
    text: str  # without front-matter
    metadata: Mapping[str, Any] = {}
    first_line: int = 1  # the line of the file on which `text` begins


class Chunk(Record):
    """A passage of a document, with its line range in the file."""

    document: str  # the entry's id
    ordinal: int
    heading: str
    text: str
    lines: tuple[int, int]


class Query(Record):
    """A question to the commons: words and filters."""

    text: str
    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    tag: str = ""
    keywords: tuple[str, ...] = ()
    limit: int = 5


class Golden(Record):
    """A question with the documents that must be found for it, each with a grade; without any, nothing may be."""

    query: str
    grades: Mapping[str, int] = {}
    line: int = 0


class Hit(Record):
    """One matcher's opinion of one chunk."""

    document: str
    ordinal: int
    score: float
    matcher: str


class Result(Record):
    """One document of an answer, fused from hits."""

    id: str
    path: str
    title: str
    summary: str
    score: float
    why_relevant: str = ""
    action: str = ""
    urgency: str = ""
    platforms: tuple[str, ...] = ()
    keywords_matched: tuple[str, ...] = ()
    lines: tuple[int, int] = (1, 1)
    passage: str = ""
    heading: str = ""
    text: str = ""  # the whole document, for renderings that quote it
