"""Text as it stands: Markdown, code, logs, and whatever else has lines of its own."""

from __future__ import annotations

import re

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
from deia.text import front_matter_lines, one_line

LONGEST_TITLE = 200
TITLE = re.compile(r"title[ \t]*[:=][ \t]*(?![|> \t])(.+)", re.IGNORECASE)


def read_plain(path: str, content: bytes) -> Reading:
    """Return a text file as it is; its title is what it says, or the name of the file."""
    text, notes = decode(path, content)
    title = _title(text[:4096].split("\n")) if path.endswith("md") else ""
    title = one_line(title)[:LONGEST_TITLE] or path.rsplit("/", 1)[-1]
    return Reading(type="text", title=title, text=text, notes=notes)


def _title(rows: list[str]) -> str:
    """Return the title in the front matter of Markdown, else its first heading, else an empty text."""
    above = front_matter_lines(rows)
    named = next(filter(None, map(TITLE.match, rows[:above])), None)
    return named[1].strip(" \t'\"") if named else next((row[2:] for row in rows[above:] if row.startswith("# ")), "")


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
