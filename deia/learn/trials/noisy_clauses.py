"""Which clause made a trigger's noise: the last step of the budget, once no milder action helps.

The reasons of noisy firings quote what matched. Each clause of the quoted kind is compiled alone and asked about the
quotation. A clause that made noise and nothing good is proposed for removal if every case holds without it; otherwise
it is named, so that a person can give it an `unless` or better words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from deia.knowledge import Clause, Trigger
from deia.learn.changes import ANY, DROP, TRIGGER, Change, written
from deia.learn.milder_drafts import Noise, evidence_of
from deia.learn.proposals import Effect, Proposal, propose
from deia.learn.trials.trigger_trial import TriggerTrial
from deia.records import ROLES, STANCES, TYPE_CHECKING, Turn
from deia.text import shorten
from deia.watch.authoring.replay import Replay
from deia.watch.gate.artefact import Artefact

if TYPE_CHECKING:
    from deia.records import Role

# A reason: the kind of the clause, the text that it matched, whose turn it was.
REASON = re.compile(r'(\w+) "(.{1,200}?)" in (user|assistant|tool call|tool result) turn \d')
ACTS = frozenset(("act", "meaning"))  # two ways to write the same kind of clause
SHOWN = 100  # characters of a clause


class NoisyClause(Noise):
    """A noisy trigger, with the clause that made most of its noise."""

    clause: Clause
    times: int  # of the noisy firings whose reason is known
    known: int
    was_good: bool  # whether it also made a firing that was judged good


def noisy_clause(noise: Noise, trial: TriggerTrial) -> NoisyClause | None:
    """Return the clause that made most of a trigger's noise, or None if the ledger does not say."""
    judged = noise.signals.judged
    behind = _Suspects(noise.trigger, trial)
    noisy = [behind.clauses_of(firing.because) for firing in judged if not firing.is_good]
    good = [behind.clauses_of(firing.because) for firing in judged if firing.is_good]
    counts = Counter(at for clauses in noisy for at in clauses)
    if not counts:
        return None
    (most, times), *_ = counts.most_common(1)
    return NoisyClause(
        **noise.values(), clause=noise.trigger.any[most], times=times, known=sum(map(bool, noisy)),
        was_good=any(most in clauses for clauses in good),
    )  # fmt: skip


class _Suspects:
    """The clauses of a trigger, each compiled alone when it is first suspected."""

    def __init__(self, trigger: Trigger, trial: TriggerTrial) -> None:
        self._trigger, self._trial = trigger, trial
        self._alone: dict[int, Artefact] = {}

    def clauses_of(self, because: str) -> set[int]:
        """Return the number of the clause that made a firing, by its reason; nothing if none or several fit."""
        for kind, excerpt, said in REASON.findall(because):
            clauses = enumerate(self._trigger.any)
            alike = {at for at, clause in clauses if clause.kind == kind or {clause.kind, kind} <= ACTS}
            if len(alike) > 1:
                role: Role = next(role for role in ROLES if role == said.replace(" ", "_"))
                turns = list(_turns(excerpt, role))
                alike = {at for at in alike if self._fires(at, turns)}
            if len(alike) == 1:
                return alike
        return set()

    def _fires(self, at: int, turns: Sequence[Turn]) -> bool:
        if at not in self._alone:
            self._alone[at] = self._trial.compiled(_alone(self._trigger, self._trigger.any[at]))
        return any(Replay(self._alone[at], bounded=False).judge(turn) for turn in turns)


def _alone(trigger: Trigger, clause: Clause) -> Trigger:
    """Return a trigger that fires on one clause, whoever says it and however."""
    return trigger.but(any=(clause,), all=(), earlier=None, context=(), unless=(), stance=STANCES, who=ROLES)


def _turns(excerpt: str, role: Role) -> Iterator[Turn]:
    """Yield turns in which a quoted match may have been: as what somebody says, and as what a call runs."""
    if role == "tool_call":
        yield Turn(role=role, text=excerpt, tool="Bash", tool_input={"command": excerpt}, index=1)
    yield Turn(role="tool_result" if role == "tool_result" else "user", text=excerpt, index=1)


def draft_removals(noisy: Iterable[NoisyClause], trial: TriggerTrial) -> tuple[list[Proposal], list[str]]:
    """Return proposals to take noisy clauses out, and a line for each clause that only a person can mend."""
    proposals: list[Proposal] = []
    advice: list[str] = []
    for one in noisy:
        proposal, obstacle = _removal(one, trial)
        if proposal is not None:
            proposals.append(proposal)
        else:
            advice.append(_advice(one, obstacle))
    return proposals, advice


def _removal(one: NoisyClause, trial: TriggerTrial) -> tuple[Proposal | None, str]:
    """Return the proposal to take a clause out, or None and what stands in the way."""
    if not one.is_own:
        return None, "it belongs to another layer"
    if len(one.trigger.any) < 2:
        return None, "it is the trigger's only clause"
    if one.clause.language or not isinstance(one.clause.value, str | tuple):
        return None, "it is written in a form that deia learn does not edit"
    if one.was_good:
        return None, "it also fired where it was useful"
    change = Change(kind=DROP, of=TRIGGER, target=one.trigger.id, field=ANY, value=(written(one.clause),))
    broken = trial.broken_by(change)
    if broken:
        return None, f"{broken} of its cases need it"
    because = f"{one.why}; this clause made {_share(one)}"
    draft = propose("clause", [change], because=because, evidence=evidence_of(one), weight=2.0 * one.times)
    return draft.but(effect=Effect(note="every case that held still holds")), ""


def _share(one: NoisyClause) -> str:
    return f"{one.times} of the {one.known} noisy firings whose reason was kept"


def _advice(one: NoisyClause, obstacle: str) -> str:
    value = one.clause.value if isinstance(one.clause.value, str) else str(written(one.clause))
    where = f"{one.trigger.path}:{one.clause.line or one.trigger.line}"
    cure = (
        "Give the trigger an `unless`, or narrow the clause."
        if one.is_own
        else f"Give the trigger [exceptions] in deia.toml, or type: deia mute {one.trigger.id} --folder ."
    )
    clause = f"{one.clause.kind} {shorten(value, SHOWN)!r}"
    return f"{one.trigger.id}: {clause} ({where}) made {_share(one)}; {obstacle}. {cure}"


def unexplained(noise: Noise) -> str:
    """Return the line about a noisy trigger for which there is neither a milder form nor a clause to name."""
    stays = f"nobody called its {noise.action} of calls noise twice, so that stays"
    action = stays if noise.only_said else f"its action is {noise.action}"
    return (
        f"{noise.trigger.id}: {noise.why}; {action}, and nothing says which clause made the noise."
        f" To silence it for yourself, type: deia mute {noise.trigger.id} --folder ."
    )


def look_for_clauses(noises: Sequence[Noise], trial: TriggerTrial) -> tuple[list[Proposal], list[str]]:
    """Return proposals and lines about noisy triggers that have no milder form."""
    found = {noise.trigger.id: noisy_clause(noise, trial) for noise in noises}
    proposals, advice = draft_removals([clause for clause in found.values() if clause], trial)
    return proposals, [*advice, *(unexplained(noise) for noise in noises if not found[noise.trigger.id])]
