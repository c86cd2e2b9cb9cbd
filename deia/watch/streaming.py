"""Watching a turn while it is being said: it reports a firing as soon as the sentence or line that causes it ends.

Each sentence is judged when it is settled, together with the text before it; its context words also count for earlier
sentences. A firing is never taken back, because stance, `unless` and quotation depend only on the sentence. Anything
that may depend on the rest of the turn waits for its end: errors (judged by their surroundings), words that may occur
anywhere, preconditions (which may be taken back), and a yes. At the end the whole turn is judged once like any other,
so nothing is missed, and nothing is reported twice; a trigger may have spoken where, in the whole turn, another one
would. Of a turn that is too long to be read whole, a stream reads more. Tool calls are judged only when complete: half
a command is another command. So are a person's turns, whose length decides whether they were pasted.

The text is settled up to the ends of sentences, as in `regions`, and of lines, unless a quotation or code that was
opened in the same line may still close around them; inside a block of code nothing is settled before its closing fence.
These places depend on the text alone, never on the pieces in which it arrives.
"""

from __future__ import annotations

import io
import re

from deia.errors import QueryError
from deia.firing import Firing
from deia.records import TYPE_CHECKING, URGENCIES, Turn
from deia.text import words
from deia.watch.gate.word_gate import WHO, candidates
from deia.watch.memory.log import LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog, Memory
from deia.watch.prose.regions import CLOSING, FENCES, LONGEST_QUOTE, UNDECIDED, closing
from deia.watch.watcher import NOTHING, Decision, Surroundings, Watched, decide, watch

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Self

    from deia.watch.gate.artefact import Artefact
    from deia.watch.verdict.judge import Verdict

SPOKEN = ("assistant",)  # roles whose turns are judged before they end; a person's may still turn out to be pasted
OPEN = frozenset(("error", "words"))  # clause kinds whose matches are not settled with their sentence
BEFORE = 250  # characters before a sentence that are judged with it; a pronoun's noun is looked for in 200
MOST_BEFORE = 2_000  # the limit if a block of code precedes the sentence
AWAITING = ("context", "earlier")  # stages at which a later word of the turn may still help
MOST_WAITING = 16  # parts that wait for a context word
# Placeholders for the rest of a line if a part begins or ends inside it. They are not ASCII, so that the line does not
# read as a command line: "git push." at the end of a sentence is no command.
LINE_GOES_BEFORE, LINE_GOES_ON = "\u2026. ", " \u2026"
# The end of a sentence, with the white space that is part of it, or of a line.
STOP = re.compile("[.!?][ \t]|[\u3002\uff01\uff1f]|\n")
MARK = re.compile("[" + "".join(map(re.escape, CLOSING)) + "]")
ODD_LINES = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")  # end a line for `splitlines`, but no sentence


