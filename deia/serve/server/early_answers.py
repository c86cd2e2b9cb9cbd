"""The first answers of a server, given while the protocol's library is being loaded, which takes most of a second.

Only what never depends on the commons: the handshake and the lists. They say exactly what the library would have said
(a test compares), and it is told of them all the same. Refuses whatever it is not sure of, which then waits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deia import __version__
from deia.serve.server.tool_schemas import INSTRUCTIONS

NAME, TITLE = "deia", "deia, the team's librarian"
VERSIONS = ("2025-06-18", "2025-11-25")  # older ones know less of what a tool says of itself
STATELESS = "2026-07-28"
HANDSHAKE = "handshake"
KEYS = "io.modelcontextprotocol/"  # how the names of what every stateless request carries begin
MOST = 65_536  # bytes of a message that is looked at here


class Greeter:
    """Answers a client's opening, until `done`; `answered` holds the ids that must not be answered again."""

    def __init__(self, offered: Sequence[Mapping[str, Any]]) -> None:
        self._offered = offered
        self._era = ""  # which of the two protocols this client opened with
        self.done = False
        self.answered: set[str | int] = set()

    def answer(self, line: bytes) -> bytes:
        """Give the answer to a line, or nothing where the library is to give it."""
        message = _request(line) if not self.done and len(line) <= MOST else None
        if message is None:
            self.done = self.done or _is_request(line)  # what comes after it keeps its order
            return b""
        result = self._result(message["method"], message.get("params", {}))
        if result is None:
            self.done = True
            return b""
        self.answered.add(message["id"])
        value = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return json.dumps(value, separators=(",", ":")).encode()

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        meta = params.get("_meta")
        if self._era != HANDSHAKE and isinstance(meta, dict) and meta.get(f"{KEYS}protocolVersion") == STATELESS:
            return self._stateless(method, params, meta)
        if method == "initialize":
            return self._initialized(params) if not self._era else None
        if method == "tools/list" and self._era == HANDSHAKE and set(params) <= {"_meta"}:
            return {"tools": list(self._offered)}
        return {} if method == "ping" and self._era == HANDSHAKE else None

    def _initialized(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        version = params.get("protocolVersion")
        if version not in VERSIONS or not _names(params.get("clientInfo")) or not _plain(params.get("capabilities")):
            return None
        self._era = HANDSHAKE
        return {
            "protocolVersion": version,
            "capabilities": _capabilities(changes=False),
            "serverInfo": _about(),
            "instructions": INSTRUCTIONS,
        }

    def _stateless(self, method: str, params: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any] | None:
        """Answer a request that carries what the handshake would have settled."""
        client = meta.get(f"{KEYS}clientInfo")
        sound = _plain(meta.get(f"{KEYS}clientCapabilities")) and (client is None or _names(client))
        if not sound or set(params) != {"_meta"} or method not in ("server/discover", "tools/list"):
            return None
        self._era = STATELESS
        common = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                  "_meta": {f"{KEYS}serverInfo": _about()}}  # fmt: skip
        if method == "tools/list":
            return {**common, "tools": list(self._offered)}
        return {
            **common,
            "supportedVersions": [STATELESS],
            "capabilities": _capabilities(changes=True),
            "instructions": INSTRUCTIONS,
        }


def _about() -> dict[str, Any]:
    return {"name": NAME, "title": TITLE, "version": __version__}


def _capabilities(*, changes: bool) -> dict[str, Any]:
    told = {"listChanged": changes}
    return {"completions": {}, "prompts": told, "resources": {**told, "subscribe": True}, "tools": told}


def _names(client: Any) -> bool:
    """Say whether this is a client's word on itself."""
    return isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))


def _plain(given: Any) -> bool:
    """Say whether these are capabilities of the form that all versions allow."""
    return isinstance(given, dict) and all(isinstance(value, dict) for value in given.values())


def _is_request(line: bytes) -> bool:
    return b'"id"' in line


def _request(line: bytes) -> dict[str, Any] | None:
    """Read a request; None where it is none, or not one that this may answer."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(message, dict)
        or message.get("jsonrpc") != "2.0"
        or not isinstance(message.get("params", {}), dict)
    ):
        return None
    identity, method = message.get("id"), message.get("method")
    fits = isinstance(identity, (str, int)) and not isinstance(identity, bool) and isinstance(method, str)
    return message if fits and not set(message) - {"jsonrpc", "id", "method", "params"} else None


def early(greeter: Greeter, write: Callable[[bytes], bool], line: bytes) -> None:
    """Answer a line at once, if the greeter can."""
    answer = greeter.answer(line)
    if answer:
        write(answer)
