"""Which of a turn's commands a template could be about: found by what they run and by the words they are given.

A script of thousands of commands held against a thousand templates is millions of comparisons; nearly all of them fail
at the first word. Refuses to decide anything: what it gives may still not match, what it leaves out cannot.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.command import is_assignment
from deia.watch.commands import FIND_RUNS, GAP
from deia.watch.places import is_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.watch.command import Command
    from deia.watch.reading import Spoken

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

    def _holding(self, named: Sequence[str]) -> set[int]:
        if not named:
            return set(range(len(self.commands)))
        none: set[int] = set()
        return set.intersection(*sorted((self._numbers.get(word, none) for word in named), key=len))


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


def _named(template: Sequence[str]) -> list[str]:
    """Give the words that a command must have to match a template: no options, places, gaps or wildcards."""
    if len(template) > 1 and is_assignment(template[0]):
        return [AN_ENVIRONMENT, *_named(template[1:])]
    if template[0] == "find" and len(template) > 2 and template[1] in FIND_RUNS:
        return [f"find {template[1]}".lower(), *_named(template[2:])]
    return [word.lower() for word in template if not _is_open(word)]


def _is_open(word: str) -> bool:
    """Say whether a word stands for several, or for an option that has other spellings."""
    return word == GAP or word[:1] in {"-", "/"} or any(mark in word for mark in "*?[") or is_place(word)
