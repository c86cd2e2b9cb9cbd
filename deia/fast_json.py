"""JSON without importing `json`, which costs 8 ms because it brings `re`: its C scanner and encoder, used directly.

Reads what `json.loads` reads and writes ASCII, so that lone surrogates survive a round trip. Where an interpreter has
no C scanner it falls back to `json` itself.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"  # any JSON value
else:
    Json = object


class _Context:
    """What the C scanner asks of the decoder that owns it (the attributes of `json.JSONDecoder`)."""

    strict = False  # control characters inside strings are what models and terminals emit
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner clears it after every document


WHITESPACE = " \t\n\r"


def loads(text: str) -> Any:
    """Parse one JSON document.

    Raises:
        ValueError: the text is not JSON, or something follows the document, or it is nested too deep.
    """
    start = len(text) - len(text.lstrip(WHITESPACE))
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise ValueError(f"not JSON at character {stop.value}") from None
    except RecursionError:
        raise ValueError("JSON nested too deep") from None
    except SystemError:  # the scanner looks its exception up in a `json` that nobody imported
        raise ValueError("broken JSON") from None
    if text[end:].strip(WHITESPACE):
        raise ValueError(f"extra text after the JSON document, at character {end}")
    return value


def dumps(value: Any) -> str:
    """Write a value as compact ASCII JSON; what JSON cannot hold is written as its `str`."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value)) if value - value == 0 else "null"  # NaN and the infinities are not JSON
    if hasattr(value, "items"):
        return "{" + ",".join([f"{_quote(str(key))}:{dumps(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ",".join([dumps(item) for item in value]) + "]"
    return _quote(str(value))


try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner

    _scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Context)  # type: ignore[arg-type]  # it asks only for attributes
except (
    ImportError,
    AttributeError,
    TypeError,
):  # an interpreter without the C accelerator, or with another one
    import json

    _quote = json.encoder.encode_basestring_ascii
    _scan = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]  # set in its __init__
