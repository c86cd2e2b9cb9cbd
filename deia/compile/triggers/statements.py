"""Lower `earlier` conditions to the marks that the watcher keeps, among them production and checks that fail.

A mark is compiled like a trigger without documents: its words gate it, and its clauses confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from deia.compile.triggers.gate_tables import Lowered
from deia.knowledge import Clause, Earlier, Trigger
from deia.records import Record
from deia.tables import Tables
from deia.text import words
from deia.watch.compiled_trigger import CompiledClause, CompiledMark
from deia.watch.verdict.earlier_statements import PRODUCTION, PRODUCTION_TURNS

DENYING = frozenset(("not", "never", "no", "don", "dont", "nothing", "nobody", "cannot", "without", "stop", "avoid"))
SPEAKERS = ("user", "assistant", "tool_call")
PRINTED = ("tool_result", "user")  # who prints an error, or pastes it
TABLES = Tables(__file__)
PLACES = {
    "<box>": TABLES.lines("box"), "<production>": TABLES.lines("production"), "<elsewhere>": TABLES.lines("elsewhere"),
}  # fmt: skip
FAILING_TURNS = 30  # turns for which a failure counts; a call and its result are two
NUMBER = r"[1-9]\d{0,5}"
REPORTED_FAILING = [line.replace("<number>", NUMBER) for line in TABLES.lines("reported failing")]
REPORTED_PASSING = TABLES.lines("reported passing")
SAID_TO_FAIL = [line.replace("<check>", "".join(TABLES.lines("check"))) for line in TABLES.lines("said to fail")]


def clauses(kind: str, values: Iterable[str]) -> tuple[Clause, ...]:
    """Return a clause of one kind for each value."""
    return tuple(Clause(kind=kind, value=value) for value in values)


CHECKS_FAILING = Earlier(
    any=(*clauses("output", REPORTED_FAILING), *clauses("phrase", SAID_TO_FAIL)),
    until=clauses("output", REPORTED_PASSING),
    within=FAILING_TURNS,
)


def _filled(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for value in TABLES.lines("value") if "<value>" in line else ("",):
            text = line.replace("<value>", value)
            for place, (names,) in PLACES.items():
                text = text.replace(place, names)
            yield text


ON_PRODUCTION = Earlier(
    any=(
        *clauses("phrase", _filled(TABLES.lines("said to be there"))),
        *clauses("command", _filled(TABLES.lines("pointed there"))),
    ),
    until=(
        *clauses("phrase", _filled(TABLES.lines("said to leave"))),
        *clauses("command", _filled(TABLES.lines("pointed elsewhere"))),
    ),
    within=PRODUCTION_TURNS,
)
ALWAYS: Mapping[str, Earlier] = {PRODUCTION: ON_PRODUCTION}  # what every commons is compiled with
NAMED: Mapping[str, Earlier] = {PRODUCTION: ON_PRODUCTION, "<failing>": CHECKS_FAILING}  # for triggers that name them


class LoweredMark(Record):
    """A compiled mark, and the lowered clauses that gate it, each with the roles in whose turns it counts."""

    compiled: CompiledMark
    gates: tuple[tuple[Lowered, tuple[str, ...]], ...]


def marks_in(triggers: Sequence[Trigger]) -> dict[str, Earlier]:
    """Return the marks that triggers wait for, by the trigger's id, or by their own names."""
    waiting = [(mark_of(trigger), trigger.earlier) for trigger in triggers if trigger.earlier]
    return {mark: NAMED.get(mark, earlier) for mark, earlier in waiting}


def mark_of(trigger: Trigger) -> str:
    """Return the name of the mark that a trigger waits for."""
    return f"<{trigger.earlier.mark}>" if trigger.earlier and trigger.earlier.mark else trigger.id


def turns_of(earlier: Earlier) -> int:
    """Return the number of turns for which a condition counts; 0 means all."""
    return earlier.within or (NAMED[f"<{earlier.mark}>"].within if earlier.mark else 0)


def lower_mark(name: str, earlier: Earlier, lower: Callable[[Clause], Lowered]) -> LoweredMark:
    """Return a lowered mark; `lower` is the function that lowers the clauses of triggers."""
    setting = [(clause, lower(clause)) for clause in earlier.any]
    ending = [(clause, lower(clause)) for clause in earlier.until]
    compiled = CompiledMark(
        mark=name,
        any=[_clause(clause, lowered) for clause, lowered in setting],
        until=[_clause(clause, lowered) for clause, lowered in ending],
    )
    printed = {"error", "output", "incoming"}
    gates = tuple((lowered, PRINTED if clause.kind in printed else SPEAKERS) for clause, lowered in (*setting, *ending))
    return LoweredMark(compiled=compiled, gates=gates)


def _clause(clause: Clause, lowered: Lowered) -> CompiledClause:
    """Return the compiled clause. A phrase that is itself a denial (`don't deploy`) also counts if it is denied."""
    denies = clause.kind == "phrase" and not DENYING.isdisjoint(words(str(clause.value)))
    return CompiledClause({**lowered.clause.fields, "denies": True}) if denies else lowered.clause


def asks_for(name: str, triggers: Sequence[Trigger]) -> bool:
    """Return whether a `write` clause of any trigger has a condition with this name: `like`, `unread`, `exists`."""
    clauses = [clause for trigger in triggers for clause in (*trigger.any, *trigger.all)]
    return any(hasattr(clause.value, "get") and name in clause.value for clause in clauses if clause.kind == "write")
