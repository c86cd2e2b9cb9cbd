"""Text that a command line hides: escapes of `$'…'` and base64.

The gate looks for words, and these have none until they are decoded. How much is decoded is bounded; what does not
decode is ignored.
"""

from __future__ import annotations

from deia.watch.shell.nodes import unescape

MOST_DECODED = 8_192  # characters of base64
SHORTEST = 12  # characters of base64 that can hold a command with an argument
_ALPHABET = {char: at for at, char in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def hidden_text(text: str) -> str:
    """Return what a line would also say if its escapes and its base64 were decoded."""
    texts = [unescape(text).replace("'", "")] if "$'" in text else []
    bare = text.replace('"', " ").replace("'", " ")
    texts += [decoded(word) for word in bare.split() if len(word) >= SHORTEST]
    return " \n ".join(texts)


def decoded(word: str) -> str:
    """Return the text of base64, in UTF-8 or in the UTF-16 of `powershell -EncodedCommand`; "" for anything else."""
    digits = [_ALPHABET.get(char, -1) for char in word.rstrip("=")]
    if not digits or len(digits) > MOST_DECODED or min(digits) < 0 or len(digits) % 4 == 1:
        return ""
    data = bytearray()
    bits = count = 0
    for digit in digits:
        bits, count = (bits << 6 | digit) & 0xFFFF, count + 6
        if count >= 8:
            count -= 8
            data.append(bits >> count & 0xFF)
    wide = len(data) > 2 and not any(data[1:20:2])
    text = bytes(data).decode("utf-16-le" if wide else "utf-8", "replace")
    readable = sum(char.isprintable() or char in "\n\t\r" for char in text)
    return text if readable * 10 >= len(text) * 9 and "\ufffd" not in text else ""
