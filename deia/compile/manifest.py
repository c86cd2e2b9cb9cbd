"""The manifest of compiled files, `manifest.json`: what was compiled, from what, and with which problems."""

from __future__ import annotations

import json

from deia import fast_json, files
from deia.problems import Problem
from deia.records import Record
from deia.typed_json import plain, read_record
from deia.watch.gate.artefact import FORMAT

NAME = "manifest.json"


class Manifest(Record):
    """What a compile recorded. The defaults stand for a folder in which nothing was compiled."""

    deia: str = ""  # the version that compiled
    built_at: str = ""
    triggers_digest: str = ""  # of everything that the triggers were compiled from
    catalog_digest: str = ""
    about: str = ""  # a digest of the dependencies other than the sources
    index: str = ""  # the path of the index
    entries: str = ""  # the token of the file that fast recompiles use; "" if there is none
    documents: int = 0
    triggers: int = 0
    deprecated: int = 0  # of the triggers
    problems: tuple[Problem, ...] = ()
    faults: tuple[str, ...] = ()  # trigger files with errors, and what counts instead
    broken: tuple[str, ...] = ()  # triggers that were left out because of errors
    catalog: str = ""  # the name of the catalog's folder
    tiers: tuple[str, ...] = ()  # the tiers in the catalog
    left_out: bool = False  # whether a requested tier was left out because it would have taken long
    artefact: str = ""  # the digest in the trigger artefact
    settled: tuple[str, ...] = ()  # documents of which triggers hold a copy
    ungated: tuple[str, ...] = ()  # triggers that every turn has to evaluate


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Write the manifest of compiled files; raise OSError if the folder cannot be written."""
    files.replace(f"{folder}/{NAME}", json.dumps({**plain(manifest), "format": FORMAT}, sort_keys=True).encode())


def read_manifest(folder: str) -> Manifest:
    """Return the manifest of compiled files, or an empty one if it is missing, damaged or of another format."""
    try:
        value = fast_json.loads((files.read(f"{folder}/{NAME}") or b"").decode("utf-8", "replace"))
        return read_record(Manifest, value) if isinstance(value, dict) and value.get("format") == FORMAT else Manifest()
    except (ValueError, TypeError):
        return Manifest()
