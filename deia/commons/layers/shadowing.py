"""Find triggers that hide others: if several layers have the same id, the trigger of the highest layer is used.

A project states with `hides` that this is intended; a pack needs permission when it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files.findings import quote
from deia.knowledge import Clause, Earlier, Trigger
from deia.problems import Problem
from deia.records import Record


class Hiding(Record):
    """A trigger that is used, and one with the same id in a lower layer that is therefore not used."""

    winner: Trigger
    hidden: Trigger

    @property
    def grave(self) -> bool:
        """Whether the hidden trigger holds calls or is critical."""
        return self.hidden.status != "deprecated" and (
            self.hidden.action == "hold" or self.hidden.urgency == "critical"
        )

    @property
    def meant(self) -> bool:
        """Whether the project's own trigger names the layer that it hides; a pack cannot do so."""
        return origin_of(self.winner.path) == PROJECT and layer_of(self.hidden.path) in self.winner.hides


def find_hidings(layers: Sequence[Commons]) -> Iterator[Hiding]:
    """Yield the hidden triggers of the layers, the highest first; an exact copy of a trigger does not count."""
    first: dict[str, Trigger] = {}
    for layer in layers:
        for trigger in layer.triggers:
            winner = first.setdefault(trigger.id, trigger)
            if winner is not trigger and without_location(winner) != without_location(trigger):
                yield Hiding(winner=winner, hidden=trigger)


def describe_hiding(hiding: Hiding) -> str:
    """Return what is hidden: "hides `git-force-push` of the starter (critical, hold)"."""
    gone = ", and is deprecated itself" if hiding.winner.status == "deprecated" else ""
    hidden = hiding.hidden
    return f"hides {quote(hidden.id)} of the {origin_of(hidden.path)} ({hidden.urgency}, {hidden.action}){gone}"


def hiding_problem(hiding: Hiding) -> Problem:
    """Return a warning about a trigger that hides another."""
    fix = f"Give it another id; if this is intended, write: hides: {layer_of(hiding.hidden.path)}"
    problem = hides_problem(hiding.winner.path, f"The trigger {describe_hiding(hiding)}.", fix)
    return problem.but(line=hiding.winner.line, code="hidden-trigger")


def hides_problem(path: str, found: str, fix: str) -> Problem:
    """Return a warning about what hides something of a lower layer; of a pack's, the fix is to remove the pack."""
    remove = f"If this is not intended, type: deia pack remove {layer_of(path)}"
    own = origin_of(path) == PROJECT
    return Problem(path=path, line=0, found=found, fix=fix if own else remove, severity="warning")


def layer_of(path: str) -> str:
    """Return the name of the layer that a path is in, as `hides` and `deia pack` take it."""
    return origin_of(path).removeprefix("pack ")


def hiding_problems(layers: Sequence[Commons]) -> list[Problem]:
    """Return a warning for every hidden trigger that is not stated to be intended."""
    return [hiding_problem(hiding) for hiding in find_hidings(layers) if not hiding.meant]


# --- comparing triggers of different layers ---


def without_location(trigger: Trigger) -> Trigger:
    """Return a trigger without its file, its line numbers and `hides`, for comparison with another."""
    return trigger.but(
        line=0,
        path="",
        hides=(),
        any=_without_lines(trigger.any),
        all=_without_lines(trigger.all),
        earlier=_earlier(trigger.earlier),
    )


def _earlier(earlier: Earlier | None) -> Earlier | None:
    return earlier and earlier.but(any=_without_lines(earlier.any), until=_without_lines(earlier.until))


def _without_lines(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    return tuple(clause.but(line=0) for clause in clauses)
