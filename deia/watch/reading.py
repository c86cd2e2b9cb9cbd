"""One turn, read as far as somebody asks: its regions, its words, and the commands it runs or mentions."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import spans, words
from deia.watch.commands import is_dry
from deia.watch.gate import command_of, is_shell
from deia.watch.phrases import Words
from deia.watch.regions import SHELL_FENCES, cut, sentence
from deia.watch.shell import parse_commands
from deia.watch.stance import ANNOUNCED, DRY_RUN, QUOTED, judge_act

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.records import Turn
    from deia.watch.command import Command
    from deia.watch.regions import Prose

# Words that prose holds and command lines do not: a line with one of them is a sentence about a command.
SENTENCE_WORDS = frozenset("the is are was will would should can could removes deletes does what how why if when because and"
                           " you we it this that a an then please don".split())  # fmt: skip
LAST_WORDS = 12
# Verbs that say that the code after them is meant to run.
RUNNING = frozenset(
    "run running execute executing do doing try use issue invoke call start rerun go proceed ll will".split()
)


class Spoken(Record):
    """A command that a turn runs or mentions, with the stance of the mention."""

    command: Command
    stance: str


class Reading:
    """One turn, read lazily: its regions, words, commands and paths are worked out when a clause first asks."""

    __slots__ = ("_commands", "_prose", "_words", "turn")

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._prose: Prose | None = None
        self._words: Words | None = None
        self._commands: list[Spoken] | None = None

    @property
    def is_prose(self) -> bool:
        """Whether somebody speaks here."""
        return self.turn.role in {"user", "assistant"}

    @property
    def prose(self) -> Prose:
        """The regions of the turn's text."""
        if self._prose is None:
            self._prose = cut(self.turn.text)
        return self._prose

    @property
    def words(self) -> Words:
        """The words of the prose; of everything, where the turn is no prose."""
        if self._words is None:
            self._words = Words(self.prose.tokens if self.is_prose else spans(self.turn.text))
        return self._words

    @property
    def commands(self) -> list[Spoken]:
        """The commands that the turn runs, or mentions in code."""
        if self._commands is None:
            self._commands = list(_called(self.turn) if self.turn.role == "tool_call" else _mentioned(self))
        return self._commands

    def stance_at(self, start: int, verb_end: int, end: int = 0) -> tuple[str, str]:
        """Give the stance of an act in prose, from its verb to the end of its phrase, and its sentence."""
        end = end or verb_end
        bounds = sentence(self.prose.text, start, end)
        return judge_act(self.prose.masked, bounds, (start, verb_end), end), self.prose.text[bounds[0] : bounds[1]]


def _called(turn: Turn) -> Iterator[Spoken]:
    if not is_shell(turn):
        return
    language = "powershell" if "powershell" in turn.tool.lower() else "bash"
    for command in parse_commands(command_of(turn), shell=language):
        yield Spoken(command=command, stance=DRY_RUN if is_dry(command) else ANNOUNCED)


def _mentioned(reading: Reading) -> Iterator[Spoken]:
    """Give the commands in code spans, with the stance of the words that lead up to them, and bare command lines."""
    if not reading.is_prose:
        return
    text = reading.turn.text
    for code in reading.prose.codes:
        if code.block and code.language not in SHELL_FENCES:
            continue
        stance = _lead_stance(reading, code.start, block=code.block)
        yield from _parsed(text[code.start : code.end].strip("`"), stance)
    for line in reading.prose.masked.splitlines():
        bare = line.strip().removeprefix("$ ").removeprefix("! ")
        if (
            bare
            and bare.isascii()
            and not SENTENCE_WORDS.intersection(words(bare)[:LAST_WORDS])
            and bare[-1] not in ".?:,"
        ):
            yield from _parsed(bare, ANNOUNCED)
    for line in text.splitlines():  # a bare command line may hold quotation marks, which the mask takes out
        if line.strip()[:1].isalpha() and ('"' in line or "'" in line) and _is_command_line(line):
            yield from _parsed(line.strip(), ANNOUNCED)


def _is_command_line(line: str) -> bool:
    outside = "".join(part for at, part in enumerate(line.replace('"', "'").split("'")) if at % 2 == 0)
    return not SENTENCE_WORDS.intersection(words(outside)) and line.rstrip()[-1] not in ".?:,"


def _parsed(code: str, stance: str) -> Iterator[Spoken]:
    for command in parse_commands(code.removeprefix("$ ")):
        yield Spoken(command=command, stance=DRY_RUN if is_dry(command) else stance)


def _lead_stance(reading: Reading, at: int, *, block: bool) -> str:
    """Give the stance of what leads up to code: it must announce or ask for the running, or the code is only shown."""
    text = reading.prose.text
    lead = text[:at].rstrip("`\n ")
    if block:
        at = len(lead)
    first, last = sentence(text, max(at - 1, 0), at)
    before = words(text[first:at])
    if not before or not RUNNING.intersection(before):
        return QUOTED
    verb = max(number for number, word in enumerate(before) if word in RUNNING)
    start = reading.prose.text.lower().rfind(before[verb], first, at)
    end = start + len(before[verb])
    return judge_act(text, (first, max(last, at)), (start, end), end)


RUNNING = frozenset(
    "run running execute executing do doing try use type issue invoke call start rerun go proceed ll will".split()
)
