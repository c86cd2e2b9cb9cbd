"""What a browser sends, checked: every value has the type that is wanted, and a text has a bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from deia import fast_json
from deia.errors import QueryError

Asked: TypeAlias = Mapping[str, object]  # the values of one request by name, unchecked

MOST_TEXT = 200_000  # characters
MOST_NAME = 500
RELOAD = "Load the page again."


def read_asked(body: bytes) -> Asked:
    """Return the values of a request's body; raise QueryError if it is no JSON object."""
    try:
        value = fast_json.loads(body.decode()) if body else {}
    except (ValueError, RecursionError) as error:
        raise QueryError("the request is not JSON", fix=RELOAD) from error
    if not isinstance(value, dict):
        raise QueryError("the request is not a JSON object", fix=RELOAD)
    return value


def text(asked: Asked, name: str, *, most: int = MOST_TEXT) -> str:
    """Return a text, "" if there is none; raise QueryError if it is too long or no text."""
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise QueryError(f"{name} must be a text of at most {most:,} characters", fix="Shorten it.")
    return value


def name(asked: Asked, key: str) -> str:
    """Return an id, a path or another short text."""
    return text(asked, key, most=MOST_NAME)


def wanted_name(asked: Asked, key: str) -> str:
    """Return an id or another short text; raise QueryError if there is none."""
    value = name(asked, key)
    if not value.strip():
        raise QueryError(f"the request has no {key}", fix=RELOAD)
    return value


def choice(asked: Asked, key: str, choices: Sequence[str]) -> str:
    """Return one of some values, by default the first; raise QueryError if it is none of them."""
    value = asked.get(key) or choices[0]
    if value not in choices:
        raise QueryError(f"{key} must be one of {', '.join(choices)}", fix=RELOAD)
    return str(value)


def number(asked: Asked, key: str, *, default: int, most: int) -> int:
    """Return a whole number between 1 and `most`."""
    value = asked.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise QueryError(f"{key} must be a number between 1 and {most:,}", fix=RELOAD)
    return value
