"""Every starter trigger has enough cases, including near misses; few hold, and those suggest an alternative."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from deia.compile.triggers.linting import missing_near_misses
from tests.starter.starter_commons import COMMONS

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact

FIRE, SILENT = 4, 6
KINDS = {"phrase", "command", "pattern", "error", "sql", "write", "tool", "meaning"}


def test_a_trigger_has_cases_that_fire_and_more_that_stay_silent() -> None:
    fire = Counter(case.trigger for case in COMMONS.cases if case.fires)
    silent = Counter(case.trigger for case in COMMONS.cases if not case.fires)
    thin = [each.id for each in COMMONS.triggers if fire[each.id] < FIRE or silent[each.id] < SILENT]
    assert thin == []


def test_no_case_is_written_twice() -> None:
    counts = Counter((case.trigger, case.fires, repr(case.turns), repr(case.cwd_files)) for case in COMMONS.cases)
    assert [key for key, count in counts.items() if count > 1] == []


def test_near_misses_are_among_the_silent_cases(artefact: Artefact) -> None:
    far = [problem for trigger in COMMONS.triggers for problem in missing_near_misses(artefact, trigger, COMMONS.cases)]
    assert [problem.found for problem in far] == []


def test_every_kind_of_clause_is_used_and_what_holds_is_critical_or_high() -> None:
    assert {clause.kind for each in COMMONS.triggers for clause in (*each.any, *each.all)} >= KINDS
    holding = [each for each in COMMONS.triggers if each.action == "hold"]
    assert [each.id for each in holding if each.urgency not in {"critical", "high"}] == []
    assert [each.id for each in holding if not each.instead] == [], "a hold says what to do instead"
    assert len(holding) * 10 < len(COMMONS.triggers), "what cries wolf is muted"
