"""Standard input and output as a wire: lines in, lines out, whatever else the process prints kept off it.

Reading is a daemon thread's, so that an input that never ends or never speaks holds nothing up; writing looks first
whether there is room, so that a reader who takes nothing holds up no end. A line that is too long is refused with an
answer; the next is read as if nothing had been.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from deia import fast_json
from deia.errors import HostError

MOST_LINE = 4_194_304  # bytes of one message, as the SDK limits them over HTTP
MOST_WAITING = 256  # lines that are read before somebody takes them
PIECE = 65_536
ROOM = 4_096  # bytes that a pipe with any room at all takes at once
LOOK = 0.1  # seconds between two looks whether whoever reads has gone
GRACE = 1.0  # seconds in which, once the server is to end, whoever reads must take something
TOO_LONG, NOT_JSON, NOT_A_REQUEST = -32600, -32700, -32600


class Wire:
    """Two private file descriptors; `take` is called with each line in the reading thread, `ended` once at the end."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._writing = threading.Lock()
        self._room = threading.Semaphore(MOST_WAITING)
        self._is_ending = False
        self._look = _looker(target)
        self.closed = False

    def start(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, args=(take, ended), name="deia-wire", daemon=True).start()

    def taken(self) -> None:
        """Say that a line has been dealt with, so that there is room for another."""
        self._room.release()

    def write(self, data: bytes) -> bool:
        """Write a line; say whether anybody can still read it."""
        with self._writing:
            rest = memoryview(data + b"\n")
            while rest and self._has_room():
                try:
                    rest = rest[os.write(self._target, rest[:ROOM]) :]
                except OSError:
                    self.closed = True
        return not self.closed

    def end(self) -> None:
        """Say that the server is to end: from here on a reader who takes nothing for a while counts as gone."""
        self._is_ending = True

    def _has_room(self) -> bool:
        """Wait until something can be written; say no where nobody will take it any more."""
        waited = 0.0
        while not self.closed and not self._look():
            waited = waited + LOOK if self._is_ending else 0.0
            self.closed = waited >= GRACE
        return not self.closed

    def refuse(self, code: int, message: str, identity: object = None) -> None:
        """Answer what could not be read as a message."""
        error = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
        self.write(fast_json.dumps(error).encode())

    def _read(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        for line in self._lines():
            if len(line) > MOST_LINE:
                self.refuse(TOO_LONG, f"a message has at most {MOST_LINE} bytes")
            elif line.strip():
                self._room.acquire()
                take(line)
        ended()

    def _lines(self) -> Iterator[bytes]:
        """Give the lines; of one that is too long, only so much that it is seen to be."""
        held = bytearray()
        while piece := self._piece():
            *whole, rest = piece.split(b"\n")
            for part in whole:
                held += part
                yield bytes(held)
                held.clear()
            if len(held) <= MOST_LINE:
                held += rest
        if held:
            yield bytes(held)

    def _piece(self) -> bytes:
        try:
            return os.read(self._source, PIECE)
        except OSError:
            return b""


def refuse(wire: Wire, line: bytes) -> None:
    """Answer a line that the protocol's library does not take, under its own number where it has one."""
    try:
        message: Any = json.loads(line)
    except ValueError:
        wire.refuse(NOT_JSON, "not JSON")
        return
    except RecursionError:
        wire.refuse(NOT_A_REQUEST, "nested too deep")
        return
    given = message.get("id") if isinstance(message, dict) else None
    identity = given if isinstance(given, (str, int)) and not isinstance(given, bool) else None
    wire.refuse(NOT_A_REQUEST, f"not a JSON-RPC 2.0 message: {_oddness(message)}", identity)


def _oddness(message: Any) -> str:
    if not isinstance(message, dict):
        return "one object a line is taken"
    if message.get("jsonrpc") != "2.0":
        return 'it says no "jsonrpc": "2.0"'
    if "id" in message and (not isinstance(message["id"], (str, int)) or isinstance(message["id"], bool)):
        return "id must be a text or a whole number"
    if not isinstance(message.get("params") or {}, dict):
        return "params must be an object"
    return "it lacks method, holds half a character, or is nested too deep"


def has_id(line: bytes) -> bool:
    """Say whether a line that is JSON says an id, so that somebody waits for an answer."""
    message = json.loads(line)
    return isinstance(message, dict) and "id" in message


def _looker(target: int) -> Callable[[], bool]:
    """Give what waits a moment for room to write and says if there is some; without `poll`, writing itself waits."""
    if not hasattr(select, "poll"):
        return lambda: True
    polling = select.poll()
    polling.register(target, select.POLLOUT)
    return lambda: bool(polling.poll(LOOK * 1_000))


def private_wire() -> Wire:
    """Take standard input and output for the wire; from here on the process reads nothing and prints to the log.

    Raises:
        HostError: there is no standard input or output.
    """
    if sys.stdin is None or sys.stdout is None:  # closed at the start; by now their numbers may be other files'
        told = "there is no standard input or output to serve on"
        raise HostError(told, fix="A host starts this and keeps both open; to see the settings: deia mcp config HOST")
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with contextlib.suppress(OSError):  # no standard error either: then prints go the way they went, into nothing
        os.dup2(2, 1)
    return Wire(source, target)
