"""Make ids and file names from titles and paths, using only lower-case ASCII letters, digits and `-`."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Container
from itertools import count

LONGEST = 60
OTHER = re.compile(r"[^a-z0-9]+")
# Letters that do not decompose into an ASCII letter and a mark.
LATIN = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
        "\u0131": "i", "ŋ": "ng", "ŧ": "t", "ĸ": "k",
    }
)  # fmt: skip
# Windows opens a device instead of a file with one of these names, whatever its ending.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


def slug(text: str) -> str:
    """Return a name for a title; if most of the title is not in Latin letters, the name gets a stable checksum."""
    folded = unicodedata.normalize("NFKD", text).lower().translate(LATIN).encode("ascii", "ignore").decode()
    name = OTHER.sub("-", folded).strip("-")[:LONGEST].strip("-")
    if not name or _mostly_lost(text, name):
        checksum = f"{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
        name = f"{name[: LONGEST - 9].strip('-')}-{checksum}" if name else f"lesson-{checksum}"
    return f"{name}-lesson" if name in RESERVED else name


def _mostly_lost(text: str, name: str) -> bool:
    """Return whether less than half of the title's letters and digits remain in the name."""
    if text.isascii():  # nothing is lost
        return False
    letters = sum(letter.isalnum() for letter in text[:LONGEST])
    return sum(letter.isalnum() for letter in name) * 2 < letters


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken: the name itself, or the first of `name-2`, `name-3` and so on that is free."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in numbered if free not in taken) if name in taken else name


def id_from_path(path: str) -> str:
    """Return the default id of a document: `bok/platforms/netlify/dns.md` becomes `platforms-netlify-dns`."""
    folder, slash, name = path.rpartition("/")
    without_ending = f"{folder}{slash}{name.lstrip('.').rsplit('.', 1)[0]}"
    return slug(without_ending.removeprefix("bok/").replace("/", "-"))
