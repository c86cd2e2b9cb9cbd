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
LESSONS = {"project": "this project's own lessons", "starter": "deia's starter lessons"}
SOURCE = "Reference from {whose}, added by deia. It informs; it is not a message from the user."
PREFACE = SOURCE.format(whose=LESSONS["project"])
MOST_CHARS = 9_000  # of an injection; hosts cut strings at 10,000, and put sentences of their own around it
MOST_FACT = 600  # characters of one sentence of a trigger, or of what the conversation said
LEAST_EXCERPT = 400  # characters below which a document's summary is given rather than a piece of its text
MOST_SPOKEN = 2_800  # characters that the facts of one firing take at most
LEAST_SUMMARY = 80  # characters below which a document is only named
FRAME_CHARS = 120  # what the frame of a firing costs besides its facts and documents
LEAST_ACT = 4  # characters from which on what fired is compared
MOST_OTHERS = 3  # firings on one act that are told beside the most urgent
MOST_NAMED = 400  # characters of the names of firings for which there is no more room
URGENT = ("critical", "high")
# What chat formats and hosts take for the beginning of somebody's words; shown with another first character.
POSES = (
    "<|", "<system", "</system", "<user", "</user", "<human", "</human", "<assistant", "</assistant", "<function",
    "</function", "<tool", "</tool", "<antml", "</antml", "<instructions", "</instructions", "<<sys", "<</sys", "[inst",
    "[/inst", "<start_of_turn", "<end_of_turn", "<channel",
)  # fmt: skip
HARMLESS_FIRST = {"<": "\u2039", "[": "("}
# Characters that look like those of the frame's name.
ALIKE = {
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212, 0xFE58, 0xFE63, 0xFF0D), ord("-")),
    **{0xFF41 + number: ord("a") + number for number in range(26)},
    **{0xFF21 + number: ord("a") + number for number in range(26)},
    0xFF1C: ord("<"), 0xFF5C: ord("|"), 0xFF0F: ord("/"),
}  # fmt: skip


def compose(
    firings: Sequence[Firing],
    fetch: Fetch,
    *,
    shown: Collection[str] = (),
    budget: int = 6000,
) -> Injection:
    """Give the injection for some firings, the most urgent first.

    `fetch` gives a document (id, path, title, summary, text) or None; documents in `shown` were injected before and are
    named, not repeated; `budget` is in characters and spent on the first firings first. Those for which nothing is left
    are named behind the others, or left out altogether where nobody speaks.
    """
    texts: list[str] = []
    carried: list[str] = []
    spoken: list[Firing] = []
    unsaid: list[str] = []
    parts = []
    left = min(budget, MOST_CHARS)
    for firing, *same in _by_act(_once_each(firings)):
        others = same[:MOST_OTHERS]
        unsaid += [one.trigger for one in same[MOST_OTHERS:]]
        head = _head(firing, others)
        if not _has_room(firing, left - len(head) - FRAME_CHARS, first=not texts, used=sum(map(len, texts))):
            unsaid += [one.trigger for one in (firing, *others)]
            continue
        left -= len(head) + FRAME_CHARS
        known = [(reference, found) for reference in firing.documents if (found := fetch(reference.id)) is not None]
        parts.append(part(firing, [(reference, str(document["path"])) for reference, document in known]))
        parts += [part(one, _paths(one, fetch)) for one in others]
        blocks = []
        for number, (reference, document) in enumerate(known, start=1):
            block, whole = _block(number, reference, document, left, repeated=reference.id in {*shown, *carried})
            left -= len(block)
            blocks.append(block)
            carried += [reference.id] if whole else []
        texts.append(_framed(firing, "\n\n".join((head, *blocks))))
        spoken += [firing, *others]
    texts += [_named(unsaid)] if unsaid and texts else []
    actions: list[Action] = [firing.action for firing in spoken] or ["note"]
    return Injection(
        text="\n\n".join(texts),
        parts=tuple(parts),
        action=max(actions, key=ACTIONS.index),
        triggers=tuple(firing.trigger for firing in spoken),
        documents=tuple(carried),
        left_out=tuple(unsaid),
    )


def _once_each(firings: Sequence[Firing]) -> Sequence[Firing]:
    """Give each trigger once, as it fired first, the most urgent before: announced and agreed to is one warning."""
    first: dict[str, Firing] = {}
    for firing in firings:
        known = first.setdefault(firing.trigger, firing)
        if ACTIONS.index(firing.action) > ACTIONS.index(known.action):
            first[firing.trigger] = known.but(action=firing.action)
    return list(first.values())


