"""Which extractor finds the facts of documents: patterns and, where the extra `nlp` is installed, spaCy's matchers."""

from __future__ import annotations

import functools

PATTERNS = "patterns 6"  # raised when the same document would yield other facts
PACKAGES = ("spacy", "spacy-lookups-data")


@functools.cache
def extractor() -> str:
    """Return the names and versions of what finds the facts of documents on this machine."""
    return " and ".join([PATTERNS, *(f"{name} {version}" for name, version in _versions().items())])


def has_word_forms() -> bool:
    """Return whether spaCy and its tables are installed."""
    return bool(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    """Return the versions of spaCy and its tables without the second that an import takes; none if one is missing."""
    from importlib.util import find_spec  # noqa: PLC0415 - a search asks for PATTERNS alone

    if find_spec(PACKAGES[0]) is None:
        return {}
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 13 ms

    try:
        return {name: version(name) for name in PACKAGES}
    except PackageNotFoundError:
        return {}
