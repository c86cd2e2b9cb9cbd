"""Which triggers hide others: of one id the highest layer's counts, and whoever reads a list of packs should know it.

Refuses to judge whether hiding is right: a project says that it is meant by `hides`, a pack is taken in with leave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files.findings import quote
from deia.errors import Problem
from deia.knowledge import Clause, Earlier, Trigger
from deia.records import Record


class Hiding(Record):
    """A trigger that counts, and one of the same id in a lower layer that therefore does not."""

    winner: Trigger
    hidden: Trigger

    @property
    def grave(self) -> bool:
        """Say whether what is hidden stops something or warns of the worst."""
        return self.hidden.status != "deprecated" and (
            self.hidden.action == "hold" or self.hidden.urgency == "critical"
        )

    @property
    def meant(self) -> bool:
        """Say whether the project's own trigger names the layer that it hides; a pack's word counts for nothing."""
        return (
            origin_of(self.winner.path) == PROJECT
            and origin_of(self.hidden.path).removeprefix("pack ") in self.winner.hides
        )


def find_hidings(layers: Sequence[Commons]) -> Iterator[Hiding]:
    """Yield what is hidden among layers, the highest first; a trigger that is an exact copy hides nothing."""
    first: dict[str, Trigger] = {}
    for layer in layers:
        for trigger in layer.triggers:
            winner = first.setdefault(trigger.id, trigger)
            if winner is not trigger and without_location(winner) != without_location(trigger):
                yield Hiding(winner=winner, hidden=trigger)


def describe_hiding(hiding: Hiding) -> str:
    """Say what is hidden: "hides `git-force-push` of the starter (critical, hold)"."""
    origin = origin_of(hiding.hidden.path)
    whose = "the starter" if origin == "starter" else f"the {origin}"
    gone = ", and is deprecated itself" if hiding.winner.status == "deprecated" else ""
    return f"hides {quote(hiding.hidden.id)} of {whose} ({hiding.hidden.urgency}, {hiding.hidden.action}){gone}"


def hiding_problem(hiding: Hiding) -> Problem:
    """Give a warning for a trigger that hides another."""
    own = origin_of(hiding.winner.path) == PROJECT
    layer = origin_of(hiding.hidden.path).removeprefix("pack ")
    fix = (
        f"Give it another id; if it is meant, say so: hides: {layer}"
        if own
        else f"If it is not meant, type: deia pack remove {origin_of(hiding.winner.path).removeprefix('pack ')}"
    )
    found = f"The trigger {describe_hiding(hiding)}."
    return Problem(
        path=hiding.winner.path,
        line=hiding.winner.line,
        found=found,
        fix=fix,
        code="hidden-trigger",
        severity="warning",
    )


def hiding_problems(layers: Sequence[Commons]) -> list[Problem]:
    """Give a warning for everything that is hidden and not said to be meant."""
    return [hiding_problem(one) for one in find_hidings(layers) if not one.meant]


# --- a trigger apart from where it stands ---


def without_location(trigger: Trigger) -> Trigger:
    """Give a trigger as anybody could have written it: without file, lines, and what it says of other layers."""
    return trigger.but(
        line=0, path="", hides=(), any=_bare(trigger.any), all=_bare(trigger.all), earlier=_earlier(trigger.earlier)
    )


def _earlier(earlier: Earlier | None) -> Earlier | None:
    return earlier and earlier.but(any=_bare(earlier.any), until=_bare(earlier.until))


def _bare(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    return tuple(clause.but(line=0) for clause in clauses)
