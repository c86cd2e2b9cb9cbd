"""One turn, parsed as far as needed: its regions, its words, and the commands that it runs or mentions."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import spans, words
from deia.watch.prose.phrases import Words
from deia.watch.prose.regions import SHELL_FENCES, Prose, cut, sentence, unwrapped
from deia.watch.prose.stance_names import ANNOUNCED, DRY_RUN, REPORTED, REQUESTED
from deia.watch.shell.nodes import Spoken
from deia.watch.shell.templates import is_dry
from deia.watch.turn.command_index import Running
from deia.watch.turn.inline_commands import inline_commands, opening_commands
from deia.watch.turn.spoken_tool_input import speech_of, tasks_of
from deia.watch.turn.tool_call import MOST_CALL, is_shell, watched_command

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from deia.watch.compiled_trigger import ActWords
    from deia.watch.prose.acts import Frame
    from deia.watch.turn.edits import Change

# Words of prose that command lines do not have: a line with one of them is a sentence about a command.
SENTENCE_WORDS = frozenset(
    "the is are was will would should can could removes deletes does what how why if when because and you we it this"
    " that a an then please don".split()
)
LAST_WORDS = 12
MOST_READ = 30_000  # characters; of a longer turn about as many are parsed, around the places that opened the gate
SENTENCE_ENDS = ".?:,"
PROMPTS = ("$ ", "! ")  # of a shell, and of hosts in which a person can type a command


class Reading:
    """One turn, parsed lazily: its regions, words, commands and changes are worked out when a clause needs them."""

    __slots__ = (
        "_act_words", "_changes", "_commands", "_frames", "_known", "_prose", "_running", "_said", "_whole", "_words",
        "only_shows", "turn",
    )  # fmt: skip

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
        self._said: str | None = None
        self._prose: Prose | None = None
        self._words: Words | None = None
        self._commands: list[Spoken] | None = None
        self._running: Running | None = None
        self._changes: list[Change] | None = None
        self.only_shows: bool | None = None  # a file or a search, as `clauses.confirm` finds when it first asks

    @property
    def is_prose(self) -> bool:
        """Whether the turn is speech: of a person, of the assistant, or in a tool call with words for one of them."""
        return bool(self.said)

    @property
    def said(self) -> str:
        """The speech: the text of a person or the assistant, the speech in a tool call, or ""."""
        if self._said is None:
            self._said = self._speech()
        return self._said

    def _speech(self) -> str:
        turn = self.turn
        if turn.role == "tool_call":
            return speech_of(turn, known=self._known)[:MOST_CALL]
        if turn.role == "user":
            from deia.watch.prose.pasted import typed  # noqa: PLC0415 - most turns are not a person's

            return typed(unwrapped(self._whole.text))
        return turn.text if turn.role == "assistant" else ""

    @property
    def prose(self) -> Prose:
        """The regions of the turn's text."""
        if self._prose is None:
            self._prose = cut(self.said)
        return self._prose

    @property
    def words(self) -> Words:
        """The words of the prose, or of the whole text if the turn is no prose."""
        if self._words is None:
            self._words = Words(self.prose.tokens if self.is_prose else spans(self.turn.text))
        return self._words

    def frames(self, vocabulary: int) -> list[Frame]:
        """Return the acts in the prose, read with the words of a vocabulary; none if the reading has no words."""
        if vocabulary not in self._frames:
            self._frames[vocabulary] = []
            if self._act_words is not None:
                from deia.watch.prose.acts import frames  # noqa: PLC0415 - few turns have the words of an act

                known = self._act_words(vocabulary)
                self._frames[vocabulary] = frames(self.prose.masked, self.words.tokens, known)
        return self._frames[vocabulary]

    @property
    def commands(self) -> list[Spoken]:
        """The commands that the turn runs, or mentions in code."""
        if self._commands is None:
            runs = self.turn.role == "tool_call" and not self.said
            self._commands = list(_called(self.turn) if runs else _mentioned(self))
        return self._commands

    @property
    def running(self) -> Running:
        """An index of the distinct commands."""
        if self._running is None:
            self._running = Running(self.commands)
        return self._running

    @property
    def changes(self) -> list[Change]:
        """What a tool call changes in files, as far as the call shows it."""
        if self._changes is None:
            from deia.watch.turn.file_changes import changes  # noqa: PLC0415 - few turns write what a clause looks for

            self._changes = list(changes(self.turn, (spoken.command for spoken in self.commands)))
        return self._changes

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
