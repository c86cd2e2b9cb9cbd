"""A document at an address as a source, fetched again only if it has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from urllib.parse import unquote, urlsplit

from deia.ingest.source import UNCHANGED, Found, Source, slug
from deia.ingest.source_kinds.safe_fetch import fetch
from deia.ingest.text_encoding import as_utf8

# The ending of a path for the type that a server names, if the address has none.
ENDINGS = {
    "text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/markdown": ".md",
    "application/json": ".json", "text/xml": ".xml", "application/xml": ".xml", "text/plain": ".txt",
}  # fmt: skip


class UrlFiles:
    """The one document at an address."""

    def __init__(self, source: Source, mark: str) -> None:
        """Fetch the document unless it has not changed since `mark` was made; raise SourceError if that fails."""
        stamp, modified, path = json.loads(mark) if mark else ("", "", "")
        fetched = fetch(source.place, stamp=stamp, modified=modified, private=source.private)
        is_text = fetched.type.startswith("text/") or fetched.type.endswith(("xml", "json"))
        content = as_utf8(fetched.content, fetched.charset) if fetched.content and is_text else fetched.content
        self._content = content
        self._modified = fetched.modified
        self._path = path or _path(fetched.url, fetched.type)
        self.mark = json.dumps([fetched.stamp or stamp, fetched.modified or modified, self._path])
        self._stamp = blake2b(content, digest_size=16).hexdigest() if content is not None else None

    def files(self) -> Iterator[Found]:
        """Yield the document; if it has not changed, its stamp is UNCHANGED."""
        yield Found(path=self._path, stamp=self._stamp or UNCHANGED, modified=_moment(self._modified))

    def read(self, file: Found) -> bytes | None:  # noqa: ARG002 - there is only one
        """Return the content of the document, or None if it is unchanged."""
        return self._content

    def close(self) -> None:
        """Do nothing: no connection is left open."""


def _moment(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() if date else 0.0
    except (ValueError, OverflowError):  # a server may send anything
        return 0.0


def _path(url: str, kind: str) -> str:
    """Return an address as a path: its host, path and query, with an ending that names the type."""
    parts = urlsplit(url)
    names = [slug(name) for name in unquote(parts.path).split("/")]
    path = "/".join([str(parts.hostname), *filter(None, names)] if any(names) else [str(parts.hostname), "index"])
    query = f"-{slug(parts.query)}" if parts.query else ""
    base, ending = os.path.splitext(path)
    return f"{base}{query}{ending if ending and any(names) else ENDINGS.get(kind, ending)}"
