"""Who may use the page: a token that works once is made at a terminal and exchanged for that of a session.

Of the first kind only the digest is written down, in the person's own folder, so whoever reads the folder cannot sign
in. Sessions are kept in the server's memory: they end with it, or when the person ends them.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress

from deia import files
from deia.problems import CommonsError

FOLDER = "page"
SECONDS = 120.0  # for which a token that works once can be exchanged
MOST_SESSIONS = 50
BYTES = 24  # of a token


def make_once(state: str, *, now: float | None = None) -> str:
    """Return a token that can be exchanged once, within two minutes, by a server with the same state folder."""
    _remove_old(state, time.time() if now is None else now)
    token = secrets.token_urlsafe(BYTES)
    if not files.keep(_path(state, token), b""):
        raise CommonsError("the token cannot be written", where=state, fix="Check the permissions of that folder.")
    return token


def _path(state: str, token: str) -> str:
    return f"{state}/{FOLDER}/{_digest(token)}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _remove_old(state: str, now: float) -> None:
    for name in files.names(f"{state}/{FOLDER}"):
        path = f"{state}/{FOLDER}/{name}"
        with suppress(OSError):
            if now - os.stat(path).st_mtime > SECONDS:
                files.remove(path)


class Sessions:
    """The sessions of one server; only the digests of their tokens are kept."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._digests: dict[str, None] = {}  # the oldest first

    def begin(self, once: str) -> str:
        """Return the token of a new session, or "" if `once` is unknown, too old, or was exchanged already."""
        path = _path(self._state, once)
        try:
            age = time.time() - os.stat(path).st_mtime
            os.unlink(path)  # of two who try at once, only one gets past this line
        except OSError:
            return ""
        if age > SECONDS:
            return ""
        token = secrets.token_urlsafe(BYTES)
        self._digests[_digest(token)] = None
        while len(self._digests) > MOST_SESSIONS:
            del self._digests[next(iter(self._digests))]
        return token

    def knows(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether a request carries the token of a session."""
        return self._of(headers) in self._digests

    def end(self, headers: Mapping[bytes, bytes]) -> None:
        """End the session of a request, in all tabs that share it."""
        self._digests.pop(self._of(headers), None)

    def _of(self, headers: Mapping[bytes, bytes]) -> str:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        return _digest(token.decode("latin-1").strip()) if scheme.lower() == b"bearer" else ""
