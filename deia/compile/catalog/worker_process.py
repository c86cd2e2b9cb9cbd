"""A process that prepares documents for a compiler, started by `workers`: `python -m` this module, with HOME.

It reads frames from its standard input and writes as many to its standard output, until the input ends. A frame is a
text in JSON and what JSON cannot hold behind it. It refuses to touch a file; whatever goes wrong ends it, and the
compiler does the work itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import IO, Any

from deia.compile.catalog.prepare import plain, prepared, unpacked

MARK = b"deia-frame"  # begins one: a program that says other things is none of ours
LENGTH = 8  # bytes of a length, behind the mark
_json = json.JSONEncoder(separators=(",", ":")).encode


def write_frame(to: IO[bytes], value: Any, blobs: Sequence[bytes] = ()) -> None:
    """Write a value that JSON can hold, and bytes behind it, as a frame.

    Raises:
        OSError: nobody reads it.
    """
    data = _json([value, [*map(len, blobs)]]).encode("ascii")
    to.write(MARK + len(data).to_bytes(LENGTH, "little") + data)
    to.writelines(blobs)
    to.flush()


def read_frame(source: IO[bytes]) -> tuple[Any, list[bytes]]:
    """Read a frame: its value, and the bytes behind it.

    Raises:
        EOFError: there is none, or no whole one.
        ValueError: it is none of ours.
    """
    head = _read(source, len(MARK) + LENGTH)
    if not head.startswith(MARK):
        raise EOFError
    value, lengths = json.loads(_read(source, int.from_bytes(head[len(MARK) :], "little")))
    return value, [_read(source, length) for length in lengths]


def _read(source: IO[bytes], size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return data


def home() -> str:
    """Return the folder of this file: an installation of deia prepares for itself alone, another might differ."""
    return os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Prepare what is given until nothing more is, for a compiler of the same folder."""
    if sys.argv[1:] != [home()]:
        return
    source, to = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            (given, static, said), texts = read_frame(source)
        except EOFError:
            return
        write_frame(to, *plain(prepared(unpacked(given, texts), static=static, said=said)))


if __name__ == "__main__":
    main()
