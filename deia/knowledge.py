"""The values that a commons consists of: triggers, cases, entries, documents, chunks, queries and results.

They are separate from `records` because the hook usually needs none of them, and each class costs it 15 µs.
"""

from __future__ import annotations

from deia.firing import Reference
from deia.records import TYPE_CHECKING, Record, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.fast_json import Json
    from deia.records import Action, Role, Urgency

EFFECTS: dict[Action, str] = {  # of an action, in the words of all messages and pages
    "note": "the model reads it",
    "warn": "the model reads it and the person sees a line",
    "ask": "the person is asked before the call",
    "hold": "the call is stopped, and passes when it is made again",
}


class Clause(Record):
    """One condition of a trigger, as written."""

    kind: str  # phrase, pattern, command, error, write, tool
    value: str | Mapping[str, Json] | tuple[str, ...]
    line: int = 0
    language: str = ""  # of a phrase, such as "de"; "" if not given


class Earlier(Record):
    """A precondition: one of these clauses matched earlier in the conversation and was not taken back since."""

    any: tuple[Clause, ...] = ()
    until: tuple[Clause, ...] = ()
    within: int = 0  # turns; 0 is the whole conversation
    mark: str = ""  # instead of clauses: what deia notices by itself, `failing` or `production`
    otherwise: Action | None = None  # the most that the trigger may do if the precondition is not met; None: nothing


class OwnActWords(Record):
    """The words that a commons adds for the `act` clauses of its own triggers: pairs of a class and its words."""

    verbs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    objects: tuple[tuple[str, tuple[str, ...]], ...] = ()
    vessels: tuple[str, ...] = ()  # nouns that take the class of the word before them


class Trigger(Record):
    """A trigger as its author wrote it, validated and with defaults filled in."""

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
    instead: tuple[str, ...] = ()  # safe alternatives
    context: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    stance: tuple[str, ...] = ("announced", "requested")
    repeat: float = -1.0  # seconds until it may fire again; 0 means every time, negative once per conversation
    references: tuple[str, ...] = ()
    since: str = ""
    hides: tuple[str, ...] = ()  # layers whose trigger of the same id it replaces on purpose: starter, or a pack's name
    act_words: OwnActWords = OwnActWords()  # of the commons that it is from
    path: str = ""  # the file it was read from, relative to the commons
    line: int = 0


class Case(Record):
    """An example for a trigger: a short conversation in which the trigger must fire, or must not."""

    trigger: str
    fires: bool
    turns: tuple[Turn, ...]
    cwd_files: tuple[str, ...] = ()
    importers: Mapping[str, int] = {}  # how many files import one, by its path
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
    urgency: str = ""  # "" if not given
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()  # the cluster that owns the document first
    related_docs: tuple[str, ...] = ()
    category: str = ""
    action: str = ""
    why_relevant: str = ""
    quick_tips: tuple[str, ...] = ()
    status: str = ""
    created: str = ""
    updated: str = ""
    verified: str = ""
    valid_until: str = ""  # the last day on which it holds
    superseded_by: str = ""  # the id of the document that takes its place
    review_after: str = ""  # the day after which somebody should check it
    extra: Mapping[str, Json] = {}
    line: int = 0


class Document(Record):
    """A document in the commons: its metadata, its text, and the line on which the text begins."""

    path: str  # relative to the commons, with forward slashes
    title: str
    text: str  # without front-matter
    metadata: Mapping[str, Json] = {}
    first_line: int = 1  # the line of the file on which `text` begins


class Chunk(Record):
    """A passage of a document, with its line range in the file."""

    document: str  # the entry's id
    ordinal: int
    heading: str
    text: str
    lines: tuple[int, int]
    kind: str = ""  # what it is, if its chunker knows: section, page, function, class, table, ...
    symbol: str = ""  # its name there: "Librarian.query", "paths./users.get"
    page: int = 0  # of a paged document, from 1
    parent: int = -1  # the ordinal of the chunk that it is a part of
    level: int = 0  # how many parents are above it
    metadata: Mapping[str, Json] = {}


CONTEXTS = ("neighbours", "parent")  # what may be shown around a passage


class Query(Record):
    """A query to the commons: words and filters."""

    text: str
    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    tag: str = ""
    keywords: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()  # own, packs, starter, library; () for all
    asset_type: str = ""  # text, code, pdf, image, multimodal, or a type such as markdown
    collection: str = ""  # of the library
    since: str = ""  # a day, a month or a year
    until: str = ""
    expand_context: str = ""  # one of CONTEXTS
    limit: int = 5
    alpha: float | None = None  # the weight of meaning against words; None for what was learned
    related: str = "hybrid"  # what counts of the graph: local, global, both of them in hybrid, nothing in naive
    variety: float = 0.0  # how much likeness to better documents counts against a document; 0 for near copies only


class Golden(Record):
    """A test query with a grade for each document that must be found; with no grades, nothing may be found."""

    query: str
    grades: Mapping[str, int] = {}
    line: int = 0


class Result(Record):
    """One document of an answer, its score fused from hits."""

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
    type: str = ""  # of a document of the library: markdown, code, pdf, ...
    page: int = 0  # on which the passage begins, if its document has pages
    kind: str = ""  # of the passage, such as function
    symbol: str = ""
    text: str = ""  # of the document, for renderings that quote it
    is_listed: bool = False  # since it passes the filters: no question ranked it, and its score means nothing
    is_part: bool = False  # whether `text` is only what is around the passage, since the document is long
