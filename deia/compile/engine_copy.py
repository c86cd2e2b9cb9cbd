"""Copy to the person's engine the vectors of the library's catalog that it lacks, and check the copy.

A copy that is killed goes on where it stopped, since each copied document has a mark. Until the copy is complete, the
engine says so, and answers come from the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

from deia.compile.compiled_files import CompiledFiles
from deia.engines.engine import Engine, EngineError, Stats, address_of, shown
from deia.match.tiers import TIERS
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.local_engine import LocalEngine
from deia.search.ranking.elsewhere import opened, state_of

AT_ONCE = 500  # documents in one transaction
NOT_SET = 'no engine is set, so the catalog answers alone; to set one: export DEIA_ENGINE="postgresql://…"'


class Copied(Record):
    """What a copy did."""

    tier: str
    written: int = 0  # documents
    removed: int = 0
    documents: int = 0  # that the engine has now
    passages: int = 0


class Standing(Record):
    """How complete an engine is for a tier."""

    engine: str  # its address, without secrets
    tier: str = ""
    here: Stats = Stats()  # what the catalog has
    there: Stats = Stats()
    problem: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the engine answers for the catalog."""
        return not self.problem and self.here == self.there


def copy_library(
    root: str, environ: Mapping[str, str], *, tell: Callable[[str], None] = lambda _message: None
) -> list[Copied]:
    """Copy every tier of the library; raise EngineError if no engine is set or reached, or if the check fails."""
    address = address_of(environ)
    if not address:
        raise EngineError(NOT_SET)
    catalog = _library(root, environ)
    done = []
    for tier in _tiers(catalog):
        here = LocalEngine(catalog, tier, state=state_of(catalog, tier))
        there = opened(address, catalog, tier)
        try:
            done.append(copy(here, there, tier=tier, tell=tell))
        finally:
            there.close()
    return done


def copy(here: LocalEngine, there: Engine, *, tier: str, tell: Callable[[str], None]) -> Copied:
    """Copy what differs, check that both have the same, and record the state."""
    wanted, known = here.marks(), there.marks()
    gone = [document for document in known if document not in wanted]
    changed = [document for document, mark in wanted.items() if known.get(document) != mark]
    if gone or changed:
        there.settle("")
    there.delete(gone)
    shelves = here.shelves(changed)
    written = 0
    while batch := list(islice(shelves, AT_ONCE)):
        there.upsert(batch)
        written += len(batch)
        tell(f"{tier}: {written} of {len(changed)} documents")
    return _checked(here, there, Copied(tier=tier, written=written, removed=len(gone)))


def _checked(here: LocalEngine, there: Engine, copied: Copied) -> Copied:
    wanted, actual = here.stats(), there.stats()
    if there.marks() != here.marks() or actual.but(state="") != wanted.but(state=""):
        problem = f"{actual.passages} passages are there instead of {wanted.passages}, or others than here"
        raise EngineError(problem, fix="Somebody else may be copying, too. Type again: deia engine copy")
    there.settle(wanted.state)
    return copied.but(documents=actual.documents, passages=actual.passages)


def engine_standing(root: str, environ: Mapping[str, str]) -> list[Standing]:
    """Return how complete the engine is for every tier of the library; nothing if no engine is set."""
    address = address_of(environ)
    if not address:
        return []
    try:
        catalog = _library(root, environ)
    except EngineError as error:
        return [Standing(engine=shown(address), problem=str(error))]
    standings = []
    for tier in _tiers(catalog):
        here = LocalEngine(catalog, tier, state=state_of(catalog, tier)).stats()
        try:
            there = opened(address, catalog, tier)
            standings.append(Standing(engine=shown(address), tier=tier, here=here, there=there.stats()))
            there.close()
        except EngineError as error:
            standings.append(Standing(engine=shown(address), tier=tier, here=here, problem=str(error)))
    return standings


def _library(root: str, environ: Mapping[str, str]) -> Catalog:
    """Return the library's catalog; raise EngineError if nothing was taken in."""
    catalog = CompiledFiles(root, environ=environ, collections=(), keep_fresh=True).open_library()
    if catalog is None:
        raise EngineError("nothing was taken in that could be copied", fix="Type: deia ingest FOLDER")
    return catalog


def _tiers(catalog: Catalog) -> list[str]:
    return [tier for tier in TIERS if tier in catalog.tiers]
