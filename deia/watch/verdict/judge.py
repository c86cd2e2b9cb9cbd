"""Judging: which of a turn's candidates really fire, and where each of the others stopped.

Pure: turn, compiled triggers, memory, clock and the folder's signs come in as arguments, verdicts go out.
"""

from __future__ import annotations

from deia.records import ACTIONS, TYPE_CHECKING, Firing, Record, Reference
from deia.text import one_line, shorten, words
from deia.watch.clauses.confirm import confirm
from deia.watch.gate.word_gate import EVERY
from deia.watch.prose.stance_names import counts
from deia.watch.shell.templates import gives_option
from deia.watch.verdict.earlier_statements import PRODUCTION as ON_PRODUCTION
from deia.watch.verdict.earlier_statements import PRODUCTION_TURNS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    from deia.records import Turn
    from deia.watch.clauses.confirm import Match
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import Memory
    from deia.watch.turn.parsed_turn import Reading
    from deia.watch.verdict.earlier_statements import Said

FIRES = "fires"
# A word for the real thing, in the command or sentence itself, makes an act more urgent by one step.
PRODUCTION = frozenset(("prod", "production"))
HIGHER = {"medium": "high", "high": "critical"}
# What a call does itself. One that only says it (asks the person, lists tasks, orders a sub-agent) is not stopped: to
# ask is the safe act, and whoever carries it out is watched.
DONE_BY_CALL = frozenset(("tool", "write", "sql"))
RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3}


class Verdict(Record):
    """What became of a candidate: the stage it reached, and why it stopped there."""

    trigger: str
    stage: str  # clause | stance | unless | earlier | context | muted | memory | fires
    detail: str
    number: int
    firing: Firing | None = None


class Circumstances(Record):
    """Everything besides the turn itself that a verdict depends on."""

    memory: Any  # a Memory
    seen: tuple[str, ...] = ()  # context words in this turn
    folder: Any = None  # context words → the first that the working folder's signs show, or ""
    muted: frozenset[str] = frozenset()
    now: float = 0.0
    recent_turns: int = 30
    marks: Mapping[str, Said] = {}  # what was said before and still counts
    exists: Any = None  # path → whether there is such a file, where anybody knows


def judge(
    artefact: Artefact, numbers: Mapping[int, Collection[int]], reading: Reading, circumstances: Circumstances
) -> tuple[Verdict, ...]:
    """Give a verdict for each candidate, those that fire first, the most urgent before the others.

    Candidates go by number, each with the numbers of the clauses to look at, or `deia.watch.gate.word_gate.EVERY`.
    """
    verdicts = [
        _judge_one(artefact, number, looked_at, reading, circumstances) for number, looked_at in numbers.items()
    ]
    return tuple(sorted(verdicts, key=_order))


def _order(verdict: Verdict) -> tuple[bool, int, int, str]:
    if verdict.firing is None:
        return True, 0, 0, verdict.trigger
    return False, RANK[verdict.firing.urgency], -ACTIONS.index(verdict.firing.action), verdict.trigger


def _judge_one(
    artefact: Artefact, number: int, looked_at: Collection[int], reading: Reading, about: Circumstances
) -> Verdict:
    trigger = artefact.trigger(number)
    identity: str = trigger["id"]
    stage, detail, matches = _clauses(trigger, looked_at, _Held(artefact, reading, about))
    if stage:
        return Verdict(trigger=identity, stage=stage, detail=detail, number=number)
    since = _since(trigger, about)
    if since is None:
        return Verdict(trigger=identity, stage="earlier", detail="what it waits for was not said before", number=number)
    where = _context(trigger["context"], about)
    if where is None:
        wanted = ", ".join(trigger["context"])
        return Verdict(trigger=identity, stage="context", detail=f"none of {wanted} in sight", number=number)
    because = _because(matches, reading, since, where)
    if identity in about.muted:
        return Verdict(trigger=identity, stage="muted", detail=because, number=number)
    silence = _remembered(trigger, about.memory, about.now, acts=reading.turn.role == "tool_call" and not reading.said)
    if silence:
        return Verdict(trigger=identity, stage="memory", detail=silence, number=number)
    firing = firing_of(artefact, trigger, reading.turn, because).but(act=matches[-1].excerpt if matches else "")
    if reading.turn.role == "tool_call" and reading.said and not any(match.kind in DONE_BY_CALL for match in matches):
        firing = firing.but(action=min(firing.action, "warn", key=ACTIONS.index))
    if trigger["timing"] == "pre-action":
        firing = _on_production(firing, matches, about.marks.get(ON_PRODUCTION))
    return Verdict(trigger=identity, stage=FIRES, detail=because, number=number, firing=firing)


