"""Lower `earlier` conditions to the marks that the watcher keeps, among them the mark of every commons: production.

A mark is compiled like a trigger without documents: its words gate it, and its clauses confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from deia.compile.triggers.check_runs import CHECKS_FAILING
from deia.compile.triggers.lowered import Lowered
from deia.knowledge import Clause, Earlier, Trigger
from deia.records import Record
from deia.text import words
from deia.watch.compiled_trigger import CompiledClause, CompiledMark
from deia.watch.verdict.earlier_statements import PRODUCTION, PRODUCTION_TURNS

DENYING = frozenset(("not", "never", "no", "don", "dont", "nothing", "nobody", "cannot", "without", "stop", "avoid"))
SPEAKERS = ("user", "assistant", "tool_call")
PRINTED = ("tool_result", "user")  # who prints an error, or pastes it
# Somebody says that they are on production, or points a client there. `NODE_ENV=production` only selects a build.
BOXES = "{box|server|host|machine|database|db|cluster|instance|shell|console}"
SAID_TO_BE_THERE = (
    "{i|we|you} {am|are|m|re|be} {on|connected to|logged into|logged in to} {prod|production}",
    f"{{i|we|you}} {{am|are|m|re|be}} {{in|inside|attached to}} {{prod|production}} {BOXES}",
    f"{{this|that|it|here}} {{is|s}} {{prod|production}} {BOXES}",
    "{switched|connected|logged in} {to|into} {prod|production}",
    f"{{connect|log in|log|ssh|switch}} {{to|into|onto}} {{prod|production}} {BOXES}",
)
NAMES = "{prod|production|prod-*|*-prod|*_prod|*-prod-*|*/prod|*/prod-*|*production*}"
# A value with `prod` as a separate word: `products-db` has none.
VALUES = ("*production*", "*prod-*", "*-prod.*", "*-prod", "*_prod", "*/prod", "*.prod.*", "*@prod.*", "prod")
POINTED_THERE = (
    f"kubectl config use-context {NAMES}",
    f"{{kubectx|kubie|kctx}} {NAMES}",
    f"docker context use {NAMES}",
    f"{{terraform|tofu}} workspace select {NAMES}",
    f"pulumi stack select {NAMES}",
    f"gcloud config set project {NAMES}",
    f"gcloud config configurations activate {NAMES}",
    "railway environment {prod|production}",
    "{ssh|mosh} {prod|production|prod-*|*-prod|*-prod-*|*.prod.*|*-prod.*|*@prod|*@prod-*|*@prod.*|*@production*}",
    *(f"export {{*_URL={one}|*_HOST={one}|*_DSN={one}|*_PROFILE={one}|PGHOST={one}|KUBECONFIG={one}}}"
      for one in VALUES if one != "prod"),
    "export {*_PROFILE=prod|RAILS_ENV=production|APP_ENV=production|APP_ENV=prod}",
    "source {.env.production|.env.prod|*/.env.production|*/.env.prod}",
)  # fmt: skip
SAID_TO_LEAVE = (
    "{i|we|you} {am|are|m|re|be} {on|in|connected to|back on} {staging|dev|development|test|local|localhost}",
    "{this|that|it|here} {is|s} {not|only} {prod|production}",
    "{switched|moved|back} {to|on|onto} {staging|dev|development|local|localhost}",
    "{this|it|here} {is|s} {staging|dev|development|test} {box|server|host|machine|database|db|cluster|instance}",
)
ELSEWHERE = "{*dev*|*staging*|*stage*|*test*|*local*|minikube|kind-*|docker-desktop|default}"
POINTED_ELSEWHERE = (
    f"kubectl config use-context {ELSEWHERE}",
    f"{{kubectx|kubie|kctx}} {ELSEWHERE}",
    f"docker context use {ELSEWHERE}",
    f"{{terraform|tofu}} workspace select {ELSEWHERE}",
    f"pulumi stack select {ELSEWHERE}",
    f"gcloud config set project {ELSEWHERE}",
    f"railway environment {ELSEWHERE}",
    "unset {DATABASE_URL|AWS_PROFILE|KUBECONFIG|PGHOST|DOCKER_HOST}",
)


def _clauses(kind: str, values: Sequence[str]) -> tuple[Clause, ...]:
    return tuple(Clause(kind=kind, value=value) for value in values)


ON_PRODUCTION = Earlier(
    any=(*_clauses("phrase", SAID_TO_BE_THERE), *_clauses("command", POINTED_THERE)),
    until=(*_clauses("phrase", SAID_TO_LEAVE), *_clauses("command", POINTED_ELSEWHERE)),
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
    printed = {"error", "output"}
    gates = tuple((lowered, PRINTED if clause.kind in printed else SPEAKERS) for clause, lowered in (*setting, *ending))
    return LoweredMark(compiled=compiled, gates=gates)


def _clause(clause: Clause, lowered: Lowered) -> CompiledClause:
    """Return the compiled clause. A phrase that is itself a denial (`don't deploy`) also counts if it is denied."""
    denies = clause.kind == "phrase" and not DENYING.isdisjoint(words(str(clause.value)))
    return lowered.clause.as_denial() if denies else lowered.clause


def asks_for(name: str, triggers: Sequence[Trigger]) -> bool:
    """Return whether a `write` clause of any trigger has a condition with this name: `like`, `unread`, `exists`."""
    clauses = [clause for trigger in triggers for clause in (*trigger.any, *trigger.all)]
    return any(hasattr(clause.value, "get") and name in clause.value for clause in clauses if clause.kind == "write")
