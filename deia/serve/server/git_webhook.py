"""Takes a source of the library in again when the repository's host says that it changed.

GitHub, Gitea and Forgejo sign what they send with a secret (`X-Hub-Signature-256`), GitLab sends the secret itself
(`X-Gitlab-Token`). Whoever does not know the secret learns nothing, and what is sent only chooses among the sources
that are registered: nothing is fetched from an address because it was sent.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs, urlsplit

from deia import fast_json
from deia.compile.take_in import registered_sources
from deia.fast_json import Json
from deia.ingest.source import GIT
from deia.serve.server import limits
from deia.serve.server.library_process import command

MOST_BODY = 4_000_000  # bytes; GitHub sends 25 MB at most, a push some thousands
SIGNATURE, SECRET = b"x-hub-signature-256", b"x-gitlab-token"
MOST_ADDRESS = 2_000  # characters
FORM = b"application/x-www-form-urlencoded"
HEADS = "refs/heads/"


class GitWebhook:
    """Answers webhooks for the library of a commons."""

    def __init__(self, root: str, secret: str) -> None:
        self._root, self._secret = root, secret.encode()
        self._due: set[str] = set()
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request."""
        if scope["method"] != "POST":
            await limits.respond(send, 405, {"error": "POST what the repository's host sends"})
            return
        body = await limits.read_body(receive, most=MOST_BODY)
        headers = {name.lower(): value for name, value in scope["headers"]}
        if body is None or not self.is_genuine(headers, body):
            await limits.respond(send, 401, {"error": "the signature is missing or wrong"})
            return
        names = await asyncio.to_thread(lambda: self._concerned(payload_of(headers, body)))
        self._take_in(names)
        await limits.respond(send, 202, {"sources": names})

    def is_genuine(self, headers: Mapping[bytes, bytes], body: bytes) -> bool:
        """Return whether a request comes from somebody who knows the secret."""
        if SIGNATURE in headers:
            wanted = f"sha256={hmac.new(self._secret, body, hashlib.sha256).hexdigest()}".encode()
            return hmac.compare_digest(headers[SIGNATURE].strip(), wanted)
        return hmac.compare_digest(headers.get(SECRET, b""), self._secret)

    def _concerned(self, payload: Mapping[str, Json]) -> list[str]:
        """Return the names of the sources that are of the repository, and follow the branch that was pushed."""
        addresses, ref = set(map(normal, addresses_of(payload))), str(payload.get("ref", ""))
        branch = ref.removeprefix(HEADS) if ref.startswith(HEADS) else ""
        return [
            registered.source.name
            for registered in registered_sources(self._root, os.environ)
            if registered.source.kind == GIT and normal(registered.source.place) in addresses
            and (not branch or registered.source.branch in ("", branch))
        ]  # fmt: skip

    def _take_in(self, names: list[str]) -> None:
        """Have sources taken in, one process at a time: those that are named meanwhile are taken in once afterwards."""
        self._due.update(names)
        if self._due and (self._working is None or self._working.done()):
            self._working = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        devnull = asyncio.subprocess.DEVNULL
        while self._due:
            names = sorted(self._due)
            try:
                process = await asyncio.create_subprocess_exec(
                    *command(self._root, names), stdin=devnull, stdout=devnull, stderr=devnull
                )
            except OSError:  # there is no room for another process: they are taken in with what is sent next
                return
            self._due.difference_update(names)
            await process.wait()


def payload_of(headers: Mapping[bytes, bytes], body: bytes) -> Mapping[str, Json]:
    """Return what was sent, as JSON or as a form with JSON in it; an empty mapping if it is neither."""
    text = body.decode("utf-8", "replace")
    is_form = headers.get(b"content-type", b"").startswith(FORM)
    try:
        value = fast_json.loads(parse_qs(text, max_num_fields=10).get("payload", [""])[0] if is_form else text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def addresses_of(payload: Mapping[str, Json]) -> Iterator[str]:
    """Yield the addresses of the repository that was pushed to."""
    for part in (payload.get("repository"), payload.get("project")):
        if isinstance(part, Mapping):
            for name, value in part.items():
                if name.endswith(("url", "homepage")) and isinstance(value, str) and 0 < len(value) < MOST_ADDRESS:
                    yield value


def normal(address: str) -> str:
    """Return the host and the path of a repository, however its address is written."""
    if "://" not in address and ":" in address:
        address = f"ssh://{address.replace(':', '/', 1)}"
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return address
    return f"{host}{parts.path.rstrip('/').removesuffix('.git')}"
