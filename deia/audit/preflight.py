"""Check a commons before it is served to others, and write the files that another machine serves.

Nothing compiled is handed over: the other machine compiles for itself. It gets what people wrote, the chunks of the
library, and a snapshot of the state and the checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from deia import files
from deia.audit.golden_run import evaluate, own_questions
from deia.audit.state import State
from deia.commons.layers.merge_layers import file_at
from deia.commons.source_files import safe_files
from deia.compile.sources import read_sources
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.folders import is_trusted
from deia.ingest.chunk_export import exported
from deia.ingest.library_store import library_at
from deia.knowledge import Golden
from deia.problems import CommonsError
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.ranking.retrieve import choose_tier
from deia.settings import Settings
from deia.text import counted

PASS, WARN, FAIL = STATUSES = ("pass", "warn", "fail")
MOST_NAMED = 3
MOST_ASKED = 100  # golden questions, at even distances
SNAPSHOT, CHUNKS = (
    "deployment.json",
    "library",
)  # beside the copied files: a file, and a folder with one for each source


class Check(Record):
    """A check and its result."""

    name: str
    status: str
    details: str
    fix: str = ""


class Preflight(Record):
    """All checks of a commons."""

    checks: tuple[Check, ...]

    @property
    def can_deploy(self) -> bool:
        """Whether nothing failed."""
        return not any(check.status == FAIL for check in self.checks)

    def to_dict(self) -> dict[str, Json]:
        """Return the checks for programs."""
        return {
            "canDeploy": self.can_deploy,
            "checks": [{"name": check.name, "status": check.status, "details": check.details} for check in self.checks],
            "recommendations": [*dict.fromkeys(check.fix for check in self.checks if check.fix)],
        }


class Place(Record):
    """The commons that is checked, and what it is checked with."""

    root: str
    state: State
    catalog: Catalog
    settings: Settings
    tiers: Sequence[str]


def preflight(place: Place) -> Preflight:
    """Return the results of all checks of a commons."""
    return Preflight(checks=tuple(check(place) for check in CHECKS))


def _manifest(place: Place) -> Check:
    wrong = next((issue for issue in place.state.findings if issue.is_error), None)
    if wrong:
        return Check(name="Manifest Audit", status=FAIL, details=wrong.text, fix=wrong.fix)
    return Check(name="Manifest Audit", status=PASS, details=f"{counted(place.state.entries, 'entry')} in the index")


def _completeness(place: Place) -> Check:
    state = place.state
    details = f"{counted(state.chunks, 'chunk')}, {counted(state.vectors, 'vector')}"
    is_complete = state.chunks and state.vectors in (state.chunks, 0 if place.settings.tier == "keyword" else -1)
    fix = "" if is_complete else "Type: deia compile --force"
    return Check(name="Data Completeness", status=PASS if is_complete else FAIL, details=details, fix=fix)


def _sources(place: Place) -> Check:
    wrong = [issue for issue in place.state.findings if not issue.is_error]
    if wrong:
        return Check(name="Source Status", status=WARN, details=wrong[0].text, fix=wrong[0].fix)
    total = sum(place.state.by_status.values())
    return Check(name="Source Status", status=PASS, details=f"{counted(total, 'source')}, all taken in")


def _embedding(place: Place) -> Check:
    meaning = choose_tier(place.catalog, tiers=place.tiers)
    stored = place.catalog.tiers.get(meaning.name)
    if stored is None:
        details, fix = meaning.warning or "no embedding model is set", "Type: deia config model list"
        return Check(name="Embedding Configuration", status=FAIL, details=details, fix=fix)
    model = stored.model or stored.digest[:12]
    return Check(name="Embedding Configuration", status=PASS, details=f"{meaning.name}/{model}")


def _golden(place: Place) -> Check:
    try:
        questions: Sequence[Golden] = own_questions(place.root)
    except CommonsError as error:
        return Check(name="Golden Queries", status=FAIL, details=error.message, fix="Type: deia eval")
    if not questions:
        fix = "Write some into golden.yaml beside the index."
        return Check(name="Golden Queries", status=WARN, details="there are none", fix=fix)
    asked = [golden for golden in questions[:: max(1, -(-len(questions) // MOST_ASKED))] if not _of_library(golden)]
    wrong = evaluate(place.catalog, asked, tiers=place.tiers, limit=place.settings.limit).wrong
    if wrong:
        named = "; ".join(outcome.query for outcome in wrong[:MOST_NAMED])
        details = f"{len(wrong)} of {len(asked)} miss their documents: {named}"
        return Check(name="Golden Queries", status=FAIL, details=details, fix=f'Type: deia debug "{wrong[0].query}"')
    return Check(name="Golden Queries", status=PASS, details=f"{len(asked)} asked, all documents found")


def _of_library(golden: Golden) -> bool:
    return any(ident.startswith("library:") for ident in golden.grades)


CHECKS: tuple[Callable[[Place], Check], ...] = (_manifest, _completeness, _sources, _embedding, _golden)


# --- the files that another machine serves ---


def export(place: Place, checked: Preflight, folder: str, environ: Mapping[str, str], *, at: str) -> list[str]:
    """Write the files of a commons into an empty folder and return their paths there; raise DeiaError if that fails."""
    if files.names(folder):
        raise DeiaError("the folder is not empty", where=folder, fix="Name a new one.")
    if not checked.can_deploy:
        wrong = next(check for check in checked.checks if check.status == FAIL)
        raise DeiaError(f"{wrong.name} failed: {wrong.details}", fix=wrong.fix)
    written = {**dict(_own_files(place)), **dict(_chunk_files(place.root, environ))}
    snapshot = {"at": at, "state": place.state.to_dict(), "preflight": checked.to_dict()}
    written[SNAPSHOT] = json.dumps(snapshot, indent=2).encode()
    for path, content in written.items():
        if not files.keep(f"{folder}/{path}", content):
            raise DeiaError(f"{path} cannot be written", where=folder, fix="Check its permissions and the space there.")
    return sorted(written)


def _own_files(place: Place) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file that people wrote for a commons and its packs, golden questions too."""
    globs, trusted = place.settings.documents, place.settings.trusted
    listed = [place.catalog.path(number) for number in place.catalog.ids().values()]
    sources = read_sources(place.root, {}, extra_documents=listed, globs=globs, starter=False, trusted=trusted)
    for path in (*sources, "golden.yaml"):
        full_path = safe_files.resolve(place.root, path)
        content = files.read(full_path, safe_files.MOST_BYTES) if full_path and file_at(place.root, path) else None
        if content is not None:
            yield path, content


def _chunk_files(root: str, environ: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the chunks of each source of the library, as `deia ingest --type chunks` takes them in."""
    library = library_at(root, environ) if is_trusted(root, environ) else None
    if library is None:
        return
    with library:
        for registered in library.sources():
            rows = [json.dumps(row) for row in exported(library, registered.source.name)]
            yield f"{CHUNKS}/{registered.source.name}.jsonl", "".join(f"{row}\n" for row in rows).encode()
