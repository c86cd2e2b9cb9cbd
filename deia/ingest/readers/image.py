"""Images: their size, what is written about them in the file, and the words in the picture if tesseract is there."""

from __future__ import annotations

import re
import shutil
import subprocess

from deia.ingest.readers.markdown_lines import spaced
from deia.ingest.reading import Reading

SECONDS = 30  # for recognising words
LONGEST_TITLE = 200
# A description that programs write into any kind of image (XMP), or as text of a PNG.
DESCRIPTIONS = re.compile(
    rb"<(?:dc:title|dc:description|Iptc4xmpCore:AltTextAccessibility)\b[^<]{0,200}<rdf:Alt>\s*<rdf:li[^>]{0,80}>([^<]{1,4000})<"
    rb"|tEXt(?:Title|Description|Comment)\0([^\0]{1,4000}?)(?=[^\0]{4}\0)"
)
JPEG_SIZE = re.compile(rb"\xff[\xc0-\xc3]..\x08(..)(..)", re.DOTALL)


def read_image(path: str, content: bytes) -> Reading:
    """Return what is known of an image."""
    name = path.rsplit("/", 1)[-1]
    stem = re.sub(r"[_\W]+", " ", name.rsplit(".", 1)[0]).strip() or name
    found = (match[1] or match[2] for match in DESCRIPTIONS.finditer(content))
    told = [spaced(each.decode("utf-8", "replace")) for each in found]
    words, note = _words(content)
    text = "\n\n".join(dict.fromkeys((f"# {told[0] if told else stem}", *told[1:], *([words] if words else []))))
    width, height = _size(content)
    title = (told[0] if told else stem)[:LONGEST_TITLE]
    metadata = {"width": width, "height": height} if width else {}
    return Reading(type="image", title=title, text=text, metadata=metadata, notes=(note,) if note else ())


def _size(content: bytes) -> tuple[int, int]:
    """Return the width and the height in pixels, or zeros if the format does not say it at a known place."""
    if content.startswith(b"\x89PNG"):
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if content.startswith(b"GIF8"):
        return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")
    match = JPEG_SIZE.search(content) if content.startswith(b"\xff\xd8") else None
    return (int.from_bytes(match[2], "big"), int.from_bytes(match[1], "big")) if match else (0, 0)


def _words(content: bytes) -> tuple[str, str]:
    """Return the words in a picture, and what there is to say about that."""
    program = shutil.which("tesseract")
    if not program:
        return "", "Words in the picture are read only where the program tesseract is installed."
    try:
        ran = subprocess.run(  # noqa: S603 - a program of the person's own
            (program, "-", "-"), input=content, capture_output=True, timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "", "tesseract could not read the picture."
    return ran.stdout.decode("utf-8", "replace").strip(), ""
