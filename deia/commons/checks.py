"""Find everything that is wrong with a commons: in the index, the documents and the triggers, and between them.

Each check is a function from a loaded commons to problems; `CHECKS` lists them all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from deia.commons.index.derived_views import derived_values
from deia.commons.index.documents import FOLDER as DOCUMENTS
from deia.commons.index.golden_queries import load_golden
from deia.commons.index.load_commons import Commons
from deia.commons.index.near_copies import near_copies
from deia.commons.index.successors import circles_of, successors_of, with_real_successors
from deia.commons.layers.merge_layers import Layers, load_layers
from deia.commons.layers.shadowing import unmeant_problems
from deia.commons.notes.describe import usual_names
from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.outline import outline_lines
from deia.commons.source_files.yaml_reader import Map, plain
from deia.fast_json import Json
from deia.knowledge import Entry
from deia.problems import Problem, SettingsError
from deia.records import URGENCIES
from deia.settings import DEFAULTS, Settings, setting_line
from deia.suggestions import did_you_mean, nearest
from deia.text import no_longer_holding

BUILD = "Run `deia index build`."
MOST_NAMED = 9  # documents of a circle


def lint(root: str, *, starter: bool = True, settings: Settings | None = None) -> list[Problem]:
    """Return every problem of a commons; `starter` is whether the starter commons is used as its lowest layer.

    An untrusted commons is checked as if it were trusted: whoever asks wants to know about all of it. Raise
    CommonsError if there is no commons at `root`.
    """
    globs = None if settings is None else settings.documents
    layers = load_layers(root, starter=starter, trusted=True, globs=globs)
    project, today = layers.stack[0], time.strftime("%Y-%m-%d", time.gmtime())
    problems = check_layers(layers, settings or DEFAULTS)
    problems += outdated_trigger_documents(project, layers.merged(), today)
    return sorted((*problems, *load_golden(root).problems, *near_copies(project)), key=_place)


def check_layers(layers: Layers, settings: Settings) -> list[Problem]:
    """Return every problem of a loaded commons, its layers and the names in `settings`, by file and line."""
    project, whole = layers.stack[0], layers.merged()
    problems = [*whole.problems, *(problem for check in CHECKS for problem in check(project))]
    problems += unknown_trigger_documents(project, whole)
    problems += unknown_successors(project, whole)
    problems += unmeant_problems(layers.stack)
    problems += unknown_in_settings(whole, settings)
    return sorted(dict.fromkeys(problems), key=_place)


def _place(problem: Problem) -> tuple[str, int, str, str]:
    return (problem.path, problem.line, problem.code, problem.found)


def setting_problems(error: SettingsError) -> Iterator[Problem]:
    """Yield every wrong setting as a problem."""
    for setting_error in error.problems or (error,):
        path, _, line = setting_error.where.rpartition(":")
        place, number = (path, int(line)) if line.isdigit() else (setting_error.where, 0)
        yield Problem(
            path=place, line=number, found=f"{setting_error.message}.", fix=setting_error.fix, code="wrong-setting"
        )


def unknown_in_settings(whole: Commons, settings: Settings) -> Iterator[Problem]:
    """Report names in `forms` and `exceptions` that no trigger or urgency has, so that their lines have no effect."""
    triggers = [trigger.id for trigger in whole.triggers]
    for table, names in (("forms", settings.forms), ("exceptions", settings.exceptions)):
        known = [*(URGENCIES if table == "forms" else ()), *triggers]
        kind = "urgency or trigger" if table == "forms" else "trigger"
        path = settings.sources.get(table, "deia.toml")
        for name in names:
            if name not in known:
                line = setting_line(whole.root, path, table, name)
                message = (
                    f"[{table}] names {quote(name)}, but there is no {kind} of that name, so the line has no effect."
                )
                urgencies = f"The urgencies are {', '.join(URGENCIES)}." if table == "forms" else ""
                advice = (did_you_mean(name, known), urgencies, "To see the triggers, type: deia trigger list")
                fix = " ".join(filter(None, advice))
                yield Problem(path=path, line=line, found=message, fix=fix, code="unknown-setting-name")


def _listed(commons: Commons) -> list[Entry]:
    return [entry for entry in commons.entries if entry.id not in commons.derived]


def no_index(commons: Commons) -> Iterator[Problem]:
    """Report that a commons has no index; it works from the documents alone."""
    if not commons.index.path:
        message = "There is no commons_index.yaml; documents are described by their own metadata."
        yield Problem(path="commons_index.yaml", line=0, found=message, fix=BUILD, code="no-index", severity="warning")


def missing_files(commons: Commons) -> Iterator[Problem]:
    """Report entries whose document does not exist or lies outside the commons."""
    present = {document.path for document in commons.documents}
    for entry in _listed(commons):
        if entry.path in present:
            continue
        place = safe_files.resolve(commons.root, entry.path)
        if not place:
            message = f"{quote(entry.path)} of {quote(entry.id)} is a link to a file outside the commons."
            fix = "Move the document into the commons."
            yield _warning(commons, entry.line, "path-leaves-commons", message, fix).but(severity="error")
        elif not os.path.isfile(place):
            message = f"There is no file {quote(entry.path)} for {quote(entry.id)}."
            fix = "Write the document, correct the path, or remove the entry."
            yield _warning(commons, entry.line, "missing-file", message, fix).but(severity="error")


def unlisted_documents(commons: Commons) -> Iterator[Problem]:
    """Report documents in `bok/` that are not in the index; notes elsewhere need no entry."""
    for entry in commons.entries:
        if entry.id in commons.derived and commons.index.path and entry.path.startswith(f"{DOCUMENTS}/"):
            message = f"The document is not in the index; for now its id is {quote(entry.id)}."
            yield Problem(
                path=entry.path, line=0, found=message, fix=BUILD, code="unlisted-document", severity="warning"
            )


def thin_entries(commons: Commons) -> Iterator[Problem]:
    """Report entries without a title, a summary or keywords, which search and people rely on."""
    for entry in _listed(commons):
        missing = [name for name in ("title", "summary", "keywords") if not getattr(entry, name)]
        if missing:
            message = f"{quote(entry.id)} has no {', '.join(missing)}."
            yield _warning(commons, entry.line, "thin-entry", message, "Add a one-sentence summary and a few keywords.")


def circular_successors(commons: Commons) -> Iterator[Problem]:
    """Report documents that supersede themselves, alone or in turn; each circle once."""
    circles = circles_of(successors_of(commons.entries))
    places = _superseding(commons) if circles else {}
    for circle in circles:
        turn = " by ".join(map(quote, (*circle[:MOST_NAMED], *(("…",) if circle[MOST_NAMED:] else ()), circle[0])))
        message = f"A circle: {turn} is superseded." if circle[1:] else f"{quote(circle[0])} supersedes itself."
        path, line = places[circle[0]]
        fix = "Remove `superseded_by` from the one that holds; until then all of them do."
        yield Problem(path=path, line=line, found=message, fix=fix, code="circular-successors", severity="warning")


def _superseding(commons: Commons) -> dict[str, tuple[str, int]]:
    """Return the file and line that name each superseded document's successor: its entry, or its own metadata."""
    listed = {entry.id: (commons.index.path, entry.line) for entry in commons.index.entries if entry.superseded_by}
    metadata = {document.path: document.metadata for document in commons.documents}
    places = dict(listed)
    for entry in commons.entries:
        if entry.superseded_by and entry.id not in listed:
            own = metadata.get(entry.path)
            line = usual_names(own).at("superseded_by") if isinstance(own, Map) else 0
            places.setdefault(entry.id, (entry.path, line))
    return places


