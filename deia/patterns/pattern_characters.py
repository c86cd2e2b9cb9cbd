"""Find which characters a part of a regular expression can begin and end with, using the parse tree of `re`.

Characters are represented by an alphabet: Latin, one character of every other kind, and those that the pattern names.
In doubt a set is too large, never too small. Case is ignored, because the watcher ignores it.
"""

from __future__ import annotations

import functools
import re._constants as op  # type: ignore[import-not-found]  # the parser's own names; there is no public parse tree
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from deia.records import Record

Value: TypeAlias = Any  # of a node of re's parse tree, which is private and untyped
Node: TypeAlias = tuple[int, Value]  # with its kind

SMALL = 20  # a repeat of up to this many is small: it may be inside other choices, or contain them
LATIN = 0x180
BASE = frozenset(map(chr, range(LATIN))) | set("\u212a\u0416\u4e2d\u0436\u0663 \u2003\u2026\U0001f600")
WIDE = 2000  # width up to which ranges beyond Latin are checked character by character


class TooWideError(ValueError):
    """A character range that the alphabet cannot represent."""


class First(Record):
    """How a part can begin: its first characters, and which of them belong to an unbounded repeat."""

    chars: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    empty: bool = True  # whether the part can match nothing
    checked: bool = False  # whether the empty match passes an assertion, which may fail

    def then(self, after: First) -> First:
        """Return how this part followed by `after` can begin."""
        if not self.empty:
            return self
        return First(
            chars=self.chars | after.chars,
            repeated=self.repeated | after.repeated,
            empty=after.empty,
            checked=self.checked or after.checked,
        )


NOTHING = First()


class Characters:
    """The character sets of one pattern's parts; each is computed once."""

    def __init__(self, tree: Sequence[Node]) -> None:
        named = _named(tree)
        self.alphabet = BASE if named <= BASE else BASE | named  # the same object each time, for the caches
        self._ones: dict[int, frozenset[str]] = {}
        self._firsts: dict[int, First] = {}

    def single(self, node: Node) -> frozenset[str] | None:
        """Return the characters of a node that takes exactly one; None for other nodes."""
        if node[0] not in SINGLE:
            return None
        if id(node) not in self._ones:
            self._ones[id(node)] = _either_case(_characters_of(node, self.alphabet), self.alphabet)
        return self._ones[id(node)]

    def first(self, nodes: Sequence[Node]) -> First:
        """Return how a sequence of nodes can begin."""
        result = NOTHING
        for node in reversed(nodes):
            result = self.first_of(node).then(result)
        return result

    def first_of(self, node: Node) -> First:
        """Return how a node can begin."""
        if id(node) not in self._firsts:
            self._firsts[id(node)] = self._compute_first(node)
        return self._firsts[id(node)]

    def _compute_first(self, node: Node) -> First:
        kind, value = node
        chars = self.single(node)
        if chars is not None:
            return First(chars=chars, empty=False)
        if kind in REPEATS:
            inner = self.first(list(value[2]))
            repeated = inner.chars if large(value[1]) else inner.repeated
            return inner.but(repeated=repeated, empty=inner.empty or value[0] == 0)
        if kind is op.BRANCH:
            return _any_of([self.first(list(way)) for way in value[1]])
        return First(checked=True) if kind in ASSERTIONS else self.first(body_of(node))

    def last(self, nodes: Sequence[Node], before: frozenset[str]) -> frozenset[str]:
        """Return the characters that can come last in `nodes`; those of `before` if the nodes can match nothing."""
        for node in nodes:
            before = self.last_of(node, before)
        return before

    def last_of(self, node: Node, before: frozenset[str]) -> frozenset[str]:
        """Return the characters that can come last in a node; those of `before` if it can match nothing."""
        kind, value = node
        chars = self.single(node)
        if chars is not None:
            return chars
        if kind in REPEATS:
            inner = self.last(list(value[2]), before)
            return inner | before if value[0] == 0 else inner
        if kind is op.BRANCH:
            return frozenset().union(*(self.last(list(way), before) for way in value[1]))
        return before if kind in ASSERTIONS else self.last(body_of(node), before)

    def anywhere(self, nodes: Sequence[Node]) -> frozenset[str]:
        """Return all characters that the nodes can take anywhere."""
        characters: frozenset[str] = frozenset()
        for node in nodes:
            kind, value = node
            inner = value[1] if kind is op.BRANCH else [value[2]] if kind in REPEATS else [body_of(node)]
            characters |= self.single(node) or frozenset().union(*(self.anywhere(list(way)) for way in inner))
        return characters

    def leading(self, nodes: Sequence[Node]) -> list[frozenset[str]]:
        """Return the sets of the leading one-character nodes, and of the beginning of the first other node."""
        sets: list[frozenset[str]] = []
        for position, node in enumerate(nodes):
            chars = self.single(node)
            if chars is None:
                rest = self.first(nodes[position:])
                return sets if rest.empty else [*sets, rest.chars]
            sets.append(chars)
        return sets


