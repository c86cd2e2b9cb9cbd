"""JSON without importing `json`, which costs 8 ms because it loads `re`: this module uses its C scanner directly.

It reads what `json.loads` reads. It writes ASCII, so that lone surrogates survive a round trip. If the interpreter has
no C scanner, it falls back to `json`.
"""

from __future__ import annotations

import sys

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"  # any JSON value
else:
    Json = object


# The attributes of `json.JSONDecoder` that the C scanner asks for.
_Namespace: Any = type(sys.implementation)
_CONTEXT = _Namespace(
    strict=False,  # models and terminals emit control characters inside strings
    object_hook=None, object_pairs_hook=None, array_hook=None, parse_float=float, parse_int=int,
    parse_constant={"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__,
)  # fmt: skip
WHITESPACE = " \t\n\r"


class NestingError(ValueError):
    """A JSON document is nested too deep to be parsed."""


def loads(text: str) -> Any:
    """Parse one JSON document."""
    start = len(text) - len(text.lstrip(WHITESPACE))
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise ValueError(f"not JSON at character {stop.value}") from None
    except RecursionError:
        raise NestingError("JSON nested too deep") from None
    except SystemError:  # the scanner looks for its exception class in `json`, which is not imported
        raise ValueError("broken JSON") from None
    if text[end:].strip(WHITESPACE):
        raise ValueError(f"extra text after the JSON document, at character {end}")
    return value


def dumps(value: object) -> str:
    """Return a value as compact ASCII JSON; a value that JSON cannot represent is written as its `str`."""
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

    _scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_CONTEXT)
except (ImportError, AttributeError, TypeError):  # no C accelerator, or a different one
    import json

    _quote = json.encoder.encode_basestring_ascii
    _scan = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]  # set in its __init__
