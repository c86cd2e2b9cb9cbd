"""Read the fields of a note under the names that deia uses, whatever their author called them."""

from __future__ import annotations

from collections.abc import Iterable

from deia.commons.notes.conventions import URGENCY_WORDS, field_of
from deia.commons.source_files import fields
from deia.commons.source_files.yaml_reader import Items, Map, Value

TEXTS = ("title", "summary", "category", "action", "why_relevant", "status", "created", "updated", "verified")
LISTS = ("keywords", "audience", "tags", "related_docs", "quick_tips")
URGENCY, PLATFORM = "urgency", "platform"
KNOWN = frozenset(("id", "path", URGENCY, PLATFORM, *TEXTS, *LISTS))
SEVERITY = "severity"  # an urgency even if its word is unknown, so that the word is reported


def usual_names(source: Map) -> Map:
    """Return the fields under the names that deia uses; a field that already has its name takes precedence.

    Lists of two names, such as `keywords` and `aliases`, are joined. What has no name here stays as it was written.
    """
    result = Map(line=source.line)
    for name, value in sorted(source.items(), key=lambda item: field_of(item[0]) != item[0]):
        field, read = _read(name, value)
        if field in result and field in LISTS and field != name:
            result[field] = _joined(result[field], read)
        else:
            target = name if field in result else field
            result[target] = read if target == field else value
            result.lines[target] = source.at(name)
    return result


def _read(name: str, value: Value) -> tuple[str, Value]:
    """Return the field that a name stands for, and its value there."""
    field = field_of(name)
    if field not in KNOWN:
        return name, value
    if field == URGENCY and not isinstance(value, Map | Items):
        word = URGENCY_WORDS.get(fields.as_text(value).lower())
        known = word or name.lower() in (URGENCY, SEVERITY)
        return (field, word or value) if known else (name, value)
    return field, _bare_tags(value) if field == "tags" else value


def _bare_tags(value: Value) -> Value:
    """Return tags without the `#` before them; `#a #b` are two."""
    if isinstance(value, str) and "#" in value:
        value = _items(fields.split_words(value.replace(" #", ", #")))
    return _items([_bare(item) for item in value], like=value) if isinstance(value, Items) else value


def _bare(value: Value) -> Value:
    return value.strip().lstrip("#") if isinstance(value, str) else value


def _items(values: Iterable[Value], *, like: Items | None = None) -> Items:
    items = Items(line=like.line if like else 0)
    items.extend(values)
    items.lines = like.lines if like else []
    return items


def _joined(first: Value, second: Value) -> Value:
    """Return two lists as one, each of which may be a text with commas."""
    if isinstance(first, Map) or isinstance(second, Map):
        return first
    parts = [part for value in (first, second) for part in (value if isinstance(value, Items) else _split(value))]
    return _items(dict.fromkeys(part for part in parts if not isinstance(part, Map | Items)))


def _split(value: Value) -> list[str]:
    return fields.split_words(fields.as_text(value)) if not isinstance(value, Map | Items) else []
