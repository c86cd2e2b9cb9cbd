"""Trying changes of a trigger: it is compiled alone, with and without them, and its cases and recorded turns are run.

Whether a trigger fires depends on no other, so nothing else is compiled. A change is dropped if it breaks a case that
holds today, or silences a turn in which the trigger was useful.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence

from deia import __version__
from deia.commons.index.load_commons import Commons
from deia.compile.triggers.build_artefact import compile_triggers, payloads
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.word_forms import forms_source
from deia.fast_json import Json
from deia.knowledge import Trigger
from deia.learn.changes import CASES, Change, change_commons, make_case
from deia.learn.proposals import Effect, Proposal
from deia.learn.trigger_drafts import FiredTurn
from deia.watch.authoring.replay import run_cases
from deia.watch.gate.artefact import Artefact, open_artefact

NOTES = {
    "milder": "judged by people alone; it fires as often as before", "retire": "it will not fire any more",
    "form": "judged by people alone; a setting of this project", "mute": "judged by people alone; a mute of your own",
}  # fmt: skip
EXAMPLES = 3


class TriggerTrial:
    """The triggers of a commons with recorded turns on which changes can be tried."""

    def __init__(self, commons: Commons, turns: Sequence[FiredTurn], *, settings: Mapping[str, Json]) -> None:
        self.commons, self._turns = commons, turns
        self._settings = settings

    def judge(self, drafts: Sequence[Proposal]) -> list[Proposal]:
        """Return the drafts that harm nothing, with their figures; cases are run with what was kept before them."""
        kept: list[Proposal] = []
        for draft in drafts:
            target = draft.changes[0].target
            if draft.kind in NOTES:
                if any(proposal.kind == "unless" and proposal.changes[0].target == target for proposal in kept):
                    continue  # a milder action is for noise that no word can silence
                kept.append(draft.but(effect=Effect(note=NOTES[draft.kind])))
                continue
            judged = self._judge_cases(draft, kept) if draft.kind == "case" else self._judge_change(draft)
            kept += [judged] if judged else []
        return kept

    def broken_by(self, change: Change) -> int:
        """Return how many cases, and turns in which the trigger was useful, do not hold any more after a change."""
        before = self._results(self.commons, change.target)
        after = self._results(change_commons(self.commons, [change]), change.target)
        return sum(before[name] and not after[name] for name in before)

    def compiled(self, trigger: Trigger) -> Artefact:
        """Return a trigger that need not be one of the commons, compiled alone."""
        return self._artefact(self.commons.but(triggers=(trigger,)), trigger.id)

    def _judge_change(self, draft: Proposal) -> Proposal | None:
        """Return a draft that silences noise and breaks nothing, with its figures, or None."""
        trigger = draft.changes[0].target
        before = self._results(self.commons, trigger)
        after = self._results(change_commons(self.commons, draft.changes), trigger)
        silenced = [name for name in after if name.startswith("-") and after[name] and not before.get(name, False)]
        if any(before[name] and not after.get(name, False) for name in before) or not silenced:
            return None
        texts = {name[1:] for name in silenced}
        return draft.but(
            effect=Effect(
                before=_figures(before), after=_figures({name: after[name] for name in before}),
                asked=sum(1 for name in before if name[0] in "+-"),
                better=tuple(turn.text for turn in self._turns if turn.text in texts)[:EXAMPLES],
            )
        )  # fmt: skip

    def _judge_cases(self, draft: Proposal, kept: Sequence[Proposal]) -> Proposal | None:
        """Return a draft with those of its cases that hold with what was kept, or None if there are none."""
        change = draft.changes[0]
        accepted = [change for proposal in kept for change in proposal.changes]
        known = {str(value) for change in accepted if change.kind == CASES for value in change.items}
        values = [value for value in change.items if str(value) not in known]
        ground = change_commons(self.commons, [other for other in accepted if other.target == change.target])
        new = change.but(value=tuple(values))
        artefact = self._artefact(change_commons(ground, [new]), change.target)
        results = run_cases(artefact, new.cases, now=0.0)
        holding = [value for value, result in zip(values, results, strict=True) if result.holds]
        if not holding or self._breaks(ground, change.target, artefact):
            return None
        proposal = draft.with_changes([change.but(value=tuple(holding))])
        return proposal.but(
            effect=Effect(asked=len(holding), note="they hold, and so does every case that held before")
        )

    def _breaks(self, ground: Commons, trigger: str, artefact: Artefact) -> bool:
        """Return whether a case that held does not hold any more."""
        cases = [case for case in ground.cases if case.trigger == trigger]
        before = run_cases(self._artefact(ground, trigger), cases, now=0.0)
        after = run_cases(artefact, cases, now=0.0)
        return any(old.holds and not new.holds for old, new in zip(before, after, strict=True))

    def _results(self, commons: Commons, trigger: str) -> dict[str, bool]:
        """Return whether each case of a trigger holds, and each turn: "+" must fire, "-" must stay silent."""
        cases = {f" {number}": case for number, case in enumerate(commons.cases) if case.trigger == trigger}
        for turn in self._turns:
            if turn.trigger == trigger and turn.weight:
                sign = "+" if turn.weight > 0 else "-"
                cases[f"{sign}{turn.text}"] = make_case(trigger, turn.case, fires=turn.weight > 0)
        results = run_cases(self._artefact(commons, trigger), cases.values(), now=0.0)
        return {name: result.holds for name, result in zip(cases, results, strict=True)}

    def _artefact(self, commons: Commons, trigger: str) -> Artefact:
        """Return one trigger, compiled."""
        triggers = [candidate for candidate in commons.triggers if candidate.id == trigger]
        data, _ = compile_triggers(
            triggers, payloads(commons.but(triggers=tuple(triggers))), settings=self._settings,
            identity={"deia": __version__, "digest": "", "forms": forms_source()}, marks=ALWAYS,
            known=[(entry.path, entry.title) for entry in commons.entries],
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="deia-learn-") as folder:
            path = os.path.join(folder, "triggers")
            with open(path, "wb") as file:
                file.write(data)
            return open_artefact(path)


def _figures(results: Mapping[str, bool]) -> dict[str, float]:
    """Return the noise, the useful turns that fire, the cases that hold, and the precision over the turns."""
    useful = [holds for name, holds in results.items() if name[0] == "+"]
    noisy = [holds for name, holds in results.items() if name[0] == "-"]
    cases = [holds for name, holds in results.items() if name[0] == " "]
    fired = sum(useful) + sum(not holds for holds in noisy)
    figures = {"noise": float(sum(not holds for holds in noisy)), "of use": float(sum(useful))}
    if fired:
        figures["precision"] = round(sum(useful) / fired, 4)
    return {**figures, "cases": float(sum(cases))}
