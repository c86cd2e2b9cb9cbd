"""Suggestions for an unknown name."""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE = 70.0  # rapidfuzz's WRatio (0 to 100) from which a known name is worth suggesting
NEAR_BEST = 5.0  # points by which another name may be further from it than the closest
MOST = 3  # names that are suggested at once
LISTED = 8  # names that are listed if none is close
LONGEST = 80  # characters of a name that are compared


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that suggests the closest known names, or an empty text if none is close."""
    from rapidfuzz import process  # noqa: PLC0415 - costs 15 ms, and only an unknown name needs it

    matches = process.extract(name[:LONGEST], sorted(set(known)), limit=MOST, score_cutoff=CLOSE, processor=_spaced)
    names = [match for match, score, _ in matches if score >= matches[0][1] - NEAR_BEST]
    return f"Did you mean {' or '.join(names)}?" if names else ""


def _spaced(name: str) -> str:
    """Return the words of a name, which are compared in any order."""
    return name.replace("-", " ")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known names or, if none is near, lists some of them."""
    names = sorted(set(known))
    listed = f"Known are: {', '.join(names[:LISTED])}{', …' if len(names) > LISTED else ''}."
    return did_you_mean(name, names) or (listed if names else "There is none yet.")