def _on_production(firing: Firing, matches: Sequence[Match], place: Said | None) -> Firing:
    """Raise the urgency of what happens on production: said beside the act, or where the conversation works by now."""
    if any(PRODUCTION.intersection(words(match.around)) for match in matches):
        return raised(firing)
    if place is None or place.ago >= PRODUCTION_TURNS:
        return firing
    return raised(firing).but(because=f"{firing.because}; on production {_when(place)}")


def raised(firing: Firing) -> Firing:
    """Give a firing that is one step more urgent."""
    return firing.but(urgency=HIGHER.get(firing.urgency, firing.urgency))


def _when(said: Said) -> str:
    turns = "in this turn" if not said.ago else f"{said.ago} turn{'s' if said.ago > 1 else ''} ago"
    return f"by {_shown(said.text)} {turns}"


def _since(trigger: dict[str, Any], about: Circumstances) -> str | None:
    """Say what a trigger that waits for something was told ("" where it waits for nothing), or None."""
    within: int | None = trigger.get("earlier")
    if within is None:
        return ""
    said = about.marks.get(trigger["id"])
    return _when(said) if said is not None and (not within or said.ago <= within) else None


class _Held:
    """What clauses are held against: a turn, and what is known besides it."""

    __slots__ = ("about", "artefact", "reading")

    def __init__(self, artefact: Artefact, reading: Reading, about: Circumstances) -> None:
        self.artefact, self.reading, self.about = artefact, reading, about

    def met(self, clause: dict[str, Any], match: Match) -> tuple[bool, str]:
        """Say whether a match is what its clause means: what `it` stands for was named, the file is as asked."""
        if match.stands_for:
            return _in_sight(match.stands_for, self.about), "what it stands for was not named"
        if "asked" not in clause:
            return True, ""
        from deia.watch.clauses.file_state import meets  # noqa: PLC0415 - few clauses ask for the state of a file

        path, turn, about = match.excerpt, self.reading.turn, self.about
        return meets(clause["asked"], path, turn, artefact=self.artefact, memory=about.memory, exists=about.exists)


def _in_sight(name: str, about: Circumstances) -> bool:
    """Say whether something was named in this turn or in one of the last."""
    memory: Memory = about.memory
    return name in about.seen or memory.turns - memory.seen.get(name, -(10**9)) < about.recent_turns


def _clauses(trigger: dict[str, Any], looked_at: Collection[int], held: _Held) -> tuple[str, str, list[Match]]:
    """Give the matches that count, or the stage and reason at which the trigger stopped."""
    counted: list[Match] = []
    stopped = ("clause", "no clause matches")
    for clause in trigger["all"]:
        found, why = _first(trigger, clause, held)
        if found is None:
            return (*why, []) if why else ("clause", f"{clause['k']} {clause['s']!r} does not match", [])
        counted.append(found)
    whole = EVERY in looked_at or trigger["all"]
    for clause in trigger["any"] if whole else [trigger["any"][number] for number in sorted(looked_at)]:
        found, why = _first(trigger, clause, held)
        if found is not None:
            return "", "", [*counted, found]
        stopped = why or stopped
    return (*stopped, []) if trigger["any"] else ("", "", counted)


