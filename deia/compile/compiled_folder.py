"""The folder of compiled files (`deia.folders.derived_folder`): what a compile leaves there besides catalogs.

Every file is replaced as a whole; for catalogs see `catalog_folder`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from itertools import chain

from deia import files, freshness
from deia.commons.layers.merge_layers import file_at, local_path
from deia.commons.layers.packs import FOLDER as PACKS
from deia.commons.layers.packs import LOCK as PACKS_LOCK
from deia.commons.triggers.cases import ENDINGS as CASES
from deia.compile.catalog_folder import CATALOG
from deia.compile.manifest import Manifest, write_manifest
from deia.compile.sources import HASH_LENGTH, OWN_TEXTS, Known, is_text, stamp_in, write_known
from deia.errors import ArtefactError
from deia.folders import INDEX_NAMES, STARTER_PREFIX, python_path
from deia.search.catalog import open_catalog
from deia.watch.gate.artefact import open_artefact

TRIGGERS, SOURCES = "triggers", "sources"
MOST_CHECKED = 5_000  # sources that a query compares, in 2.5 µs each; of more, it skips the documents (`*.md`)


def intact_parts(folder: str, manifest: Manifest) -> set[str]:
    """Return which of the trigger artefact and the catalog are as the manifest describes them."""
    parts = set()
    with contextlib.suppress(ArtefactError):
        if manifest.artefact and open_artefact(f"{folder}/{TRIGGERS}").meta.digest == manifest.artefact:
            parts.add(TRIGGERS)
    with contextlib.suppress(ArtefactError):
        if (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace") == manifest.catalog:
            open_catalog(catalog_at(folder, manifest))
            parts.add(CATALOG)
    return parts


def catalog_at(folder: str, manifest: Manifest) -> str:
    """Return the folder of the catalog that a manifest names."""
    return f"{folder}/{manifest.catalog or 'no-catalog'}"


# --- writing ---


def write_records(folder: str, manifest: Manifest, sources: Mapping[str, str]) -> None:
    """Write what was compiled and from what; the file of sources says which manifest it belongs to."""
    write_known(f"{folder}/{SOURCES}", Known(manifest.triggers_digest, sources))
    write_manifest(folder, manifest)


def write_stamps(root: str, folder: str, sources: Mapping[str, str]) -> None:
    """Write the stamps of what was compiled, which the fast paths compare; a file that is right already stays."""
    own = [path for path in sources if path.startswith(OWN_TEXTS)]
    rest = [path for path in sources if not path.startswith(OWN_TEXTS)]
    texts = [path for path in rest if is_text(path)]
    triggers = write_trigger_stamps(root, folder, sources)
    text_folders = {"bok", *{path[: path.rfind("/")] for path in own}, *chain.from_iterable(map(_folders_above, texts))}
    known = [freshness.stamp_line(sources[path][: -HASH_LENGTH - 1], path) for path in own]
    documents = _stamps(root, sources, {*triggers, *text_folders, *rest}).removesuffix("\n")
    lines = [*documents.split("\n"), *known]
    if len(lines) > MOST_CHECKED:
        lines = [line for line in lines if not line.endswith(".md")]
    write_if_new(f"{folder}/{freshness.DOCUMENTS}", "\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))


def write_trigger_stamps(root: str, folder: str, sources: Mapping[str, str]) -> set[str]:
    """Write the stamps of what the triggers are compiled from, and return the paths.

    The few files of the project itself have a file of their own, since hooks compare them at every call.
    """
    others = [path for path in sources if not path.startswith(OWN_TEXTS) and not is_text(path)]
    absent = [name for name in (*INDEX_NAMES, "deia.toml", PACKS_LOCK) if name not in sources]
    trigger_folders = {path.rpartition("/")[0] for path in others if local_path(path).startswith("triggers/")}
    triggers = {*others, *absent, *trigger_folders, "triggers", PACKS}
    own = [path for path in triggers if local_path(path) == path and not path.endswith(CASES)]
    # In this order: a hook that comes between the two finds its own files changed, and waits until they are compiled.
    for name, paths in ((freshness.TRIGGERS, triggers), (freshness.OWN, own)):
        write_if_new(f"{folder}/{name}", _stamps(root, sources, paths).encode("utf-8", "surrogateescape"))
    return triggers


def _stamps(root: str, sources: Mapping[str, str], paths: Iterable[str]) -> str:
    return freshness.stamp_text(
        root, {_file_of(root, path): stamp_in(sources, path) for path in sorted(paths, key=_folders_last)}
    )


def _folders_last(path: str) -> tuple[bool, str]:
    """Return the place of a path: of several that changed, a file says more than the folder that it is in."""
    return "." not in path.rpartition("/")[2], path


def write_if_new(path: str, data: bytes) -> None:
    """Write a file, unless it holds that already; raise OSError if it cannot be written."""
    if files.read(path) != data:
        files.replace(path, data)


def _folders_above(path: str) -> list[str]:
    """Return the folder of a document, and of a note of the project all folders above, since each may get another."""
    parts = path.split("/")[:-1]
    first = 1 if local_path(path) == path else len(parts)
    return ["/".join(parts[:end]) for end in range(first, len(parts) + 1) if end]


def _file_of(root: str, path: str) -> str:
    """Return the file that a path stands for, relative to the root if it lies in it."""
    return file_at(root, path).removeprefix(f"{root}/") if path.startswith(STARTER_PREFIX) else path


def record_python(state: str) -> None:
    """Record the interpreter that compiles here, so that a hook under another one can start it.

    Nothing is recorded if the interpreter is no Python executable, as in an embedded one.
    """
    python, place = os.path.abspath(sys.executable or ""), python_path(state)
    known = os.fsencode(python)
    if "python" in os.path.basename(python).lower() and files.read(place) != known:
        files.keep(place, known)
