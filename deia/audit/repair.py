"""Repair what can be repaired: take in stale and failed sources once more, and cut sources anew if that answers better.

Another strategy is tried on a copy of the library. It is kept only if the golden questions, and those that failed, find
their documents better; the strategy before it is kept beside the library, so that `undo` brings it back.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from deia import files
from deia.audit.golden_run import RECALL_DEPTH, scores
from deia.audit.state import FAILED, PROCESSED, State
from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.take_in import open_library, registered_sources, take_in, update
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX, library_folder
from deia.ingest.library_store import Library, Registered
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError
from deia.records import Record
from deia.search.catalog import open_catalog
from deia.search.pipeline import ranking

STRATEGIES = ("recursive", "hierarchical", "by_paragraph", "by_sentence", "fixed_chars")  # in the order of trying
TRIES = 2
HIT_DEPTH = 3
BETTER = 0.01  # how much higher the mean score of a strategy must be than that of the present one
BEFORE = "repairs.json"  # in the library's folder: what `undo` brings back
WARN, ERROR, CRITICAL = SEVERITIES = ("warn", "error", "critical")
STATE, RETRIEVAL, SYSTEM = CATEGORIES = ("state", "retrieval", "system")

Questions = Mapping[str, Mapping[str, int]]  # with the grades of the documents that they should find


class Escalation(Record):
    """What could not be repaired, for the person or the program that asked."""

    severity: str
    category: str
    description: str
    diagnostics: Mapping[str, Json] = {}
    actions: tuple[str, ...] = ()
    retryable: bool = False

    def to_dict(self) -> dict[str, Json]:
        """Return the escalation for programs."""
        return {
            "severity": self.severity, "category": self.category, "description": self.description,
            "diagnostics": dict(self.diagnostics), "suggestedActions": [*self.actions], "retryable": self.retryable,
        }  # fmt: skip


class Repair(Record):
    """The outcome of a repair."""

    success: bool
    reason: str
    new_strategy: str = ""
    steps: tuple[str, ...] = ()  # what was done, in order
    before: float | None = None  # the share of questions that find a document among the first three
    after: float | None = None
    escalation: Escalation | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the repair for programs."""
        return {
            "success": self.success, "newStrategy": self.new_strategy, "reason": self.reason, "steps": [*self.steps],
            "hitsBefore": self.before, "hitsAfter": self.after,
            "escalation": self.escalation.to_dict() if self.escalation else None,
        }  # fmt: skip


class Place(Record):
    """The commons that is repaired."""

    root: str
    environ: Mapping[str, str]


def plan(state: State, place: Place) -> list[str]:
    """Return what a repair would do, as sentences."""
    sources = registered_sources(place.root, place.environ)
    lines = [f"take the source {name} in again, since it changed" for name in state.stale]
    unread = [
        registered.source.name
        for registered in sources
        if (registered.status != PROCESSED or registered.failed) and not _is_in(state, registered)
    ]
    lines += [f"try the source {name} once more" for name in unread]
    if any(registered.documents for registered in sources):
        lines.append("try other chunks on a copy, if questions miss documents of the library")
    return lines


def _is_in(state: State, registered: Registered) -> bool:
    return registered.source.name in state.stale


def repair(place: Place, state: State, questions: Questions) -> Repair:
    """Repair what can be repaired; `questions` are about documents of the library."""
    steps = tuple(_renewed(place, state))
    fatal = next((issue for issue in state.findings if issue.is_error), None)
    if fatal:
        escalation = Escalation(
            severity=CRITICAL, category=STATE, description=fatal.text, diagnostics=state.short(), actions=(fatal.fix,)
        )
        return Repair(success=False, reason="the state cannot be repaired by deia", steps=steps, escalation=escalation)
    failed = [registered for registered in registered_sources(place.root, place.environ) if registered.status == FAILED]
    if failed:
        actions = tuple(f"deia source update {registered.source.name}" for registered in failed)
        escalation = Escalation(
            severity=ERROR, category=SYSTEM, description=failed[0].error, actions=actions, retryable=True
        )  # fmt: skip
        return Repair(success=False, reason="a source cannot be taken in", steps=steps, escalation=escalation)
    return _rechunked(place, questions, steps) if questions else Repair(
        success=True, reason="there are no questions about the library to judge its chunks by", steps=steps
    )  # fmt: skip


def _renewed(place: Place, state: State) -> Iterator[str]:
    """Take in stale, pending and failed sources again, once each, and yield what was done."""
    names = {registered.source.name for registered in registered_sources(place.root, place.environ)}
    for name in sorted(names.intersection(state.stale)):
        done = update(place.root, [name], place.environ)
        yield f"took the source {name} in again: {'; '.join(done.errors) or done.summary}"
    for registered in registered_sources(place.root, place.environ):
        if registered.source.name not in state.stale and (registered.status != PROCESSED or registered.failed):
            done = update(place.root, [registered.source.name], place.environ, failed=True)
            yield f"tried the source {registered.source.name} once more: {'; '.join(done.errors) or done.summary}"


# --- other chunks ---