def _first(trigger: dict[str, Any], clause: Any, held: _Held) -> tuple[Match | None, tuple[str, str] | None]:
    """Give the first match of a clause whose stance counts and that no `unless` silences, or why there is none."""
    why = None
    for match in confirm(clause, held.reading):
        met, told = held.met(clause, match)
        if not met:
            why = ("earlier", told or f"{_shown(match.excerpt)} is not as it asks")
            continue
        if not counts(match.stance, trigger["stance"]):
            why = ("stance", f"{match.kind} {_shown(match.excerpt)} is {match.stance.replace('_', ' ')}")
            continue
        silenced = next((text for text in trigger["unless"] if _present(text, match)), None)
        if silenced is None:
            return match.but(told=told) if "asked" in clause else match, None
        why = ("unless", f"{silenced['s']!r} stands beside it")
    return None, why


def _present(unless: dict[str, Any], match: Match) -> bool:
    if "flag" in unless:
        if match.command is not None:
            return gives_option(unless["flag"], match.command)
        return unless["flag"] in match.around.split()
    around = words(match.around)
    wanted = unless["words"]
    return bool(wanted) and any(
        all(around[at + offset] in alike for offset, alike in enumerate(wanted))
        for at in range(len(around) - len(wanted) + 1)
    )


def _context(wanted: list[str], about: Circumstances) -> str | None:
    """Say where a wanted context was seen ("" where none is wanted), or None where it was not."""
    if not wanted:
        return ""
    here = next((word for word in wanted if word in about.seen), "")
    if here:
        return f'context "{here}"'
    memory: Memory = about.memory
    recent = next((one for one in wanted if memory.turns - memory.seen.get(one, -(10**9)) < about.recent_turns), "")
    if recent:
        return f'context "{recent}" some turns ago'
    find: Callable[[list[str]], str] | None = about.folder
    sign = find(wanted) if find is not None else ""
    return f'context "{sign}" in the folder' if sign else None


def _remembered(trigger: dict[str, Any], memory: Memory, now: float, *, acts: bool) -> str:
    before = memory.fired.get(trigger["id"])
    repeat: float = trigger["repeat"]
    if before is None or repeat == 0 or (acts and trigger["id"] in memory.armed):
        return ""
    if repeat < 0:
        return "it already fired in this conversation"
    return f"it fired less than {repeat:g} s ago" if now - before[0] < repeat else ""


def _because(matches: list[Match], reading: Reading, *others: str) -> str:
    turn = reading.turn
    role = turn.role.replace("_", " ")
    parts = [
        f"{match.kind} {_shown(match.excerpt)} in {role} turn {turn.index}{f': {match.told}' if match.told else ''}"
        for match in matches
    ]
    return "; ".join(dict.fromkeys([*parts, *(other for other in others if other)]))


def _shown(excerpt: str) -> str:
    return '"' + shorten(one_line(excerpt), 100) + '"'


def firing_of(artefact: Artefact, trigger: dict[str, Any], turn: Turn, because: str) -> Firing:
    """Give what a compiled trigger says when it fires on a turn."""
    return Firing(
        trigger=trigger["id"],
        title=trigger["title"],
        urgency=trigger["urgency"],
        action=trigger["action"],
        timing=trigger["timing"],
        message=trigger["message"],
        action_required=trigger["action_required"],
        instead=tuple(trigger.get("instead", ())),
        documents=tuple(_references(artefact, trigger)),
        because=because,
        turn=turn.index,
        origin=trigger.get("origin", "project"),
    )


def _references(artefact: Artefact, trigger: dict[str, Any]) -> Iterator[Reference]:
    for number, mode, reason in trigger["documents"]:
        yield Reference(id=artefact.document(number)["id"], mode=mode, reason=reason)
