"""Text as it stands: Markdown, code, logs, and whatever else has lines of its own."""

from __future__ import annotations

from deia.ingest.detect import BINARY, SAMPLE, detect_type
from deia.ingest.reading import Reading, ReadingError
from deia.ingest.text_encoding import (
    BOMS,
    ESCAPING,
    WIDE,
    declared_encoding,
    text_in,
    text_mixed_with_latin,
    text_mostly_in,
)
from deia.text import one_line

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
    sample = content[:SAMPLE]
    if not bom and (b"\0" in sample or content.startswith(BINARY)):
        encoding = next((name for start, name in WIDE if content.startswith(start)), "")
        if not encoding:
            raise ReadingError("it is no text", where=path)
    try:
        text = content[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        is_known = bool(bom) or encoding != "utf-8"
        text, notes = _unclean(content[len(bom) :], encoding) if is_known else _declared(path, content)
    if b"\x1b" in sample and (declared := declared_encoding(content, detect_type(path, content))) in ESCAPING:
        text = text_in(content, declared) or text
    if "\r" in text:  # looking for one character costs a twentieth of looking for two
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", " "), notes


def _unclean(content: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    return content.decode(encoding, errors="replace"), (f"It is no clean {encoding}.",)


def _declared(path: str, content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of bytes that are no UTF-8, in the encoding that they declare if they are in it.

    Few damaged bytes do not make it another encoding.
    """
    declared = declared_encoding(content, detect_type(path, content))
    if (text := text_in(content, declared)) is not None:
        return text, (f"It is not UTF-8; it declares another encoding, and was read as {declared}.",)
    if declared and (damaged := text_mostly_in(content, declared)) is not None:
        return damaged, (f"It is no clean {declared}.",)
    if mixed := text_mixed_with_latin(content):
        return mixed[0], (mixed[1],)
    return content.decode("cp1252", errors="replace"), ("It is not UTF-8; it was read as Windows-1252.",)
