"""Chunkers that a person declares: how the first line of a part begins, or which lines stand between two parts.

A declaration is TOML. Its patterns are of the safe subset, and see at most the first characters of a line, so that no
file can make them run on; they need no sandbox.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping

from deia.ingest.chunkers.pieces import Cut, Node, chunks_of
from deia.ingest.reading import DATA_LIMIT, FEWEST_CHARS, MOST_CHARS, ChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk
from deia.patterns.safe_pattern import SEGMENT, pattern_problem
from deia.records import Record
from deia.typed_json import read_record

LIMIT, SHORTEST, LONGEST = DATA_LIMIT, FEWEST_CHARS, MOST_CHARS  # characters of a chunk
MOST_LEVELS, LONGEST_SYMBOL = 6, 80
BORDERS = ("\n\n", "\n", " ")
RECORD = "record"  # the kind of the parts between separators


class Level(Record):
    """A kind of part: how its first line begins, and what a part is called."""

    begins: str  # a pattern; its first group, if it has one, is the part's name
    kind: str = RECORD


class Declared(Record):
    """A declared chunker; the parts of a level are in those of the level before it."""

    levels: tuple[Level, ...] = ()
    separator: str = ""  # a pattern of lines that stand between records; the levels are inside these
    max_chars: int = LIMIT
    share: bool = False  # whether small neighbours share a chunk
    files: tuple[str, ...] = ()  # globs of the files that it cuts

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its parts, the outermost first."""
        return ((RECORD,) if self.separator else ()) + tuple(level.kind for level in self.levels)


def parsed(text: str, *, where: str = "") -> Declared:
    """Return the chunker that is declared in TOML; raise ReadingError with all of its problems."""
    fix = "To see one, type: deia chunker new SAMPLE"
    try:
        given = tomllib.loads(text)
        _refuse_single(given, where)
        declared = read_record(Declared, given)
    except (ValueError, RecursionError, TypeError) as error:
        raise ReadingError(f"it declares no chunker: {error}", where=where, fix=fix) from error
    patterns = [declared.separator, *(level.begins for level in declared.levels)]
    problems = [f"{pattern!r}: {why}" for pattern in patterns if (why := pattern_problem(pattern))]
    if not 1 <= len(declared.kinds) <= MOST_LEVELS or not SHORTEST <= declared.max_chars <= LONGEST:
        problems.append(
            f"1 to {MOST_LEVELS} levels or a separator, and max_chars of {SHORTEST} to {LONGEST}, are needed"
        )
    if problems:
        raise ReadingError("; ".join(problems), where=where, fix=fix)
    return declared


def _refuse_single(given: Mapping[str, object], where: str) -> None:
    """Raise ReadingError if what may be there several times is not written as an array."""
    fixes = {
        "files": 'Write it as an array, such as files = ["*.q"]',
        "levels": "Write each level below [[levels]], with two brackets on either side",
    }
    for name, fix in fixes.items():
        value = given.get(name, [])
        if not isinstance(value, list):
            shown = json.dumps(value, ensure_ascii=False, default=str)
            raise ReadingError(f"{name} is {shown:.80}, which is no array", where=where, fix=fix)


def written(declared: Declared) -> str:
    """Return a declared chunker as TOML."""
    lines = [f"files = {_basic(list(declared.files))}"]
    lines += [f"separator = {_quoted(declared.separator)}"] if declared.separator else []
    lines += [f"max_chars = {declared.max_chars}", f"share = {str(declared.share).lower()}"]
    levels = (
        f"\n[[levels]]\nbegins = {_quoted(level.begins)}\nkind = {_quoted(level.kind)}" for level in declared.levels
    )
    return "\n".join((*lines, *levels)) + "\n"


def _quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text and text.isprintable() else _basic(text)


def _basic(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which JSON leaves, and TOML refuses


def cut_declared(declared: Declared, reading: Reading, document: str, config: ChunkerConfig) -> list[Chunk]:
    """Return the chunks of a reading; no word of it is lost."""
    limit, packs = max(config.max_chars or declared.max_chars, SHORTEST), declared.kinds if declared.share else ()
    overlap = max(0, min(config.overlap_chars, limit // 2))
    top = Node(0, len(reading.text), "", "", reading.title, parts=tuple(parts(declared, reading)))
    return chunks_of(reading, top, id=document, cut=Cut(limit=limit, overlap=overlap, packs=packs, borders=BORDERS))


def parts(declared: Declared, reading: Reading) -> list[Node]:
    """Return the parts of a text, with those of the deeper levels in them."""
    done: list[list[Node]] = [[]]
    opened: list[tuple[int, int, str]] = []

    def close(depth: int, at: int) -> None:
        while opened and opened[-1][0] >= depth:
            level, start, symbol = opened.pop()
            heading = " > ".join(filter(None, (reading.title, *(above for _, _, above in opened))))
            inner = tuple(done.pop())
            done[-1].append(Node(start, at, declared.kinds[level], symbol, heading, inner))

    for level, start, symbol in _marks(declared, reading.text):
        close(level, start)
        opened.append((level, start, symbol.strip()[:LONGEST_SYMBOL]))
        done.append([])
    close(0, len(reading.text))
    return done[0]


def _marks(declared: Declared, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the parts begin, with their level and name."""
    separator = re.compile(declared.separator) if declared.separator else None
    levels = [(number, re.compile(level.begins)) for number, level in enumerate(declared.levels, separator is not None)]
    after = separator is not None  # whether the next line with words begins a record
    lines = text.split("\n")
    starts = itertools.accumulate((len(line) + 1 for line in lines), initial=0)
    for line, start in zip((line[:SEGMENT] for line in lines), starts, strict=False):
        if separator and separator.match(line):
            after = True
            continue
        if after and line.strip():
            yield 0, start, line
            after = False
        beginning = next(((level, match) for level, pattern in levels if (match := pattern.match(line))), None)
        if beginning:
            yield beginning[0], start, (beginning[1][1] if beginning[1].re.groups else "") or line
