"""A turn that is still being said: what it fires is told in its middle, where the sentence or line ends that does it.

The rule. Each sentence is judged once it is settled, with what stands before it, and its context words count for what
was said earlier too. What fires then has been said and is not taken back: stance, `unless` and quotation are matters of
the sentence. What may depend on all that follows waits for the end: errors (judged by their surroundings), words that
may stand anywhere, what counts only after something said earlier (it may be taken back), a yes. At the end the whole
turn is judged once, as any turn, so nothing that it fires is missed, and nothing is said twice. Of a turn too long to
be read whole, a stream hears more. Refuses tool calls before they are complete: half of a command is another command.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.records import TYPE_CHECKING, URGENCIES
from deia.text import words
from deia.watch.gate.word_gate import WHO, candidates
from deia.watch.memory.log import line
from deia.watch.prose.sentence_ends import Settled
from deia.watch.watcher import NOTHING, decide, watch

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any, Self

    from deia.records import Firing, Turn
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import HeldLog, Memory
    from deia.watch.verdict.judge import Verdict
    from deia.watch.watcher import Surroundings, Watched

SPOKEN = ("user", "assistant")  # who is heard before the turn ends
OPEN = frozenset(("error", "words"))  # kinds of clauses whose matches are not settled with their sentence
BEFORE = 250  # characters before a sentence that are judged with it; what a pronoun stands for is looked for in 200
MOST_BEFORE = 2_000  # and at most so many, since a block of code may lie there
AWAITING = ("context", "earlier")  # stages at which a word said later in the turn may still help
MOST_WAITING = 16  # parts that wait for a word of their context
# What stands for the rest of a line where a part begins or ends inside it. A line with a letter that is not ASCII reads
# as no command line, and "git push." at the end of a sentence is none.
LINE_GOES_BEFORE, LINE_GOES_ON = "\u2026. ", " \u2026"


class Watcher:
    """One turn of a conversation, watched while it is being said. Made by `Librarian.stream`.

    Use it as a context manager, or close it: only then does the conversation remember the turn, whole or broken off.
    """

    def __init__(
        self,
        artefact: Artefact,
        log: HeldLog,
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
        self._places = [0]  # settled places, those that a part may still begin at
        self._waiting: list[str] = []
        self._seen: dict[str, None] = {}
        self.firings: list[Firing] = []  # so far, in the order in which they fired
        self.watched: Watched | None = None  # what came of the whole turn, once it is closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def feed(self, chunk: str | None) -> list[Firing]:
        """Take the next piece of the turn, of any length; give what fires now, the most urgent first.

        Raises:
            QueryError: the turn is closed.
        """
        if self.watched is not None:
            raise QueryError("this turn is closed and takes no more text", fix="Call librarian.stream() for the next.")
        with self._lock:
            found = [firing for place in self._text.add(chunk or "") for firing in self._judge_up_to(place)]
        return by_urgency(found)

    def close(self) -> list[Firing]:
        """End the turn, judge it whole, and remember it; give what fires now and was not given before."""
        if self.watched is not None:
            return []
        said = self._text.whole()
        with self._lock:
            new = self._number([self._turn.but(text=said)] if said else [])  # none, where nobody said anything new
            self.watched = self._watch_whole(new[0]) if new else NOTHING
        known = {firing.trigger for firing in self.firings}
        found = [firing for firing in self.watched.firings if firing.trigger not in known]
        self.firings += found
        return by_urgency(found)

    def _watch_whole(self, turn: Turn) -> Watched:
        return watch(self._artefact, turn, self._log, lambda: self._look_around(turn))

    # --- before the end ---

    def _judge_up_to(self, place: int) -> list[Firing]:
        """Judge what was settled since the last settled place."""
        if self._turn.role not in SPOKEN:
            return []
        last = self._places[-1]
        touched = self._touched_by(self._text.part(last, place))
        first = self._start_of_part()
        self._places.append(place)
        if not touched:
            return []
        said = self._as_turn(first, place)
        numbers, seen = candidates(self._artefact, self._turn.but(text=said))
        again = self._waiting if not self._seen.keys() >= set(seen) else []
        self._seen.update(dict.fromkeys(seen))
        found = [firing for waiting in again for firing in self._fire(waiting)]
        chosen = {number: looked_at for number, looked_at in numbers.items() if number in touched}
        return found + (self._fire(said, chosen) if chosen else [])

    def _touched_by(self, said: str) -> set[int]:
        """Give what some words could help to fire, or to put in sight: nothing else can be new with them."""
        artefact, bit = self._artefact, WHO[self._turn.role]
        groups = {group for word in set(words(said)) for group in artefact.groups_of(word)}
        rows = map(artefact.row, {number for group in groups for number in artefact.rows_of(group)})
        always = {target for target, who in artefact.meta["ungated"] if who & bit}
        return always.union(target for target, who, _ in rows if who & bit)

    def _as_turn(self, first: int, last: int) -> str:
        """Give a part of the text so that it reads as it does in the whole."""
        part = self._text.part(max(first - 1, 0), last)
        inside = first > 0 and part[0] != "\n"
        part = part[first > 0 :]
        return (LINE_GOES_BEFORE if inside else "") + part + ("" if part.endswith("\n") else LINE_GOES_ON)

    def _start_of_part(self) -> int:
        """Give the settled place from which on a part is judged, and forget those that no later part begins at."""
        last = self._places[-1]
        least = max(last - MOST_BEFORE, 0)
        while len(self._places) > 1 and (self._places[0] < least or self._places[1] <= last - BEFORE):
            del self._places[0]
        return self._places[0]

    def _fire(self, said: str, numbers: Mapping[int, Collection[int]] | None = None) -> list[Firing]:
        turn = self._turn.but(text=said)
        chosen = candidates(self._artefact, turn)[0] if numbers is None else numbers
        known = {firing.trigger for firing in self.firings}
        around = self._look_around(turn)
        decided = decide(self._artefact, turn, self._remembered(), around, numbers=chosen, seen=tuple(self._seen))
        if any(one.stage in AWAITING for one in decided.verdicts) and said not in self._waiting:
            self._waiting = [*self._waiting, said][-MOST_WAITING:]
        firings = [firing for firing in self._settled(decided.firing) if firing.trigger not in known]
        if firings:
            fired = {firing.trigger: "streamed" for firing in firings}
            self._log.append(line({"aside": 1, "at": around.now, "fired": fired}))
        self.firings += firings
        return firings

    def _settled(self, verdicts: Sequence[Verdict]) -> Iterator[Firing]:
        """Give the firings that nothing later in the turn can take back."""
        for verdict in verdicts:
            trigger: dict[str, Any] = self._artefact.trigger(verdict.number)
            kinds = {clause["k"] for clause in (*trigger["all"], *trigger["any"])}
            if verdict.firing and OPEN.isdisjoint(kinds) and "earlier" not in trigger:
                yield verdict.firing

    def _remembered(self) -> Memory:
        """Give what the conversation had seen when the turn began; a yes is heard when the turn is complete."""
        if self._memory is None:
            self._memory = self._log.memory()
            self._memory.offered = []
        return self._memory


def by_urgency(firings: Sequence[Firing]) -> list[Firing]:
    """Give firings, the most urgent first."""
    return sorted(firings, key=lambda firing: URGENCIES.index(firing.urgency))
