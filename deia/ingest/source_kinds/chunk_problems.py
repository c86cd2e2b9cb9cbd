"""What is wrong with an exported chunk: which field, what was found, and what was wanted."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from deia.ingest.hidden_secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

MOST_LINES = 5_000_000  # of a document
MOST_NESTED = 50  # levels of values within values in metadata
MOST_TOLD = 10  # problems
TEXT, NUMBER = "a text", f"a whole number from 0 to {MOST_LINES - 1:,}"
SHOWN = reprlib.Repr()
SHOWN.maxlevel, SHOWN.maxstring, SHOWN.maxother = 2, 40, 40


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int))


def _is_number(value: object) -> bool:
    is_whole = (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )
    return is_whole and 0 <= value < MOST_LINES  # type: ignore[operator]  # it is a number


def _are_lines(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and 0 < value[0] <= value[1]


def _is_metadata(value: object) -> bool:
    return isinstance(value, dict) and not _nests(value, MOST_NESTED)


def _nests(value: object, levels: int) -> bool:
    """Return whether a value has values within values, more than a number of levels deep."""
    if not isinstance(value, (dict, list)):
        return False
    return not levels or any(
        _nests(item, levels - 1) for item in (value.values() if isinstance(value, dict) else value)
    )


# Of each field, how it is told, and what is wanted; the second group may be missing, or null.
NEEDED: dict[str, tuple[Callable[[object], bool], str]] = {
    "id": (_is_id, TEXT), "path": (_is_text, TEXT),
    "lines": (_are_lines, "its first and its last line, counted from 1, such as [3, 9]"), "level": (_is_number, NUMBER),
    "heading": (_is_text, TEXT), "content": (_is_text, TEXT),
}  # fmt: skip
OPTIONAL: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("title", "type", "kind", "symbol"), (_is_text, TEXT)),
    "updated": (_is_text, "a day such as 2026-01-31"),
    "page": (_is_number, NUMBER), "parent_id": (_is_id, "the id of a chunk before it in the same document"),
    "metadata": (_is_metadata, f"an object of at most {MOST_NESTED} levels"),
}  # fmt: skip


def problems_of(row: Mapping[str, object], before: Collection[object]) -> Iterator[str]:
    """Yield what is wrong with a chunk that comes after those with some ids in its document."""
    for name, (is_right, wanted) in NEEDED.items():
        if not is_right(row.get(name)):
            yield _told(row, name, wanted)
    for name, (is_right, wanted) in OPTIONAL.items():
        value = row.get(name)
        if value is not None and not (is_right(value) and (name != "parent_id" or value in before)):
            yield _told(row, name, wanted)


def _told(row: Mapping[str, object], name: str, wanted: str) -> str:
    value = row.get(name)
    found = "null" if value is None and name in row else "nothing" if value is None else SHOWN.repr(value)
    return f"{name}: found {found}, wanted {wanted}"


def joined(problems: Sequence[str]) -> str:
    """Return problems as one text without secrets, which has the first ones and how many more there are."""
    more = len(problems) - MOST_TOLD
    text, _ = without_secrets("\n".join(problems[:MOST_TOLD]))
    return "; ".join((*text.split("\n"), *([f"and {more} more"] if more > 0 else [])))