class Settled:
    """A growing text that reports the places up to which it is settled."""

    __slots__ = ("_checked", "_fence", "_line", "_odd", "_plain", "_scanned", "_text", "size")

    def __init__(self) -> None:
        self._text = io.StringIO()
        self.size = 0
        self._scanned = 0  # up to this position sentence and line ends were looked for
        self._line = 0  # where the current line begins
        self._fence = ""  # the fence of the open block of code, or ""
        # Whether sentences of this line may be settled before the line ends; None if that is not known yet.
        self._plain: bool | None = None
        self._odd = 0  # up to this position the line has none of ODD_LINES
        self._checked = 0  # up to this position every quotation mark in the line is closed, or can never close

    def add(self, chunk: str) -> Iterator[int]:
        """Append more text, and yield the places that are settled by now, each once."""
        self._text.seek(self.size)
        self._text.write(chunk)
        self.size += len(chunk)
        first = self._scanned
        fresh = self.part(first, self.size)
        for stop in STOP.finditer(fresh):
            end = first + stop.end()
            self._scanned = end
            if fresh[stop.end() - 1] == "\n":
                if self._ends_line(end):
                    yield end
            elif self._is_settled(end):
                yield end
        # The last character may be a full stop whose space is still to come.
        self._scanned = max(self._scanned, self.size - 1)

    def part(self, first: int, last: int) -> str:
        """Return a part of the text."""
        self._text.seek(first)
        return self._text.read(last - first)

    def whole(self) -> str:
        """Return the whole text."""
        return self._text.getvalue()

    def _ends_line(self, end: int) -> bool:
        """Close the line that ends at `end`, and return whether no block of code is open after it."""
        for line in self.part(self._line, end).splitlines():
            stripped = line.strip()
            mark = stripped[:3]
            if not self._fence:
                self._fence = mark if mark in FENCES else ""
            elif mark == self._fence and not stripped.strip(mark[0]):
                self._fence = ""
        self._line = self._checked = self._odd = end
        self._plain = None
        return not self._fence

    def _is_settled(self, end: int) -> bool:
        """Return whether the text is settled up to the end of a sentence inside a line."""
        if self._fence:
            return False
        if self._plain is None:
            head = self.part(self._line, end).lstrip()
            self._plain = not head.startswith((">", *FENCES))
        self._plain = self._plain and not ODD_LINES.search(self.part(self._odd, end))
        self._odd = end
        return self._plain and not self._may_close_later(end)

    def _may_close_later(self, end: int) -> bool:
        """Return whether a mark that is open in this line may still close after `end`, around the sentence."""
        first = max(self._checked - 1, self._line)  # the character before a mark decides whether it opens anything
        text = self.part(first, end)
        mark = MARK.search(text, self._checked - first)
        while mark:
            at = mark.start()
            end_of_mark = closing(text, at)
            if end_of_mark == UNDECIDED and len(text) - at < LONGEST_QUOTE:
                self._checked = first + at
                return True
            mark = MARK.search(text, (at if end_of_mark < 0 else end_of_mark) + 1)
        self._checked = end
        return False


