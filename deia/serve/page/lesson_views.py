"""Lessons and triggers: what there is, what covers it, what is wrong with it, and what it belongs to."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from deia.audit.golden_run import own_questions
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import PROJECT, load_layers, local_path, origin_of
from deia.commons.source_files import safe_files
from deia.errors import QueryError
from deia.fast_json import Json
from deia.graph.drawing import neighbourhood, tree
from deia.graph.graph_questions import named
from deia.graph.picture import picture
from deia.knowledge import Entry, Golden, Trigger
from deia.problems import CommonsError
from deia.records import Record
from deia.serve.page.asked_values import Asked, name, number
from deia.serve.page.asking import document as of_catalog
from deia.serve.server.desk import Desk
from deia.settings import resolve
from deia.text import one_line, shorten
from deia.watch.authoring.replay import run_cases

MOST_BYTES = 2_000_000  # of a file that is shown
EXCERPT = 160  # characters of a case
MOST_DEPTH = 3
MOST_NAMES = 3_000  # offered while one types


class _Loaded(Record):
    """The layers of a commons, merged, with what belongs to all documents."""

    whole: Commons
    golden: tuple[Golden, ...]
    mark: object  # differs whenever the compiled files do


_kept: dict[str, _Loaded] = {}  # by root


def forget(root: str) -> None:
    """Read a commons again when it is next shown, since a file of it was written."""
    _kept.pop(root, None)


def loaded(desk: Desk) -> _Loaded:
    """Return the commons with the layers below it; it is read once for each compile."""
    mark, known = desk.generation(), _kept.get(desk.root)
    if known is None or known.mark != mark:
        settings = resolve(desk.root, environ=os.environ)
        layers = load_layers(desk.root, starter=settings.starter, trusted=settings.trusted)
        layers = layers if settings.starter_triggers else layers.without_starter_triggers()
        _kept.clear()
        known = _kept[desk.root] = _Loaded(whole=layers.merged(), golden=_golden(desk.root), mark=mark)
    return known


def _golden(root: str) -> tuple[Golden, ...]:
    try:
        return tuple(own_questions(root))
    except CommonsError:  # the problems of its file are among those that `problems` shows
        return ()


def names(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return the ids of triggers and documents, which a browser offers while one types."""
    catalog = desk.librarian.open_catalog()
    ids = [trigger.id for trigger in desk.librarian.open_artefact().triggers()]
    return {"ids": [*ids[:MOST_NAMES]], "documents": [*catalog.ids()][:MOST_NAMES]}


def overview(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return every document and trigger with what covers it, the clusters, and the learning paths."""
    whole, golden = loaded(desk).whole, loaded(desk).golden
    showing = _counted([reference.id for trigger in whole.triggers for reference in trigger.documents])
    asked = _counted([ident for question in golden for ident in question.grades])
    cases = {fires: _counted([case.trigger for case in whole.cases if case.fires is fires]) for fires in (True, False)}
    return {
        "documents": [_document(entry, showing.get(entry.id, 0), asked.get(entry.id, 0)) for entry in whole.entries],
        "triggers": [
            _trigger(trigger, cases[True].get(trigger.id, 0), cases[False].get(trigger.id, 0))
            for trigger in whole.triggers
        ],
        "clusters": [{"id": cluster.id, "description": cluster.description} for cluster in whole.clusters],
        "paths": [
            {"audience": path.audience, "steps": [step.document for step in path.steps]}
            for path in whole.learning_paths
        ],
    }  # fmt: skip


def _counted(idents: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for ident in idents:
        counts[ident] = counts.get(ident, 0) + 1
    return counts


def _document(entry: Entry, triggers: int, golden: int) -> dict[str, Json]:
    return {
        "id": entry.id, "title": one_line(entry.title), "path": entry.path, "urgency": entry.urgency,
        "clusters": [*entry.clusters], "origin": origin_of(entry.path), "triggers": triggers, "golden": golden,
    }  # fmt: skip


def _trigger(trigger: Trigger, fires: int, silent: int) -> dict[str, Json]:
    return {
        "id": trigger.id, "title": one_line(trigger.title), "path": trigger.path, "line": trigger.line,
        "urgency": trigger.urgency, "action": trigger.action, "status": trigger.status,
        "origin": origin_of(trigger.path), "fires": fires, "silent": silent,
    }  # fmt: skip


def lesson(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return a document with its triggers, its golden queries, and the learning paths that it is on."""
    shown = of_catalog(desk, asked)
    ident, whole = str(shown["id"]), loaded(desk).whole
    triggers = [trigger for trigger in whole.triggers if any(reference.id == ident for reference in trigger.documents)]
    golden = [question.query for question in loaded(desk).golden if ident in question.grades]
    paths = [path.audience for path in whole.learning_paths if any(step.document == ident for step in path.steps)]
    return {
        **shown, "triggers": [_trigger(trigger, 0, 0) for trigger in triggers], "golden": [*golden], "paths": [*paths],
        "editable": shown["own"] is True and _is_writable(desk),
    }  # fmt: skip


def _is_writable(desk: Desk) -> bool:
    try:
        return bool(desk.writable)
    except CommonsError:
        return False


def trigger_view(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return a trigger as its file has it, with its cases and how they end."""
    ident, whole = name(asked, "id"), loaded(desk).whole
    trigger = next((trigger for trigger in whole.triggers if trigger.id == ident), None)
    if trigger is None:
        raise QueryError(f"there is no trigger {ident!r}", fix="To see them all, open Lessons.")
    own = origin_of(trigger.path) == PROJECT
    cases = [case for case in whole.cases if case.trigger == ident]
    results = run_cases(desk.librarian.open_artefact(), cases, now=time.time())
    return {
        **_trigger(trigger, 0, 0), "own": own, "editable": own and _is_writable(desk), "message": trigger.message,
        "documents": [reference.id for reference in trigger.documents], "source": _source(desk, trigger, whole),
        "cases": [
            {
                "fires": result.case.fires, "holds": result.holds, "path": result.case.path, "line": result.case.line,
                "stage": result.stage, "detail": result.detail,
                "text": shorten(one_line(_said(result.case.turns)), EXCERPT),
            }
            for result in results
        ],
    }  # fmt: skip


def _said(turns: Sequence[object]) -> str:
    last = turns[-1] if turns else None
    return str(getattr(last, "text", "") or getattr(last, "tool_input", "") or "")


def _source(desk: Desk, trigger: Trigger, whole: Commons) -> str:
    """Return the lines of a trigger in its file, "" if that is not a file of this commons."""
    if origin_of(trigger.path) != PROJECT or not trigger.line:
        return ""
    read = safe_files.read_text(desk.root, local_path(trigger.path), limit=MOST_BYTES)
    lines = read.text.split("\n")
    later = [other.line for other in whole.triggers if other.path == trigger.path and other.line > trigger.line]
    return "\n".join(lines[trigger.line - 1 : min(later, default=len(lines) + 1) - 1]).rstrip()


def drawn_around(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return what is around a document in the graph, as a picture and as a tree of text."""
    depth = number(asked, "depth", default=1, most=MOST_DEPTH)
    with desk.librarian.open_graph() as graph:
        about = named(graph, name(asked, "id"), "")
        if about.choices:
            raise QueryError(about.note, fix=", ".join(choice.typed for choice in about.choices[:5]))
        drawn = neighbourhood(graph, about.entity, depth=depth)
    values: Mapping[str, Json] = {"svg": picture(drawn), "tree": tree(drawn), "cut": drawn.is_cut}
    return {**values}
