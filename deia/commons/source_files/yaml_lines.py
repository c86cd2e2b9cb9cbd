"""Change a YAML text line by line, many values at once, using the line numbers of a single parse.

Parsing and rewriting a list of ten thousand entries takes seconds; inserting one more line below it takes no time.
Values that share their lines with others are rewritten by `yaml_blocks`, which touches as little text as possible.
Every result is parsed again, and rejected unless exactly the wanted values changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from deia.commons.source_files import yaml_blocks
from deia.commons.source_files.yaml_blocks import RoundTrip
from deia.commons.source_files.yaml_reader import Items, Map, Value, plain, read_yaml
from deia.fast_json import Json

Path: TypeAlias = tuple[str, ...]
Merge: TypeAlias = Callable[[RoundTrip, Json], RoundTrip]  # (present value, new plain value) → the value to write

MOST_WRITTEN = 100  # new items of a list that are written one by one; with more, the whole list is rewritten


class _Edit(NamedTuple):
    """A replacement of the lines from `start` to `end` (from 0, end excluded); equal numbers insert."""

    start: int
    end: int
    lines: Sequence[str]


class _Sheet(NamedTuple):
    """A text with its parsed content and its lines."""

    text: str
    top: Value
    lines: list[str]

    def span(self, path: Path) -> yaml_blocks.Span:
        """Return the lines of a value; raise _InlineError if the value shares its lines with something else."""
        span = yaml_blocks.find_span(self.text, self.lines, path)
        if span is None:
            raise _InlineError
        return span


class _InlineError(Exception):
    """A value has no lines of its own, so the value around it must be rewritten."""


def _read_sheet(text: str) -> _Sheet:
    return _Sheet(text, read_yaml(text, path="").value, yaml_blocks.split_lines(text))


def add_items(text: str, path: Path, new: Sequence[Mapping[str, Json]]) -> str | None:
    """Return the text with mappings appended to the list at `path`; None if the lines do not show where."""
    sheet = _read_sheet(text)
    old = _value_at(sheet.top, path)
    try:
        span = sheet.span(path)
    except _InlineError:
        return None
    margin = _margin(sheet.lines, old) if isinstance(old, Items) else None
    if margin is None or not isinstance(old, Items) or old.lines[0] - 1 <= span.start:
        return None
    _, *written = yaml_blocks.to_yaml({"items": [dict(item) for item in new]}, like=text).rstrip("\n").split("\n")
    cut = len(written[0]) - len(written[0].lstrip(" "))
    result = _apply(sheet.lines, [_Edit(span.end, span.end, [margin + line[cut:] for line in written])])
    return result if _says_exactly(result, sheet.top, {path: [*map(plain, old), *map(dict, new)]}) else None


def replace_values(text: str, values: Mapping[Path, Json], merge: Merge) -> str | None:
    """Return the text with new values at existing paths; None if the result would not say exactly that."""
    sheet = _read_sheet(text)
    try:
        edits = [edit for path, new in values.items() for edit in _edits(sheet, path, new, merge)]
    except _InlineError:
        return None
    result = _apply(sheet.lines, edits)
    return result if _says_exactly(result, sheet.top, values) else None


def _edits(sheet: _Sheet, path: Path, new: Json, merge: Merge) -> list[_Edit]:
    old, span = _value_at(sheet.top, path), sheet.span(path)
    if isinstance(old, Map) and old and isinstance(new, dict) and old.keys() <= new.keys():
        try:
            return _edits_within(sheet, path, old, new, merge)
        except _InlineError:
            pass
    listed = _rewrite_list(sheet.lines, old, new) if isinstance(old, Items) and isinstance(new, list) else None
    if listed and listed.start > span.start:
        return [listed]
    lines = yaml_blocks.rewrite_lines(sheet.text, sheet.lines, span, path[-1], lambda value: merge(value, new))
    return [_Edit(span.start, span.end, lines)]


def _edits_within(sheet: _Sheet, path: Path, old: Map, new: Mapping[str, Json], merge: Merge) -> list[_Edit]:
    changed = [key for key, value in old.items() if plain(value) != new[key]]
    edits = [edit for key in changed for edit in _edits(sheet, (*path, key), new[key], merge)]
    added = {key: value for key, value in new.items() if key not in old}
    if added:
        last = sheet.span((*path, max(old.lines, key=old.lines.__getitem__)))
        lines = yaml_blocks.to_yaml(added, like=sheet.text).rstrip("\n").split("\n")
        edits.append(_Edit(last.end, last.end, [" " * last.indent + line for line in lines]))
    return edits


def _rewrite_list(lines: Sequence[str], old: Items, new: Sequence[Json]) -> _Edit | None:
    """Return the edit for a list that has one line for each item; lines of items that remain are kept."""
    margin = _margin(lines, old)
    texts = [value for value in new if isinstance(value, str)]
    if margin is None or not texts or len(texts) < len(new):
        return None
    first, count = old.lines[0] - 1, len(old)
    if old.lines != list(range(first + 1, first + 1 + count)):
        return None
    line_of = {value: lines[first + place] for place, value in enumerate(old) if isinstance(value, str)}
    added = dict.fromkeys(value for value in texts if value not in line_of)
    if len(added) > MOST_WRITTEN:
        return None
    line_of |= {
        value: f"{margin}- {yaml_blocks.to_yaml({'value': value})[len('value: ') :].rstrip()}" for value in added
    }
    return _Edit(first, first + count, [line_of[value] for value in texts])


def _margin(lines: Sequence[str], items: Items) -> str | None:
    """Return the indentation of a list whose items all begin a line with a dash, equally indented; else None."""
    if not items:
        return None
    first_line = lines[items.lines[0] - 1]
    margin = first_line[: len(first_line) - len(first_line.lstrip(" "))]
    dash = f"{margin}- "
    aligned = all(lines[line - 1].startswith(dash) for line in items.lines)
    return margin if aligned and len(set(items.lines)) == len(items) else None


def _value_at(top: Value, path: Path) -> Value:
    for key in path:
        top = top.get(key) if isinstance(top, Map) else None
    return top


def _apply(lines: Sequence[str], edits: Iterable[_Edit]) -> str:
    result: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        result += [*lines[position : edit.start], *edit.lines]
        position = edit.end
    return "\n".join([*result, *lines[position:]])


def _says_exactly(text: str, before: Value, expected: Mapping[Path, Json]) -> bool:
    """Return whether a text has the content `before` with only the expected values changed, in the same order."""
    parsed = read_yaml(text, path="")
    return not parsed.problems and _differs_only_at(before, parsed.value, dict(expected))


def _differs_only_at(before: Value, after: Value, expected: Mapping[Path, Json]) -> bool:
    if () in expected:
        return bool(plain(after) == expected[()])
    if not expected:
        return bool(before == after)
    if not isinstance(before, Map) or not isinstance(after, Map) or list(before) != list(after):
        return False
    below: dict[str, dict[Path, Json]] = {}
    for path, value in expected.items():
        below.setdefault(path[0], {})[path[1:]] = value
    return all(_differs_only_at(before[key], after[key], below.get(key, {})) for key in before)