def unfilled_outlines(commons: Commons) -> Iterator[Problem]:
    """Report documents that still contain lines of the outline that `deia add` wrote."""
    for document in commons.documents:
        lines = outline_lines(document.text)
        if lines:
            yield Problem(
                path=document.path, line=document.first_line + lines[0] - 1, code="unfilled-outline",
                found="Placeholder text remains.",
                fix="Write down what happened and what to do instead; until then only its summary is shown.",
                severity="warning",
            )  # fmt: skip


def shared_paths(commons: Commons) -> Iterator[Problem]:
    """Report pairs of entries for the same document."""
    first: dict[str, Entry] = {}
    for entry in _listed(commons):
        earlier = first.setdefault(entry.path, entry)
        if earlier is not entry:
            message = f"{quote(entry.id)} and {quote(earlier.id)} (line {earlier.line}) are the same document."
            yield _warning(commons, entry.line, "shared-path", message, "Keep one entry; elsewhere, list only its id.")


def disagreements(commons: Commons) -> Iterator[Problem]:
    """Report where an entry and its document's metadata disagree; the entry takes precedence."""
    metadata = {document.path: document.metadata for document in commons.documents}
    for entry in _listed(commons):
        own, ignored = metadata.get(entry.path), Findings("")
        source = usual_names(own) if isinstance(own, Map) else Map()
        compared = {
            "title": ((fields.text(source, "title", ignored),), (entry.title,)),
            "urgency": ((fields.text(source, "urgency", ignored),), (entry.urgency,)),
            "platform": (fields.words(source, "platform", ignored), entry.platforms),
        }
        for field, sides in compared.items():
            documented, indexed = ({value.lower() for value in values if value} for values in sides)
            if documented and indexed and documented != indexed:
                line = source.at(field)
                message = (
                    f"`{field}` is {', '.join(sorted(documented))} here and {', '.join(sorted(indexed))} in the index."
                )
                fix = f"Make them agree; until then the index ({commons.index.path}:{entry.line}) is used."
                yield Problem(
                    path=entry.path, line=line, found=message, fix=fix, code="disagreement", severity="warning"
                )


