"""One turn, parsed as far as needed: its regions, its words, and the commands that it runs or mentions.

The commands have an index. Comparing a script of thousands of them with a thousand templates would take millions of
comparisons, nearly all of which fail at the first word. A command that is looked up may still not match; one that is
left out cannot.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import spans, words
from deia.watch.prose.phrases import Words
from deia.watch.prose.regions import SHELL_FENCES, Prose, cut, sentence, unwrapped
from deia.watch.prose.stance_names import ANNOUNCED, DRY_RUN, REPORTED, REQUESTED
from deia.watch.shell.delete_targets import is_place
from deia.watch.shell.nodes import Command, Spoken, is_assignment
from deia.watch.shell.templates import FIND_RUNS, GAP, is_dry
from deia.watch.turn.inline_commands import inline_commands, opening_commands
from deia.watch.turn.spoken_tool_input import speech_of, tasks_of
from deia.watch.turn.tool_call import MOST_CALL, is_shell, watched_command

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from functools import cached_property as lazy

    from deia.watch.compiled_trigger import ActWords
    from deia.watch.prose.acts import Frame
    from deia.watch.turn.edits import Change
else:

    class lazy:  # noqa: N801 - a decorator, as `functools.cached_property`, which the hook cannot afford to import
        """A property that is worked out when it is first asked for."""

        def __init__(self, work_out: Callable[[Reading], object]) -> None:
            self.work_out = work_out

        def __get__(self, reading: Reading, _owner: type) -> object:
            value = reading.__dict__[self.work_out.__name__] = self.work_out(reading)
            return value


# Words of prose that command lines do not have: a line with one of them is a sentence about a command.
SENTENCE_WORDS = frozenset(
    "the is are was will would should can could removes deletes does what how why if when because and you we it this"
    " that a an then please don".split()
)
LAST_WORDS = 12
MOST_READ = 30_000  # characters; of a longer turn about as many are parsed, around the places that opened the gate
SENTENCE_ENDS = ".?:,"
PROMPTS = ("$ ", "! ")  # of a shell, and of hosts in which a person can type a command
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
        yield from word.split(",") if "," in word else ()


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
        # A word with a wildcard matches several words, and an option has other spellings.
        if not (word == GAP or word[:1] in {"-", "/"} or any(mark in word for mark in "*?[") or is_place(word)):
            yield word.lower()


class Reading:
    """One turn, parsed lazily: its regions, words, commands and changes are worked out when a clause needs them."""

    def __init__(
        self,
        turn: Turn,
        *,
        known: Collection[str] = (),
        whole: Turn | None = None,
        act_words: Callable[[int], ActWords] | None = None,
    ) -> None:
        self.turn = turn
        self._whole = whole or turn  # of which `turn` may have only a part of the text
        self._act_words = act_words  # called when the first `act` clause is judged
        self._frames: dict[int, list[Frame]] = {}
        self._known = known  # tasks that were judged before
        self.only_shows: bool | None = None  # a file or a search, as `clauses.confirm` finds when it first asks

    @property
    def is_prose(self) -> bool:
        """Whether the turn is speech: of a person, of the assistant, or in a tool call with words for one of them."""
        return bool(self.said)

    @lazy
    def said(self) -> str:
        """The speech: the text of a person or the assistant, the speech in a tool call, or ""."""
        if self.turn.role == "tool_call":
            return speech_of(self.turn, known=self._known)[:MOST_CALL]
        if self.turn.role == "user":
            from deia.watch.prose.pasted import typed  # noqa: PLC0415 - most turns are not a person's

            return typed(unwrapped(self._whole.text))
        return self.turn.text if self.turn.role == "assistant" else ""

    @lazy
    def prose(self) -> Prose:
        """The regions of the turn's text."""
        return cut(self.said)

    @lazy
    def words(self) -> Words:
        """The words of the prose, or of the whole text if the turn is no prose."""
        return Words(self.prose.tokens if self.is_prose else spans(self.turn.text))

    def frames(self, vocabulary: int) -> list[Frame]:
        """Return the acts in the prose, read with the words of a vocabulary; none if the reading has no words."""
        if vocabulary not in self._frames:
            self._frames[vocabulary] = []
            if self._act_words is not None:
                from deia.watch.prose.acts import frames  # noqa: PLC0415 - few turns have the words of an act

                known = self._act_words(vocabulary)
                self._frames[vocabulary] = frames(self.prose.masked, self.words.tokens, known)
        return self._frames[vocabulary]

    @lazy
    def commands(self) -> list[Spoken]:
        """The commands that the turn runs, or mentions in code."""
        runs = self.turn.role == "tool_call" and not self.said
        return list(_called(self.turn) if runs else _mentioned(self))

    @lazy
    def running(self) -> Running:
        """An index of the distinct commands."""
        return Running(self.commands)

    @lazy
    def changes(self) -> list[Change]:
        """What a tool call changes in files, as far as the call shows it."""
        from deia.watch.turn.file_changes import changes  # noqa: PLC0415 - few turns write what a clause looks for

        return list(changes(self.turn, (spoken.command for spoken in self.commands)))

    def stance_at(self, start: int, verb_end: int, end: int = 0) -> tuple[str, str]:
        """Return the stance of an act in prose, which goes from its verb to the end of its phrase, and its sentence."""
        from deia.watch.prose.list_items import is_described  # noqa: PLC0415 - as below
        from deia.watch.prose.stance import judge_act  # noqa: PLC0415 - most turns that are judged are no prose

        end = end or verb_end
        bounds = sentence(self.prose.text, start, end)
        ordering = self.turn.role == "user"
        stance = judge_act(self.prose.masked, bounds, (start, verb_end), end, ordering=ordering)
        is_plan = ordering or bool(tasks_of(self.turn))  # the items of a list of tasks are to be done
        if not is_plan and stance in {ANNOUNCED, REQUESTED} and is_described(self.prose.text, start):
            stance = REPORTED
        return stance, self.prose.text[bounds[0] : bounds[1]]


