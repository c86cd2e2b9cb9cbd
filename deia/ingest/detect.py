"""Which type a file has: by the ending of its name, then by its first bytes, then by what it contains."""

from __future__ import annotations

import functools
import os
import re

FOLDER = os.path.dirname(__file__)
SAMPLE = 4096  # bytes that are looked at
MAGIC = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "office"),
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"<!doctype html", "html"),
    (b"<html", "html"),
    (b"<?xml", "xml"),
)
BINARY_TYPES = frozenset(("pdf", "office", "image"))
BINARY = tuple(magic for magic, kind in MAGIC if kind in BINARY_TYPES)
TIME, YEAR = rb"\d\d?:\d\d(?::\d\d)?", rb"\d{4}\b"
MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
DAY = rb"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? {1,3})?(?:" + MONTH + rb" {1,3}\d\d?|\d\d? {1,3}" + MONTH + rb"),?"
REST = rb"(?: {1,3}(?:" + TIME + rb"|" + YEAR + rb"|[+-]\d{4}|\(?[A-Z]{1,5}\)?)){0,4}"
# A line between the messages of a mailbox, as mail programs write it: who sent the next one, and when. A sentence of a
# message may begin with the same word.
SEPARATOR = re.compile(
    rb"^From (?:\S{1,400}(?: at \S{1,400})?|\"[^\"\n]{1,200}\"\S{1,400}) {1,3}"
    rb"(?:"
    + DAY
    + rb" {1,3}(?:"
    + TIME
    + rb"|"
    + YEAR
    + rb")"
    + REST
    + rb"|\d{4}-\d\d-\d\d(?:[T ]"
    + TIME
    + rb"[\d.:+Z-]{0,16})?)"
    rb"(?: remote from \S{1,400})?[ \t]{0,9}\r?(?:\n|\Z)",
    re.MULTILINE,
)
SHEBANGS = ((b"python", "python"), (b"node", "javascript"), (b"perl", "perl"), (b"ruby", "ruby"), (b"sh", "bash"))


@functools.cache
def suffixes() -> dict[str, tuple[str, str]]:
    """Return the type and the language for each ending of a name, and for each whole name without one."""
    with open(os.path.join(FOLDER, "suffixes.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {ending: (kind, language) for kind, language, *endings in rows for ending in endings}


def detect_type(path: str, content: bytes) -> str:
    """Return the type of a file, which is "" for a binary file of a kind that nothing here can read."""
    return detect(path, content)[0]


def detect(path: str, content: bytes) -> tuple[str, str]:
    """Return the type of a file and its language, "" if it has none."""
    name = path.rsplit("/", 1)[-1].lower()
    ending = f".{name.rsplit('.', 1)[-1]}" if "." in name[1:] else name
    start = content[:SAMPLE].lstrip()
    by_name = suffixes().get(name) or suffixes().get(ending)
    if by_name:
        return by_name[0], by_name[1].strip("-")
    by_magic = next((kind for magic, kind in MAGIC if start[: len(magic)].lower() == magic.lower()), "")
    return (by_magic, "") if by_magic else _by_content(start)


def _by_content(start: bytes) -> tuple[str, str]:
    if b"\0" in start and start[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        return "", ""
    if SEPARATOR.match(start):
        return "email", ""
    if start.startswith(b"#!"):
        first = start.split(b"\n", 1)[0].lower()
        return "code", next((language for word, language in SHEBANGS if word in first), "")
    if start[:1] in {b"{", b"["} and b'"' in start:
        return "json", ""
    return "text", ""
