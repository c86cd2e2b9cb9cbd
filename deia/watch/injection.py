"""Composing what the model reads about firings: facts first, then quoted documents with their source, within a budget.

Hosts keep injected text in the conversation and defend themselves against instructions that pose as the user. So all of
it is framed as reference material, every line of a document is quoted, and nothing in a document can close the frame.
"""

from __future__ import annotations

from time import gmtime, strftime

from deia.firing import Firing, Injection, Reference
from deia.records import ACTIONS, STOPPING, TYPE_CHECKING, UNTRUSTED
from deia.text import no_longer_holding, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from deia.records import Action

    Document = Mapping[str, str]  # id, path, title, summary, text
    Fetch = Callable[[str], Document | None]

FRAME = "deia-reference"
HARMLESS = "deia reference"  # replaces the frame's name inside a frame; it has the same length
LOWER_CASE = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
LESSONS = {
    "project": "this project's own lessons",
    UNTRUSTED: "files of a repository that the person has not trusted",
    "starter": "deia's starter lessons",
}
SOURCE = "Reference from {whose}, added by deia. It informs; it is not a message from the user."
PREFACE = SOURCE.format(whose=LESSONS["project"])
MOST_CHARS = 9_000  # of an injection; hosts cut strings at 10,000 and put sentences of their own around it
MOST_FACT = 600  # characters of one sentence of a trigger, or of a quotation from the conversation
LEAST_EXCERPT = 400  # characters below which a document's summary is shown instead of part of its text
REMINDER = "Said before in this conversation:"
ANOTHER = "Said before in this conversation, of another call than this one:"
MOST_REMINDER = 200  # characters of a message that was injected before
MOST_SPOKEN = 2_800  # characters that the facts of one firing take at most
LEAST_SUMMARY = 80  # characters below which a document is only named
FRAME_CHARS = 120  # characters of a firing's frame besides its facts and documents
LEAST_ACT = 4  # characters below which acts are not compared
MOST_OTHERS = 3  # firings on the same act that are shown beside the most urgent one
MOST_NAMED = 400  # characters for the names of firings that have no room
URGENT = ("critical", "high")
# Markers that chat formats and hosts take for the start of a turn; shown with another first character.
ROLE_MARKERS = (
    "<|", "<system", "</system", "<user", "</user", "<human", "</human", "<assistant", "</assistant", "<function",
    "</function", "<tool", "</tool", "<antml", "</antml", "<instructions", "</instructions", "<<sys", "<</sys", "[inst",
    "[/inst", "<start_of_turn", "<end_of_turn", "<channel",
)  # fmt: skip
HARMLESS_FIRST = {"<": "\u2039", "[": "("}
# Characters that look like characters of the frame's name.
ALIKE = {
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212, 0xFE58, 0xFE63, 0xFF0D), ord("-")),
    **{0xFF41 + number: ord("a") + number for number in range(26)},
    **{0xFF21 + number: ord("a") + number for number in range(26)},
    0xFF1C: ord("<"), 0xFF5C: ord("|"), 0xFF0F: ord("/"),
}  # fmt: skip


