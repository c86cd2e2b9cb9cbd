"""The folder `.deia/`: its files' names, what a compile leaves in it, and the lock by which one works at a time.

A catalog is built in a folder of its own that the file `catalog` then names; every other file is replaced whole. It
refuses to know what is in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia import files, freshness
from deia.commons.layers.merge_layers import file_at, local_path
from deia.commons.layers.packs import FOLDER as PACKS
from deia.commons.layers.packs import LOCK as PACKS_LOCK
from deia.compile.catalog.embeddings import TIER
from deia.compile.sources import HASHED, OWN_TEXTS, Known, digest_of, is_text, stamp_in, write_known
from deia.errors import ArtefactError
from deia.folders import INDEX_NAMES, STARTER_PREFIX, python_path
from deia.search.catalog import open_catalog
from deia.watch.gate.artefact import FORMAT, open_artefact

TRIGGERS, CATALOG, MANIFEST, SOURCES, LOCK = "triggers", "catalog", "manifest.json", "sources", "lock"
ENTRIES = "entries"


def sound_parts(folder: str, previous: Mapping[str, Any]) -> dict[str, bool]:
    """Say which compiled files are there as they were written."""
    return {
        "triggers_digest": _artefact_digest(folder) == previous.get("artefact"),
        "catalog_digest": _is_catalog(folder, previous),
    }


def _artefact_digest(folder: str) -> str:
    try:
        return str(open_artefact(f"{folder}/{TRIGGERS}").meta.get("digest"))
    except ArtefactError:
        return ""


def _is_catalog(folder: str, manifest: Mapping[str, Any]) -> bool:
    named = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
    if named != manifest.get("catalog"):
        return False
    try:
        open_catalog(catalog_at(folder, manifest))
    except ArtefactError:
        return False
    return True


def catalog_at(folder: str, manifest: Mapping[str, Any]) -> str:
    """Give the folder of the catalog that a manifest names."""
    return f"{folder}/{manifest.get('catalog') or 'no-catalog'}"


# --- writing ---


def empty_building(folder: str) -> str:
    """Give an empty folder in which a catalog is built."""
    building = f"{folder}/building-{os.getpid()}"
    shutil.rmtree(building, ignore_errors=True)
    os.makedirs(building)
    return building


def place_catalog(folder: str, building: str, tiers: Sequence[str], digest: str) -> str:
    """Name a catalog that was built by what it is made of and the tiers that it holds, and point to it."""
    held = [made if made == TIER else digest_of(made)[:16] for made in tiers if made != "static"]
    name = "-".join(["catalog", digest[:16], *held])
    shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    os.rename(building, f"{folder}/{name}")
    files.replace(f"{folder}/{CATALOG}", name.encode())
    return name


def write_records(folder: str, manifest: Mapping[str, Any], sources: Mapping[str, str]) -> None:
    """Write down what was compiled, of what; the sources say to which manifest they belong."""
    write_known(f"{folder}/{SOURCES}", Known(str(manifest["triggers_digest"]), sources))
    files.replace(f"{folder}/{MANIFEST}", json.dumps(manifest, sort_keys=True).encode())


def write_stamps(root: str, folder: str, sources: Mapping[str, str], maker: str) -> None:
    """Write the stamps of what was compiled, for the fast paths to compare; a file that says so already stays."""
    own = [path for path in sources if path.startswith(OWN_TEXTS)]
    rest = [path for path in sources if not path.startswith(OWN_TEXTS)]
    others = [path for path in rest if not is_text(path)]
    absent = [name for name in (*INDEX_NAMES, "deia.toml", PACKS_LOCK) if name not in sources]
    folders = {path.rpartition("/")[0] for path in others if local_path(path).startswith("triggers/")}
    triggers = sorted({*others, *absent, *folders, "triggers", PACKS})
    texts = {"bok", *{path[: path.rfind("/")] for path in (*own, *set(rest).difference(others))}}
    around = sorted({*triggers, *texts, *rest})
    for name, paths, more in ((freshness.TRIGGERS, triggers, ()), (freshness.DOCUMENTS, around, own)):
        text = freshness.stamp_text(root, {_place(root, path): stamp_in(sources, path) for path in paths}, maker)
        known = [f"{sources[path][: -HASHED - 1]} {path}" for path in more]
        data = "\n".join([text.removesuffix("\n"), *known, ""]).encode("utf-8", "surrogateescape")
        if files.read(f"{folder}/{name}") != data:
            files.replace(f"{folder}/{name}", data)


def _place(root: str, path: str) -> str:
    """Give the file that a path stands for, relative to the root where it lies in it."""
    return file_at(root, path).removeprefix(f"{root}/") if path.startswith(STARTER_PREFIX) else path


def made_maker(state: str) -> str:
    """Give this installation's random name, made on first use."""
    if not freshness.maker(state):
        os.makedirs(state, mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(freshness.maker_path(state), "x", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
    return freshness.maker(state)


def note_python(state: str) -> None:
    """Write down which interpreter compiles here, for a hook that runs under another to start it; none must not."""
    python, place = os.path.abspath(sys.executable or ""), python_path(state)
    known = os.fsencode(python)
    if "python" in os.path.basename(python).lower() and files.read(place) != known:
        with contextlib.suppress(OSError):
            files.replace(place, known)


def sweep(folder: str, keep: set[str]) -> None:
    """Remove the leavings of older and of crashed compiles; the last catalog stays for readers that are opening it."""
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if name in keep:
            continue
        if name.startswith(("catalog-", "building-")):
            shutil.rmtree(path, ignore_errors=True)
        elif name.endswith(".new") or name.startswith("codes-") or name == ENTRIES:
            with contextlib.suppress(OSError):
                os.remove(path)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Let one compiler work at a time; the system frees the lock of a process that dies."""
    with open(f"{folder}/{LOCK}", "a+b") as file:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - exists there only

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - exists there only

            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield


# --- reading back ---


def read_manifest(folder: str) -> dict[str, Any]:
    """Give the manifest of compiled files, empty where there is none or it is of another format."""
    manifest = _read_json(f"{folder}/{MANIFEST}")
    return manifest if manifest.get("format") == FORMAT else {}


def _read_json(path: str) -> dict[str, Any]:
    content = files.read(path)
    try:
        value = json.loads(content) if content else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