def _any_of(ways: list[First]) -> First:
    return First(
        chars=frozenset().union(*(way.chars for way in ways)),
        repeated=frozenset().union(*(way.repeated for way in ways)),
        empty=any(way.empty for way in ways),
        checked=any(way.checked for way in ways),
    )


def large(high: int) -> bool:
    """Return whether a repeat has no upper bound, or one so large that it counts as none for what is inside it."""
    return high is op.MAXREPEAT or int(high) > SMALL


def body_of(node: Node) -> list[Node]:
    """Return the nodes inside a group or look-around; none for other nodes."""
    kind, value = node
    return list(BODIES[kind](value)) if kind in BODIES else []


BODIES: dict[int, Callable[[Value], Sequence[Node]]] = {
    op.SUBPATTERN: lambda value: value[-1],
    op.ATOMIC_GROUP: lambda value: value,
    op.ASSERT: lambda value: value[1],
    op.ASSERT_NOT: lambda value: value[1],
}
ASSERTIONS = (op.AT, op.ASSERT, op.ASSERT_NOT)
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
CATEGORIES: dict[int, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    op.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    op.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    op.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


SINGLE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)


def _characters_of(node: Node, alphabet: frozenset[str]) -> frozenset[str]:
    """Return the characters of an alphabet that a node, or a part of a character class, matches."""
    kind, value = node
    if kind is op.LITERAL:
        return alphabet & {chr(value)}
    if kind is op.NOT_LITERAL:
        return alphabet - {chr(value)}
    if kind is op.ANY:
        return alphabet
    if kind is not op.IN:
        return _in_range_or_category(value, alphabet)
    parts = [_characters_of(part, alphabet) for part in value if part[0] is not op.NEGATE]
    characters = frozenset[str]().union(*parts)
    return alphabet - characters if value[0][0] is op.NEGATE else characters


@functools.lru_cache(maxsize=1024)
def _either_case(characters: frozenset[str], alphabet: frozenset[str]) -> frozenset[str]:
    """Return characters in both cases, as far as the alphabet has them."""
    forms = {form for char in characters for form in (char.lower(), char.upper(), char.swapcase())}
    return characters | (forms & alphabet)


@functools.lru_cache(maxsize=1024)
def _in_range_or_category(value: tuple[int, int] | int, alphabet: frozenset[str]) -> frozenset[str]:
    """Return the characters in a range or of a category; cached, since most patterns use the same few."""
    if isinstance(value, tuple):
        low, high = value
        return frozenset(char for char in alphabet if low <= ord(char) <= high)
    return frozenset(filter(CATEGORIES[value], alphabet))


def _named(tree: Sequence[Node]) -> set[str]:
    """Return the characters that a pattern names, in both cases, so that the alphabet contains them."""
    characters: set[str] = set()
    pending = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple) and part and part[0] in (op.LITERAL, op.NOT_LITERAL):
            characters.add(chr(part[1]))
        elif isinstance(part, tuple) and part and part[0] is op.RANGE:
            characters |= _of_range(*part[1])
        elif isinstance(part, tuple | list | parser.SubPattern):
            pending += list(part)
    return characters | {form for char in characters for form in (char.lower(), char.upper()) if len(form) == 1}


def _of_range(low: int, high: int) -> set[str]:
    if high >= LATIN and high - low > WIDE:
        raise TooWideError("it has a character range too wide to judge; use \\w, \\S or a narrower range")
    return set(map(chr, range(low, high + 1))) if high >= LATIN else set()
