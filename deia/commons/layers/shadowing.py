"""Find triggers and documents that hide others: if several layers have the same id, the highest layer's is used.

A trigger of a lower layer then shows a text that its author never saw. A project states with `hides` that this is
intended; a pack needs permission when it is installed, for what is grave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, load_layers, origin_of
from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Map
from deia.knowledge import Clause, Document, Earlier, Entry, Trigger
from deia.problems import CommonsError, Problem
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


# --- documents ---


class Replacement(Record):
    """A document that is shown, and one with the same id in a lower layer that is therefore not shown."""

    winner: Entry
    replaced: Entry
    shown_by: tuple[Trigger, ...]  # the triggers of other layers than the winner's that show it
    meant: bool  # whether the project's own document names the layer that it hides

    @property
    def grave(self) -> bool:
        """Whether a trigger that holds calls or is critical shows it."""
        return any(trigger.action == "hold" or trigger.urgency == "critical" for trigger in self.shown_by)


def find_replacements(layers: Sequence[Commons]) -> Iterator[Replacement]:
    """Yield the replaced documents of the layers, the highest first; an exact copy does not count."""
    first: dict[str, tuple[Entry, Commons]] = {}
    for layer in layers:
        for entry in layer.entries:
            winner, owner = first.setdefault(entry.id, (entry, layer))
            if owner is layer:
                continue
            shown, other = _document(owner, winner), _document(layer, entry)
            if shown is None or other is None or _content(winner, shown) != _content(entry, other):
                yield Replacement(
                    winner=winner,
                    replaced=entry,
                    shown_by=_shown_by(layers, winner),
                    meant=origin_of(winner.path) == PROJECT and layer_of(entry.path) in _hides(shown),
                )


def _document(layer: Commons, entry: Entry) -> Document | None:
    return next((document for document in layer.documents if document.path == entry.path), None)


def _content(entry: Entry, document: Document) -> Sequence[str]:
    return entry.title, entry.summary, document.text


def _hides(document: Document | None) -> tuple[str, ...]:
    metadata = document.metadata if document else None
    return fields.texts(metadata, "hides", Findings("")) if isinstance(metadata, Map) else ()


def _shown_by(layers: Sequence[Commons], winner: Entry) -> tuple[Trigger, ...]:
    origin = origin_of(winner.path)
    triggers = [trigger for layer in layers for trigger in layer.triggers if origin_of(trigger.path) != origin]
    return tuple(trigger for trigger in triggers if any(shown.id == winner.id for shown in trigger.documents))


def describe_replacement(replacement: Replacement) -> str:
    """Return what is replaced: "replaces `git-history` of the starter, which `git-force-push` shows"."""
    origin = origin_of(replacement.replaced.path)
    names = ", ".join(quote(trigger.id) for trigger in replacement.shown_by[:3])
    return f"replaces {quote(replacement.replaced.id)} of the {origin}{f', which {names} shows' if names else ''}"


def replacement_problem(replacement: Replacement) -> Problem:
    """Return a warning about a document that replaces another."""
    layer = layer_of(replacement.replaced.path)
    fix = f"Give it another id; if this is intended, write into its metadata: hides: {layer}"
    found = f"The document {describe_replacement(replacement)}."
    return hides_problem(replacement.winner.path, found, fix).but(code="replaced-document")


def replacement_problems(layers: Sequence[Commons]) -> list[Problem]:
    """Return a warning for every replaced document that is not stated to be intended."""
    return [replacement_problem(item) for item in find_replacements(layers) if not item.meant]


def refuse_weakening(root: str, *idents: str) -> None:
    """Check that none of some documents of a project is what a grave trigger of another layer shows."""
    for item in find_replacements(load_layers(root, trusted=True).stack):
        if item.grave and item.replaced.id in idents and origin_of(item.winner.path) == PROJECT:
            raise CommonsError(
                f"{item.winner.path} {describe_replacement(item)}; its text is that trigger's reason.",
                fix="Save a lesson under another title. A person can change this one in an editor.",
            )
