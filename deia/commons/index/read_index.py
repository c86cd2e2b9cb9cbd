"""Read the master index of a commons, whatever its shape. Problems are returned, not raised."""

from __future__ import annotations

import json
import os
from collections import Counter

from deia.commons.index import shapes
from deia.commons.index.index_parts import read_concepts, read_learning_paths, read_old_triggers, read_query_patterns
from deia.commons.index.index_records import Index
from deia.commons.source_files import safe_files
from deia.commons.source_files.fields import as_text
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.read_cache import cached
from deia.commons.source_files.yaml_reader import Items, Map, Value, Yaml, read_yaml, with_lines
from deia.fast_json import Json
from deia.folders import INDEX_NAMES
from deia.problems import Problem

OLD_NAMES = ("master-index.yaml", "master-index.yml", "index.json")
MIGRATE = "Run `deia index migrate`."


def find_index(root: str) -> str:
    """Return the path of the index from the root, or "" if there is none."""
    names = (*INDEX_NAMES, *OLD_NAMES)
    return next((name for name in names if os.path.isfile(safe_files.resolve(root, name) or os.curdir)), "")


def load_index(root: str) -> Index:
    """Read the index of a commons from its file."""
    path = find_index(root)
    if not path:
        return Index(path="", problems=_unusable(root))
    text = safe_files.read_text(root, path, limit=safe_files.YAML_BYTES)
    if not text.readable:
        return Index(path=path, problems=text.problems)
    return read_index(text.text, path=path, problems=text.problems)


def _unusable(root: str) -> tuple[Problem, ...]:
    """Return a problem for everything that has the name of an index and is not a file inside the commons."""
    names = [name for name in INDEX_NAMES if os.path.lexists(os.path.join(root, name))]
    texts = [safe_files.read_text(root, name, limit=safe_files.YAML_BYTES) for name in names]
    return tuple(problem for text in texts if not text.readable for problem in text.problems)


def read_index(text: str, *, path: str, problems: tuple[Problem, ...] = ()) -> Index:
    """Read an index from its text; `problems` are those found in its file so far."""
    return cached((read_index, text, path, problems), lambda: _read(text, path, problems), size=len(text))


def _read(text: str, path: str, problems: tuple[Problem, ...]) -> Index:
    parsed = read_json(text, path=path) if path.endswith(".json") else read_yaml(text, path=path)
    problems = (*problems, *parsed.problems)
    if parsed.value is None and problems:
        return Index(path=path, problems=problems)
    return parse_index(parsed.value, path=path, problems=problems)


def parse_index(value: Value, *, path: str, problems: tuple[Problem, ...] = ()) -> Index:
    """Make an index from the parsed content of its file."""
    findings = Findings(path)
    findings.problems += problems
    shape = shapes.detect(value)
    if shape is None:
        known = "; ".join(known.looks for known in shapes.SHAPES)
        message = f"The index is {shapes.describe(value)}, which is not a known shape. Known shapes: {known}."
        findings.error(1, "unknown-shape", message, "Write it as v1.0, or make a new one with `deia index build`.")
        return Index(path=path, problems=tuple(findings.problems))
    if shape.name != shapes.V1:
        message = f"The index has the old shape {shape.name} ({shape.looks})."
        findings.warning(1, "old-shape", message, f"{MIGRATE} Until then it still works.")
    content = shape.read(value, findings)
    top = value if isinstance(value, Map) else Map()
    version = top.get("version")
    return Index(
        path=path,
        shape=shape.name,
        version="" if isinstance(version, Map | Items) else as_text(version),
        entries=content.entries,
        clusters=content.clusters,
        query_patterns=read_query_patterns(top, findings),
        concepts=read_concepts(top, findings),
        learning_paths=read_learning_paths(top, findings),
        proactive_triggers=read_old_triggers(top, findings),
        source=top,
        problems=tuple(findings.problems),
    )


def read_json(text: str, *, path: str) -> Yaml:
    """Parse a JSON text into the same form as YAML, without line numbers; duplicate keys are reported."""
    findings = Findings(path)

    def pairs(members: list[tuple[str, Json]]) -> dict[str, Json]:
        """Make an object from its pairs and report duplicate keys, of which the first is used."""
        counts = Counter(key for key, _ in members)
        for key in (key for key, count in counts.items() if count > 1):
            findings.error(0, "duplicate-key", f"The key `{key}` repeats in one object.", "Remove one of the two.")
        return dict(reversed(members))

    try:
        value = with_lines(json.loads(text, object_pairs_hook=pairs))
    except RecursionError:
        findings.error(0, "json-depth", "The file is nested too deep.", "Flatten it.")
        return Yaml(value=None, problems=tuple(findings.problems))
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        findings.error(line, "json-syntax", f"This is not JSON: {error}.", "Correct it, or write the index as YAML.")
        return Yaml(value=None, problems=tuple(findings.problems))
    return Yaml(value=value, problems=tuple(findings.problems))
