"""Running the cases of triggers through the real watcher.

Each case is a conversation of its own. `fires` means that the trigger fires on the last turn, `silent` that it fires on
no turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.knowledge import Case
from deia.records import Record
from deia.watch.clauses.folder_signs import files_among, signs_among
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.log import InMemoryLog
from deia.watch.verdict.judge import FIRES
from deia.watch.watcher import Surroundings, Watched, watch

GATE = "gate"  # the stage of a trigger whose words are not all in the turn


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
    log = InMemoryLog()
    names = case.cwd_files
    around = Surroundings(now=now, folder=signs_among(names), exists=files_among(names), bounded=False)
    ends = [_end_of(case.trigger, watch(artefact, turn, log, lambda: around)) for turn in case.turns]
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
