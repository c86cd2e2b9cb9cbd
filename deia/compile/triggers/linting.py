"""Lint triggers that parse: report those that nothing can fire, that overlap, are slow, or are poorly tested.

The compiled set is judged by the cases beside the triggers. Whether a trigger is useful is for `deia trigger replay`
and `deia stats` to show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from deia.commons.source_files.findings import quote
from deia.commons.triggers.read_triggers import FOLDER
from deia.compile.triggers.lower_acts import exemplar_act
from deia.knowledge import Case, Clause, Trigger
from deia.problems import Problem
from deia.watch.authoring.replay import GATE, Replay, run_case
from deia.watch.clauses.folder_signs import signs_among
from deia.watch.compiled_trigger import CompiledPattern
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.regex import find, trust
from deia.watch.turn.tool_call import SEGMENT

PROSE = frozenset(("user", "assistant"))
EVERYBODY = frozenset(("user", "assistant", "tool_call", "tool_result"))
# The roles in whose turns each kind of clause can match; `deia.watch.clauses.confirm` implements it.
MATCHES_IN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("phrase", "act", "meaning", "words"), PROSE),
    **dict.fromkeys(("command", "pattern", "sql"), PROSE | {"tool_call"}),
    **dict.fromkeys(("write", "tool", "deletion", "package"), frozenset(("tool_call",))),
    "error": PROSE | {"tool_result"},
    "output": frozenset(("user", "tool_result")),
    "incoming": frozenset(("tool_result",)),
}
SLOW = 0.020  # seconds for one segment of text; an ordinary pattern takes some microseconds
TRIES = 3
UNGATED = "It has no word that must be present, so it is checked in every turn."
GATE_FIX = "Give each of its clauses a word that must be present."


def lint_triggers(
    artefact: Artefact,
    triggers: Sequence[Trigger],
    cases: Sequence[Case],
    *,
    ungated: Collection[str],
    clock: Callable[[], float],
) -> list[Problem]:
    """Return the problems of these triggers, which may be a part of the compiled set, by file and line.

    `ungated` are the ids of triggers that no word gates, from the compiler. `clock` returns seconds; it measures slow
    patterns.
    """
    living = [trigger for trigger in triggers if trigger.status != "deprecated"]
    problems = [*overlapping(artefact, living, cases), *slow_patterns(artefact, living, clock)]
    problems += [_warning(trigger, "ungated-trigger", UNGATED, GATE_FIX) for trigger in living if trigger.id in ungated]
    for trigger in living:
        problems += [*unreachable(trigger), *without_cases(trigger, cases), *unreadable_exemplars(trigger)]
        problems += missing_near_misses(artefact, trigger, cases)
    return sorted(problems, key=lambda problem: (problem.path, problem.line, problem.code))


def _warning(trigger: Trigger, code: str, message: str, fix: str, *, line: int = 0) -> Problem:
    named = f"{quote(trigger.id)}: {message}"
    return Problem(path=trigger.path, line=line or trigger.line, found=named, fix=fix, code=code, severity="warning")


def unreachable(trigger: Trigger) -> Iterator[Problem]:
    """Yield the clauses that cannot match in any turn that `who` allows, and triggers that can therefore never fire."""
    who = frozenset(trigger.who)
    roles = who.intersection(*(_roles(clause) for clause in trigger.all))
    if not roles:
        message = f"no turn of {', '.join(trigger.who)} can match all of its `all`"
        yield _error(trigger, f"{message} ({_kinds(trigger.all)}).", "Change `who`, or move a clause to `any`.")
        return
    idle = [clause for clause in trigger.any if not _roles(clause) & roles]
    if trigger.any and len(idle) == len(trigger.any):
        message = f"no turn of {', '.join(sorted(roles))} can match any of its clauses ({_kinds(trigger.any)})."
        yield _error(trigger, message, "Change `who`, or the kind of a clause.")
        return
    for clause in idle:
        message = (
            f"its {clause.kind} clause {quote(clause.value)} cannot match in a turn of {', '.join(sorted(roles))}."
        )
        fix = "Add the intended role to `who`, or remove the clause."
        yield _warning(trigger, "unreachable-clause", message, fix, line=clause.line)
    if not any(stance in trigger.stance for stance in ("announced", "requested")) and who == {"tool_call"}:
        message = f"a tool call always counts as announced, but `stance` is {', '.join(trigger.stance)}."
        if "dry_run" not in trigger.stance:
            yield _error(trigger, message, "Add announced to `stance`.")


def _roles(clause: Clause) -> frozenset[str]:
    return MATCHES_IN.get(clause.kind, EVERYBODY)


def _kinds(clauses: Sequence[Clause]) -> str:
    return ", ".join(dict.fromkeys(clause.kind for clause in clauses))


def _error(trigger: Trigger, message: str, fix: str) -> Problem:
    return _warning(trigger, "unreachable-trigger", message, fix).but(severity="error")


def without_cases(trigger: Trigger, cases: Sequence[Case]) -> Iterator[Problem]:
    """Yield a warning if a trigger has no cases at all."""
    stem, _, ending = trigger.path.rpartition(".")
    if trigger.path.startswith(f"{FOLDER}/") and not any(case.trigger == trigger.id for case in cases):
        message = "it has no cases, so nothing shows that it fires where it should."
        fix = f"Add cases that fire and cases that stay silent to {stem}.cases.{ending}."
        yield _warning(trigger, "no-cases", message, fix)


def overlapping(artefact: Artefact, triggers: Sequence[Trigger], cases: Sequence[Case]) -> Iterator[Problem]:
    """Yield a warning for each pair of triggers that fire on each other's cases.

    A trigger of a lower layer counts only if it shows the same documents; otherwise each of the two adds something.
    """
    own = {trigger.id: trigger for trigger in triggers}
    firing_cases: dict[str, list[Case]] = {}
    for case in cases:
        if case.fires:
            firing_cases.setdefault(case.trigger, []).append(case)
    compiled = [artefact.trigger(number) for number in range(artefact.meta.triggers)]
    documents = {trigger.id: {number for number, _, _ in trigger.documents} for trigger in compiled}
    fired = {identity: _fired_on(artefact, firing_cases.get(identity, ())) for identity in sorted(own)}
    for identity in sorted(own):
        for other in sorted(fired[identity]):
            repeated = other == identity or (other in own and other < identity)
            if repeated or (other not in own and documents.get(other) != documents.get(identity)):
                continue
            if identity in (fired[other] if other in own else _fired_on(artefact, firing_cases.get(other, ()))):
                message = f"{quote(other)} fires on its cases, and it on those of {quote(other)}."
                fix = "Merge the two, or add cases that distinguish them."
                yield _warning(own[identity], "overlapping-triggers", message, fix)


def _fired_on(artefact: Artefact, cases: Sequence[Case]) -> set[str]:
    """Return the triggers that fire on the last turns of these cases."""
    fired: set[str] = set()
    for case in cases:
        conversation, folder = Replay(artefact, bounded=False), signs_among(case.cwd_files)
        firings = [conversation.judge(turn, folder=folder) for turn in case.turns]
        fired.update(firing.trigger for last in firings[-1:] for firing in last)
    return fired


def missing_near_misses(artefact: Artefact, trigger: Trigger, cases: Sequence[Case]) -> Iterator[Problem]:
    """Yield a warning if a trigger fires in some case, but no silent case has the words that it needs."""
    own = [case for case in cases if case.trigger == trigger.id]
    silent = [case for case in own if not case.fires]
    if not any(case.fires for case in own):
        return
    if not silent or all(run_case(artefact, case, now=0.0).stage == GATE for case in silent):
        message = "none of its silent cases has the words that it needs." if silent else "it has no silent case."
        fix = "Add near misses to `silent`: denied, asked about, reported, only printed, another target."
        yield _warning(trigger, "no-near-miss", message, fix)


def unreadable_exemplars(trigger: Trigger) -> Iterator[Problem]:
    """Yield warnings for exemplars that match nothing."""
    for clause in (*trigger.any, *trigger.all):
        for text in map(str, clause.value) if clause.kind == "meaning" else ():
            if exemplar_act(text) is None:
                message = f"the exemplar {quote(text)} names no act on a thing, and matches nothing."
                fix = "Write it as an order: a verb, its object and where, such as `wipe the production database`."
                yield _warning(trigger, "unreadable-exemplar", message, fix, line=clause.line)


def slow_patterns(artefact: Artefact, triggers: Sequence[Trigger], clock: Callable[[], float]) -> Iterator[Problem]:
    """Yield a warning for each pattern that takes long on a segment of text made to be hard for it."""
    trust(artefact.meta.regex)
    compiled = {trigger.id: trigger for trigger in map(artefact.trigger, range(artefact.meta.triggers))}
    for trigger in triggers:
        for clause in compiled[trigger.id].clauses if trigger.id in compiled else ():
            if clause.kind == "pattern":
                worst = max(_seconds(clause.pattern, text, clock) for text in killers(clause.source))
                if worst > SLOW:
                    message = f"the pattern {quote(clause.source)} takes {worst * 1000:.0f} ms on {SEGMENT} characters."
                    yield _warning(trigger, "slow-pattern", message, "Bound its repeats: {0,40} instead of *.")


def killers(pattern: str) -> list[str]:
    """Return texts that make backtracking slow: they repeat the pattern's characters and end with another one."""
    letters = list(dict.fromkeys(char for char in pattern if char.isalnum()))[:12]
    literals = "".join(char for char in pattern if char.isalnum() or char in " -_")[:60] or "a"
    units = ["a", " ", "a ", "-", "0", literals, *letters]
    return [(unit * SEGMENT)[: SEGMENT - 1] + end for unit in units for end in ("!", "\n")]


def _seconds(pattern: CompiledPattern, text: str, clock: Callable[[], float]) -> float:
    """Return the shortest time of some tries, because a busy machine can only make it longer."""
    best = float("inf")
    for _ in range(TRIES):
        began = clock()
        for _ in find(pattern, text):
            pass
        best = min(best, clock() - began)
        if best < SLOW / 2:
            break
    return best