class Watcher:
    """A turn that is watched while it is being said, made by `Librarian.stream`.

    Use it as a context manager or close it: the conversation remembers the turn only then, even if it broke off.
    """

    def __init__(
        self,
        artefact: Artefact,
        log: InMemoryLog,
        look_around: Callable[[Turn], Surroundings],
        number: Callable[[Sequence[Turn]], list[Turn]],
        *,
        turn: Turn,
        lock: RLock,
    ) -> None:
        self._artefact, self._log, self._turn, self._lock = artefact, log, turn, lock
        self._look_around, self._number = look_around, number
        self._memory: Memory | None = None
        self._text = Settled()
        self._places = [0]  # the settled positions at which a part may still begin
        self._waiting: list[str] = []
        self._seen: dict[str, None] = {}
        self._outdone: set[str] = set()
        self.firings: list[Firing] = []  # so far, in the order in which they fired
        self.watched: Watched | None = None  # the outcome of the whole turn, once it is closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def feed(self, chunk: str | None) -> list[Firing]:
        """Add the next piece of the turn, of any length, and return the new firings, the most urgent first."""
        if self.watched is not None:
            raise QueryError("this turn is already closed", fix="Call librarian.stream() for the next turn.")
        with self._lock:
            firings = [firing for place in self._text.add(chunk or "") for firing in self._judge_up_to(place)]
        return by_urgency(firings)

    def close(self) -> list[Firing]:
        """End the turn, judge it as a whole, remember it, and return the firings that were not reported before."""
        if self.watched is not None:
            return []
        text = self._text.whole()
        with self._lock:
            new = self._number([self._turn.but(text=text)] if text else [])  # empty if nothing new was said
            self.watched = (
                watch(self._artefact, new[0], self._log, lambda: self._look_around(new[0])) if new else NOTHING
            )
        known = {firing.trigger for firing in self.firings}
        firings = [firing for firing in self.watched.firings if firing.trigger not in known]
        self.firings += firings
        return by_urgency(firings)

    def _judge_up_to(self, place: int) -> list[Firing]:
        """Judge the text between the last settled position and `place`."""
        if self._turn.role not in SPOKEN:
            return []
        last = self._places[-1]
        touched = self._touched_by(self._text.part(last, place))
        first = self._start_of_part()
        self._places.append(place)
        if not touched:
            return []
        text = self._as_turn(first, place)
        numbers, seen = candidates(self._artefact, self._turn.but(text=text))
        retried = self._waiting if not self._seen.keys() >= set(seen) else []
        self._seen.update(dict.fromkeys(seen))
        firings = [firing for part in retried for firing in self._fire(part)]
        chosen = {number: clauses for number, clauses in numbers.items() if number in touched}
        return firings + (self._fire(text, chosen) if chosen else [])

    def _touched_by(self, text: str) -> set[int]:
        """Return the candidates for which a text has a word: only they can change because of it."""
        artefact, bit = self._artefact, WHO[self._turn.role]
        groups = {group for word in set(words(text)) for group in artefact.groups_of(word)}
        rows = map(artefact.row, {number for group in groups for number in artefact.rows_of(group)})
        always = {target for target, who in artefact.meta.ungated if who & bit}
        return always.union(target for target, who, _ in rows if who & bit)

    def _as_turn(self, first: int, last: int) -> str:
        """Return a part of the text, marked so that it reads as it does within the whole."""
        part = self._text.part(max(first - 1, 0), last)
        inside = first > 0 and part[0] != "\n"
        part = part[first > 0 :]
        return (LINE_GOES_BEFORE if inside else "") + part + ("" if part.endswith("\n") else LINE_GOES_ON)

    def _start_of_part(self) -> int:
        """Return the settled position at which the next part begins, and drop positions that are no longer needed."""
        last = self._places[-1]
        least = max(last - MOST_BEFORE, 0)
        while len(self._places) > 1 and (self._places[0] < least or self._places[1] <= last - BEFORE):
            del self._places[0]
        return self._places[0]

    def _fire(self, text: str, numbers: Mapping[int, Collection[int]] | None = None) -> list[Firing]:
        turn = self._turn.but(text=text)
        chosen = candidates(self._artefact, turn)[0] if numbers is None else numbers
        known = {firing.trigger for firing in self.firings} | self._outdone
        around = self._look_around(turn)
        decision = decide(self._artefact, turn, self._remembered(), around, numbers=chosen, seen=tuple(self._seen))
        if any(verdict.stage in AWAITING for verdict in decision.verdicts) and text not in self._waiting:
            self._waiting = [*self._waiting, text][-MOST_WAITING:]
        self._outdone.update(decision.left.outdone)
        firings = [firing for firing in self._settled(decision) if firing.trigger not in known]
        if firings:
            fired = {firing.trigger: "streamed" for firing in firings}
            armed = [trigger for trigger in decision.left.armed if trigger in fired]
            entry = LogEntry(aside=True, at=around.now, fired=fired, armed=armed, outdone=decision.left.outdone)
            self._log.append(log_line(entry))
        self.firings += firings
        return firings

    def _settled(self, decision: Decision) -> Iterator[Firing]:
        """Yield the firings that nothing later in the turn can take back."""
        # A firing on words waits if another trigger may yet turn out to speak for its sentence.
        settled = [verdict for verdict in decision.firing if self._is_settled(verdict)]
        is_open = len(settled) < len(decision.firing) or any(verdict.stage in AWAITING for verdict in decision.verdicts)
        for verdict in settled:
            if verdict.firing and not (is_open and verdict.sentence):
                yield verdict.firing

    def _is_settled(self, verdict: Verdict) -> bool:
        trigger = self._artefact.trigger(verdict.number)
        return OPEN.isdisjoint(clause.kind for clause in trigger.clauses) and trigger.earlier is None

    def _remembered(self) -> Memory:
        """Return the memory as it was when the turn began, without a pending yes, which needs the complete turn."""
        if self._memory is None:
            self._memory = self._log.memory()
            self._memory.offered = []
        return self._memory


def by_urgency(firings: Sequence[Firing]) -> list[Firing]:
    """Return the firings, the most urgent first."""
    return sorted(firings, key=lambda firing: URGENCIES.index(firing.urgency))
