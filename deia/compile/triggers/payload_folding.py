"""What of a compiled trigger is large and seldom needed, written as a text inside it: a reader passes over it quickly.

Most candidates of a turn never come so far that somebody asks what their `meaning` clauses look for, or runs the
patterns of what they write. Refuses to change what they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia.commons.triggers.clause_language import WRITE_TEXTS
from deia.fast_json import dumps


def folded(compiled: Mapping[str, Any]) -> bytes:
    """Give a compiled trigger as it stands in the artefact: what is large on lines of its own, by number in the first.

    `meaning_of` and `unfolded` read it when somebody asks.
    """
    lines: list[str] = []
    for clause in (*compiled["any"], *compiled["all"]):
        for name in ("v",) if clause["k"] == "meaning" else [name for name in WRITE_TEXTS if name in clause]:
            lines.append(dumps(clause[name]))
            clause[name] = len(lines)
    return "\n".join((dumps(compiled), *lines)).encode("ascii")
