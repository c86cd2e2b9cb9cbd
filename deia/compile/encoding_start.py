"""Decide whether the library is encoded for the sentence model, and start that, without importing what it needs.

A library with much code keeps to word vectors unless a person asks for more: code is found by its names, and a large
repository would take hours.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from deia import files
from deia.compile.catalog.effort import TIER, TIERS
from deia.compile.encoding_progress import EVERYTHING, Encoding, write_encoding
from deia.folders import derived_folder, is_trusted
from deia.ingest.library_store import Library, library_at
from deia.match.tiers import tiers_of
from deia.settings import resolve
from deia.text import counted

ENCODER = "deia.compile.library_encoding"
MOST_CODE = 3_000  # passages: two minutes, and hardly more than a small project
MOST = 100_000  # passages: half an hour or an hour


def plain_collections(library: Library, choice: str, model: str = "") -> tuple[str, ...] | None:
    """Return the collections that keep to word vectors; None if no tier is set."""
    tiers = library.tiers()
    known = {registered.source.collection for registered in library.registry()}
    default = TIER if TIER in tiers_of(choice, model=model) else TIERS[0]
    return tuple(sorted(name for name in known if tiers.get(name, default) != TIER)) if tiers else None


def library_tiers(
    root: str, environ: Mapping[str, str], choice: str, model: str
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the collections that keep to word vectors, as far as a tier is set, and the tiers that were set."""
    library = library_at(root, environ) if is_trusted(root, environ) else None
    if library is None:
        return (), {}
    with library:
        return plain_collections(library, choice, model) or (), library.tiers()


def wanted_tiers(root: str, environ: Mapping[str, str], library: Library) -> tuple[str, ...]:
    """Return the tiers that the library's catalog is to have."""
    choice = resolve(root, environ=environ)
    plain = plain_collections(library, choice.tier, choice.model)
    if plain is not None:
        return (
            TIERS if {registered.source.collection for registered in library.registry()} <= {*plain} else (*TIERS, TIER)
        )
    return (*TIERS, TIER) if TIER in tiers_of(choice.tier, model=choice.model) else TIERS


def start_encoding(root: str, environ: Mapping[str, str]) -> bool:
    """Start a process that encodes what is not encoded yet, without waiting for it; return whether it was started."""
    folder = f"{derived_folder(root, environ)}/library"
    catalog = files.read(f"{folder}/catalog") or b""
    library = None if catalog.endswith(TIER.encode()) or not is_trusted(root, environ) else library_at(root, environ)
    if library is None:
        return False
    with library:
        if not library.passages() or TIER not in wanted_tiers(root, environ, library):
            return False
        reason = "" if library.tiers() else reason_against(library, resolve(root, environ=environ).tier)
    if reason:
        write_encoding(folder, Encoding(reason=reason))
        return False
    write_encoding(folder, Encoding())
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    nobody = subprocess.DEVNULL
    command = (sys.executable, "-I" if sys.flags.isolated else "-P", "-m", ENCODER, root)
    process = subprocess.Popen(  # noqa: S603 - this interpreter, and a module of deia
        command, stdin=nobody, stdout=nobody, stderr=nobody, env=dict(environ), **detached
    )
    threading.Thread(target=process.wait, daemon=True).start()  # so that no dead process is left
    return True


def reason_against(library: Library, choice: str) -> str:
    """Return why the library keeps to word vectors, or ""."""
    code, passages = library.passages("code"), library.passages()
    if choice == TIER or (code <= MOST_CODE and passages <= MOST):
        return ""
    much = f"{counted(code, 'passage')} of code" if code > MOST_CODE else counted(passages, "passage")
    return f"the library has {much} and is searched with word vectors; {EVERYTHING}"
