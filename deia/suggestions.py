"""Which known name was meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Give a sentence that suggests the nearest known names, or says how many there are."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known are: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}." if names else "There is none yet."
