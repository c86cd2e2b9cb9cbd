"""Replaying past conversations, and the cases of triggers, against compiled triggers, with a few examples.

Each turn is judged as a live turn is, with the conversation's own memory; only the injection is not composed. The
functions read no files and no clock: all turns of a conversation happen at the same moment. Each case is a conversation
of its own: `fires` means that the trigger fires on the last turn, `silent` that it fires on no turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deia.firing import Firing
from deia.knowledge import Case
from deia.records import Record, Turn
from deia.redaction import redact
from deia.text import one_line, shorten
from deia.watch.clauses.folder_signs import files_among, signs_among
from deia.watch.gate.artefact import Artefact
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.log import LogEntry
from deia.watch.memory.recall import InMemoryLog, Memory
from deia.watch.turn.scripts import WrittenFiles
from deia.watch.verdict.judge import FIRES, FolderSigns
from deia.watch.watcher import Surroundings, Watched, decide, stopped_call, watch

EXCERPT = 160  # characters of a turn that an example keeps
GATE = "gate"  # the stage of a trigger whose words are not all in the turn


class Example(Record):
    """One turn in which a trigger fired."""

    order: tuple[int, int]  # the number of the input part, and the position in it; the first examples are kept
    place: str  # file and turn
    role: str
    text: str  # without secrets, as is the reason
    because: str
    action: str = ""


class PlacedTurn(Record):
    """A turn and where it comes from."""

    turn: Turn
    order: tuple[int, int]
    place: str


class Count:
    """How often each trigger fired, with which actions, and the first `most` examples of each."""

    __slots__ = ("acted", "examples", "fired", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.fired: dict[str, int] = {}
        self.acted: dict[str, dict[str, int]] = {}  # trigger → action → how often
        self.examples: dict[str, list[Example]] = {}

    def add(self, trigger: str, example: Example) -> None:
        """Count a firing."""
        self._take(trigger, {example.action: 1}, [example])

    def merge(self, other: Count) -> None:
        """Add another count to this one."""
        for trigger, actions in other.acted.items():
            self._take(trigger, actions, other.examples[trigger])

    def _take(self, trigger: str, actions: Mapping[str, int], examples: list[Example]) -> None:
        self.fired[trigger] = self.fired.get(trigger, 0) + sum(actions.values())
        acted = self.acted.setdefault(trigger, {})
        for action, number in actions.items():
            acted[action] = acted.get(action, 0) + number
        examples_kept = [*self.examples.get(trigger, ()), *examples]
        self.examples[trigger] = sorted(examples_kept, key=lambda example: example.order)[: self.most]


class Tally:
    """The result of a replay; `before`, `gained` and `lost` stay empty unless an older set of triggers is compared."""

    __slots__ = ("after", "before", "conversations", "gained", "lost", "turns", "unread")

    def __init__(self, most: int) -> None:
        self.turns = 0
        self.conversations = 0
        self.unread: dict[str, str] = {}  # a file that is no transcript → the reason
        self.after, self.before, self.gained, self.lost = Count(most), Count(0), Count(most), Count(most)

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.turns += other.turns
        self.conversations += other.conversations
        self.unread |= other.unread
        for name in ("after", "before", "gained", "lost"):
            getattr(self, name).merge(getattr(other, name))


class Replay:
    """One conversation judged by one set of triggers, turn after turn."""

    __slots__ = ("_artefact", "_bounded", "_files", "_memory")

    def __init__(self, artefact: Artefact, *, bounded: bool = True) -> None:
        self._artefact = artefact
        self._bounded = bounded  # as of `Surroundings`
        self._files = WrittenFiles()
        self._memory = Memory()

    def judge(self, turn: Turn, *, folder: FolderSigns | None = None) -> tuple[Firing, ...]:
        """Return the firings of the next turn; `folder` finds platforms by the signs of the working folder."""
        turn = self._files.widened(turn)
        numbers, seen = candidates(self._artefact, turn)
        firings: tuple[Firing, ...] = ()
        entry = LogEntry(seen=seen)
        if numbers or self._memory.awaits_answer:
            around = Surroundings(now=0.0, folder=folder, bounded=self._bounded)
            decision = decide(self._artefact, turn, self._memory, around, numbers=numbers, seen=seen)
            firings = tuple(verdict.firing for verdict in decision.firing if verdict.firing)
            escalated = decision.left.escalated
            entry = decision.left.but(
                seen=seen,
                fired={firing.trigger: "" for firing in firings if firing.trigger not in escalated},
                held=stopped_call(decision.call, firings),
            )
        self._memory.turns += 1
        self._memory.take(entry)
        return firings


def replay(
    turns: Iterable[PlacedTurn], replays: Sequence[Replay], tally: Tally, *, folder: FolderSigns | None = None
) -> None:
    """Judge the turns of a conversation by one or two sets of triggers (new, then old) and count the firings."""
    for placed in turns:
        tally.turns += 1
        after, *older = [replay.judge(placed.turn, folder=folder) for replay in replays]
        if after or any(older):
            _count(placed, after, older[0] if older else None, tally)


def _count(placed: PlacedTurn, after: Sequence[Firing], before: Sequence[Firing] | None, tally: Tally) -> None:
    for firing in after:
        tally.after.add(firing.trigger, _example(placed, firing))
    if before is None:
        return
    new, old = ({firing.trigger for firing in firings} for firings in (after, before))
    for firing in before:
        tally.before.add(firing.trigger, _example(placed, firing))
    for count, firings, known in ((tally.gained, after, old), (tally.lost, before, new)):
        for firing in firings:
            if firing.trigger not in known:
                count.add(firing.trigger, _example(placed, firing))


def _example(placed: PlacedTurn, firing: Firing) -> Example:
    turn = placed.turn
    text = turn.text or str(turn.tool_input or "")[: 10 * EXCERPT]
    return Example(
        order=placed.order,
        place=placed.place,
        role=turn.role,
        text=shorten(one_line(redact(text[: 10 * EXCERPT])), EXCERPT),
        because=one_line(redact(firing.because)),
        action=firing.action,
    )


class CaseResult(Record):
    """The result of a case: whether it holds, and the turn and stage at which its trigger ended."""

    case: Case
    holds: bool
    turn: int = 0
    stage: str = ""
    detail: str = ""


def run_cases(artefact: Artefact, cases: Iterable[Case], *, now: float) -> list[CaseResult]:
    """Return the results of cases in order, each run in a new conversation."""
    return [run_case(artefact, case, now=now) for case in cases]


def run_case(artefact: Artefact, case: Case, *, now: float) -> CaseResult:
    """Return the result of one case; a case without turns holds if it wants silence."""
    log, written = InMemoryLog(), WrittenFiles()
    names = case.cwd_files
    around = Surroundings(now=now, folder=signs_among(names), exists=files_among(names), bounded=False)
    turns = map(written.widened, case.turns)
    ends = [_end_of(case.trigger, watch(artefact, turn, log, lambda: around)) for turn in turns]
    fired = [number for number, (stage, _) in enumerate(ends, 1) if stage == FIRES]
    last = len(ends)
    holds = last in fired if case.fires else not fired
    turn = last if case.fires or not fired else fired[0]
    stage, detail = ends[turn - 1] if ends else ("", "the case has no turns")
    return CaseResult(case=case, holds=holds and bool(ends or not case.fires), turn=turn, stage=stage, detail=detail)


def _end_of(trigger: str, watched: Watched) -> tuple[str, str]:
    """Return the stage at which a trigger ended in a turn, and why."""
    for verdict in watched.verdicts:
        if verdict.trigger == trigger:
            return verdict.stage, verdict.detail
    return GATE, "the words it needs are not all in this turn"
