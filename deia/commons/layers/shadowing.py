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
from deia.knowledge import Clause, Document, Entry, Trigger
from deia.problems import CommonsError, Problem
from deia.records import Record


class Hidden(Record):
    """A trigger or document of a lower layer that is not used, since a higher layer has another one of its id."""

    id: str
    winner: Trigger | Entry
    what: str  # in words: "hides `git-force-push` of the starter (critical, hold)"
    problem: Problem  # a warning about it
    grave: bool  # whether it is a trigger that holds calls or is critical, or what such a trigger shows
    meant: bool  # whether the project's own `hides` names the layer; a pack cannot do so


def find_hidden(layers: Sequence[Commons]) -> Iterator[Hidden]:
    """Yield what is hidden in the layers, the highest first; an exact copy does not count."""
    yield from hidden_triggers(layers)
    yield from replaced_documents(layers)


def unmeant_problems(layers: Sequence[Commons]) -> list[Problem]:
    """Return a warning for everything that is hidden and not stated to be intended."""
    return [item.problem for item in find_hidden(layers) if not item.meant]


def _is_grave(trigger: Trigger) -> bool:
    return trigger.action == "hold" or trigger.urgency == "critical"


def _layer_of(path: str) -> str:
    """Return the name of the layer that a path is in, as `hides` and `deia pack` take it."""
    return origin_of(path).removeprefix("pack ")


def _problem(winner: Trigger | Entry, message: str, fix: str, *, code: str) -> Problem:
    """Return a warning about what hides something; if that belongs to a pack, the fix is to remove the pack."""
    own = origin_of(winner.path) == PROJECT
    remove = f"If this is not intended, type: deia pack remove {_layer_of(winner.path)}"
    line = winner.line if isinstance(winner, Trigger) else 0
    advice = f"Give it another id; if this is intended, write{fix}" if own else remove
    return Problem(path=winner.path, line=line, found=message, fix=advice, code=code, severity="warning")


# --- triggers ---


def hidden_triggers(layers: Sequence[Commons]) -> Iterator[Hidden]:
    """Yield the hidden triggers of the layers."""
    first: dict[str, Trigger] = {}
    for layer in layers:
        for trigger in layer.triggers:
            winner = first.setdefault(trigger.id, trigger)
            if winner is not trigger and without_location(winner) != without_location(trigger):
                gone = ", and is deprecated itself" if winner.status == "deprecated" else ""
                strength = f"({trigger.urgency}, {trigger.action})"
                what = f"hides {quote(trigger.id)} of the {origin_of(trigger.path)} {strength}{gone}"
                layer_name = _layer_of(trigger.path)
                yield Hidden(
                    id=trigger.id, winner=winner, what=what,
                    problem=_problem(winner, f"The trigger {what}.", f": hides: {layer_name}", code="hidden-trigger"),
                    grave=trigger.status != "deprecated" and _is_grave(trigger),
                    meant=origin_of(winner.path) == PROJECT and layer_name in winner.hides,
                )  # fmt: skip


def without_location(trigger: Trigger) -> Trigger:
    """Return a trigger without its file, its line numbers and `hides`, for comparison with one of another layer."""
    earlier = trigger.earlier
    return trigger.but(
        line=0,
        path="",
        hides=(),
        any=_without_lines(trigger.any),
        all=_without_lines(trigger.all),
        earlier=earlier and earlier.but(any=_without_lines(earlier.any), until=_without_lines(earlier.until)),
    )


def _without_lines(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    return tuple(clause.but(line=0) for clause in clauses)


# --- documents ---


def replaced_documents(layers: Sequence[Commons]) -> Iterator[Hidden]:
    """Yield the documents of the layers that are replaced by others."""
    first: dict[str, tuple[Entry, Commons]] = {}
    for layer in layers:
        for entry in layer.entries:
            winner, owner = first.setdefault(entry.id, (entry, layer))
            shown = _document(owner, winner)
            if owner is not layer and (shown is None or _content(owner, winner) != _content(layer, entry)):
                yield _replaced(entry, winner, shown, layers)


def _replaced(entry: Entry, winner: Entry, shown: Document | None, layers: Sequence[Commons]) -> Hidden:
    """Return what is replaced, with the triggers of other layers than the winner's that show it."""
    triggers = [trigger for layer in layers for trigger in layer.triggers]
    others = [trigger for trigger in triggers if origin_of(trigger.path) != origin_of(winner.path)]
    showing = [trigger for trigger in others if any(document.id == winner.id for document in trigger.documents)]
    names = ", ".join(quote(trigger.id) for trigger in showing[:3])
    what = f"replaces {quote(entry.id)} of the {origin_of(entry.path)}{f', which {names} shows' if names else ''}"
    layer, metadata = _layer_of(entry.path), shown.metadata if shown else None
    hides = fields.texts(metadata, "hides", Findings("")) if isinstance(metadata, Map) else ()
    fix = f" into its metadata: hides: {layer}"
    return Hidden(
        id=entry.id, winner=winner, what=what, grave=any(map(_is_grave, showing)),
        problem=_problem(winner, f"The document {what}.", fix, code="replaced-document"),
        meant=origin_of(winner.path) == PROJECT and layer in hides,
    )  # fmt: skip


def _document(layer: Commons, entry: Entry) -> Document | None:
    return next((document for document in layer.documents if document.path == entry.path), None)


def _content(layer: Commons, entry: Entry) -> Sequence[str | None]:
    document = _document(layer, entry)
    return entry.title, entry.summary, document.text if document else None


def refuse_weakening(root: str, *idents: str) -> None:
    """Raise CommonsError if a grave trigger of another layer shows one of some documents of a project."""
    for item in replaced_documents(load_layers(root, trusted=True).stack):
        if item.grave and item.id in idents and origin_of(item.winner.path) == PROJECT:
            raise CommonsError(
                f"{item.winner.path} {item.what}; its text is that trigger's reason.",
                fix="Save a lesson under another title. A person can change this one in an editor.",
            )
