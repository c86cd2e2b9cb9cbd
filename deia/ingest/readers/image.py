"""Images: size, day and camera, what is written about them in the file, and the words in them if tesseract is there."""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess

from deia.ingest.readers.markdown_lines import printable, spaced
from deia.ingest.reading import Reading
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.fast_json import Json

SECONDS = 30  # for recognising words
LONGEST_TITLE = 200
# A description that programs write into any kind of image (XMP), or as text of a PNG.
DESCRIPTIONS = re.compile(
    rb"<(?:dc:title|dc:description|Iptc4xmpCore:AltTextAccessibility)\b[^<]{0,200}<rdf:Alt>\s*<rdf:li[^>]{0,80}>([^<]{1,4000})<"
    rb"|tEXt(?:Title|Description|Comment)\0([^\0]{1,4000}?)(?=[^\0]{4}\0)"
)
# What a camera writes (EXIF). Where a picture was taken, by whom and with which numbers is personal, and left out.
CAMERA_TAGS = {0x010F: "maker", 0x0110: "camera", 0x9003: "taken"}
MORE_TAGS, AS_TEXT, LONGEST_VALUE = 0x8769, 2, 100
BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
JPEG_SIZE = re.compile(rb"\xff[\xc0-\xc3]..\x08(..)(..)", re.DOTALL)


def read_image(path: str, content: bytes) -> Reading:
    """Return what is known of an image."""
    name = path.rsplit("/", 1)[-1]
    stem = re.sub(r"[_\W]+", " ", name.rsplit(".", 1)[0]).strip() or name
    encoded = (match[1] or match[2] for match in DESCRIPTIONS.finditer(content))
    descriptions = [spaced(description.decode("utf-8", "replace")) for description in encoded]
    words, note = _words(content)
    width, height = _size(content)
    metadata: dict[str, Json] = {**({"width": width, "height": height} if width else {}), **_camera(content)}
    shot = [f"{word} {metadata[name]}" for word, name in (("on", "taken"), ("with", "camera")) if name in metadata]
    parts = (
        f"# {descriptions[0] if descriptions else stem}",
        *descriptions[1:],
        f"Taken {' '.join(shot)}" if shot else "",
        words,
    )
    text = "\n\n".join(dict.fromkeys(filter(None, parts)))
    title = (descriptions[0] if descriptions else stem)[:LONGEST_TITLE]
    return Reading(type="image", title=title, text=text, metadata=metadata, notes=(note,) if note else ())


def _size(content: bytes) -> tuple[int, int]:
    """Return the width and the height in pixels, or zeros if the format does not say it at a known place."""
    if content.startswith(b"\x89PNG"):
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if content.startswith(b"GIF8"):
        return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")
    match = JPEG_SIZE.search(content) if content.startswith(b"\xff\xd8") else None
    return (int.from_bytes(match[2], "big"), int.from_bytes(match[1], "big")) if match else (0, 0)


def _camera(content: bytes) -> dict[str, str]:
    """Return the day on which a picture was taken, and the camera, as far as they are written in it."""
    marks = (mark for mark in (b"Exif\0\0", b"eXIf") if mark in content)
    top = next((content.find(mark) + len(mark) for mark in marks), 0)
    order = BYTE_ORDERS.get(content[top : top + 4], "")
    fields: dict[str, str] = {}
    with contextlib.suppress(struct.error):
        offset = struct.unpack_from(f"{order}I", content, top + 4)[0] if order else 0
        for _ in range(2):  # the tags of the picture, then those of the shot
            at, offset = top + offset, 0
            for entry in range(struct.unpack_from(f"{order}H", content, at)[0] if at > top else 0):
                place = at + 2 + 12 * entry
                tag, kind, size, value = struct.unpack_from(f"{order}HHII", content, place)
                offset = value if tag == MORE_TAGS else offset
                if tag in CAMERA_TAGS and kind == AS_TEXT:
                    start = top + value if size > 4 else place + 8
                    written = content[start : start + min(size, LONGEST_VALUE)].partition(b"\0")[0]
                    fields[CAMERA_TAGS[tag]] = spaced(printable(written.decode("utf-8", "replace")))
    maker, camera = fields.pop("maker", ""), fields.get("camera", "")
    fields["camera"] = camera if camera.startswith(maker) else f"{maker} {camera}".strip()
    fields["taken"] = fields.get("taken", "")[:10].replace(":", "-")
    return {name: value for name, value in fields.items() if value}


def _words(content: bytes) -> tuple[str, str]:
    """Return the words in a picture, and a note if they could not be read."""
    program = shutil.which("tesseract")
    if not program:
        return "", "Words in the picture are read only where the program tesseract is installed."
    try:
        completed = subprocess.run(  # noqa: S603 - a program of the person's own
            (program, "-", "-"), input=content, capture_output=True, timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "", "tesseract could not read the picture."
    return completed.stdout.decode("utf-8", "replace").strip(), ""
