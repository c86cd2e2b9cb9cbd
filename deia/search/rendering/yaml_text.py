"""Plain values as YAML, without importing a YAML library, which costs an answer 20 ms.

Writes mappings, lists, texts, numbers, booleans and null, in block style; every text that a reader could take for
something else is quoted. It refuses to read.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What YAML 1.1 reads as something other than text.
RESERVED = frozenset("y n yes no true false on off null ~".split())
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./() ,")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
LAST_OF_BYTE, LAST_OF_PLANE = 0xFF, 0xFFFF


def yaml_text(value: Any) -> str:
    """Write a value as a YAML document."""
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _item(f"{indent}{_scalar(str(name))}:", item, indent + "  ")
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            first, *others = _lines(item, indent + "  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from others
    else:
        yield indent + _scalar(value)


def _item(head: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, (dict, list, tuple)) and item:
        yield head
        yield from _lines(item, indent)
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    text = str(value)
    return text if _is_plain(text) else f'"{"".join(map(_escaped, text))}"'


def _number(value: float) -> str:
    if value - value != 0:
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"  # noqa: PLR0124 - NaN alone differs from itself
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _is_plain(text: str) -> bool:
    """Tell whether a text needs no quotes: it begins with a letter, and nothing in it has a meaning in YAML."""
    return (
        text[:1].isascii()
        and text[:1].isalpha()
        and PLAIN.issuperset(text)
        and text.lower() not in RESERVED
        and text == text.strip()
    )


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code <= LAST_OF_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= LAST_OF_PLANE else f"\\U{code:08x}"
