"""Find the definitions of Python source by its lines alone, many times faster than a parser.

A line that begins neither in brackets nor in a string nor behind a backslash begins a statement, and its indent says
what it belongs to. What is not clean (odd indents, brackets or strings that do not close, tabs) is left to a parser.
An f-string that has its own quotes inside, as Python 3.12 allows, is read as several strings, which mostly comes to the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from deia.ingest.chunkers.pieces import LONGEST_SIGNATURE, Definition

DEFINING = re.compile(r"(?:def|class)\b|async\b(?! ++(?:for|with)\b)")
HEAD = re.compile(r"(?:async ++)?(def|class) ++(\w++) *+[(:\[]")
# What decides where statements begin: brackets (of one kind), quotes (three are a byte that is in no text), comments,
# colons, and backslashes at the ends of lines. All else is deleted, so that most lines become alike.
MARKS = b"()[]{}\"'#\\\n:\xff\xfe"
OTHERS = bytes(set(range(256)) - set(MARKS))
BRACKETS = bytes.maketrans(b"[]{}", b"()()")
ESCAPED = re.compile(rb"\\[^\n]")
COMPLETE = re.compile(rb"#.*+|\"[^\"\xff]*+\"|'[^'\xfe]*+'|\xff[^\xff]*+\xff|\xfe[^\xfe]*+\xfe")  # strings, comments
QUOTES = re.compile(rb"([\"'\xff\xfe])")
MOST_LEVELS = 100  # of indents, as in Python itself
QUIET = r"""[^][(){}:"'#\\]|"[^"\\\n]*+"|'[^'\\\n]*+'"""  # what may stand before the colon of a head


def _brackets(levels: int) -> str:
    """Return the pattern of what is in brackets, with others in them."""
    inner = f"|{_brackets(levels - 1)}" if levels else ""
    return rf"[\[({{](?:{QUIET}|:|#[^\n]*+{inner})*+[])}}]"


HEAD_OF_ONE_LINER = re.compile(rf"(?:(?!lambda\b)(?:{QUIET}|{_brackets(3)}))*+:(?= *+[^\s#])")


class _UnclearError(Exception):
    """Only a parser can say what the source means."""


class _Span:
    """The rows of a definition: its first decorator's, its head's, that on which its body begins, and its last."""

    __slots__ = ("body", "first", "head", "last")

    def __init__(self, first: int, head: int, last: int) -> None:
        self.first, self.head, self.body, self.last = first, head, head, last


class _Effects(dict[bytes, tuple[int, bytes, bytes]]):
    """What the marks of a line say: how many more brackets are open after it, which string is, and the last mark."""

    def __missing__(self, marks: bytes) -> tuple[int, bytes, bytes]:
        code, quotes, *_ = (*QUOTES.split(COMPLETE.sub(b"", marks), 1), b"")
        if quotes in {b'"', b"'"}:
            raise _UnclearError
        effect = self[marks] = code.count(b"(") - code.count(b")"), quotes, code[-1:]
        return effect


def python_definitions(source: bytes, rows: Sequence[str]) -> list[Definition] | None:
    """Return the definitions in order, each before those inside it, or None if only a parser can find them."""
    if b"\r" in source or b"\0" in source or source.startswith(b"\xef\xbb\xbf"):  # a mark of the byte order
        return None
    try:
        return [_definition(rows, span) for span in _spans(rows, _lines(source))]
    except _UnclearError:
        return None


def _lines(source: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the first row, the last row and the last mark of each logical line, blank ones and comments included."""
    marked = ESCAPED.sub(b"e", source).replace(b'"""', b"\xff").replace(b"'''", b"\xfe")
    effects = _Effects()
    first = depth = 0
    quotes = last = b""
    for row, line in enumerate(marked.translate(BRACKETS, OTHERS).split(b"\n")):
        if quotes and quotes not in line:
            continue
        change, quotes, last = effects[line.partition(quotes)[2] if quotes else line]
        depth += change
        if depth < 0:
            raise _UnclearError
        if not depth and not quotes and last != b"\\":
            yield first, row, last
            first = row + 1
    if depth or quotes or last == b"\\":
        raise _UnclearError


def _spans(rows: Sequence[str], lines: Iterable[tuple[int, int, bytes]]) -> list[_Span]:
    """Return the rows of the definitions, in order."""
    spans: list[_Span] = []
    blocks: list[tuple[int, _Span | None]] = [(0, None)]  # the indents of the blocks around a line, and whose they are
    level, decorator, before, mark = 0, -1, -1, b""
    head: _Span | None = None  # the definition that the statement before begins
    for first, last, last_mark in lines:
        code = rows[first].lstrip(" ")
        if code[:1] <= "#" and (code[:1] == "#" or not code.strip()):
            continue
        indent = len(rows[first]) - len(code)
        if indent > level and mark == b":":
            blocks.append((indent, head))
            if len(blocks) > MOST_LEVELS:
                raise _UnclearError
            if head:
                head.body = first
        elif indent != level:
            _close(blocks, indent, before)
        level, head = indent, None
        if code[0] == "@":
            decorator = first if decorator < 0 else decorator
        elif code[0] in "acd" and DEFINING.match(code):
            head = _Span(first if decorator < 0 else decorator, first, last)
            spans.append(head)
            decorator = -1
        elif decorator >= 0 or code[0] < " " or code[0] == "\\":
            raise _UnclearError
        before, mark = last, last_mark
    _close(blocks, 0, before)
    return spans


def _close(blocks: list[tuple[int, _Span | None]], indent: int, last: int) -> None:
    """Leave the blocks that are deeper than `indent`; `last` is the last row in them."""
    while blocks[-1][0] > indent:
        _, span = blocks.pop()
        if span:
            span.last = last
    if blocks[-1][0] != indent:
        raise _UnclearError


def _definition(rows: Sequence[str], span: _Span) -> Definition:
    """Return the definition that has these rows."""
    head = HEAD.match(rows[span.head].lstrip(" "))
    if head is None or rows[span.last].lstrip()[:1] in {"", "#"}:  # such a line after a backslash is no part of it
        raise _UnclearError
    if span.body > span.head:
        beginning = "\n".join(rows[span.head : span.body]).lstrip(" ")
    else:
        one_liner = HEAD_OF_ONE_LINER.match("\n".join(rows[span.head : span.last + 1]).lstrip(" "))
        if one_liner is None:
            raise _UnclearError
        beginning = one_liner[0]
    signature = beginning.encode("utf-8", "replace")[:LONGEST_SIGNATURE].decode("utf-8", "replace")
    kind = "class" if head[1] == "class" else "function"
    return Definition(kind, head[2], span.first, span.last, " ".join(signature.split()).rstrip("{: "))
