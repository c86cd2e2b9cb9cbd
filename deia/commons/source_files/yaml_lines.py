"""Changes of a YAML text made to its lines, many at once, by what one reading says of where everything stands.

Reading and rewriting a list of ten thousand entries takes seconds, putting one more below it nothing. Values that
lines do not tell apart are rewritten by `blocks`, as little of the text as holds them. Refuses a change of which
reading the result does not show exactly what was wanted and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from deia.commons.source_files import yaml_blocks
from deia.commons.source_files.yaml_reader import Items, Map, plain, read_yaml
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    Path = tuple[str, ...]
    Merge = Callable[[Any, Any], Any]  # a round-trip value and what it is to say → that value, saying it

MOST_WRITTEN = 100  # items of a list that are written one by one


class _Edit(NamedTuple):
    """Lines, from 0, that others come in the place of; none where they are put between."""

    start: int
    end: int
    lines: Sequence[str]


class _Sheet(NamedTuple):
    """A text with what it says and its lines."""

    text: str
    top: Any
    lines: list[str]

    def span(self, path: Path) -> yaml_blocks.Span:
        """Give the lines of a value.

        Raises:
            _InlineError: it shares them with something else.
        """
        found = yaml_blocks.find_span(self.text, self.lines, path)
        if found is None:
            raise _InlineError
        return found


class _InlineError(Exception):
    """A value has no lines of its own; what holds it is to be rewritten."""


def _sheet(text: str) -> _Sheet:
    return _Sheet(text, read_yaml(text, path="").value, yaml_blocks.split_lines(text))


def add_items(text: str, path: Path, new: Sequence[Mapping[str, Any]]) -> str | None:
    """Give the text with mappings added to the end of a list at `path`; None where lines do not tell how.

    Raises:
        CommonsError: there is no such path.
    """
    sheet = _sheet(text)
    old = _at(sheet.top, path)
    try:
        span = sheet.span(path)
    except _InlineError:
        return None
    margin = _margin(sheet.lines, old) if isinstance(old, Items) else None
    if margin is None or old.lines[0] - 1 <= span.start:
        return None
    _, *written = yaml_blocks.to_yaml({"items": [dict(each) for each in new]}, like=text).rstrip("\n").split("\n")
    cut = len(written[0]) - len(written[0].lstrip(" "))
    made = _applied(sheet.lines, [_Edit(span.end, span.end, [margin + line[cut:] for line in written])])
    return made if _says(made, sheet.top, {path: [*plain(old), *map(dict, new)]}) else None


def replace_values(text: str, values: Mapping[Path, Any], merge: Merge) -> str | None:
    """Give the text with other values at paths that it has; None where that does not come out.

    Raises:
        CommonsError: there is no such path, or a value cannot be rewritten.
    """
    sheet = _sheet(text)
    try:
        edits = [edit for path, new in values.items() for edit in _edits(sheet, path, new, merge)]
    except _InlineError:
        return None
    made = _applied(sheet.lines, edits)
    return made if _says(made, sheet.top, values) else None


def _edits(sheet: _Sheet, path: Path, new: Any, merge: Merge) -> list[_Edit]:
    old, span = _at(sheet.top, path), sheet.span(path)
    if isinstance(old, Map) and old and isinstance(new, dict) and old.keys() <= new.keys():
        try:
            return _edits_within(sheet, path, old, new, merge)
        except _InlineError:
            pass
    listed = _relisted(sheet.lines, old, new) if isinstance(old, Items) and isinstance(new, list) else None
    if listed and listed.start > span.start:
        return [listed]
    lines = yaml_blocks.rewrite_lines(sheet.text, sheet.lines, span, path[-1], lambda given: merge(given, new))
    return [_Edit(span.start, span.end, lines)]


def _edits_within(sheet: _Sheet, path: Path, old: Map, new: Mapping[str, Any], merge: Merge) -> list[_Edit]:
    changed = [key for key, value in old.items() if plain(value) != new[key]]
    edits = [edit for key in changed for edit in _edits(sheet, (*path, key), new[key], merge)]
    added = {key: value for key, value in new.items() if key not in old}
    if added:
        last = sheet.span((*path, max(old.lines, key=old.lines.__getitem__)))
        lines = yaml_blocks.to_yaml(added, like=sheet.text).rstrip("\n").split("\n")
        edits.append(_Edit(last.end, last.end, [" " * last.indent + line for line in lines]))
    return edits


def _relisted(lines: Sequence[str], old: Items, new: Sequence[Any]) -> _Edit | None:
    """Give the lines of a list with a line an item; those of items that stay are taken as they are."""
    margin = _margin(lines, old)
    if margin is None or not new or not all(isinstance(value, str) for value in new):
        return None
    first, count = old.lines[0] - 1, len(old)
    if old.lines != list(range(first + 1, first + 1 + count)):
        return None
    kept = {value: lines[first + place] for place, value in enumerate(old) if isinstance(value, str)}
    lacking = dict.fromkeys(value for value in new if value not in kept)
    if len(lacking) > MOST_WRITTEN:
        return None
    kept |= {
        value: f"{margin}- {yaml_blocks.to_yaml({'value': value})[len('value: ') :].rstrip()}" for value in lacking
    }
    return _Edit(first, first + count, [kept[value] for value in new])


def _margin(lines: Sequence[str], items: Items) -> str | None:
    """Give what stands before the dashes of a list, if every item begins a line with one, equally deep."""
    if not items:
        return None
    begun = lines[items.lines[0] - 1]
    margin = begun[: len(begun) - len(begun.lstrip(" "))]
    dash = f"{margin}- "
    alike = all(lines[line - 1].startswith(dash) for line in items.lines)
    return margin if alike and len(set(items.lines)) == len(items) else None


def _at(top: Any, path: Path) -> Any:
    for key in path:
        top = top.get(key) if isinstance(top, Map) else None
    return top


def _applied(lines: Sequence[str], edits: Iterable[_Edit]) -> str:
    made: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        made += [*lines[at : edit.start], *edit.lines]
        at = edit.end
    return "\n".join([*made, *lines[at:]])


def _says(text: str, before: Any, wanted: Mapping[Path, Any]) -> bool:
    """Say whether a text says what another said, but for some values, and keeps its keys in their order."""
    read = read_yaml(text, path="")
    return not read.problems and _differs_by(before, read.value, dict(wanted))


def _differs_by(before: Any, after: Any, wanted: Mapping[Path, Any]) -> bool:
    if () in wanted:
        return bool(plain(after) == wanted[()])
    if not wanted:
        return bool(before == after)
    if not isinstance(before, Map) or not isinstance(after, Map) or list(before) != list(after):
        return False
    below: dict[str, dict[Path, Any]] = {}
    for path, value in wanted.items():
        below.setdefault(path[0], {})[path[1:]] = value
    return all(_differs_by(before[key], after[key], below.get(key, {})) for key in before)