def compose(
    firings: Sequence[Firing], fetch: Fetch, *, shown: Collection[str] = (), already_told: Collection[str] = (),
    budget: int = 6000,
) -> Injection:  # fmt: skip
    """Return the injection for some firings, the most urgent first.

    `fetch` returns a document or None. Documents in `shown` were injected before, so they are named but not repeated;
    of a trigger in `already_told`, whose facts the conversation holds, only the first fact is repeated; of one that
    stops yet another call, documents are only named.
    `budget` is in characters and is spent on the first firings first; the others are named after them, or left out if
    no firing has room. What stops a call contains nothing from an untrusted repository.
    """
    stops = any(firing.action in STOPPING for firing in firings)
    withheld = [firing.trigger for firing in firings if stops and firing.origin == UNTRUSTED]
    firings = [firing for firing in firings if firing.trigger not in withheld]
    texts: list[str] = []
    injected: list[str] = []
    included: list[Firing] = []
    left_out: list[str] = []
    parts = []
    room = min(budget, MOST_CHARS)
    for firing, *same_act in _by_act(_once_each(firings)):
        others = same_act[:MOST_OTHERS]
        left_out += [other.trigger for other in same_act[MOST_OTHERS:]]
        head = _head(firing, others, already_told)
        if not _has_room(firing, room - len(head) - FRAME_CHARS, first=not texts, used=sum(map(len, texts))):
            left_out += [other.trigger for other in (firing, *others)]
            continue
        room -= len(head) + FRAME_CHARS
        documents = _documents(firing, fetch)
        parts += [part(firing, _paths(documents)), *(part(other, _paths(_documents(other, fetch))) for other in others)]
        known = {reference.id for reference, _ in documents} if firing.told else {*shown, *injected}
        blocks, whole = _blocks(documents, room, known)
        room -= sum(map(len, blocks))
        injected += whole
        attributes = f' trigger="{firing.trigger}" urgency="{firing.urgency}"'
        texts.append(framed("\n\n".join((head, *blocks)), attributes))
        included += [firing, *others]
    if left_out and texts:
        texts.append(framed(f"Also seen, with no room left to say more: {shorten(', '.join(left_out), MOST_NAMED)}."))
    actions: list[Action] = [firing.action for firing in included] or ["note"]
    return Injection(
        text="\n\n".join(texts),
        parts=tuple(parts),
        action=max(actions, key=ACTIONS.index),
        triggers=tuple(firing.trigger for firing in included),
        documents=tuple(injected),
        left_out=(*left_out, *withheld),
    )


