from __future__ import annotations

import struct
import zlib

from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read


def png(**texts: str) -> bytes:
    """Return a picture of two by three pixels with some texts."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    told = b"".join(part(b"tEXt", f"{name}\0{text}".encode()) for name, text in texts.items())
    pixels = part(b"IDAT", zlib.compress(b"\0" * 21))
    header = part(b"IHDR", struct.pack(">IIBBBBB", 2, 3, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + told + pixels + part(b"IEND", b"")


def test_an_image_is_its_name_its_size_and_what_is_written_about_it() -> None:
    reading = read("img/data_flow-2.png", png())
    assert (reading.type, reading.title) == ("image", "data flow 2")
    assert reading.metadata == {"width": 2, "height": 3}
    assert read("x.png", png(Description="How data flows")).title.startswith("How data flows")
    told = b"<dc:description><rdf:Alt><rdf:li xml:lang='en'>A cat</rdf:li></rdf:Alt></dc:description>"
    assert read("x.jpg", b"\xff\xd8\xff\xe1" + told).text.startswith("# A cat")


@given(st.binary(max_size=200))
def test_any_bytes_are_read(content: bytes) -> None:
    assert read("x.png", b"\x89PNG\r\n" + content).type == "image"
