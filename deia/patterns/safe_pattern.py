"""The safe subset of regular expressions for patterns that people write, checked on the parse tree of `re`.

An accepted pattern takes at most quadratic time in a segment of n characters (we scan 600), times its own length. Why:
`re` tries n starting positions. From one start it goes back only at a *choice* (a repeat, an option, alternatives)
whose two continuations can begin with the same character. All other choices are settled by the next character, and
their repeats scan each character once. A real choice has a number of *ways*: n for an unbounded repeat, max - min + 1
for a bounded one. Ways along a path multiply, and the product is limited: it leaves room for one unbounded repeat and
a few options. A settled repeat after a real choice could be scanned once for every way. It costs nothing more if its
characters exclude the one before it, because then its scans cannot overlap and are n long together. Otherwise it
counts as a choice.

Never accepted: unbounded repeats and real choices inside unbounded repeats, repeats of something that can be empty,
back-references, conditional groups, and look-around with unbounded content.
"""

from __future__ import annotations

import re
import re._constants as op  # type: ignore[import-not-found]  # as in pattern_characters
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache

from deia.patterns.pattern_characters import (
    BODIES,
    NOTHING,
    REPEATS,
    SMALL,
    Characters,
    First,
    Node,
    TooWideError,
    body_of,
    large,
)
from deia.records import Record

SEGMENT = 600  # characters that are scanned at once (DESIGN, section 9)
LONGEST = 1000  # characters of a pattern
MOST_GROUPS = 20
MOST_NESTING = 20
MOST_COPIES = 1000  # the most that nested counted repeats may multiply to
MOST_WAYS = SEGMENT * 16  # with an unbounded repeat among the choices
MOST_BOUNDED_WAYS = 1000
CROWDED = (
    "its repeats and alternatives can match the same text in too many ways; give the repeats bounds, as in \\w{0,9}"
)
NESTED = "it has an unbounded repeat inside another; give the inner one a bound such as {0,20}"
ADJACENT = (
    r"two repeats next to each other can match the same text; write `\s.*` for `\s+.*`, or put a word between them"
)
REASONS = {
    op.GROUPREF: "it has a back-reference",
    op.GROUPREF_EXISTS: "it has a conditional group",
    op.FAILURE: "it has a part that can never match",
}


class _RefusedError(ValueError):
    """The pattern is not in the subset; the message is a clause of a sentence."""


class _Walk(Record):
    """The state of a walk through the pattern."""

    ways: int = 1
    last: frozenset[str] = frozenset()  # the characters that can come just before
    unbounded: bool = False  # an unbounded repeat was among the choices
    looping: bool = False  # inside an unbounded repeat


def pattern_problem(pattern: str) -> str:
    """Return why a pattern cannot be used, as a clause of a sentence; empty if it can be used."""
    if len(pattern) > LONGEST:
        return f"it has {len(pattern)} characters, but at most {LONGEST} are allowed"
    return _problem(pattern)


