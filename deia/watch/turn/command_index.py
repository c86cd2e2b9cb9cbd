"""Which of a turn's commands a template could be about: found by what they run and by the words they are given.

A script of thousands of commands held against a thousand templates is millions of comparisons; nearly all of them fail
at the first word. Refuses to decide anything: what it gives may still not match, what it leaves out cannot.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.delete_targets import is_place
from deia.watch.shell.nodes import is_assignment
from deia.watch.shell.templates import FIND_RUNS, GAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.watch.shell.nodes import Command, Spoken

AN_ENVIRONMENT = "="  # no program and no word is called so


class Running:
    """A turn's commands, each different one once, with an index from what they run and are given."""

    __slots__ = ("_numbers", "commands")

    def __init__(self, commands: Iterable[Spoken]) -> None:
        seen: dict[object, Spoken] = {}
        for spoken in commands:
            seen.setdefault(_identity(spoken), spoken)
        self.commands = list(seen.values())
        self._numbers: dict[str, set[int]] = {}
        for number, spoken in enumerate(self.commands):
            for word in _words_of(spoken.command):
                self._numbers.setdefault(word, set()).add(number)

    def about(self, templates: Iterable[Sequence[str]]) -> Iterator[Spoken]:
        """Give the commands, in order, that hold everything that one of these templates names outright."""
        found: set[int] = set()
        for template in templates:
            found |= self._holding(_named(template))
        for number in sorted(found):
            yield self.commands[number]

    def _holding(self, named: Iterable[str]) -> set[int]:
        """Give the commands that have all of some words; nearly always already the first is missing."""
        held: set[int] | None = None
        for word in named:
            having = self._numbers.get(word)
            held = having if held is None or having is None else held & having
            if not held:
                return set()
        return set(range(len(self.commands))) if held is None else held


def _identity(spoken: Spoken) -> object:
    """Give what tells a command from another to a matcher: everything but where it stands and how it is written."""
    one = spoken.command
    return one.program, one.arguments, one.data, one.through, one.environment, one.folder, spoken.stance


def _words_of(command: Command) -> Iterator[str]:
    """Give everything that a template may name, in lower case: a matcher that minds case looks again."""
    yield command.program.lower()
    yield from (one.lower() for one in command.through)
    if command.environment:
        yield AN_ENVIRONMENT
    for argument in command.arguments:
        word = argument.lower()
        yield word
        yield word.removeprefix("./").rstrip("/")


def _named(template: Sequence[str]) -> Iterator[str]:
    """Give the words that a command must have to match a template: no options, places, gaps or wildcards."""
    rest = 0
    while len(template) > rest + 1 and is_assignment(template[rest]):
        yield AN_ENVIRONMENT
        rest += 1
    if template[rest] == "find" and len(template) > rest + 2 and template[rest + 1] in FIND_RUNS:
        yield f"find {template[rest + 1]}".lower()
        rest += 2
    for word in template[rest:]:
        if not _is_open(word):
            yield word.lower()


def _is_open(word: str) -> bool:
    """Say whether a word stands for several, or for an option that has other spellings."""
    return word == GAP or word[:1] in {"-", "/"} or any(mark in word for mark in "*?[") or is_place(word)
