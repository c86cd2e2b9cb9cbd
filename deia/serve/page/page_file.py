"""The file of the page, and its style and script, which a browser is told to trust by their digests alone."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from deia.tables import text_beside


@cache
def html() -> bytes:
    """Return the page."""
    return text_beside(__file__, ".html").encode()


def inside(tag: str) -> bytes:
    """Return what is in the file's first element of a name."""
    name = tag.encode()
    return html().partition(b"<%s>" % name)[2].partition(b"</%s>" % name)[0]


def digest_of(tag: str) -> str:
    """Return the digest of an element's content as a content security policy has it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(inside(tag)).digest()).decode()}"
