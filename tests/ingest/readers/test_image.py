from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read

if TYPE_CHECKING:
    from pathlib import Path


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


def tiff(order: str, entries: dict[int, str | int], shot: dict[int, str]) -> bytes:
    """Return what a camera writes, in a byte order, with a second table for the shot."""

    def table(values: dict[int, str | int], at: int) -> bytes:
        rows, texts = b"", b""
        behind = at + 2 + 12 * len(values) + 4
        for tag, value in values.items():
            if isinstance(value, int):
                rows += struct.pack(f"{order}HHII", tag, 4, 1, value)
                continue
            text = value.encode() + b"\0"
            short = text.ljust(4, b"\0")
            where = short if len(text) <= 4 else struct.pack(f"{order}I", behind + len(texts))
            rows += struct.pack(f"{order}HHI", tag, 2, len(text)) + where
            texts += b"" if len(text) <= 4 else text
        return struct.pack(f"{order}H", len(values)) + rows + b"\0" * 4 + texts

    first = table({**entries, 0x8769: 0}, 8)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", 8)
    return head + table({**entries, 0x8769: 8 + len(first)}, 8) + table(dict(shot), 8 + len(first))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("before", [b"\xff\xd8\xff\xe1\0\0Exif\0\0", b"\x89PNG\r\n\x1a\n\0\0\0\0eXIf", b""])
def test_day_and_camera_are_told_and_where_and_who_are_not(order: str, before: bytes) -> None:
    personal = {0x013B: "Ann Example", 0x9286: "at home", 0xA431: "SN12345", 0x0001: "N 52 31"}
    shot = {0x9003: "2024:05:06 12:30:01", **personal}
    reading = read("img/pump.tif", before + tiff(order, {0x010F: "Canon", 0x0110: "Canon EOS R5", **personal}, shot))
    assert reading.metadata["camera"] == "Canon EOS R5"
    assert reading.text == "# pump\n\nTaken on 2024-05-06 with Canon EOS R5"
    assert read("a.tif", before + tiff(order, {0x010F: "HTC", 0x0110: "One"}, {})).metadata["camera"] == "HTC One"


@given(st.binary(max_size=300), st.sampled_from([b"Exif\0\0II*\0", b"Exif\0\0MM\0*", b"eXIfII*\0\x08\0\0\0\xff\xff"]))
def test_what_a_camera_did_not_write_is_passed_over(content: bytes, begin: bytes) -> None:
    assert read("x.jpg", b"\xff\xd8\xff" + begin + content).type == "image"


def test_words_in_the_picture_are_read_where_tesseract_is_and_told_where_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "tesseract is installed" in read("x.png", png()).notes[0]
    program = tmp_path / "tesseract"
    program.write_text('#!/bin/sh\n[ "$(/usr/bin/head -c 4 | /usr/bin/tail -c 3)" = PNG ] && echo "CLOSE THE VALVE"\n')
    program.chmod(0o700)
    assert read("x.png", png()).text == "# x\n\nCLOSE THE VALVE"
    assert "could not read" in read("x.jpg", b"\xff\xd8\xff").notes[0]
