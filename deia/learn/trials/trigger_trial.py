"""Trying a change of a trigger: it is compiled alone, with and without, and its cases and its recorded turns are run.

A trigger's firing depends on no other, so nothing else is compiled. Refuses a change by which any case that holds
today would not, or by which a turn in which the trigger was of use would stay silent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from deia import __version__
from deia.commons.index.load_commons import Commons
from deia.compile.manifest import Manifest
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.calibration import calibrated, shipped
from deia.compile.triggers.payloads import payloads
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.word_forms import forms_source
from deia.knowledge import Case
from deia.learn.changes import CASES, changed, made_case
from deia.learn.proposals import Effect, Proposal, propose
from deia.learn.trigger_drafts import Fired
from deia.watch.authoring.case_runner import run_cases
from deia.watch.gate.artefact import Artefact, open_artefact

SAID = {"milder": "judged by people alone: nothing fires more or less", "retire": "it will not fire any more"}


class Range:
    """A commons' triggers with recorded turns, against which changes can be tried."""

    def __init__(
        self, commons: Commons, turns: Sequence[Fired], *, settings: Mapping[str, Any], manifest: Manifest
    ) -> None:
        self.commons, self._turns = commons, turns
        self._settings = settings
        self._known = (*shipped(), *manifest.meaning)

    def judged(self, drafts: Sequence[Proposal]) -> list[Proposal]:
        """Give the drafts that harm nothing, with their figures; cases are held against what was kept before them."""
        kept: list[Proposal] = []
        for draft in drafts:
            mended = any(one.kind == "unless" and one.changes[0].target == draft.changes[0].target for one in kept)
            if draft.kind in SAID and mended:
                continue  # a milder form is for what no word can mend
            found = self._case(draft, kept) if draft.kind == "case" else self._changed(draft)
            kept += [found] if found else []
        return kept

    def _changed(self, draft: Proposal) -> Proposal | None:
        if draft.kind in SAID:
            return draft.but(effect=Effect(note=SAID[draft.kind]))
        trigger = draft.changes[0].target
        before, after = (self._holding(one, trigger) for one in (self.commons, changed(self.commons, draft.changes)))
        noisy = [name for name in after if name.startswith("-") and after[name] and not before.get(name, False)]
        if any(before[name] and not after.get(name, False) for name in before) or not noisy:
            return None
        turns = sum(1 for name in before if name[0] in "+-")
        return draft.but(
            effect=Effect(
                before=_figures(before), after=_figures({name: after[name] for name in before}), asked=turns,
                better=tuple(each.text for each in self._turns if each.text in {name[1:] for name in noisy})[:3],
            )
        )  # fmt: skip

    def _case(self, draft: Proposal, kept: Sequence[Proposal]) -> Proposal | None:
        """Keep those cases of a draft that hold with what was kept, or that a threshold found anew makes hold."""
        change = draft.changes[0]
        known = {str(one) for each in kept for made in each.changes if made.kind == CASES for one in made.value}
        new = [value for value in change.value if str(value) not in known]
        ground = changed(self.commons, [one for each in kept for one in each.changes if one.target == change.target])
        after = changed(ground, [change.but(value=tuple(new))])
        artefact = self._artefact(after, change.target)
        cases = [made_case(change.target, value, fires=change.field == "fires") for value in new]
        held = [value for value, result in zip(new, run_cases(artefact, cases, now=0.0), strict=True) if result.holds]
        if not held or self._breaks(ground, change.target, artefact):
            return None
        made = propose(
            "case", [change.but(value=tuple(held))], because=draft.because, evidence=draft.evidence, weight=draft.weight
        )
        return made.but(effect=Effect(asked=len(held), note="they hold, and so does every case that held before"))

    def _breaks(self, ground: Commons, trigger: str, artefact: Artefact) -> bool:
        """Say whether a case that held does not any more."""
        cases = [case for case in ground.cases if case.trigger == trigger]
        before = run_cases(self._artefact(ground, trigger), cases, now=0.0)
        after = run_cases(artefact, cases, now=0.0)
        return any(old.holds and not new.holds for old, new in zip(before, after, strict=True))

    def _holding(self, commons: Commons, trigger: str) -> dict[str, bool]:
        """Give which cases of a trigger hold, and which turns end as people want: `+` fired, `-` silent."""
        artefact = self._artefact(commons, trigger)
        own = {f" {number}": case for number, case in enumerate(commons.cases) if case.trigger == trigger}
        for each in self._turns:
            if each.trigger == trigger and each.weight:
                sign = "+" if each.weight > 0 else "-"
                own[f"{sign}{each.text}"] = made_case(trigger, each.case, fires=each.weight > 0)
        results = run_cases(artefact, own.values(), now=0.0)
        return {name: result.holds for name, result in zip(own, results, strict=True)}

    def _artefact(self, commons: Commons, trigger: str) -> Artefact:
        found = [one for one in commons.triggers if one.id == trigger]
        cases: list[Case] = [case for case in commons.cases if case.trigger == trigger]
        reached = calibrated(found, cases, self._known)
        data, _ = compile_triggers(
            found, payloads(commons.but(triggers=tuple(found))), settings=self._settings,
            identity={"deia": __version__, "digest": "", "forms": forms_source()}, marks=ALWAYS,
            known=[(entry.path, entry.title) for entry in commons.entries],
            thresholds={(one.trigger, one.clause): one.thresholds for one in reached},
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="deia-learn-") as folder:
            path = os.path.join(folder, "triggers")
            with open(path, "wb") as file:
                file.write(data)
            return open_artefact(path)


def _figures(holding: Mapping[str, bool]) -> dict[str, float]:
    """Give precision over the recorded turns, how many of use still fire, and the share of cases that hold."""
    useful = [held for name, held in holding.items() if name[0] == "+"]
    noisy = [held for name, held in holding.items() if name[0] == "-"]
    cases = [held for name, held in holding.items() if name[0] == " "]
    fired = sum(useful) + sum(not held for held in noisy)
    told = {"noise": float(sum(not held for held in noisy)), "of use": float(sum(useful))}
    if fired:
        told["precision"] = round(sum(useful) / fired, 4)
    return {**told, "cases": float(sum(cases))}
