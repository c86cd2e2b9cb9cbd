"""Running the cases beside the triggers through the real watch journey. Refuses to print, or to read a clock.

Each case is a conversation of its own: `fires` means that its trigger fires on the last turn, `silent` that it fires on
none.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.knowledge import Case
from deia.records import Record
from deia.watch.clauses.folder_signs import files_among, signs_among
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.log import InMemoryLog
from deia.watch.watcher import Surroundings, Watched, watch

GATE = "gate"  # the stage of a trigger that a turn's words did not even suggest


class CaseResult(Record):
    """What became of a case: whether it holds, and in which turn and at which stage its trigger ended."""

    case: Case
    holds: bool
    turn: int = 0
    stage: str = ""
    detail: str = ""


def run_cases(artefact: Artefact, cases: Iterable[Case], *, now: float) -> list[CaseResult]:
    """Run cases in order, each in a fresh conversation."""
    return [run_case(artefact, case, now=now) for case in cases]


def run_case(artefact: Artefact, case: Case, *, now: float) -> CaseResult:
    """Run one case; a case without turns holds where it wants silence."""
    log = InMemoryLog()
    names = case.cwd_files
    around = Surroundings(now=now, folder=signs_among(names), exists=files_among(names), bounded=False)
    ended = [_ended(case.trigger, watch(artefact, turn, log, lambda: around)) for turn in case.turns]
    fired = [number for number, (stage, _) in enumerate(ended, 1) if stage == "fires"]
    last = len(ended)
    holds = last in fired if case.fires else not fired
    turn = last if case.fires or not fired else fired[0]
    stage, detail = ended[turn - 1] if ended else ("", "the case has no turns")
    return CaseResult(case=case, holds=holds and bool(ended or not case.fires), turn=turn, stage=stage, detail=detail)


def _ended(trigger: str, watched: Watched) -> tuple[str, str]:
    """Give the stage at which a trigger ended in a turn, and why."""
    for verdict in watched.verdicts:
        if verdict.trigger == trigger:
            return verdict.stage, verdict.detail
    return GATE, "the words it needs are not all in this turn"
