"""Serialise compiled triggers and marks for the artefact; `deia.watch.compiled_trigger.parse_trigger` reads them.

The words of phrases, the acts of `meaning` clauses and the patterns of changed text are large, and most candidates
never need them. They are written on lines of their own, which the reader keeps as text until it needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deia.fast_json import dumps
from deia.watch.compiled_trigger import FOLDED, PATTERNS, CompiledClause, CompiledMark, CompiledTrigger


def folded(compiled: CompiledTrigger | CompiledMark) -> bytes:
    """Return a trigger or mark as an item of the artefact: its record, and a line for each large part of a clause.

    The documents of a trigger are left out: `with_documents` adds them.
    """
    lines: list[str] = []
    fields: dict[str, Any] = {
        name: [_fields(item, lines) for item in value] if name in {"any", "all", "until"} else value
        for name, value in compiled.values().items()
        if value is not None and name != "documents"
    }
    return "\n".join((dumps(fields), *lines)).encode("ascii")


def with_documents(record: bytes, documents: Sequence[tuple[int, str, str]]) -> bytes:
    """Return the item of a trigger with its documents: their numbers, how much of each is shown, and why."""
    return b"".join((b'{"documents":', dumps(documents).encode("ascii"), b",", record[1:]))


def _fields(clause: CompiledClause, lines: list[str]) -> Mapping[str, Any]:
    """Return the serialised fields of a clause, and add its large parts to `lines`; their numbers replace them."""
    if clause.kind in FOLDED:
        large = {"v": clause.fields["v"]}
    else:
        large = {name: pattern.fields for name in PATTERNS if (pattern := clause.written(name))}
    numbers = {}
    for name, part in large.items():
        lines.append(dumps(part))
        numbers[name] = len(lines)
    return {**clause.fields, **numbers}
