"""The search catalog of the library, which is compiled apart from that of the commons.

So what a person takes in changes neither how lessons are found nor how long it takes to compile them. Its folder is
named by the state of the library that it was made of.
"""

from __future__ import annotations

import os
import shutil
import time

from filelock import FileLock

from deia import __version__, files
from deia.compile.catalog.build_catalog import build_catalog, revise_library_catalog
from deia.compile.catalog.effort import TIERS
from deia.compile.catalog.library_volumes import library_volumes
from deia.compile.compiled_folder import CATALOG, LOCK, empty_building, place_catalog, sweep
from deia.folders import library_catalog_name
from deia.ingest.library_store import Library, library_at
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAKER = "maker"  # the file that says which version of deia made the catalog
DIGITS = 8  # of the revision, at the end of a catalog's name


def compile_library(root: str, environ: Mapping[str, str], folder: str, *, force: bool = False) -> None:
    """Bring the catalog of a commons' library up to date; raise OSError if the folder cannot be written."""
    library = library_at(root, environ)
    if library is None:
        return
    files.make_folders(folder)
    with library, FileLock(f"{folder}/{LOCK}"):
        before = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
        is_ours = (files.read(f"{folder}/{MAKER}") or b"").decode("ascii", "replace") == __version__
        name = library_catalog_name(library.state)
        if name == before and is_ours and os.path.isdir(f"{folder}/{name}") and not force:
            return
        building = empty_building(folder)
        if force or not (is_ours and _revise(library, before, folder, building)):
            shutil.rmtree(building)
            building = empty_building(folder)
            build_catalog((), (), (), (), building, built_at=_now(), own_first=False, library=library)
        files.replace(f"{folder}/{MAKER}", __version__.encode())
        place_catalog(folder, building, TIERS, name.removeprefix("catalog-"))
        sweep(folder, keep={name, before})


def _revise(library: Library, before: str, folder: str, building: str) -> bool:
    """Compile only what changed since the last catalog; return whether that was possible."""
    name, revision = before[:-DIGITS], before[-DIGITS:]
    is_ours = name == library_catalog_name(library.state)[:-DIGITS] and revision.isdecimal()
    if not is_ours or int(revision) > library.revision:
        return False
    volumes, removed = library_volumes(library, since=int(revision)), library.removed(int(revision))
    previous = f"{folder}/{before}"
    report = revise_library_catalog(
        library, volumes, removed, building, previous=previous, built_at=_now(), tiers=TIERS
    )
    return report is not None


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
