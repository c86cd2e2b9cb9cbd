"""The shipped calibration of the starter's `meaning` clauses is up to date."""

from __future__ import annotations

from deia.commons.layers.merge_layers import load_layered
from deia.compile.triggers.calibration import calibrated, shipped
from deia.folders import STARTER

SOME = 6  # of the clauses that are calibrated anew here


def test_nobody_who_installs_deia_calibrates_the_starter() -> None:
    commons = load_layered(STARTER, starter=True, trusted=True)
    known = shipped()
    prints = {one.print for one in known}
    clauses = [
        trigger.but(any=(clause,), all=())
        for trigger in commons.triggers
        for clause in trigger.any
        if clause.kind == "meaning" and not trigger.all
    ]
    anew = calibrated(clauses[:: max(len(clauses) // SOME, 1)], commons.cases)
    lacking = [one.trigger for one in anew if one.print not in prints]
    assert not lacking, "run: python tools/starter_thresholds.py"
    assert {one.print: one for one in known}.items() >= {one.print: one for one in anew}.items()


def test_what_is_shipped_is_taken_over_and_what_changed_is_not() -> None:
    commons = load_layered(STARTER, starter=True, trusted=True)
    kinds = {one.id: [clause.kind for clause in (*one.any, *one.all)] for one in commons.triggers}
    trigger = next(one for one in commons.triggers if kinds[one.id].count("meaning") == 1)
    marked = tuple(one.but(worded=-1) for one in shipped())
    cases = [case for case in commons.cases if case.trigger == trigger.id]
    assert [one.worded for one in calibrated([trigger], cases, marked)] == [-1]
    (anew,) = calibrated([trigger], [], marked)
    assert anew.worded >= 0
