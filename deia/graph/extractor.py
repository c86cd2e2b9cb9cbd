"""Which extractor finds the facts of documents: patterns and, where the extra `nlp` is installed, spaCy's matchers."""

from __future__ import annotations

import functools

PATTERNS = "patterns 4"  # changes when a document's facts would be others
PACKAGES = ("spacy", "spacy-lookups-data")


@functools.cache
def extractor() -> str:
    """Return what finds the facts of documents here, with its version."""
    return " and ".join([PATTERNS, *(f"{name} {version}" for name, version in _versions().items())])


def has_word_forms() -> bool:
    """Return whether spaCy takes part."""
    return bool(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    """Return the versions of spaCy and of its tables without importing it, which takes a second; none if one lacks."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - for what indexes, not for searches

    try:
        return {name: version(name) for name in PACKAGES}
    except PackageNotFoundError:
        return {}
