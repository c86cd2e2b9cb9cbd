"""Which extractor finds the facts of documents: patterns and, where the extra `nlp` is installed, spaCy's matchers."""

from __future__ import annotations

import functools

PATTERNS = "patterns 3"  # changes when a document's facts would be others


@functools.cache
def extractor() -> str:
    """Return what finds the facts of documents here, with its version."""
    spacy = _version_of_spacy()
    return f"{PATTERNS}, spaCy {spacy}" if spacy else PATTERNS


def _version_of_spacy() -> str:
    """Return the version of spaCy without importing it, which takes a second; "" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - for what indexes, not for searches

    try:
        return version("spacy")
    except PackageNotFoundError:
        return ""
