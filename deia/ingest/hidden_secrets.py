"""Secrets in what is taken in: they are told, and kept out of the library.

`deia.redaction` knows them. It is made for conversations and prefers to hide too much; of a file only what is surely a
secret is hidden, so that code and addresses of people stay what they are.
"""

from __future__ import annotations

import re

from deia.ingest.detect import BINARY, BINARY_TYPES, detect_type
from deia.ingest.text_encoding import BOMS, WIDE
from deia.redaction import HIDDEN, KEY_BLOCKS, KEY_PREFIXES, MOST_TEXT, SECRET_NAMES, is_mail, looks_secret, redact

LEAST = 8  # characters of a password
# Private keys as OpenSSL, OpenSSH and OpenPGP write them, with four hyphens as SSH2 does, and PuTTY's.
BEGIN, END = (rf"----[- ]{word} [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?[- ]----" for word in ("BEGIN", "END"))
BLOCK = re.compile(
    rf"{BEGIN}.*?(?:{END}|\Z)|^[ \t]*Private-Lines:.*?(?:^[ \t]*Private-(?:MAC|Hash):[^\n]*|\Z)",
    re.DOTALL | re.MULTILINE,
)


def without_secrets(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text with its secrets hidden, every line in its place, and the numbers of the lines that had one."""
    if any(kind in text for kind in KEY_BLOCKS):
        text = BLOCK.sub(lambda block: HIDDEN + "\n" * block[0].count("\n"), text)
    parts: list[str] = []
    done = 0
    for start in sorted(_candidates(text)):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        hidden = _hidden(line) if len(line) < MOST_TEXT else line
        if hidden != line:
            parts += (text[done:start], hidden)
            done = start + len(line)
    text = "".join((*parts, text[done:])) if parts else text
    if HIDDEN not in text:
        return text, ()
    return text, tuple(number for number, line in enumerate(text.split("\n"), 1) if HIDDEN in line)


def file_without_secrets(path: str, content: bytes) -> bytes:
    """Return the content of a file with its secrets hidden, or as it is if it has none or is no text.

    Bytes that are not of its encoding stay what they are. Only newlines become plain ones, as when it is read.
    """
    if content.startswith(BINARY) or detect_type(path, content) in BINARY_TYPES:
        return content
    marks = (*((bom, len(bom), name) for bom, name in BOMS), *((start, 0, name) for start, name in WIDE))
    begin, encoding = next(((size, name) for start, size, name in marks if content.startswith(start)), (0, "utf-8"))
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    text = content[begin:].decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
    hidden, _ = without_secrets(text)
    return content if hidden == text else content[:begin] + hidden.encode(encoding, errors)


def _candidates(text: str) -> set[int]:
    """Return where the lines begin in which there may be a secret."""
    # Looking for one word after the other is a hundred times as fast as one pattern for all of them.
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text
    starts: set[int] = set()
    for words, searched, signs in ((SECRET_NAMES, lowered, ":="), (KEY_PREFIXES, text, ""), (("://",), text, "@")):
        for word in words:
            at = searched.find(word)
            while at >= 0:
                end = searched.find("\n", at)
                end = end if end >= 0 else len(text)
                start = searched.rfind("\n", 0, at) + 1
                if not signs or any(sign in searched[at:end] for sign in signs):
                    starts.add(start)
                at = searched.find(word, end)
    return starts


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
    return looks_secret(bare) or (len(bare) >= LEAST and mixed and not is_code and not is_mail(bare))
