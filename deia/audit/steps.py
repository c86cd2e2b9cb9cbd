"""The steps of the librarian's protocol, as methods of a class that has a commons open, and as part of every answer."""

from __future__ import annotations

import time

from deia import fast_json, files, spool
from deia.audit.state import Place, State, audit_state, stamp_of
from deia.errors import ArtefactError, QueryError
from deia.folders import LIBRARY_PREFIX
from deia.knowledge import Query
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypedDict

    from deia.audit.classification import Classification
    from deia.audit.debugging import Trace
    from deia.audit.preflight import Place as Checked
    from deia.audit.preflight import Preflight
    from deia.audit.repair import Repair
    from deia.compile.compiled_files import CompiledFiles
    from deia.fast_json import Json
    from deia.search.answer import Answer
    from deia.settings import Settings

    class Ranking(TypedDict):
        """Fields of a query: how meaning, the graph and variety count."""

        alpha: float | None
        related: str
        variety: float


STATE, CLASSIFICATION, QUALITY = STEPS = ("state", "classification", "quality")  # of an answer, in order
# How to search; the last ones say what counts of the graph.
MODES = ("natural", "keywords", "keyword", "semantic", "hybrid", "local", "global", "naive")
AGAIN = 1.0  # seconds after which sources are looked at again


def how_to_rank(mode: str, settings: Settings) -> Ranking:
    """Return the fields of a query that say how meaning, the graph and variety count.

    Raise QueryError if there is no such mode.
    """
    if mode not in MODES:
        raise QueryError(f"mode {mode!r} is unknown", fix=f"Known are: {', '.join(MODES)}.")
    alpha, relevance = (
        None if share == "learned" else float(share) for share in (settings.hybrid_alpha, settings.mmr_lambda)
    )
    return {
        "alpha": 1.0 if mode == "semantic" else alpha,
        "related": mode if mode in ("local", "global", "naive") else "hybrid",
        "variety": 0.0 if relevance is None else 1 - relevance,
    }


