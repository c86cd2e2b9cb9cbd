"""Standard input and output as a wire: lines in, lines out, whatever else the process prints kept off it.

Reading is a daemon thread's, so that an input that never ends or never speaks holds nothing up. A line that is too
long is refused with an answer; the next is read as if nothing had been.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING

from deia import fast_json
from deia.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_LINE = 4_194_304  # bytes of one message, as the SDK limits them over HTTP
MOST_WAITING = 256  # lines that are read before somebody takes them
PIECE = 65_536
TOO_LONG, NOT_JSON, NOT_A_REQUEST = -32600, -32700, -32600


class Wire:
    """Two private file descriptors; `take` is called with each line in the reading thread, `ended` once at the end."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._writing = threading.Lock()
        self._room = threading.Semaphore(MOST_WAITING)
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
            while rest and not self.closed:
                try:
                    rest = rest[os.write(self._target, rest) :]
                except OSError:
                    self.closed = True
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