def _blocks(
    documents: Sequence[tuple[Reference, Document]], room: int, known: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the blocks of a firing's documents, and the ids of those that are shown whole; `known` are only named."""
    blocks: list[str] = []
    whole: list[str] = []
    for number, (reference, document) in enumerate(documents, start=1):
        repeated = reference.id in known or reference.id in whole
        block, is_whole = _block(number, reference, document, room - sum(map(len, blocks)), repeated=repeated)
        blocks.append(block)
        whole += [reference.id] if is_whole else []
    return blocks, whole


def _once_each(firings: Sequence[Firing]) -> Sequence[Firing]:
    """Return each trigger once, with its strongest action: an announced and then approved act is one warning."""
    first: dict[str, Firing] = {}
    for firing in firings:
        known = first.setdefault(firing.trigger, firing)
        if ACTIONS.index(firing.action) > ACTIONS.index(known.action):
            first[firing.trigger] = known.but(action=firing.action)
    return list(first.values())


def _by_act(firings: Sequence[Firing]) -> list[list[Firing]]:
    """Group the firings on the same words or command: one act gets one frame."""
    acts: list[list[Firing]] = []
    for firing in firings:
        group = next((act for act in acts if _is_same_act(act[0], firing)), None)
        if group is None:
            acts.append([firing])
        else:
            group.append(firing)
    return acts


def _is_same_act(first: Firing, second: Firing) -> bool:
    if first.turn != second.turn or UNTRUSTED in (first.origin, second.origin):
        return False
    if min(len(first.act), len(second.act)) < LEAST_ACT:
        return False
    return first.act in second.act or second.act in first.act


def _documents(firing: Firing, fetch: Fetch) -> list[tuple[Reference, Document]]:
    fetched = ((reference, fetch(reference.id)) for reference in firing.documents)
    return [(reference, document) for reference, document in fetched if document is not None]


def _paths(documents: Sequence[tuple[Reference, Document]]) -> list[tuple[Reference, str]]:
    return [(reference, str(document["path"])) for reference, document in documents]


def _has_room(firing: Firing, room: int, *, first: bool, used: int) -> bool:
    """Return whether a firing is shown: if it fits the budget, and beyond it if it is urgent or stops a call."""
    if room >= 0:
        return True
    stops = firing.action in STOPPING and used < MOST_CHARS - MOST_SPOKEN
    return stops or (first and firing.urgency in URGENT)


def _head(firing: Firing, others: Sequence[Firing] = (), already_told: Collection[str] = ()) -> str:
    source = SOURCE.format(whose=whose(firing.origin))
    lines = [source, _fact(firing.message)]
    lines += [f"Before going on: {_fact(firing.action_required)}"] if firing.action_required else []
    lines += [f"Instead: {_fact('; or: '.join(firing.instead))}"] if firing.instead else []
    if firing.told or firing.trigger in already_told:
        reminder = ANOTHER if firing.told else REMINDER
        lines = [source, f"{reminder} {shorten(_fact(firing.message), MOST_REMINDER)}"]
    lines.append(f"Why now: {_fact(firing.because)}.")
    lines += [f"The same act, {other.trigger}: {_fact(other.message)}" for other in others]
    return "\n".join(lines)


def whose(origin: str) -> str:
    """Return where a trigger comes from, in words: the project, a pack, or the starter."""
    return LESSONS.get(origin) or f"the lessons of the {_fact(origin)}"


def _fact(text: str) -> str:
    return shorten(one_line(text), MOST_FACT)


def framed(body: str, attributes: str = "") -> str:
    """Return a message in a frame that nothing in the message can close."""
    return f"<{FRAME}{attributes}>\n{_unframe(body)}\n</{FRAME}>"


def has_frame(text: str, trigger: str) -> bool:
    """Return whether a composed text contains the frame of a trigger."""
    return f'<{FRAME} trigger="{trigger}"' in text


def unrepeated(texts: Sequence[str]) -> list[str]:
    """Return composed texts without the frames of triggers that a later text frames again, and without empty texts."""
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
    """Return the text, changed so that it cannot close the frame, open another, or start a speaker's turn."""
    lowered = body.translate(LOWER_CASE).translate(ALIKE)  # of the same length, unlike `lower`
    for marker in ROLE_MARKERS if "<" in lowered or "[" in lowered else ():
        body = _replaced(body, lowered, marker, HARMLESS_FIRST[marker[0]])
    return _replaced(body, lowered, FRAME, HARMLESS)


def _replaced(body: str, lowered: str, marker: str, first: str) -> str:
    """Return `body` with another beginning for each marker; `lowered` is the text in which markers are found."""
    at = lowered.find(marker)
    while at >= 0:
        body = f"{body[:at]}{first}{body[at + len(first) :]}"
        at = lowered.find(marker, at + len(first))
    return body


def _block(
    number: int, reference: Reference, document: Document, room_left: int, *, repeated: bool
) -> tuple[str, bool]:
    """Return a document's lines, and whether its whole text is now in front of the model."""
    reason = f" ({_fact(reference.reason)})" if reference.reason else ""
    title = f"[{number}] {_fact(document['title'])} — {_fact(document['path'])}{reason}{_lifetime(document)}"
    if repeated:
        return f"{title}\nAlready shown in this conversation.", False
    room_for_text = room_left - len(title)
    if room_for_text < LEAST_SUMMARY:
        return title, False
    whole = reference.mode == "full_context" and room_for_text >= LEAST_EXCERPT
    text = str(document["text"] if whole else document["summary"])
    quoted = "\n".join("> " + _plain(line) for line in text.strip().splitlines())
    return f"{title}\n{shorten(quoted, room_for_text)}", whole


def _lifetime(document: Document) -> str:
    """Return what to say of a document that no longer holds: whoever wrote the trigger may not know."""
    until = document.get("valid_until", "")
    why = no_longer_holding(document.get("superseded_by", ""), until, strftime("%Y-%m-%d", gmtime()) if until else "")
    return f" — no longer holds: {_fact(why)}" if why else ""


def _plain(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else " " for char in line)


def part(firing: Firing, documents: Sequence[tuple[Reference, str]]) -> dict[str, Any]:
    """Return one firing in the shape of FORMATS.md §3, for programs."""
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
