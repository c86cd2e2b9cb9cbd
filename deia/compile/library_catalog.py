"""The search catalog of the library, which is compiled apart from that of the commons.

So what a person takes in changes neither how lessons are found nor how long it takes to compile them. Its folder is
named by the state of the library that it was made of.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from filelock import FileLock

from deia import __version__, files
from deia.compile.catalog.build_catalog import CatalogReport, build_catalog, revise_catalog
from deia.compile.catalog.document_store import library_volumes
from deia.compile.catalog.effort import (
    ASIDE_LIMIT,
    BACKGROUND_LIMIT,
    CODE_FILES,
    TIER,
    TIERS,
    Effort,
    cache_path,
    code_digest,
)
from deia.compile.catalog_folder import CATALOG, LOCK, empty_building, now, place_catalog, sweep
from deia.compile.encoding_start import plain_collections, wanted_tiers
from deia.folders import derived_folder, library_catalog_name
from deia.ingest.library_store import EVER, Library, library_at
from deia.search.catalog import is_readable
from deia.settings import resolve

MAKER = "maker"  # the file that says which version of deia made the catalog
DIGITS = 8  # of the revision, at the end of a catalog's name


def compile_library(
    root: str, environ: Mapping[str, str], folder: str, *, force: bool = False, encoded: bool = False,
    only: Sequence[str] = (),
) -> None:  # fmt: skip
    """Bring the catalog of a commons' library up to date; raise OSError if the folder cannot be written.

    It has the sentence model's vectors if hardly any have to be made, or if the texts were `encoded` before. A catalog
    of `only` some collections, in a folder of its own, takes those of the whole library.
    """
    library = library_at(root, environ, only=only)
    if library is None:
        return
    files.make_folders(folder)
    with library, FileLock(f"{folder}/{LOCK}"):
        before = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
        choice = resolve(root, environ=environ)
        plain = plain_collections(library, choice.tier, choice.model)
        maker = " ".join((__version__, *(code_digest(tier)[:16] for tier in CODE_FILES)))
        maker = maker if plain is None else f"{maker} {','.join(plain)}"
        is_ours = (files.read(f"{folder}/{MAKER}") or b"").decode("utf-8", "replace") == maker
        name = library_catalog_name(library.state)
        is_there = before.startswith(name) and (before.endswith(TIER) or not encoded)
        if is_there and is_ours and is_readable(f"{folder}/{before}") and not force:
            return
        whole = f"{derived_folder(root, environ)}/library"
        building, cache = empty_building(folder), cache_path(whole)
        tiers = (*TIERS, TIER) if encoded else wanted_tiers(root, environ, library)
        limit = ASIDE_LIMIT if encoded else BACKGROUND_LIMIT
        effort = Effort(limit=limit, cache=cache, exclusive=encoded, plain=plain)
        report = None if force or encoded or not is_ours else _revise(library, before, folder, building, tiers, effort)
        if report is None:
            shutil.rmtree(building)
            building = empty_building(folder)
            report = build_catalog(
                (), (), (), (), building, built_at=now(), own_first=False, library=library, tiers=tiers, effort=effort
            )
        placed = place_catalog(folder, building, report.tiers, name.removeprefix("catalog-"))
        files.replace(f"{folder}/{MAKER}", maker.encode())
        sweep(folder, keep={placed, before, os.path.basename(cache)})


def passages_due(root: str, environ: Mapping[str, str], folder: str) -> int:
    """Return how many passages a library has that its last catalog, in a folder, does not have as they are now."""
    library = library_at(root, environ)
    if library is None:
        return 0
    with library:
        before = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
        since = _revision(library, before) if is_readable(f"{folder}/{before}") else EVER
        return library.passages(since=since)


def _revision(library: Library, catalog: str) -> int:
    """Return the revision of a library that a catalog was made of, or EVER if it was made of another library."""
    state = catalog.removesuffix(f"-{TIER}")
    name, revision = state[:-DIGITS], state[-DIGITS:]
    is_ours = name == library_catalog_name(library.state)[:-DIGITS] and revision.isdecimal()
    return int(revision) if is_ours and int(revision) <= library.revision else EVER


def _revise(
    library: Library, before: str, folder: str, building: str, tiers: Sequence[str], effort: Effort
) -> CatalogReport | None:
    """Compile only what changed since the last catalog, or return None if that is impossible."""
    revision = _revision(library, before)
    if revision == EVER:
        return None
    return revise_catalog(
        library_volumes(library, since=revision), building, previous=f"{folder}/{before}", built_at=now(),
        tiers=tiers, effort=effort, library=library, removed=library.removed(revision),
    )  # fmt: skip
