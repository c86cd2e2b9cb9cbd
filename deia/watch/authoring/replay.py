"""Past conversations held against compiled triggers: what would have fired, counted, with a few examples of each.

Each turn is judged as a live one is, with the conversation's own memory; only the injection is not composed. Pure:
turns come in, a tally goes out. Refuses to read files or a clock: all turns of a conversation happen at one moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from deia.records import Firing, Record, Turn
from deia.text import one_line, shorten
from deia.watch.gate.artefact import Artefact
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.log import Memory
from deia.watch.watcher import Surroundings, decide

EXCERPT = 160  # characters of a turn that an example keeps


class Example(Record):
    """One turn in which a trigger fired."""

    order: tuple[int, int]  # of the part of the input, and in it; the first examples are kept
    place: str  # file and turn
    role: str
    text: str
    because: str


class Spotted(Record):
    """A turn with where it was found."""

    turn: Turn
    order: tuple[int, int]
    place: str


class Count:
    """How often each trigger fired, and the first `most` examples of each."""

    __slots__ = ("examples", "fired", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.fired: dict[str, int] = {}
        self.examples: dict[str, list[Example]] = {}

    def add(self, trigger: str, example: Example) -> None:
        """Count a firing."""
        self._take(trigger, 1, [example])

    def merge(self, other: Count) -> None:
        """Take over another count."""
        for trigger, number in other.fired.items():
            self._take(trigger, number, other.examples[trigger])

    def _take(self, trigger: str, number: int, examples: list[Example]) -> None:
        self.fired[trigger] = self.fired.get(trigger, 0) + number
        kept = [*self.examples.get(trigger, ()), *examples]
        self.examples[trigger] = sorted(kept, key=lambda example: example.order)[: self.most]


class Tally:
    """What a replay came to; `before`, `gained` and `lost` stay empty where no older set was held against it."""

    __slots__ = ("after", "before", "conversations", "gained", "lost", "turns", "unread")

    def __init__(self, most: int) -> None:
        self.turns = 0
        self.conversations = 0
        self.unread: dict[str, str] = {}  # a file that is no transcript → why
        self.after, self.before, self.gained, self.lost = Count(most), Count(0), Count(most), Count(most)

    def merge(self, other: Tally) -> None:
        """Take over another tally."""
        self.turns += other.turns
        self.conversations += other.conversations
        self.unread |= other.unread
        for name in ("after", "before", "gained", "lost"):
            getattr(self, name).merge(getattr(other, name))


class Replay:
    """One conversation and one set of triggers: judges turn after turn, and remembers."""

    __slots__ = ("_artefact", "_memory")

    def __init__(self, artefact: Artefact) -> None:
        self._artefact = artefact
        self._memory = Memory()

    def judge(self, turn: Turn, *, folder: Any = None) -> tuple[Firing, ...]:
        """Give what the next turn fires; `folder` finds platforms in the signs of the working folder."""
        numbers, seen = candidates(self._artefact, turn)
        firings: tuple[Firing, ...] = ()
        left: dict[str, Any] = {"seen": seen}
        if numbers or self._memory.awaits_answer:
            around = Surroundings(now=0.0, folder=folder)
            decided = decide(self._artefact, turn, self._memory, around, numbers=numbers, seen=seen)
            firings = tuple(one.firing for one in decided.firing if one.firing)
            holds = any(firing.action == "hold" for firing in firings)
            left.update({name: value for name, value in decided.left.items() if value})
            risen = decided.left["escalated"]
            left["fired"] = dict.fromkeys([one.trigger for one in firings if one.trigger not in risen], "")
            left["held"] = [decided.call] if holds and decided.call else []
        self._memory.turns += 1
        self._memory.take(left)
        return firings


def replay(spotted: Iterable[Spotted], replays: Sequence[Replay], tally: Tally, *, folder: Any = None) -> None:
    """Judge turns of one conversation by one or two sets of triggers (the new, then the old) and count what they do."""
    for one in spotted:
        tally.turns += 1
        after, *older = [replay.judge(one.turn, folder=folder) for replay in replays]
        if after or any(older):
            _count(one, after, older[0] if older else None, tally)


def _count(spotted: Spotted, after: Sequence[Firing], before: Sequence[Firing] | None, tally: Tally) -> None:
    for firing in after:
        tally.after.add(firing.trigger, _example(spotted, firing))
    if before is None:
        return
    new, old = ({firing.trigger for firing in firings} for firings in (after, before))
    for firing in before:
        tally.before.add(firing.trigger, _example(spotted, firing))
    for count, firings, known in ((tally.gained, after, old), (tally.lost, before, new)):
        for firing in firings:
            if firing.trigger not in known:
                count.add(firing.trigger, _example(spotted, firing))


def _example(spotted: Spotted, firing: Firing) -> Example:
    turn = spotted.turn
    text = turn.text or str(turn.tool_input or "")[: 10 * EXCERPT]
    return Example(
        order=spotted.order,
        place=spotted.place,
        role=turn.role,
        text=shorten(one_line(text[: 10 * EXCERPT]), EXCERPT),
        because=firing.because,
    )