def _called(turn: Turn) -> Iterator[Spoken]:
    if not is_shell(turn):
        return
    from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - the grammar, only for turns with a command

    language = "powershell" if "powershell" in turn.tool.lower() else "bash"
    for command in parse_commands(watched_command(turn), shell=language):
        yield Spoken(command=command, stance=DRY_RUN if is_dry(command) else ANNOUNCED)


def _mentioned(reading: Reading) -> Iterator[Spoken]:
    """Yield the commands that prose mentions: in code spans, on lines of their own, and inside sentences."""
    if not reading.is_prose:
        return
    text, masked = reading.prose.text, reading.prose.masked
    for code in reading.prose.codes:
        if not code.block or code.language in SHELL_FENCES:
            from deia.watch.prose.code_in_prose import stance_of_code  # noqa: PLC0415 - most judged turns have no code

            yield from _parsed(text[code.start : code.end].strip("`"), stance_of_code(reading.prose, code))
    at = 0
    for line in text.splitlines(keepends=True):
        bare = _command_line(line, masked[at : at + len(line)])
        at += len(line)
        if bare:
            yield from _parsed(bare, ANNOUNCED)
    tokens = reading.words.tokens
    for command, start, end in inline_commands(masked, tokens):
        yield from _parsed(command, reading.stance_at(start, end)[0])
    for command in opening_commands(masked, tokens) if reading.turn.role == "user" else ():
        yield from _parsed(command, REQUESTED)


def _command_line(line: str, masked: str) -> str:
    """Return the command line that a line of prose is, or "". `masked` is the line with its quotations masked."""
    outside = masked.strip()
    if not outside or not outside.isascii() or (outside[-1] in SENTENCE_ENDS and outside[-2:] not in {" .", "/."}):
        return ""
    if SENTENCE_WORDS.intersection(words(outside)[:LAST_WORDS]):
        return ""
    bare = outside if "`" in line else line.strip()  # quotation marks may enclose arguments, backticks only a mention
    for prompt in PROMPTS:
        bare = bare.removeprefix(prompt)
    return bare


def _parsed(code: str, stance: str) -> Iterator[Spoken]:
    from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - as above

    for command in parse_commands(code.removeprefix("$ ")):
        yield Spoken(command=command, stance=DRY_RUN if is_dry(command) else stance)
