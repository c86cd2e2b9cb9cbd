"""Suggestions for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known names or, if none is near, lists some of them."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known are: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}." if names else "There is none yet."
