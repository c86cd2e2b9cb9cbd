"""What is wrong with triggers that read well: that nothing can fire them, they overlap, cost much, or prove little.

Judges the compiled set by the cases beside the triggers. Refuses to say whether a trigger is any good; that is for
`deia triggers replay` and `stats` to show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from deia.commons.source_files.findings import quote
from deia.commons.triggers.read_triggers import FOLDER
from deia.compile.manifest import Calibration
from deia.compile.triggers.exemplars import thin
from deia.errors import Problem
from deia.knowledge import Case, Clause, Trigger
from deia.watch.authoring.case_runner import GATE, run_case
from deia.watch.authoring.replay import Replay
from deia.watch.clauses.folder_signs import signs_among
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.regex import find, trust
from deia.watch.turn.tool_call import SEGMENT

PROSE = frozenset(("user", "assistant"))
EVERYBODY = frozenset(("user", "assistant", "tool_call", "tool_result"))
# Whose turns each kind of clause can match in, as `deia.watch.clauses.confirm` has it.
MATCHES_IN: Mapping[str, frozenset[str]] = {
    "phrase": PROSE,
    "meaning": PROSE,
    "words": PROSE,
    "command": PROSE | {"tool_call"},
    "pattern": PROSE | {"tool_call"},
    "sql": PROSE | {"tool_call"},
    "error": PROSE | {"tool_result"},
    "write": frozenset(("tool_call",)),
    "tool": frozenset(("tool_call",)),
}
SLOW = 0.020  # seconds for one segment of text; an ordinary pattern takes some microseconds
TRIES = 3


def lint_triggers(
    artefact: Artefact,
    triggers: Sequence[Trigger],
    cases: Sequence[Case],
    *,
    ungated: Collection[str],
    clock: Callable[[], float],
    reached: Collection[Calibration] = (),
) -> list[Problem]:
    """Give what is wrong with some triggers, which may be part of the compiled set, by file and line.

    `ungated` are those that no word gates, and `reached` what its `meaning` clauses came to, as the compiler told them;
    `clock` gives seconds, for slow patterns.
    """
    living = [trigger for trigger in triggers if trigger.status != "deprecated"]
    found = [problem for trigger in living for problem in unreachable(trigger)]
    found += [_warning(one, "ungated-trigger", UNGATED, GATE_FIX) for one in living if one.id in ungated]
    found += [problem for trigger in living for problem in without_cases(trigger, cases)]
    found += overlapping(artefact, living, cases)
    found += [problem for trigger in living for problem in missing_near_misses(artefact, trigger, cases)]
    found += slow_patterns(artefact, living, clock)
    shown_to_fire = {case.trigger for case in cases if case.fires}
    for trigger in living:
        found += distant_meaning(trigger, reached if trigger.id in shown_to_fire else ())
    return sorted(found, key=lambda problem: (problem.path, problem.line, problem.code))


UNGATED = "No word must be present for it, so every turn pays for a look at it."
GATE_FIX = "Give each of its clauses a word that must be there."


def _warning(trigger: Trigger, code: str, found: str, fix: str, *, line: int = 0) -> Problem:
    return Problem(
        path=trigger.path,
        line=line or trigger.line,
        found=f"{quote(trigger.id)}: {found}",
        fix=fix,
        code=code,
        severity="warning",
    )


# --- what nothing can fire ---


def unreachable(trigger: Trigger) -> Iterator[Problem]:
    """Report clauses that match in nobody's turn that `who` allows, and triggers that so can never fire."""
    who = frozenset(trigger.who)
    every = who.intersection(*(_roles(clause) for clause in trigger.all))
    if not every:
        found = f"no turn of {', '.join(trigger.who)} can match all of its `all`"
        yield _error(trigger, f"{found} ({_kinds(trigger.all)}).", "Change `who`, or move a clause to `any`.")
        return
    idle = [clause for clause in trigger.any if not _roles(clause) & every]
    if trigger.any and len(idle) == len(trigger.any):
        found = f"no turn of {', '.join(sorted(every))} can match any of its clauses ({_kinds(trigger.any)})."
        yield _error(trigger, found, "Change `who`, or the kind of a clause.")
        return
    for clause in idle:
        found = f"its {clause.kind} clause {quote(clause.value)} cannot match in a turn of {', '.join(sorted(every))}."
        fix = "Add to `who` whose turn is meant, or drop the clause."
        yield _warning(trigger, "unreachable-clause", found, fix, line=clause.line)
    if not any(stance in trigger.stance for stance in ("announced", "requested")) and who == {"tool_call"}:
        found = f"a tool call is always doing, and `stance` is {', '.join(trigger.stance)}."
        if "dry_run" not in trigger.stance:
            yield _error(trigger, found, "Add announced to `stance`.")


def _roles(clause: Clause) -> frozenset[str]:
    return MATCHES_IN.get(clause.kind, EVERYBODY)


def _kinds(clauses: Sequence[Clause]) -> str:
    return ", ".join(dict.fromkeys(clause.kind for clause in clauses))


def _error(trigger: Trigger, found: str, fix: str) -> Problem:
    told = f"{quote(trigger.id)}: {found}"
    return Problem(path=trigger.path, line=trigger.line, found=told, fix=fix, code="unreachable-trigger")


# --- what the cases show ---


def without_cases(trigger: Trigger, cases: Sequence[Case]) -> Iterator[Problem]:
    """Report triggers of which no case shows that they fire, nor that they stay silent."""
    stem, _, ending = trigger.path.rpartition(".")
    if trigger.path.startswith(f"{FOLDER}/") and not any(case.trigger == trigger.id for case in cases):
        found = "it has no cases, so nothing shows that it fires where it should."
        fix = f"Write some that fire and some that stay silent into {stem}.cases.{ending}."
        yield _warning(trigger, "no-cases", found, fix)


