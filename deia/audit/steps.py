"""The steps of the librarian's protocol, as methods of whoever has a commons open, and as part of every answer."""

from __future__ import annotations

import time

from deia import files
from deia.audit.state import Place, State, audit_state, stamp_of
from deia.errors import ArtefactError, QueryError
from deia.knowledge import Query
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.audit.classification import Classification
    from deia.compile.compiled_files import CompiledFiles
    from deia.fast_json import Json
    from deia.search.answer import Answer

STATE, CLASSIFICATION, QUALITY = STEPS = ("state", "classification", "quality")  # of an answer, in order
LONGEST = 3600.0  # seconds for which a state is kept while nothing changes
AGAIN = 1.0  # seconds after which sources are looked at again


class FollowsProtocol:
    """What checks its own state, tells how good its evidence is, explains itself, and repairs what it can."""

    root: str
    collections: tuple[str, ...]
    _environ: Mapping[str, str]
    _compiled: CompiledFiles
    _here: str
    _state: tuple[float, tuple[object, ...], State] | None = None

    def audit(self) -> State:
        """Return the state of the commons and its library: whether answers can be relied on, and what is wrong.

        It is looked at again when anything was compiled or taken in, and otherwise after a second, which takes some
        milliseconds.
        """
        try:
            catalogs = [self._compiled.open_catalog(), self._compiled.open_library()]
        except ArtefactError:  # the audit says what is wrong with the files
            catalogs = []
        place = Place(
            root=self.root, folder=self._compiled.folder, library=self._compiled.library_folder, here=self._here,
            headers=[catalog.header for catalog in catalogs if catalog is not None], environ=self._environ,
        )  # fmt: skip
        now, stamp = time.monotonic(), stamp_of(place)
        if self._state is None or self._state[1] != stamp or now - self._state[0] >= AGAIN:
            self._state = now, stamp, audit_state(place)
        return self._state[2]

    def classify(self, text: str) -> Classification:
        """Return what kind of question a text is, and how to look for an answer."""
        from deia.audit.classification import classify  # noqa: PLC0415 - watching needs no search
        from deia.search.question.interpret import interpret  # noqa: PLC0415 - likewise

        found = interpret(self._compiled.open_catalog(), Query(text=text))
        filters = {
            name: value if isinstance(value, str) else [*map(str, value)] for name, value in found.filters.items()
        }
        return classify(text, kind=found.kind, filters=filters)

    def audited(self, answer: Answer, skip: Sequence[str]) -> Answer:
        """Return an answer with the steps of the protocol in its audit, but for those that the client skips."""
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
    """Return which documents of an answer are no longer there, of those in the commons itself."""
    own = [result.path for result in answer.documents if result.passage and ":" not in result.path]
    return [f"{path} is gone since the commons was compiled" for path in own if not files.exists(f"{root}/{path}")]
