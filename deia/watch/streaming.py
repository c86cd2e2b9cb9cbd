"""Watching a turn while it is being said: it reports a firing as soon as the sentence or line that causes it ends.

Each sentence is judged when it is settled, together with the text before it; its context words also count for earlier
sentences. A firing is never taken back, because stance, `unless` and quotation depend only on the sentence. Anything
that may depend on the rest of the turn waits for its end: errors (judged by their surroundings), words that may occur
anywhere, preconditions (which may be taken back), and a yes. At the end the whole turn is judged once like any other,
so nothing is missed, and nothing is reported twice; a trigger may have spoken for which, in the whole turn, another one
does. Of a turn that is too long to be read whole, a stream hears more.
Tool calls are judged only when complete: half a command is another command. So are a person's turns, of which the
length decides whether they were pasted.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.firing import Firing
from deia.records import TYPE_CHECKING, URGENCIES, Turn
from deia.text import words
from deia.watch.gate.word_gate import WHO, candidates
from deia.watch.memory.log import InMemoryLog, LogEntry, Memory, log_line
from deia.watch.prose.sentence_ends import Settled
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
        self._artefact = artefact
        self._log = log
        self._look_around = look_around
        self._number = number
        self._turn = turn
        self._lock = lock
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
            self.watched = self._watch_whole(new[0]) if new else NOTHING
        known = {firing.trigger for firing in self.firings}
        firings = [firing for firing in self.watched.firings if firing.trigger not in known]
        self.firings += firings
        return by_urgency(firings)

    def _watch_whole(self, turn: Turn) -> Watched:
        return watch(self._artefact, turn, self._log, lambda: self._look_around(turn))

    # --- before the end ---

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
        # One that is said waits if another trigger may yet turn out to speak for its sentence.
        settled = [verdict for verdict in decision.firing if self._is_settled(verdict)]
        is_open = len(settled) < len(decision.firing) or any(each.stage in AWAITING for each in decision.verdicts)
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
