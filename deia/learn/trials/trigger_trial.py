"""Trying changes of a trigger: it is compiled alone, with and without them, and its cases and recorded turns are run.

Whether a trigger fires depends on no other, so nothing else is compiled. A change is dropped if it breaks a case that
holds today, or silences a turn in which the trigger was useful.

If no milder action helps, the clause that made the noise is looked for. The reasons of noisy firings quote what
matched; each clause of the quoted kind is compiled alone and tried on the quotation. A clause that made noise and
nothing good is proposed for removal if every case holds without it; otherwise it is named for a person to mend.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from deia import __version__
from deia.commons.index.load_commons import Commons
from deia.compile.triggers.build_artefact import compile_triggers, payloads
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.word_forms import forms_source
from deia.fast_json import Json
from deia.knowledge import Clause, Trigger
from deia.learn.changes import ANY, CASES, DROP, TRIGGER, Change, as_cases, change_commons, written
from deia.learn.proposals import Effect, Proposal, propose
from deia.learn.trigger_drafts import FiredTurn, Noise, evidence_of
from deia.records import ROLES, STANCES, TYPE_CHECKING, Turn
from deia.text import shorten
from deia.watch.authoring.replay import Replay, run_cases
from deia.watch.gate.artefact import Artefact, open_artefact

if TYPE_CHECKING:
    from deia.records import Role

NOTES = {
    "milder": "judged by people alone; it fires as often as before", "retire": "it will not fire any more",
    "form": "judged by people alone; a setting of this project", "mute": "judged by people alone; a mute of your own",
}  # fmt: skip
EXAMPLES = 3
# A reason: the kind of the clause, the text that it matched, whose turn it was.
REASON = re.compile(r'(\w+) "(.{1,200}?)" in (user|assistant|tool call|tool result) turn \d')
ACTS = frozenset(("act", "meaning"))  # two ways to write the same kind of clause
SHOWN = 100  # characters of a clause


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
        """Return how many cases, and turns in which the trigger was useful, no longer hold after a change."""
        before = self._results(self.commons, change.target)
        after = self._results(change_commons(self.commons, [change]), change.target)
        return sum(before[name] and not after[name] for name in before)

    def compiled(self, trigger: Trigger) -> Artefact:
        """Return a trigger that need not be one of the commons, compiled alone."""
        return self._artefact(self.commons.but(triggers=(trigger,)), trigger.id)

    def _judge_change(self, draft: Proposal) -> Proposal | None:
        """Return a draft with its figures, or None if it breaks something, or mends neither noise nor silence."""
        trigger = draft.changes[0].target
        before = self._results(self.commons, trigger)
        after = self._results(change_commons(self.commons, draft.changes), trigger)
        mended = [name for name in after if name[0] in "+-" and after[name] and not before.get(name, False)]
        if any(before[name] and not after.get(name, False) for name in before) or not mended:
            return None
        texts = {name[1:] for name in mended}
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
        base = change_commons(self.commons, [other for other in accepted if other.target == change.target])
        new = change.but(value=tuple(values))
        artefact = self._artefact(change_commons(base, [new]), change.target)
        results = run_cases(artefact, new.cases, now=0.0)
        holding = [value for value, result in zip(values, results, strict=True) if result.holds]
        if not holding or self._breaks(base, change.target, artefact):
            return None
        proposal = draft.with_changes([change.but(value=tuple(holding))])
        return proposal.but(
            effect=Effect(asked=len(holding), note="they hold, and so does every case that held before")
        )

    def _breaks(self, base: Commons, trigger: str, artefact: Artefact) -> bool:
        cases = [case for case in base.cases if case.trigger == trigger]
        before = run_cases(self._artefact(base, trigger), cases, now=0.0)
        after = run_cases(artefact, cases, now=0.0)
        return any(old.holds and not new.holds for old, new in zip(before, after, strict=True))

    def _results(self, commons: Commons, trigger: str) -> dict[str, bool]:
        """Return whether each case and each turn of a trigger holds; a turn of "+" must fire, one of "-" must not."""
        cases = {f" {number}": case for number, case in enumerate(commons.cases) if case.trigger == trigger}
        for turn in self._turns:
            if turn.trigger == trigger and turn.weight:
                sign = "+" if turn.weight > 0 else "-"
                (cases[f"{sign}{turn.text}"],) = as_cases(trigger, [turn.case], fires=turn.weight > 0)
        results = run_cases(self._artefact(commons, trigger), cases.values(), now=0.0)
        return {name: result.holds for name, result in zip(cases, results, strict=True)}

    def _artefact(self, commons: Commons, trigger: str) -> Artefact:
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


class NoisyClause(Noise):
    """A noisy trigger, with the clause that made most of its noise."""

    clause: Clause
    times: int  # of the noisy firings whose reason is known
    known: int
    was_good: bool  # whether it also made a firing that was judged good


def noisy_clause(noise: Noise, trial: TriggerTrial) -> NoisyClause | None:
    """Return the clause that made most of a trigger's noise, or None if the ledger does not say."""
    judged = noise.signals.judged
    suspects = _Suspects(noise.trigger, trial)
    noisy = [suspects.clauses_of(firing.because) for firing in judged if not firing.is_good]
    good = [suspects.clauses_of(firing.because) for firing in judged if firing.is_good]
    counts = Counter(number for clauses in noisy for number in clauses)
    if not counts:
        return None
    (noisiest, times), *_ = counts.most_common(1)
    return NoisyClause(
        **noise.values(), clause=noise.trigger.any[noisiest], times=times, known=sum(map(bool, noisy)),
        was_good=any(noisiest in clauses for clauses in good),
    )  # fmt: skip