class FollowsProtocol:
    """A mixin that audits the state of a commons, judges and explains its answers, and repairs what it can."""

    root: str
    settings: Settings
    collections: tuple[str, ...]
    _environ: Mapping[str, str]
    _compiled: CompiledFiles
    _here: str
    _state: tuple[float, tuple[object, ...], State] | None = None

    def audit(self) -> State:
        """Return the state of the commons and its library: whether answers can be relied on, and what is wrong.

        The state is looked at again when anything was compiled or taken in, and otherwise after a second; that takes
        some milliseconds.
        """
        try:
            catalogs = [self._compiled.open_catalog(), self._compiled.open_library()]
        except ArtefactError:  # the audit says what is wrong with the files
            catalogs = []
        place = Place(
            root=self.root, folder=self._compiled.folder, library=self._compiled.library_folder, here=self._here,
            headers=[catalog.header for catalog in catalogs if catalog is not None], environ=self._environ,
            is_fresh=bool(catalogs) and self._compiled.are_fresh,
        )  # fmt: skip
        now, stamp = time.monotonic(), stamp_of(place)
        if self._state is None or self._state[1] != stamp or now - self._state[0] >= AGAIN:
            self._state = now, stamp, audit_state(place)
        return self._state[2]

    def classify(self, text: str) -> Classification:
        """Return what kind of question a text is, and how to look for an answer."""
        from deia.audit.classification import classify  # noqa: PLC0415 - watching needs no search
        from deia.search.question.interpret import interpret  # noqa: PLC0415 - likewise

        interpretation = interpret(self._compiled.open_catalog(), Query(text=text))
        filters = {
            name: value if isinstance(value, str) else [*map(str, value)]
            for name, value in interpretation.filters.items()
        }
        return classify(text, kind=interpretation.kind, filters=filters)

    def debug(self, question: str, *, expect: Sequence[str] = ()) -> Trace:
        """Return the trace of a search, with the stage at which each expected document was lost.

        The library is searched if a document of it is expected; if none is, the part that has the best one is searched.
        """
        from deia.audit.debugging import debug  # noqa: PLC0415 - few searches are traced
        from deia.match.tiers import tiers_of  # noqa: PLC0415 - likewise
        from deia.search.library_answers import search_both  # noqa: PLC0415 - likewise

        catalog, library = self._compiled.open_catalog(), self._compiled.open_library()
        query = Query(text=question, limit=self.settings.limit, **how_to_rank("natural", self.settings))
        tiers = tiers_of(self.settings.tier, model=self.settings.model)
        sought = expect
        if library and not expect:
            answer = search_both(catalog, library, query, checked_at="", tiers=tiers)
            sought = [document.id for document in answer.documents][:1]
        if library and any(name.startswith(LIBRARY_PREFIX) for name in sought):
            catalog = library
        return debug(catalog, query, tiers=tiers, expected=tuple(expect))

    def repair(self, *, failing: Mapping[str, Sequence[str]] = {}, dry_run: bool = False) -> Repair:
        """Repair what can be repaired, and return the outcome; with `dry_run`, return what would be done.

        `failing` are questions with the documents that they should find, besides the golden questions. Raise
        CommonsError if the person does not trust the commons.
        """
        from deia.audit import repair  # noqa: PLC0415 - SQLite and numpy, which few programs need here
        from deia.audit.golden_run import own_questions  # noqa: PLC0415 - YAML

        state, place = self.audit(), repair.Place(root=self.root, environ=self._environ)
        if dry_run:
            return repair.Repair(success=state.is_valid, reason="nothing was done", steps=(*repair.plan(state, place),))
        golden = {question.query: question.grades for question in own_questions(self.root)}
        questions = {**golden, **{text: dict.fromkeys(idents, 1) for text, idents in failing.items()}}
        of_library = {
            text: grades
            for text, grades in questions.items()
            if any(ident.startswith(LIBRARY_PREFIX) for ident in grades)
        }
        done = repair.repair(place, state, of_library)
        for step in done.steps:
            self.log("maintenance", {"actor": "repair", "change": step})
        if done.escalation:
            self.log("error", {"error": done.escalation.description, "where": f"repair: {done.escalation.category}"})
        return done

    def undo_repair(self) -> str:
        """Undo the last repair of chunks, and return what was done; raise DeiaError if there was none."""
        from deia.audit import repair  # noqa: PLC0415 - as above

        done = repair.undo(repair.Place(root=self.root, environ=self._environ))
        self.log("maintenance", {"actor": "repair", "change": f"undone: {done}"})
        return done

    def preflight(self) -> Preflight:
        """Return whether the commons may be served to others: its state, its model and its golden questions."""
        from deia.audit.preflight import preflight  # noqa: PLC0415 - YAML, which few programs need here

        checked = preflight(self._checked_place())
        wrong = [f"{check.name}: {check.details}" for check in checked.checks if check.status != "pass"]
        change = "; ".join(wrong) or "all checks passed"
        self.log("maintenance", {"actor": "preflight", "change": change, **self._state_in_short()})
        return checked

    def export(self, folder: str) -> list[str]:
        """Write the files that another machine serves into a new folder, and return their paths there.

        Raise DeiaError if a check fails beforehand, or if the folder is not empty or cannot be written.
        """
        from deia.audit.preflight import export  # noqa: PLC0415 - as above

        checked, at = self.preflight(), spool.timestamp(time.time())
        written = export(self._checked_place(), checked, folder, self._environ, at=at)
        change = f"{len(written)} files for another machine in {folder}"
        self.log("maintenance", {"actor": "export", "change": change, **self._state_in_short()})
        return written

    def _checked_place(self) -> Checked:
        from deia.audit.preflight import Place as Checked  # noqa: PLC0415 - as above
        from deia.match.tiers import tiers_of  # noqa: PLC0415 - as above

        tiers = tiers_of(self.settings.tier, model=self.settings.model)
        catalog, state = self._compiled.open_catalog(), self.audit()
        return Checked(root=self.root, state=state, catalog=catalog, settings=self.settings, tiers=tiers)

    def _state_in_short(self) -> dict[str, object]:
        return {"note": fast_json.dumps(self.audit().short())}

    def log(self, event: str, fields: Mapping[str, object]) -> str:
        """Write an event to the ledger and return its id."""
        raise NotImplementedError

    def audited(self, answer: Answer, skip: Sequence[str]) -> Answer:
        """Return an answer with the steps of the protocol in its audit, except those that the client skips."""
        unknown = [step for step in skip if step not in STEPS]
        if unknown:
            raise QueryError(f"there is no step {unknown[0]!r}", fix=f"Known are: {', '.join(STEPS)}.")
        steps: dict[str, Json] = {}
        if CLASSIFICATION not in skip and answer.query.strip():
            from deia.audit.classification import classify  # noqa: PLC0415 - watching needs no search

            steps[CLASSIFICATION] = classify(answer.query, kind=answer.audit.kind).to_dict()
        state = None if STATE in skip or self.collections else self.audit()
        warnings = answer.audit.warnings
        if state is not None:
            steps[STATE] = state.short()
            warnings = (*warnings, *self._compiled.take_remarks(), *state.issues, *_gone(self.root, answer))
        if QUALITY not in skip:
            from deia.audit.quality import is_judged, quality_of  # noqa: PLC0415 - watching needs no search

            steps |= {QUALITY: quality_of(answer, state).to_dict()} if is_judged(answer) else {}
        return answer.but(audit=answer.audit.but(steps=steps, warnings=tuple(dict.fromkeys(warnings))))


def _gone(root: str, answer: Answer) -> list[str]:
    """Return a warning for each document of an answer that has gone from the commons itself."""
    own = [result.path for result in answer.documents if result.passage and ":" not in result.path]
    return [f"{path} is gone since the commons was compiled" for path in own if not files.exists(f"{root}/{path}")]
