"""Secrets in what is taken in: they are told, and kept out of the library.

`deia.redaction` knows them. It is made for conversations and prefers to hide too much; of a file only what is surely a
secret is hidden, so that code and addresses of people stay what they are.
"""

from __future__ import annotations

import functools
import re

from deia.redaction import HIDDEN, KEY_BLOCKS, KEY_PREFIXES, MOST_TEXT, SECRET_NAMES, looks_secret, redact

LEAST = 8  # characters of a password
BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


@functools.cache
def _candidate() -> re.Pattern[str]:
    """Return the pattern of a line in which there may be a secret: a name, a key's beginning, a user in an address."""
    names, keys = ("|".join(map(re.escape, words)) for words in (SECRET_NAMES, KEY_PREFIXES))
    return re.compile(rf"^.*(?:(?i:{names})[^\n]*[:=]|(?:{keys})|://[^\s/]*@).*$", re.MULTILINE)


def without_secrets(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text with its secrets hidden, every line in its place, and the numbers of the lines that had one."""
    if any(kind in text for kind in KEY_BLOCKS):
        text = BLOCK.sub(lambda block: HIDDEN + "\n" * block[0].count("\n"), text)
    changed = [at for at in _candidate().finditer(text) if len(at[0]) < MOST_TEXT]
    parts: list[str] = []
    numbers: list[int] = []
    end = 0
    for at in changed:
        line = _hidden(at[0])
        if line != at[0]:
            parts += (text[end : at.start()], line)
            end = at.end()
    text = "".join((*parts, text[end:]))
    if HIDDEN in text:
        numbers = [number for number, line in enumerate(text.split("\n"), 1) if HIDDEN in line]
    return text, tuple(numbers)


def _hidden(line: str) -> str:
    """Return a line without what is surely a secret."""
    pieces = redact(line).replace("[email]", HIDDEN).split(HIDDEN)
    kept, at = [pieces[0]], len(pieces[0])
    for piece in pieces[1:]:
        end = line.find(piece, at) if piece else len(line)
        if end < 0:
            return line
        secret = line[at:end]
        kept += (HIDDEN if _is_certain(secret) else secret, piece)
        at = end + len(piece)
    return "".join(kept)


def _is_certain(secret: str) -> bool:
    bare = secret.strip("\"'`;, ")
    mixed = any(map(str.isdigit, bare)) and any(map(str.isalpha, bare))
    is_code = any(sign in bare for sign in "()[]{}") or bare.startswith(("#", "0x"))
    is_mail = "@" in bare and ":" not in bare
    return looks_secret(bare) or (len(bare) >= LEAST and mixed and not is_code and not is_mail)