def _rechunked(place: Place, questions: Questions, steps: tuple[str, ...]) -> Repair:
    """Try other strategies for the sources whose documents are missed, and keep the first that is better."""
    with open_library(place.root, place.environ) as library, tempfile.TemporaryDirectory() as folder:
        present = _measured(library, f"{folder}/now", questions)
        concerned = _concerned(library, present.missed, questions)
        if not concerned:
            reason = (
                "all questions find their documents" if not present.missed else "no source of the library is concerned"
            )
            return Repair(
                success=not present.missed, reason=reason, steps=steps, before=present.hits, after=present.hits
            )
        for number, strategy in enumerate(_next_strategies(concerned[0])):
            tried = _tried(library, concerned, strategy, f"{folder}/{number}", questions)
            steps = (*steps, f"tried {strategy} on a copy: hit@3 {present.hits:.2f} → {tried.hits:.2f}")
            if tried.mean >= present.mean + BETTER and tried.hits >= present.hits:
                break
        else:
            return _given_up(present, steps, questions)
    _keep(place, concerned, strategy)
    steps = (*steps, *(f"cut the source {registered.source.name} anew by {strategy}" for registered in concerned))
    reason = f"{strategy} finds more of what is asked for"
    return Repair(
        success=True, reason=reason, new_strategy=strategy, steps=steps, before=present.hits, after=tried.hits
    )  # fmt: skip


class _Measure(Record):
    """How well a library answers questions."""

    mean: float
    hits: float
    missed: tuple[str, ...]


def _measured(library: Library, folder: str, questions: Questions) -> _Measure:
    files.make_folders(folder)
    build_catalog((), (), (), (), folder, own_first=False, library=library, tiers=("static",))
    catalog = open_catalog(folder)
    ranked = {text: ranking(catalog, text, limit=2 * RECALL_DEPTH, tiers=("static",)) for text in questions}
    hits = [not questions[text].keys().isdisjoint(idents[:HIT_DEPTH]) for text, idents in ranked.items()]
    return _Measure(
        mean=sum(scores(idents, questions[text]).ndcg for text, idents in ranked.items()) / len(questions),
        hits=sum(hits) / len(questions),
        missed=tuple(text for text, is_hit in zip(ranked, hits, strict=True) if not is_hit),
    )


def _concerned(library: Library, missed: Sequence[str], questions: Questions) -> list[Registered]:
    """Return the sources of the documents that questions miss."""
    wanted = {ident.removeprefix(LIBRARY_PREFIX) for text in missed for ident in questions[text]}
    return [
        registered for registered in library.sources() if any(ident.startswith(registered.prefix) for ident in wanted)
    ]


def _next_strategies(registered: Registered) -> list[str]:
    """Return the strategies to try after the present one, in order, from the beginning again after the last."""
    present = registered.source.config.strategy
    at = STRATEGIES.index(present) + 1 if present in STRATEGIES else 0
    return [*STRATEGIES[at:], *STRATEGIES[:at]][:TRIES]


def _tried(
    library: Library, concerned: Sequence[Registered], strategy: str, folder: str, questions: Questions
) -> _Measure:
    """Return how well a copy of the library answers if its sources are cut by another strategy."""
    prefixes = tuple(f"{LIBRARY_PREFIX}{registered.prefix}" for registered in concerned)
    with library.copied(f"{folder}-library") as copy, ReaderProcess() as reader:
        for shelved in copy.documents():
            if shelved.id.startswith(prefixes):
                kept = copy.kept(shelved.content)
                reading = Reading(type=kept.type, language=kept.language, title=shelved.title, text=kept.text)
                config = ChunkerConfig(strategy=strategy)
                try:
                    copy.keep(shelved.content, reading, reader.chunk(reading, id=shelved.id, config=config))
                except ReadingError:  # it stays as it was
                    continue
        return _measured(copy, folder, questions)


def _given_up(present: _Measure, steps: tuple[str, ...], questions: Questions) -> Repair:
    escalation = Escalation(
        severity=WARN, category=RETRIEVAL, retryable=False,
        description=f"{len(present.missed)} of {len(questions)} questions miss their documents, whatever the chunks",
        diagnostics={"missed": [*present.missed[:HIT_DEPTH]]},
        actions=tuple(f'deia debug "{text}"' for text in present.missed[:HIT_DEPTH]),
    )  # fmt: skip
    reason = "no strategy that was tried finds more"
    return Repair(
        success=False, reason=reason, steps=steps, before=present.hits, after=present.hits, escalation=escalation
    )


def _keep(place: Place, concerned: Sequence[Registered], strategy: str) -> None:
    """Write down what is needed to undo this, and then cut the sources anew."""
    path = f"{library_folder(place.root, place.environ)}/{BEFORE}"
    before = [
        {"name": registered.source.name, "chunker": dict(registered.source.chunker), "to": strategy}
        for registered in concerned
    ]
    files.replace(path, json.dumps([*_repairs(path), {"at": time.time(), "sources": before}]).encode())
    chunker: dict[str, Json] = {"strategy": strategy}
    take_in(place.root, [registered.source.but(chunker=chunker) for registered in concerned], place.environ)


def _repairs(path: str) -> list[Mapping[str, Json]]:
    try:
        value = json.loads(files.read(path) or b"[]")
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def undo(place: Place) -> str:
    """Cut the sources of the last repair as they were before, and return what was done; raise DeiaError without one."""
    path = f"{library_folder(place.root, place.environ)}/{BEFORE}"
    *earlier, last = _repairs(path) or [{}]
    before = {str(row["name"]): row["chunker"] for row in last.get("sources", ())}  # type: ignore[union-attr,index,call-overload]
    sources = [
        registered.source
        for registered in registered_sources(place.root, place.environ)
        if registered.source.name in before
    ]
    if not sources:
        raise DeiaError("there is no repair to undo", fix="To see what is wrong, type: deia audit")
    take_in(place.root, [source.but(chunker=before[source.name]) for source in sources], place.environ)
    files.replace(path, json.dumps(earlier).encode())
    return f"cut as before: {', '.join(source.name for source in sources)}"