@lru_cache(maxsize=4096)  # a command may read the same triggers several times, and a third of that is this check
def _problem(pattern: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a set such as [[ or [a--b] will mean something else in a later Python
            tree = parser.parse(pattern, re.IGNORECASE)
    except (re.error, OverflowError, ValueError, Warning) as error:
        return f"it does not parse ({error})"
    except RecursionError:
        return "it is nested too deeply"
    if tree.state.groups - 1 > MOST_GROUPS:
        return f"it has more than {MOST_GROUPS} groups; use (?:…) or split it"
    try:
        _refuse_copies(tree, 1, 0)
        _Checker(Characters(tree)).sequence(list(tree), _Walk(), NOTHING)
    except (_RefusedError, TooWideError) as refused:
        return str(refused)
    return ""


def _refuse_copies(nodes: Iterable[Node], times: int, depth: int) -> None:
    """Refuse counted repeats whose product is too large, and nesting that is too deep."""
    if depth > MOST_NESTING:
        raise _RefusedError(f"it is nested deeper than {MOST_NESTING} levels")
    for node in nodes:
        kind, value = node
        if kind in REPEATS:
            low, high, body = value
            count = times * max(1, low if high is op.MAXREPEAT else high)
            if count > MOST_COPIES:
                raise _RefusedError(f"its counted repeats multiply to {count}, but at most {MOST_COPIES} is allowed")
            _refuse_copies(body, count, depth + 1)
        for inner in _parts(node):
            _refuse_copies(inner, times, depth + 1)


def _parts(node: Node) -> list[Sequence[Node]]:
    """Return the sequences inside alternatives, groups and look-arounds."""
    kind, value = node
    return list(value[1]) if kind is op.BRANCH else [body_of(node)] if kind in BODIES else []


def _unbounded(nodes: Iterable[Node]) -> bool:
    """Return whether there is an unbounded (or large) repeat anywhere in the nodes."""
    return any(
        (node[0] in REPEATS and (large(node[1][1]) or _unbounded(node[1][2]))) or any(map(_unbounded, _parts(node)))
        for node in nodes
    )


class _Checker:
    """The walk over one pattern's tree."""

    def __init__(self, characters: Characters) -> None:
        self.characters = characters

    def sequence(self, nodes: Sequence[Node], walk: _Walk, after: First) -> _Walk:
        """Walk the nodes in order; `after` is how the text after them can begin."""
        following = [after]
        for node in reversed(nodes):
            following.append(self.characters.first_of(node).then(following[-1]))
        for node, then in zip(nodes, following[-2::-1], strict=True):
            walk = self.node(node, walk, then)
        return walk

    def node(self, node: Node, walk: _Walk, then: First) -> _Walk:
        """Walk one node."""
        kind, value = node
        chars = self.characters.single(node)
        if chars is not None:
            return walk.but(last=chars)
        if kind in REPEATS:
            return self.repeat(node, walk, then)
        if kind is op.BRANCH:
            return self.branch([list(way) for way in value[1]], walk, then)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            return self.look_around(body_of(node), walk)
        if kind in BODIES:
            return self.sequence(body_of(node), walk, then)
        if kind is op.AT:
            return walk
        raise _RefusedError(REASONS.get(kind, f"it uses {str(kind).lower()}, which is not in the safe subset"))

    def look_around(self, body: list[Node], walk: _Walk) -> _Walk:
        """Walk a look-around: it adds no ways itself, but costs its own ways each time."""
        if _unbounded(body):
            raise _RefusedError(
                "it has a look-around with an unbounded repeat; use `unless`, or a bound such as {0,20}"
            )
        return _more(walk, self.sequence(body, _Walk(), NOTHING).ways)

    def branch(self, ways: list[list[Node]], walk: _Walk, then: First) -> _Walk:
        """Walk alternatives: those that can match at the same position count as ways."""
        leading = [self.characters.leading(way) for way in ways]
        overlaps = max(sum(not _exclusive(mine, theirs) for theirs in leading) for mine in leading)
        if overlaps > 1 and walk.looping:
            raise _RefusedError("alternatives inside an unbounded repeat can match the same text")
        walked = [self.sequence(way, walk, then) for way in ways]
        joined = walk.but(
            ways=max(way.ways for way in walked),
            last=frozenset().union(*(way.last for way in walked)),
            unbounded=any(way.unbounded for way in walked),
        )
        return _more(joined, overlaps)

    def repeat(self, node: Node, walk: _Walk, then: First) -> _Walk:
        """Walk a repeat of one character or of a group."""
        low, high, body = node[1][0], node[1][1], list(node[1][2])
        if large(high) and walk.looping:
            raise _RefusedError(NESTED)
        if len(body) != 1 or self.characters.single(body[0]) is None:
            walk = self.group(body, high, walk, then)
        after = walk.but(last=self.characters.last_of(node, walk.last))
        if low == high:
            return after
        first = self.characters.first(body).chars
        if large(high) and first & then.repeated:
            raise _RefusedError(ADJACENT)
        settled = first.isdisjoint(then.chars) and not (then.empty and then.checked)
        if not settled and walk.looping:
            raise _RefusedError("a choice inside an unbounded repeat is not settled by the next character")
        walked_once = walk.ways == 1 or self.characters.anywhere(body).isdisjoint(walk.last) or _at_the_end(then)
        if settled and walked_once:
            return after
        endless = high is op.MAXREPEAT or high - low >= SEGMENT
        ways = SEGMENT if endless else high - low + 1
        return _more(after.but(unbounded=after.unbounded or endless), ways)

    def group(self, body: list[Node], high: int, walk: _Walk, then: First) -> _Walk:
        """Walk the body of a repeated group, once around its loop."""
        first = self.characters.first(body)
        if first.empty and high != 1:
            raise _RefusedError("a group that can match nothing is repeated")
        if large(high) and _unbounded(body):
            raise _RefusedError(NESTED)
        around = first.but(empty=True, checked=True).then(then) if high != 1 else then
        inside = self.sequence(body, walk.but(looping=walk.looping or large(high)), around)
        if large(high) or high == 1:
            return inside.but(looping=walk.looping)
        own = max(1, inside.ways // walk.ways)
        return _more(inside.but(ways=walk.ways, looping=walk.looping), own ** min(int(high), SMALL))


def _exclusive(lefts: list[frozenset[str]], rights: list[frozenset[str]]) -> bool:
    """Return whether some character decides which of two alternatives can match."""
    return any(left.isdisjoint(right) for left, right in zip(lefts, rights, strict=False))


def _at_the_end(then: First) -> bool:
    """Return whether nothing that could fail follows; then the repeat is scanned once and the search ends."""
    return then.empty and not then.chars and not then.checked


def _more(walk: _Walk, factor: int) -> _Walk:
    ways = walk.ways * factor
    if ways > (MOST_WAYS if walk.unbounded else MOST_BOUNDED_WAYS):
        raise _RefusedError(CROWDED)
    return walk.but(ways=ways)
