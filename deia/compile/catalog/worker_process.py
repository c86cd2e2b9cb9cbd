"""A process that prepares documents for a compiler; `workers` starts it with `python -m`, this module and its folder.

It reads frames from standard input and writes as many to standard output, until the input ends. A frame is a JSON value
followed by blobs of bytes. On any error the process ends, and the compiler does the work itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import IO, Any

from deia.compile.catalog.prepare import plain, prepared, unpacked
from deia.fast_json import Json

MARK = b"deia-frame"  # begins each frame, to detect output of any other program
LENGTH = 8  # bytes of the length after the mark
_json = json.JSONEncoder(separators=(",", ":")).encode


def write_frame(to: IO[bytes], value: Json, blobs: Sequence[bytes] = ()) -> None:
    """Write a JSON value and blobs of bytes as one frame; raise OSError if the reader has closed the stream."""
    data = _json([value, [*map(len, blobs)]]).encode("ascii")
    to.write(MARK + len(data).to_bytes(LENGTH, "little") + data)
    to.writelines(blobs)
    to.flush()


def read_frame(source: IO[bytes]) -> tuple[Any, list[bytes]]:
    """Read a frame; return its JSON value and its blobs."""
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
    """Return the folder of this file, which identifies the installation: another one's results might differ."""
    return os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Answer each frame of documents with what they come to; do nothing for a compiler of another installation."""
    if sys.argv[1:] != [home()]:
        return
    source, to = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            (values, static, with_passages), texts = read_frame(source)
        except EOFError:
            return
        batch = prepared(unpacked(values, texts), static=static, with_passages=with_passages)
        write_frame(to, *plain(batch))


if __name__ == "__main__":
    main()