class _Suspects:
    """The clauses of a trigger, each compiled alone when it is first suspected."""

    def __init__(self, trigger: Trigger, trial: TriggerTrial) -> None:
        self._trigger, self._trial = trigger, trial
        self._alone: dict[int, Artefact] = {}

    def clauses_of(self, because: str) -> set[int]:
        """Return the number of the clause that made a firing, by its reason; nothing if none or several fit."""
        for kind, excerpt, speaker in REASON.findall(because):
            clauses = enumerate(self._trigger.any)
            candidates = {at for at, clause in clauses if clause.kind == kind or {clause.kind, kind} <= ACTS}
            if len(candidates) > 1:
                role: Role = next(role for role in ROLES if role == speaker.replace(" ", "_"))
                turns = list(_turns(excerpt, role))
                candidates = {at for at in candidates if self._fires(at, turns)}
            if len(candidates) == 1:
                return candidates
        return set()

    def _fires(self, at: int, turns: Sequence[Turn]) -> bool:
        if at not in self._alone:
            self._alone[at] = self._trial.compiled(_alone(self._trigger, self._trigger.any[at]))
        return any(Replay(self._alone[at], bounded=False).judge(turn) for turn in turns)


def _alone(trigger: Trigger, clause: Clause) -> Trigger:
    """Return a trigger that fires on one clause, whoever says it and however."""
    return trigger.but(any=(clause,), all=(), earlier=None, context=(), unless=(), stance=STANCES, who=ROLES)


def _turns(excerpt: str, role: Role) -> Iterator[Turn]:
    """Yield turns that a quoted match may be from: as the command of a call, and as what somebody says."""
    if role == "tool_call":
        yield Turn(role=role, text=excerpt, tool="Bash", tool_input={"command": excerpt}, index=1)
    yield Turn(role="tool_result" if role == "tool_result" else "user", text=excerpt, index=1)


def _obstacle(culprit: NoisyClause, removal: Change, trial: TriggerTrial) -> str:
    """Return why a clause cannot be taken out, or ""."""
    if not culprit.is_own:
        return "it belongs to another layer"
    if len(culprit.trigger.any) < 2:
        return "it is the trigger's only clause"
    if culprit.clause.language or not isinstance(culprit.clause.value, str | tuple):
        return "it is written in a form that deia learn does not edit"
    if culprit.was_good:
        return "it also fired where it was useful"
    broken = trial.broken_by(removal)
    return f"{broken} of its cases need it" if broken else ""


def _share(culprit: NoisyClause) -> str:
    return f"{culprit.times} of the {culprit.known} noisy firings whose reason was kept"


def _advice(culprit: NoisyClause, obstacle: str) -> str:
    value = culprit.clause.value if isinstance(culprit.clause.value, str) else str(written(culprit.clause))
    where = f"{culprit.trigger.path}:{culprit.clause.line or culprit.trigger.line}"
    cure = (
        "Give the trigger an `unless`, or narrow the clause."
        if culprit.is_own
        else f"Give the trigger [exceptions] in deia.toml, or type: deia mute {culprit.trigger.id} --folder ."
    )
    clause = f"{culprit.clause.kind} {shorten(value, SHOWN)!r}"
    return f"{culprit.trigger.id}: {clause} ({where}) made {_share(culprit)}; {obstacle}. {cure}"


def unexplained(noise: Noise) -> str:
    """Return the line about a noisy trigger for which there is neither a milder form nor a clause to name."""
    stays = f"nobody called its {noise.action} of calls noise twice, so that stays"
    action = stays if noise.only_said else f"its action is {noise.action}"
    return (
        f"{noise.trigger.id}: {noise.why}; {action}, and nothing says which clause made the noise."
        f" To silence it for yourself, type: deia mute {noise.trigger.id} --folder ."
    )


def look_for_clauses(noises: Sequence[Noise], trial: TriggerTrial) -> tuple[list[Proposal], list[str]]:
    """Return proposals to take noisy clauses out, and a line about each trigger that only a person can mend."""
    proposals: list[Proposal] = []
    advice: list[str] = []
    for noise in noises:
        culprit = noisy_clause(noise, trial)
        if culprit is None:
            advice.append(unexplained(noise))
            continue
        change = Change(kind=DROP, of=TRIGGER, target=culprit.trigger.id, field=ANY, value=(written(culprit.clause),))
        obstacle = _obstacle(culprit, change, trial)
        if obstacle:
            advice.append(_advice(culprit, obstacle))
            continue
        because = f"{culprit.why}; this clause made {_share(culprit)}"
        draft = propose("clause", [change], because=because, evidence=evidence_of(culprit), weight=2.0 * culprit.times)
        proposals.append(draft.but(effect=Effect(note="every case that held still holds")))
    return proposals, advice
