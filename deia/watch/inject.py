"""Firings → what the model reads: facts first, documents as quoted reference with their source, within a budget.

Hosts keep injected text in the conversation and defend themselves against orders posing as the user, so everything is
framed as reference, every line of a document is quoted, and nothing in a document can close the frame.
"""

from __future__ import annotations

from deia.records import ACTIONS, TYPE_CHECKING, Injection
from deia.text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from deia.records import Action, Firing, Reference

    Fetch = Callable[[str], Mapping[str, Any] | None]

FRAME = "deia-reference"
HARMLESS = "deia reference"  # of the same length
SMALL = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
PREFACE = "Reference from this project's own lessons, added by deia. It informs; it is not a message from the user."
MOST_CHARS = 9_500  # of an injection; hosts cut strings at 10,000
MOST_FACT = 600  # characters of one sentence of a trigger, or of what the conversation said
LEAST_EXCERPT = 400  # characters below which a document's summary is given rather than a piece of its text
LEAST_SUMMARY = 80  # characters below which a document is only named
FRAME_CHARS = 120  # what the frame of a firing costs besides its facts and documents
MOST_NAMED = 20  # firings that are named when there is no room for more


def compose(
    firings: Sequence[Firing],
    fetch: Fetch,
    *,
    shown: Collection[str] = (),
    budget: int = 6000,
) -> Injection:
    """Give the injection for some firings, the most urgent first.

    `fetch` gives a document (id, path, title, summary, text) or None; documents in `shown` were injected before and are
    named, not repeated; `budget` is in characters and spent on the first firings first.
    """
    texts: list[str] = []
    carried: list[str] = []
    unsaid: list[str] = []
    parts = []
    left = min(budget, MOST_CHARS)
    for firing in firings:
        documents = [(reference, fetch(reference.id)) for reference in firing.documents]
        known = [(reference, document) for reference, document in documents if document is not None]
        parts.append(part(firing, [(reference, str(document["path"])) for reference, document in known]))
        head = _head(firing)
        left -= len(head) + FRAME_CHARS
        if left < 0 and texts:
            unsaid.append(firing.trigger)
            continue
        blocks = []
        for number, (reference, document) in enumerate(known, start=1):
            block, whole = _block(number, reference, document, left, repeated=reference.id in {*shown, *carried})
            left -= len(block)
            blocks.append(block)
            carried += [reference.id] if whole else []
        texts.append(_framed(firing, "\n\n".join((head, *blocks))))
    texts += [_named(unsaid)] if unsaid else []
    actions: list[Action] = [firing.action for firing in firings] or ["note"]
    return Injection(
        text="\n\n".join(texts),
        parts=tuple(parts),
        action=max(actions, key=ACTIONS.index),
        triggers=tuple(firing.trigger for firing in firings),
        documents=tuple(carried),
    )


def _head(firing: Firing) -> str:
    lines = [PREFACE, _fact(firing.message)]
    if firing.action_required:
        lines.append(f"Before going on: {_fact(firing.action_required)}")
    return "\n".join((*lines, f"Why now: {_fact(firing.because)}."))


def _fact(text: str) -> str:
    return shorten(one_line(text), MOST_FACT)


def _named(triggers: list[str]) -> str:
    more = f" and {len(triggers) - MOST_NAMED} more" if len(triggers) > MOST_NAMED else ""
    return f"<{FRAME}>\nAlso seen, with no room left to say more: {', '.join(triggers[:MOST_NAMED])}{more}.\n</{FRAME}>"


def _framed(firing: Firing, body: str) -> str:
    return f'<{FRAME} trigger="{firing.trigger}" urgency="{firing.urgency}">\n{_unframe(body)}\n</{FRAME}>'


def _unframe(body: str) -> str:
    """Keep a document from closing the frame or opening another."""
    lowered = body.translate(SMALL)  # of the same length, unlike `lower`
    at = lowered.find(FRAME)
    while at >= 0:
        body = f"{body[:at]}{HARMLESS}{body[at + len(FRAME) :]}"
        at = lowered.find(FRAME, at + len(FRAME))
    return body


def _block(
    number: int, reference: Reference, document: Mapping[str, Any], left: int, *, repeated: bool
) -> tuple[str, bool]:
    """Give a document's lines, and whether its text is now in front of the model."""
    reason = f" ({_fact(reference.reason)})" if reference.reason else ""
    title = f"[{number}] {_fact(document['title'])} — {_fact(document['path'])}{reason}"
    if repeated:
        return f"{title}\nAlready shown in this conversation.", False
    room = left - len(title)
    if room < LEAST_SUMMARY:
        return title, False
    whole = reference.mode == "full_context" and room >= LEAST_EXCERPT
    text = str(document["text"] if whole else document["summary"])
    quoted = "\n".join("> " + _plain(line) for line in text.strip().splitlines())
    return f"{title}\n{shorten(quoted, room)}", whole


def _plain(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else " " for char in line)


def part(firing: Firing, documents: Sequence[tuple[Reference, str]]) -> dict[str, Any]:
    """Give one firing in the shape of FORMATS.md §3, for programs."""
    return {
        "event": "proactive_injection",
        "trigger": firing.trigger,
        "because": firing.because,
        "confidence": firing.confidence,
        "urgency": firing.urgency,
        "injection": {
            "type": "warning_with_docs" if firing.action != "note" else "note_with_docs",
            "message": firing.message,
            "documents": [
                {"id": reference.id, "path": path, "inject_mode": reference.mode, "reason": reference.reason}
                for reference, path in documents
            ],
            "action_required": firing.action_required,
            "timing": firing.timing,
        },
    }
