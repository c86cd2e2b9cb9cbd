"""The manifest of compiled files, `manifest.json`: what was compiled, from what, and with which problems."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from deia import fast_json, files
from deia.errors import Problem
from deia.fast_json import Json
from deia.records import Record
from deia.watch.gate.artefact import FORMAT

NAME = "manifest.json"


class Calibration(Record):
    """The thresholds of a `meaning` clause, and how often it fires with them."""

    trigger: str
    clause: str
    exemplars: int
    thresholds: tuple[float, ...]  # of the exemplars
    fires: int  # cases of the trigger, among those in which somebody speaks, on which the clause fires by itself
    cases: int
    worded: int  # pieces of ordinary talk that contain the words of an exemplar
    alarms: int  # of these, those that are also close enough to it
    background: int
    print: str = ""  # a digest of everything that the calibration depends on


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
    standing: tuple[str, ...] = ()  # trigger files with errors whose last good version is used
    broken: tuple[str, ...] = ()  # triggers that were left out because of errors
    catalog: str = ""  # the name of the catalog's folder
    tiers: tuple[str, ...] = ()  # the tiers in the catalog
    left_out: bool = False  # whether a requested tier was left out because it would have taken long
    artefact: str = ""  # the digest in the trigger artefact
    settled: tuple[str, ...] = ()  # documents of which triggers hold a copy
    ungated: tuple[str, ...] = ()  # triggers that every turn has to evaluate
    meaning: tuple[Calibration, ...] = ()
    own_meaning: tuple[str, ...] = ()  # the project's own triggers among those in `meaning`


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Write the manifest of compiled files.

    Raises:
        OSError: the folder cannot be written.
    """
    values = {
        **manifest.values(),
        "format": FORMAT,
        "problems": [problem.values() for problem in manifest.problems],
        "meaning": [calibration.values() for calibration in manifest.meaning],
    }
    files.replace(f"{folder}/{NAME}", json.dumps(values, sort_keys=True).encode())


def read_manifest(folder: str) -> Manifest:
    """Return the manifest of compiled files, or an empty one if it is missing, damaged or of another format."""
    try:
        value = fast_json.loads((files.read(f"{folder}/{NAME}") or b"").decode("utf-8", "replace"))
        return _manifest(value) if isinstance(value, dict) and value.get("format") == FORMAT else Manifest()
    except (ValueError, TypeError):
        return Manifest()


def _manifest(value: Mapping[str, Json]) -> Manifest:
    """Return the manifest in a JSON object.

    Raises:
        TypeError: a value is of another type.
    """
    return Manifest(
        deia=_text(value, "deia"),
        built_at=_text(value, "built_at"),
        triggers_digest=_text(value, "triggers_digest"),
        catalog_digest=_text(value, "catalog_digest"),
        about=_text(value, "about"),
        index=_text(value, "index"),
        entries=_text(value, "entries"),
        documents=_count(value, "documents"),
        triggers=_count(value, "triggers"),
        deprecated=_count(value, "deprecated"),
        problems=tuple(_problem(row) for row in _rows(value, "problems")),
        standing=_texts(value, "standing"),
        broken=_texts(value, "broken"),
        catalog=_text(value, "catalog"),
        tiers=_texts(value, "tiers"),
        left_out=value.get("left_out") is True,
        artefact=_text(value, "artefact"),
        settled=_texts(value, "settled"),
        ungated=_texts(value, "ungated"),
        meaning=tuple(calibration(row) for row in _rows(value, "meaning")),
        own_meaning=_texts(value, "own_meaning"),
    )


def _problem(row: Mapping[str, Json]) -> Problem:
    return Problem(
        path=_text(row, "path"),
        line=_count(row, "line"),
        found=_text(row, "found"),
        fix=_text(row, "fix"),
        code=_text(row, "code"),
        severity=_text(row, "severity"),
    )


def calibration(row: Mapping[str, Json]) -> Calibration:
    """Return the calibration in a JSON object.

    Raises:
        TypeError: a value is of another type.
    """
    thresholds = [value for value in _list(row, "thresholds") if isinstance(value, (int, float))]
    return Calibration(
        trigger=_text(row, "trigger"),
        clause=_text(row, "clause"),
        exemplars=_count(row, "exemplars"),
        thresholds=tuple(thresholds),
        fires=_count(row, "fires"),
        cases=_count(row, "cases"),
        worded=_count(row, "worded"),
        alarms=_count(row, "alarms"),
        background=_count(row, "background"),
        print=_text(row, "print"),
    )


def _text(row: Mapping[str, Json], name: str) -> str:
    value = row.get(name, "")
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _count(row: Mapping[str, Json], name: str) -> int:
    value = row.get(name, 0)
    if not isinstance(value, int):
        raise TypeError(name)
    return value


def _list(row: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = row.get(name, ())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(name)
    return value


def _texts(row: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return tuple(_text({name: value}, name) for value in _list(row, name))


def _rows(row: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    rows: list[Mapping[str, Json]] = [value for value in _list(row, name) if isinstance(value, dict)]
    if len(rows) < len(_list(row, name)):
        raise TypeError(name)
    return rows
