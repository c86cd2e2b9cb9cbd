"""The starter commons as it was read once, for the compiles of all commons that it is a layer of.

Reading it takes a second; reading what was kept takes some hundredths. What is kept lies in the person's cache, beside
the compiled starter, and counts only for the same files of the starter and the same version of deia. A damaged file
counts as none. Cases are not kept, since no compile needs them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TypeVar

from deia import __version__, fast_json
from deia.commons.index.index_records import Cluster, Concept, Index, LearningPath, QueryPattern, Step
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import load_starter
from deia.compile.sources import HASH_LENGTH, code_contents, code_stamps, read_sources
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.units import NAME as LOWERED
from deia.compile.triggers.units import STARTER_ORIGIN, Units, read_kept, shipped_token, write_kept, write_units
from deia.firing import Reference
from deia.folders import STARTER, STARTER_PREFIX, derived_folder
from deia.knowledge import Clause, Document, Earlier, Entry, OwnActWords, Trigger
from deia.records import Record
from deia.settings import DEFAULTS

Kind = TypeVar("Kind", bound=Record)

NAME = "starter.json"
SHIPPED = f"{STARTER}/ready"  # what the wheel brings along
HEAD = "deia-starter-1"
READING = ("commons/index", "commons/layers", "commons/source_files", "commons/triggers")
LEFT_OUT = ("index", "cases", "problems", "own_ids")  # of the starter; compiles use those of the project
CLAUSES = {"any": Clause, "all": Clause, "until": Clause}
PARTS: Mapping[type[Record], Mapping[str, type[Record]]] = {  # the fields of a record that hold records
    Commons: {
        "index": Index, "entries": Entry, "documents": Document, "clusters": Cluster, "query_patterns": QueryPattern,
        "triggers": Trigger, "concepts": Concept, "learning_paths": LearningPath,
    },
    Trigger: {**CLAUSES, "earlier": Earlier, "documents": Reference, "act_words": OwnActWords},
    Earlier: CLAUSES,
    LearningPath: {"steps": Step},
}  # fmt: skip


def ready_starter(environ: Mapping[str, str], sources: Mapping[str, str]) -> Commons:
    """Return the starter commons with its paths as seen from a project; its files are among the `sources`."""
    path, token = f"{derived_folder(STARTER, environ)}/{NAME}", starter_token(sources)
    body = read_kept(path, HEAD, token) or read_kept(f"{SHIPPED}/{NAME}", HEAD, starter_token(sources, code_contents))
    if body:
        return _record(Commons, fast_json.loads(body.decode("ascii")))
    starter = load_starter()
    keep_starter(path, starter, token)
    return starter


def keep_starter(path: str, starter: Commons, token: str) -> None:
    """Write what was read of the starter to a file, if it can be written."""
    kept = {name: value for name, value in _fields(starter).items() if name not in LEFT_OUT}
    body = fast_json.dumps({**kept, "index": {"path": ""}, "cases": ()}).encode("ascii")
    write_kept(path, HEAD, token, body)


def starter_token(sources: Mapping[str, str], code_of: Callable[[str], object] = code_stamps) -> str:
    """Return a digest of the files of the starter and of the code that reads them, as `code_of` describes a folder."""
    code = [code_of(folder) for folder in READING]
    lines = [f"{value[-HASH_LENGTH:]} {path}" for path, value in sources.items() if path.startswith(STARTER_PREFIX)]
    return blake2b(
        "\n".join((__version__, repr(code), *lines)).encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()


def _fields(record: Record) -> dict[str, object]:
    """Return the fields of a record, without those that have their default value."""
    fields, defaults = record.values(), getattr(type(record), "DEFAULTS", {})
    return {name: _plain(item) for name, item in fields.items() if name not in defaults or item != defaults[name]}


def _plain(value: object) -> object:
    """Return a value with its records as dictionaries."""
    if isinstance(value, Record):
        return _fields(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return value


def _record(kind: type[Kind], fields: Mapping[str, object]) -> Kind:
    """Return a record of its fields as `_fields` wrote them."""
    parts = PARTS.get(kind, {})
    return kind(
        **{name: _part(parts[name], value) if name in parts else _value(value) for name, value in fields.items()}
    )


def _part(kind: type[Record], value: object) -> object:
    if isinstance(value, list):
        return tuple([_record(kind, item) for item in value])
    return _record(kind, value) if isinstance(value, dict) else value


def _value(value: object) -> object:
    """Return a JSON value as records have it, with tuples instead of lists."""
    if isinstance(value, list):
        return tuple([_value(item) for item in value])
    return {name: _value(item) for name, item in value.items()} if isinstance(value, dict) else value


# --- what a wheel brings along ---


def make_ready(folder: str) -> None:
    """Write what was read of the starter, and its lowered triggers, into a folder: only the build of a wheel does so.

    The lowered triggers contain the code of patterns, which only an interpreter like the one that built the wheel can
    use; others lower them once.
    """
    starter, units = load_starter(), Units()
    with tempfile.TemporaryDirectory() as project:
        sources = read_sources(project, {}, starter=True, trusted=False)
    compile_triggers(
        starter.triggers, {}, settings=DEFAULTS.by_name(), identity={},
        units_of=lambda origin: units if origin == STARTER_ORIGIN else Units(),
    )  # fmt: skip
    keep_starter(os.path.join(folder, NAME), starter, starter_token(sources, code_contents))
    write_units(os.path.join(folder, LOWERED), shipped_token(), units.used)
