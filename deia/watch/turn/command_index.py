"""An index of a turn's commands: look up those that a template could match, by their programs and words.

Comparing a script of thousands of commands with a thousand templates would take millions of comparisons, nearly all of
which fail at the first word. A command that is looked up may still not match; one that is left out cannot.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.delete_targets import is_place
from deia.watch.shell.nodes import Command, Spoken, is_assignment
from deia.watch.shell.templates import FIND_RUNS, GAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


AN_ENVIRONMENT = "="  # stands for a variable set before a command; no program or word is equal to it


class Running:
    """The distinct commands of a turn, indexed by their programs and words."""

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
        """Yield the commands, in order, that have all the words that one of these templates requires."""
        numbers: set[int] = set()
        for template in templates:
            numbers |= self._with_words(_required_words(template))
        for number in sorted(numbers):
            yield self.commands[number]

    def _with_words(self, words: Iterable[str]) -> set[int]:
        """Return the numbers of the commands that have all these words."""
        numbers: set[int] | None = None
        for word in words:
            with_word = self._numbers.get(word)
            numbers = with_word if numbers is None or with_word is None else numbers & with_word
            if not numbers:
                return set()
        return set(range(len(self.commands))) if numbers is None else numbers


def _identity(spoken: Spoken) -> object:
    """Return all of a command that a matcher can see, which excludes its position and its spelling."""
    command = spoken.command
    return (
        command.program, command.arguments, command.data, command.through, command.environment, command.folder,
        spoken.stance,
    )  # fmt: skip


def _words_of(command: Command) -> Iterator[str]:
    """Yield every word that a template may require, in lower case; a matcher that minds case looks again."""
    yield command.program.lower()
    yield from (program.lower() for program in command.through)
    if command.environment:
        yield AN_ENVIRONMENT
    for argument in command.arguments:
        word = argument.lower()
        yield word
        yield word.removeprefix("./").rstrip("/")


def _required_words(template: Sequence[str]) -> Iterator[str]:
    """Yield the words that a command must have to match a template: no options, places, gaps or wildcards."""
    at = 0
    while len(template) > at + 1 and is_assignment(template[at]):
        yield AN_ENVIRONMENT
        at += 1
    if template[at] == "find" and len(template) > at + 2 and template[at + 1] in FIND_RUNS:
        yield f"find {template[at + 1]}".lower()
        at += 2
    for word in template[at:]:
        if not _is_open(word):
            yield word.lower()


def _is_open(word: str) -> bool:
    """Return whether a template's word matches several words, or is an option with other spellings."""
    return word == GAP or word[:1] in {"-", "/"} or any(mark in word for mark in "*?[") or is_place(word)
