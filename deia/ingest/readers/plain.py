"""Text as it stands: Markdown, code, logs, and whatever else has lines of its own."""

from __future__ import annotations

import codecs

from deia.ingest.detect import BINARY, SAMPLE
from deia.ingest.reading import Reading, ReadingError
from deia.text import one_line

BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
LONGEST_TITLE = 200


def read_plain(path: str, content: bytes) -> Reading:
    """Return a text file as it is; its title is its first heading, or the name of the file."""
    text, notes = decode(path, content)
    first = next((line for line in text[:4096].split("\n") if line.startswith("# ")), "") if path.endswith("md") else ""
    title = one_line(first[2:])[:LONGEST_TITLE] or path.rsplit("/", 1)[-1]
    return Reading(type="text", title=title, text=text, notes=notes)


def decode(path: str, content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of some bytes, with plain newlines, and what there is to say about its encoding."""
    notes: tuple[str, ...] = ()
    bom, encoding = next(((bom, name) for bom, name in BOMS if content.startswith(bom)), (b"", "utf-8"))
    if not bom and (b"\0" in content[:SAMPLE] or content.startswith(BINARY)):
        raise ReadingError("it is no text", where=path)
    try:
        text = content[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        text = content[len(bom) :].decode("cp1252" if not bom else encoding, errors="replace")
        notes = ("It is not UTF-8; it was read as Windows-1252.",) if not bom else (f"It is no clean {encoding}.",)
    if "\r" in text:  # looking for one character costs a twentieth of looking for two
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", " "), notes