def unknown_references(commons: Commons) -> Iterator[Problem]:
    """Report ids and cluster names in the index that do not exist."""
    known = {entry.id for entry in commons.entries}
    names = {cluster.id for cluster in commons.clusters}
    for entry in _listed(commons):
        yield from _unknown(commons, entry.line, f"`related_docs` of {quote(entry.id)}", entry.related_docs, known)
    for cluster in commons.clusters:
        where = f"the cluster {quote(cluster.id)}"
        yield from _unknown(commons, cluster.line, where, cluster.documents, known)
        yield from _unknown(commons, cluster.line, where, cluster.related_clusters, names, kind="cluster")
    for pattern in commons.query_patterns:
        yield from _unknown(commons, pattern.line, "`common_docs`", pattern.common_docs, known)
        primary = (pattern.primary_cluster,) if pattern.primary_cluster else ()
        yield from _unknown(commons, pattern.line, "`primary_cluster`", primary, names, kind="cluster")
    for path in commons.learning_paths:
        where = f"the learning path of {quote(path.audience)}"
        for step in path.steps:
            yield from _unknown(commons, step.line, where, (step.document,), known)


def _unknown(
    commons: Commons, line: int, where: str, names: tuple[str, ...], known: Collection[str], *, kind: str = "document"
) -> Iterator[Problem]:
    for name in names:
        if name not in known:
            message = f"In {where}: there is no {kind} {quote(name)}."
            fix = nearest(name, known)
            yield Problem(path=commons.index.path, line=line, found=message, fix=fix, code=f"unknown-{kind}")


def unknown_successors(commons: Commons, whole: Commons) -> Iterator[Problem]:
    """Report documents that are superseded by one which exists in no layer; none of them is said to mean itself."""
    known = {entry.id for entry in whole.entries}
    unknown = {ident: name for ident, name in successors_of(commons.entries).items() if name not in known}
    places = _superseding(commons) if unknown else {}
    for ident, successor in unknown.items():
        place, line = places[ident]
        where = f"`superseded_by` of {quote(ident)}"
        for problem in _unknown(commons, line, where, (successor,), known - {ident}):
            yield problem.but(path=place)