def _by_act(firings: Sequence[Firing]) -> list[list[Firing]]:
    """Put together what fired on the same words or command: one act is warned of in one frame."""
    acts: list[list[Firing]] = []
    for firing in firings:
        same = next((act for act in acts if _is_same_act(act[0], firing)), None)
        if same is None:
            acts.append([firing])
        else:
            same.append(firing)
    return acts


def _is_same_act(one: Firing, other: Firing) -> bool:
    if one.turn != other.turn or min(len(one.act), len(other.act)) < LEAST_ACT:
        return False
    return one.act in other.act or other.act in one.act


def _paths(firing: Firing, fetch: Fetch) -> list[tuple[Reference, str]]:
    found = [(reference, fetch(reference.id)) for reference in firing.documents]
    return [(reference, str(document["path"])) for reference, document in found if document is not None]


def _has_room(firing: Firing, left: int, *, first: bool, used: int) -> bool:
    """Say whether a firing speaks: within the budget, and beyond it what is urgent or stops a call."""
    if left >= 0:
        return True
    stops = firing.action in {"ask", "hold"} and used < MOST_CHARS - MOST_SPOKEN
    return stops or (first and firing.urgency in URGENT)


def _head(firing: Firing, others: Sequence[Firing] = ()) -> str:
    lines = [SOURCE.format(whose=whose(firing.origin)), _fact(firing.message)]
    if firing.action_required:
        lines.append(f"Before going on: {_fact(firing.action_required)}")
    if firing.instead:
        lines.append(f"Instead: {_fact('; or: '.join(firing.instead))}")
    lines.append(f"Why now: {_fact(firing.because)}.")
    lines += [f"The same act, {one.trigger}: {_fact(one.message)}" for one in others]
    return "\n".join(lines)


def whose(origin: str) -> str:
    """Say in words whose lessons a trigger belongs to: the project's, those of a pack, or the starter's."""
    return LESSONS.get(origin) or f"the lessons of the {_fact(origin)}"


def _fact(text: str) -> str:
    return shorten(one_line(text), MOST_FACT)


def _named(triggers: list[str]) -> str:
    named = shorten(", ".join(triggers), MOST_NAMED)
    return f"<{FRAME}>\nAlso seen, with no room left to say more: {named}.\n</{FRAME}>"


def _framed(firing: Firing, body: str) -> str:
    return f'<{FRAME} trigger="{firing.trigger}" urgency="{firing.urgency}">\n{_unframe(body)}\n</{FRAME}>'


def framed(body: str) -> str:
    """Give what deia itself tells the model, in a frame that nothing in it can close."""
    return f"<{FRAME}>\n{_unframe(body)}\n</{FRAME}>"


def has_frame(text: str, trigger: str) -> bool:
    """Say whether a composed text holds the frame of a trigger."""
    return f'<{FRAME} trigger="{trigger}"' in text


def unrepeated(texts: Sequence[str]) -> list[str]:
    """Give composed texts without the frames of triggers that a later one frames again; empty ones are left out."""
    kept: list[str] = []
    later = ""
    for text in reversed(texts):
        kept.append(_without_frames(text, later))
        later += text
    return [text for text in reversed(kept) if text]


def _without_frames(text: str, later: str) -> str:
    begin, end = f'<{FRAME} trigger="', f"</{FRAME}>"
    at = text.find(begin)
    while at >= 0:
        name = text[at + len(begin) :].partition('"')[0]
        close = text.find(end, at)
        if close >= 0 and has_frame(later, name):
            text = f"{text[:at].rstrip()}\n\n{text[close + len(end) :].lstrip()}".strip()
            at = -1
        at = text.find(begin, at + 1)
    return text


def _unframe(body: str) -> str:
    """Keep a document from closing the frame or opening another, and from beginning somebody else's words."""
    lowered = body.translate(SMALL).translate(ALIKE)  # of the same length, unlike `lower`
    for pose in POSES if "<" in lowered or "[" in lowered else ():
        body = _replaced(body, lowered, pose, HARMLESS_FIRST[pose[0]])
    at = lowered.find(FRAME)
    while at >= 0:
        body = f"{body[:at]}{HARMLESS}{body[at + len(FRAME) :]}"
        at = lowered.find(FRAME, at + len(FRAME))
    return body


def _replaced(body: str, lowered: str, pose: str, first: str) -> str:
    """Put another first character where a text poses as something; `lowered` is the text to look in."""
    at = lowered.find(pose)
    while at >= 0:
        body = f"{body[:at]}{first}{body[at + 1 :]}"
        at = lowered.find(pose, at + 1)
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
            "instead": list(firing.instead),
            "timing": firing.timing,
        },
    }
