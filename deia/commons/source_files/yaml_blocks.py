"""Change one value in a YAML text: only the lines of that value are rewritten, all others stay as they are.

Comments, order and quotes survive even in the rewritten lines. A text that cannot be cut at line borders is refused.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from deia.commons.source_files.yaml_reader import Map, read_yaml
from deia.problems import CommonsError
from deia.records import Record

RoundTrip: TypeAlias = Any  # a value of ruamel.yaml's round-trip parser, which keeps comments and has no useful type
Change: TypeAlias = Callable[[RoundTrip], RoundTrip]

ONE_LINE = 100  # characters of a list on one line; longer lists get one line per item, which makes small diffs
STRANGE_ENDS = ("\r", "\x85", "\u2028", "\u2029")
SPACES = {**dict.fromkeys(range(32), " "), 10: "\n", 9: " ", 127: " ", **{ord(end): " " for end in STRANGE_ENDS}}
WIDTH = 4096  # never fold a line that its author did not fold
# YAML 1.1 parsers read these as true, false or null, so we quote them.
AMBIGUOUS = {"yes", "no", "on", "off", "y", "n", "true", "false", "null", "~"}
INDICATORS = ("?", ":", "-")  # parsers disagree about words that begin like this inside a list on one line


class Span(Record):
    """The lines of a key and its value, from `start` to `end` (from 0, end excluded), and the key's indentation."""

    start: int
    end: int
    indent: int


def change_value(text: str, path: tuple[str, ...], change: Change) -> str:
    """Return the text with the value at `path` (keys from the top) replaced by the result of `change`."""
    lines = split_lines(text)
    span = find_span(text, lines, path)
    if span is None:
        if len(path) == 1:
            raise CommonsError(f"`{path[0]}` does not begin a line.", fix="Write the top level as `name:` lines.")
        return change_value(text, path[:-1], lambda parent: _set_child(parent, path[-1], change))
    return "\n".join([*lines[: span.start], *rewrite_lines(text, lines, span, path[-1], change), *lines[span.end :]])


def set_value(text: str, path: tuple[str, ...], value: object) -> str:
    """Return the text with the value at `path` replaced by plain values."""
    return change_value(text, path, lambda _: style(value))


def rewrite_lines(text: str, lines: list[str], span: Span, key: str, change: Change) -> list[str]:
    """Return the lines of a key and its value after applying `change` to the value."""
    block = [line[span.indent :] if not line[: span.indent].strip() else line for line in lines[span.start : span.end]]
    rewritten = _rewrite_block("\n".join(block) + "\n", key, change, _dash_indent(text))
    margin = " " * span.indent
    return [margin + line if line.strip() else "" for line in rewritten.rstrip("\n").split("\n")]


def insert_block(text: str, block: str, *, after: str) -> str:
    """Return the text with lines inserted after the top-level key `after`, or at the end if `after` is empty."""
    lines = split_lines(text)
    span = find_span(text, lines, (after,)) if after else None
    at = span.end if span else len(lines) - (1 if lines[-1] == "" else 0)
    return "\n".join([*lines[:at], *block.rstrip("\n").split("\n"), *lines[at:]])


def append_child(text: str, key: str, child: str, value: object) -> str:
    """Return the text with a new last child of the top-level mapping `key`, without rewriting the others."""
    lines = split_lines(text)
    top = read_yaml(text, path="").value
    parent = top.get(key) if isinstance(top, Map) else None
    last = max(parent.lines, key=lambda name: parent.lines[name], default="") if isinstance(parent, Map) else ""
    span = find_span(text, lines, (key, last)) if last else None
    if span is None:
        return change_value(
            text, (key,), lambda mapping: _set_child(mapping or style({}), child, lambda _: style(value))
        )
    margin = " " * span.indent
    added = [margin + line if line else line for line in to_yaml({child: value}, like=text).rstrip("\n").split("\n")]
    return "\n".join([*lines[: span.end], *added, *lines[span.end :]])


def to_yaml(value: object, *, like: str = "") -> str:
    """Return plain values as YAML text, with lists indented as in the text `like`."""
    stream = io.StringIO()
    _writer(0 if isinstance(value, list) else _dash_indent(like)).dump(style(value), stream)
    return stream.getvalue()


