"""Who may use the page: a token that works once is made at a terminal and exchanged for that of a session.

Of the first kind only the digest is written down, in the person's own folder, so whoever reads the folder cannot sign
in. Sessions are kept in the server's memory: they end with it, when the person ends them, or when nobody uses them.
"""

from __future__ import annotations

import hashlib
import html
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from deia import files
from deia.problems import CommonsError
from deia.records import Record

FOLDER = "page"
SECONDS = 120.0  # for which a token that works once can be exchanged
MOST_SESSIONS = 50
IDLE, LONGEST = 30 * 60.0, 12 * 3600.0  # seconds after which a session ends: unused, and in any case
REDIRECT = """<!doctype html><meta charset="utf-8"><title>deia</title>
<meta http-equiv="refresh" content="0; url={url}"><p><a href="{url}">Open the page</a></p>
"""
BYTES = 24  # of a token


def make_once(state: str, *, now: float | None = None) -> str:
    """Return a token that can be exchanged once, within two minutes, by a server with the same state folder."""
    _remove_old(state, time.time() if now is None else now)
    token = secrets.token_urlsafe(BYTES)
    if not files.keep(_path(state, token), b""):
        raise CommonsError("the token cannot be written", where=state, fix="Check the permissions of that folder.")
    return token


def redirect_file(state: str, url: str) -> str:
    """Write a file that leads a browser to an address, and return its path, or "" if it cannot be written.

    A browser that is given the address itself shows it to everybody on the machine, in its command line.
    """
    path = f"{state}/{FOLDER}/{_digest(url)}.html"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(REDIRECT.format(url=html.escape(url)).encode())
    except OSError:
        return ""
    return path


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


class Session(Record):
    """When a session began, and when it was last used, by a clock that never goes back."""

    began: float
    used: float


class Sessions:
    """The sessions of one server; only the digests of their tokens are kept."""

    def __init__(self, state: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._state, self._clock = state, clock
        self._sessions: dict[str, Session] = {}  # by digest, the oldest first

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
        token, now = secrets.token_urlsafe(BYTES), self._clock()
        self._sessions[_digest(token)] = Session(began=now, used=now)
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return token

    def knows(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether a request carries the token of a session, which is used with that."""
        return self._is_used(self._of(headers))

    def admits(self, token: str) -> bool:
        """Return whether this is the token of a session, which is used with that."""
        return self._is_used(_digest(token))

    def _is_used(self, digest: str) -> bool:
        now = self._clock()
        session = self._sessions.get(digest)
        if session is None:
            return False
        if now - session.used > IDLE or now - session.began > LONGEST:
            del self._sessions[digest]
            return False
        self._sessions[digest] = session.but(used=now)
        return True

    def end(self, headers: Mapping[bytes, bytes]) -> None:
        """End the session of a request, in all tabs that share it."""
        self._sessions.pop(self._of(headers), None)

    def _of(self, headers: Mapping[bytes, bytes]) -> str:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        return _digest(token.decode("latin-1").strip()) if scheme.lower() == b"bearer" else ""
