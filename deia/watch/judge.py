"""Judging: which of a turn's candidates really fire, and where each of the others stopped.

Pure: turn, compiled triggers, memory, clock and the folder's signs come in as arguments, verdicts go out.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Firing, Record, Reference
from deia.text import one_line, shorten, words
from deia.watch.commands import gives_option
from deia.watch.confirm import confirm

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from deia.watch.artefact import Artefact
    from deia.watch.confirm import Match
    from deia.watch.memory import Memory
    from deia.watch.reading import Reading

FIRES = "fires"
# A word for the real thing, in the command or sentence itself, makes an act more urgent by one step.
PRODUCTION = frozenset(("prod", "production"))
HIGHER = {"medium": "high", "high": "critical"}
RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3}


class Verdict(Record):
    """What became of a candidate: the stage it reached, and why it stopped there."""

    trigger: str
    stage: str  # clause | stance | unless | context | muted | memory | fires
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


def judge(
    artefact: Artefact, numbers: Collection[int], reading: Reading, circumstances: Circumstances
) -> tuple[Verdict, ...]:
    """Give a verdict for each candidate, those that fire first, the most urgent before the others."""
    verdicts = [_judge_one(artefact, number, reading, circumstances) for number in numbers]
    return tuple(sorted(verdicts, key=_order))


def _order(verdict: Verdict) -> tuple[bool, int, str]:
    urgency = verdict.firing.urgency if verdict.firing else "low"
    return verdict.firing is None, RANK[urgency], verdict.trigger


def _judge_one(artefact: Artefact, number: int, reading: Reading, about: Circumstances) -> Verdict:
    trigger = artefact.trigger(number)
    identity: str = trigger["id"]
    stage, detail, matches = _clauses(trigger, reading)
    if stage:
        return Verdict(trigger=identity, stage=stage, detail=detail, number=number)
    where = _context(trigger["context"], about)
    if where is None:
        wanted = ", ".join(trigger["context"])
        return Verdict(trigger=identity, stage="context", detail=f"none of {wanted} in sight", number=number)
    because = _because(matches, reading, where)
    if identity in about.muted:
        return Verdict(trigger=identity, stage="muted", detail=because, number=number)
    silence = _remembered(trigger, about.memory, about.now)
    if silence:
        return Verdict(trigger=identity, stage="memory", detail=silence, number=number)
    firing = _firing(artefact, trigger, reading, because)
    if trigger["timing"] == "pre-action" and any(PRODUCTION.intersection(words(match.around)) for match in matches):
        firing = firing.but(urgency=HIGHER.get(firing.urgency, firing.urgency))
    return Verdict(trigger=identity, stage=FIRES, detail=because, number=number, firing=firing)


def _clauses(trigger: dict[str, Any], reading: Reading) -> tuple[str, str, list[Match]]:
    """Give the matches that count, or the stage and reason at which the trigger stopped."""
    counted: list[Match] = []
    stopped = ("clause", "no clause matches")
    for clause in trigger["all"]:
        found, why = _first(trigger, clause, reading)
        if found is None:
            return (*why, []) if why else ("clause", f"{clause['k']} {clause['s']!r} does not match", [])
        counted.append(found)
    for clause in trigger["any"]:
        found, why = _first(trigger, clause, reading)
        if found is not None:
            return "", "", [*counted, found]
        stopped = why or stopped
    return (*stopped, []) if trigger["any"] else ("", "", counted)


def _first(trigger: dict[str, Any], clause: Any, reading: Reading) -> tuple[Match | None, tuple[str, str] | None]:
    """Give the first match of a clause whose stance counts and that no `unless` silences, or why there is none."""
    why = None
    for match in confirm(clause, reading):
        if match.stance not in trigger["stance"] and match.stance != "running":
            why = ("stance", f"{match.kind} {_shown(match.excerpt)} is {match.stance.replace('_', ' ')}")
            continue
        silenced = next((text for text in trigger["unless"] if _present(text, match)), None)
        if silenced is None:
            return match, None
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


def _remembered(trigger: dict[str, Any], memory: Memory, now: float) -> str:
    before = memory.fired.get(trigger["id"])
    repeat: float = trigger["repeat"]
    if before is None or repeat == 0:
        return ""
    if repeat < 0:
        return "it already fired in this conversation"
    return f"it fired less than {repeat:g} s ago" if now - before[0] < repeat else ""


def _because(matches: list[Match], reading: Reading, where: str) -> str:
    turn = reading.turn
    role = turn.role.replace("_", " ")
    parts = [f"{match.kind} {_shown(match.excerpt)} in {role} turn {turn.index}" for match in matches]
    return "; ".join(dict.fromkeys([*parts, *([where] if where else [])]))


def _shown(excerpt: str) -> str:
    return '"' + shorten(one_line(excerpt), 100) + '"'


def _firing(artefact: Artefact, trigger: dict[str, Any], reading: Reading, because: str) -> Firing:
    return Firing(
        trigger=trigger["id"],
        title=trigger["title"],
        urgency=trigger["urgency"],
        action=trigger["action"],
        timing=trigger["timing"],
        message=trigger["message"],
        action_required=trigger["action_required"],
        documents=tuple(_references(artefact, trigger)),
        because=because,
        turn=reading.turn.index,
    )


def _references(artefact: Artefact, trigger: dict[str, Any]) -> Iterator[Reference]:
    for number, mode, reason in trigger["documents"]:
        yield Reference(id=artefact.document(number)["id"], mode=mode, reason=reason)