def style(value: object) -> RoundTrip:
    """Return plain values in the types that the writer needs: short lists on one line, ambiguous words quoted."""
    if isinstance(value, dict):
        mapping = CommentedMap()
        for key, item in value.items():
            mapping[style(key)] = style(item)
        return mapping
    if isinstance(value, list | tuple):
        items = CommentedSeq([style(item) for item in value])
        scalars = not any(isinstance(item, dict | list) for item in value)
        if scalars and sum(len(str(item)) + 2 for item in value) <= ONE_LINE:
            items.fa.set_flow_style()
        return items
    if isinstance(value, str):
        clean = value.translate(SPACES).encode("utf-8", "replace").decode("utf-8")
        return DoubleQuotedScalarString(clean) if clean.lower() in AMBIGUOUS or clean.startswith(INDICATORS) else clean
    return value


def with_items(value: RoundTrip, new: Iterable[object]) -> RoundTrip:
    """Return a list that is being rewritten with items added; a single value, or none, becomes a list."""
    if not isinstance(value, list):
        return style([*([] if value in (None, "") else [value]), *new])
    if not value:
        return style(list(new))
    value.extend(style(item) for item in new)
    return value


def split_lines(text: str) -> list[str]:
    """Return the lines of a text."""
    if any(end in text for end in STRANGE_ENDS):
        raise CommonsError(
            "The file has line ends that only some programs see (a lone U+000D, U+0085, U+2028 or U+2029).",
            fix="Replace them with ordinary line ends or spaces.",
        )
    return text.split("\n")


def _set_child(parent: RoundTrip, key: str, change: Change) -> RoundTrip:
    parent[key] = change(parent.get(key))
    return parent


def find_span(text: str, lines: list[str], path: tuple[str, ...]) -> Span | None:
    """Return the lines of a value, or None if it shares them with something else, such as inside brackets."""
    node = read_yaml(text, path="").value
    end = len(lines)
    for key in path:
        if not isinstance(node, Map) or key not in node.lines:
            raise CommonsError(f"There is no `{'.'.join(path)}`.")
        start = node.lines[key] - 1
        end = min((line - 1 for line in node.lines.values() if line - 1 > start), default=end)
        shared = sum(line - 1 == start for line in node.lines.values()) > 1
        node = node[key]
    key_text = lines[start].lstrip(" ")
    if shared or not key_text.startswith((path[-1], '"' + path[-1], "'" + path[-1])):
        return None
    indent = len(lines[start]) - len(key_text)
    return Span(start=start, end=_without_tail(lines, start, end, indent), indent=indent)


def _without_tail(lines: list[str], start: int, end: int, indent: int) -> int:
    """Return `end` without trailing blank lines, and without comments that are not indented deeper than the key."""
    while end - 1 > start:
        bare = lines[end - 1].lstrip(" ")
        deep = len(lines[end - 1]) - len(bare) > indent
        if bare.strip() and (deep or not bare.startswith(("#", "---", "..."))):
            break
        end -= 1
    return end


def _rewrite_block(block: str, key: str, change: Change, dash: int) -> str:
    writer = _writer(dash)
    try:
        data = writer.load(block)
        written_key = next(name for name in data if str(name) == key)
        data[written_key] = change(data[written_key])
        stream = io.StringIO()
        writer.dump(data, stream)
    except (YAMLError, StopIteration, ValueError, TypeError, AttributeError) as error:
        message = f"`{key}` cannot be changed safely: {' '.join(str(error).split())[:200]}."
        raise CommonsError(message, fix="Write anchors and unusual YAML out in full, then try again.") from error
    return stream.getvalue()


def _writer(dash: int) -> YAML:
    writer = YAML(typ="rt")
    writer.preserve_quotes = True
    writer.width = WIDTH
    writer.indent(mapping=2, sequence=dash + 2, offset=dash)
    return writer


def _dash_indent(text: str) -> int:
    """Return how far the text indents a list's dashes below their key: in practice 0 or 2."""
    above = ""
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        if bare.startswith("- ") and above.rstrip().endswith(":") and not above.lstrip(" ").startswith("- "):
            deeper = (len(line) - len(bare)) - (len(above) - len(above.lstrip(" ")))
            return min(8, max(0, deeper))
        if bare.strip() and not bare.startswith("#"):
            above = line
    return 2