def overlapping(artefact: Artefact, triggers: Sequence[Trigger], cases: Sequence[Case]) -> Iterator[Problem]:
    """Report pairs of triggers that fire on each other's cases: one of them would do, or a case tells them apart.

    One of a layer below counts only where it shows the same documents: otherwise each says what the other does not.
    """
    own = {trigger.id: trigger for trigger in triggers}
    firing: dict[str, list[Case]] = {}
    for case in cases:
        if case.fires:
            firing.setdefault(case.trigger, []).append(case)
    shows = {(each := artefact.trigger(at))["id"]: _shown(each) for at in range(artefact.meta["triggers"])}
    on = {ident: _fired_on(artefact, firing.get(ident, ())) for ident in sorted(own)}
    for one in sorted(own):
        for other in sorted(on[one]):
            twice = other == one or (other in own and other < one)
            if twice or (other not in own and shows.get(other) != shows.get(one)):
                continue
            if one in (on[other] if other in own else _fired_on(artefact, firing.get(other, ()))):
                found = f"{quote(other)} fires on its cases, and it on those of {quote(other)}."
                fix = "Make one of them, or add cases that tell them apart."
                yield _warning(own[one], "overlapping-triggers", found, fix)


def _shown(compiled: Mapping[str, Any]) -> set[int]:
    """Give the numbers of the documents that a compiled trigger shows."""
    return {document[0] for document in compiled["documents"]}


def _fired_on(artefact: Artefact, cases: Sequence[Case]) -> set[str]:
    """Give the triggers that fire on the last turns of some cases."""
    return {identity for case in cases for identity in _fired_by(artefact, case)}


def _fired_by(artefact: Artefact, case: Case) -> set[str]:
    """Give the triggers that fire on the last turn of a case."""
    conversation, folder = Replay(artefact), signs_among(case.cwd_files)
    fired = [conversation.judge(turn, folder=folder) for turn in case.turns]
    return {firing.trigger for firing in fired[-1]} if fired else set()


def missing_near_misses(artefact: Artefact, trigger: Trigger, cases: Sequence[Case]) -> Iterator[Problem]:
    """Report triggers whose silent cases are all far off: none holds the words that the trigger needs."""
    own = [case for case in cases if case.trigger == trigger.id]
    silent = [case for case in own if not case.fires]
    if not any(case.fires for case in own):
        return
    if not silent or all(run_case(artefact, case, now=0.0).stage == GATE for case in silent):
        found = "no case that stays silent comes near it." if silent else "it has no case that stays silent."
        fix = "Add near misses to `silent`: denied, asked about, reported, only printed, another target."
        yield _warning(trigger, "no-near-miss", found, fix)


def distant_meaning(trigger: Trigger, reached: Collection[Calibration]) -> Iterator[Problem]:
    """Report exemplars that no sentence can be told by, and `meaning` clauses that none of the cases comes close to."""
    clauses = [clause for clause in (*trigger.any, *trigger.all) if clause.kind == "meaning"]
    for clause in clauses:
        for text in thin(tuple(map(str, clause.value))):
            found = f"the exemplar {quote(text)} has fewer than two words that carry meaning, and matches nothing."
            yield _warning(trigger, "thin-exemplar", found, "Name the act and what it is done to.", line=clause.line)
        same = [one for one in reached if (one.trigger, one.clause) == (trigger.id, " | ".join(clause.value))]
        if any(not one.fires for one in same):
            found = "no case that fires is close enough to its `meaning` clause."
            fix = "Add exemplars in the words of the cases, or cases that only this clause reaches."
            yield _warning(trigger, "distant-meaning", found, fix, line=clause.line)


# --- what costs ---


def slow_patterns(
    artefact: Artefact, triggers: Sequence[Trigger], clock: Callable[[], float]
) -> Iterator[Problem]:  # fmt: skip
    """Report patterns that take long on text made to be hard for them, a segment of it as the watcher cuts it."""
    trust(artefact.meta["regex"])
    numbers = {artefact.trigger(number)["id"]: number for number in range(artefact.meta["triggers"])}
    for trigger in triggers:
        compiled = artefact.trigger(numbers[trigger.id]) if trigger.id in numbers else {"any": (), "all": ()}
        for clause in (*compiled["any"], *compiled["all"]):
            if clause["k"] == "pattern":
                slowest = max(_seconds(clause, killer, clock) for killer in killers(clause["s"]))
                if slowest > SLOW:
                    found = f"the pattern {quote(clause['s'])} takes {slowest * 1000:.0f} ms on {SEGMENT} characters."
                    yield _warning(trigger, "slow-pattern", found, "Bound its repeats: {0,40} instead of *.")


def killers(pattern: str) -> list[str]:
    """Give texts that make backtracking costly: what the pattern repeats, over and over, and no end to it."""
    letters = list(dict.fromkeys(char for char in pattern if char.isalnum()))[:12]
    literals = "".join(char for char in pattern if char.isalnum() or char in " -_")[:60] or "a"
    units = ["a", " ", "a ", "-", "0", literals, *letters]
    return [(unit * SEGMENT)[: SEGMENT - 1] + end for unit in units for end in ("!", "\n")]


def _seconds(clause: Mapping[str, object], text: str, clock: Callable[[], float]) -> float:
    """Give the best of some tries, since a busy machine only ever adds to it."""
    best = float("inf")
    for _ in range(TRIES):
        began = clock()
        for _ in find(clause, text):
            pass
        best = min(best, clock() - began)
        if best < SLOW / 2:
            break
    return best