def unknown_trigger_documents(commons: Commons, whole: Commons) -> Iterator[Problem]:
    """Report triggers that show a document which exists in no layer."""
    known = {entry.id for entry in whole.entries}
    references = [(trigger, reference) for trigger in commons.triggers for reference in trigger.documents]
    for trigger, reference in references:
        if reference.id not in known:
            message = f"{quote(trigger.id)} refers to the document {quote(reference.id)}, which is not in the commons."
            fix = nearest(reference.id, known)
            yield Problem(path=trigger.path, line=trigger.line, found=message, fix=fix, code="unknown-document")


def outdated_trigger_documents(commons: Commons, whole: Commons, today: str) -> Iterator[Problem]:
    """Report triggers that show a document which no longer holds; no compile does, since it depends on the day."""
    entries = {entry.id: entry for entry in with_real_successors(whole.entries)}
    living = [trigger for trigger in commons.triggers if trigger.status != "deprecated"]
    references = [(trigger, reference) for trigger in living for reference in trigger.documents]
    for trigger, reference in references:
        entry = entries.get(reference.id)
        if entry and (why := no_longer_holding(entry.superseded_by, entry.valid_until, today)):
            other = f"{quote(entry.superseded_by)} instead" if entry.superseded_by else "one that holds"
            yield Problem(
                path=trigger.path, line=trigger.line, code="outdated-document", severity="warning",
                found=f"{quote(trigger.id)} shows the document {quote(entry.id)}, which is {why}.",
                fix=f"Name {other}, or set the trigger's `status` to deprecated.",
            )  # fmt: skip


def stale_views(commons: Commons) -> Iterator[Problem]:
    """Report views and counts in the index that differ from what `deia index build` would write."""
    source = commons.index.source
    if not isinstance(source, Map):
        return
    for name, expected in derived_values(plain(source), _listed(commons), commons.clusters).items():
        written = source.get(name)
        if isinstance(expected, int) and name in source and written != expected:
            message = f"`{name}` is {quote(written)}, but there are {expected}."
            yield _warning(commons, source.at(name), "stale-count", message, BUILD)
        elif isinstance(expected, dict) and isinstance(written, Map) and name == "statistics":
            for table in (table for table in expected if isinstance(written.get(table), Map)):
                if written[table] != expected[table]:
                    message = f"`{name}.{table}` does not match the entries."
                    yield _warning(commons, written.at(table), "stale-count", message, BUILD)
        elif isinstance(expected, dict) and isinstance(written, Map):
            for key in sorted({*written, *expected}):
                if difference := _difference(_ids(written.get(key)), _ids(expected.get(key))):
                    message = f"`{name}` of {quote(key)} {difference}."
                    yield _warning(commons, written.at(key), "stale-view", message, BUILD)


def _ids(view: Json) -> list[str]:
    """Return the document ids under one key of a view, in any of its forms."""
    if isinstance(view, dict):
        parts = [value for key, value in view.items() if key == "documents" or key.endswith("_docs")]
        return [ident for part in parts for ident in _ids(part)]
    items = view if isinstance(view, list) else []
    return [fields.as_text(item) for item in items if not isinstance(item, dict | list)]


def _difference(listed: list[str], expected: list[str]) -> str:
    missing = [ident for ident in expected if ident not in listed]
    surplus = [ident for ident in listed if ident not in expected]
    parts = [f"lacks {', '.join(map(quote, missing[:5]))}" if missing else ""]
    parts.append(f"lists {', '.join(map(quote, surplus[:5]))}, whose entries do not belong there" if surplus else "")
    return " and ".join(part for part in parts if part)


def _warning(commons: Commons, line: int, code: str, message: str, fix: str) -> Problem:
    return Problem(path=commons.index.path, line=line, found=message, fix=fix, code=code, severity="warning")


Check: TypeAlias = Callable[[Commons], Iterator[Problem]]
OF_DOCUMENTS: tuple[Check, ...] = (unlisted_documents, unfilled_outlines, disagreements)  # each looked at on its own
CHECKS: tuple[Check, ...] = (
    no_index, missing_files, *OF_DOCUMENTS, thin_entries, circular_successors, shared_paths,
    unknown_references, stale_views,
)  # fmt: skip
