"""What kind of text somebody typed: a question, keywords, an error, a command, a request for an overview, small talk.

The kind follows from the form of the text and from the platforms and audiences of the commons. Anything that is not
clearly something else is a question, a statement or keywords, which are all searched alike. A text is small talk only
if every word of it is, so that no announcement of an action is mistaken for it.
"""

from __future__ import annotations

from deia.match.tokeniser import STOP_WORDS, fold
from deia.records import TYPE_CHECKING, Record
from deia.search.question.command_text import Line, read_line
from deia.search.question.error_text import RAISED, REPORTED, Failure, read_failure
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

QUESTION, STATEMENT, KEYWORDS = "question", "statement", "keywords"
ERROR, COMMAND, PLATFORM, AUDIENCE, CONVERSATIONAL = "error", "command", "platform", "audience", "conversational"
KINDS = (QUESTION, STATEMENT, KEYWORDS, ERROR, COMMAND, PLATFORM, AUDIENCE, CONVERSATIONAL)
TABLES = Tables(__file__)
QUESTION_WORDS = TABLES.words("question words")
PERSONAL = ("i", "my", "we", "our", "a", "after", "fix", "how")  # first words of a person's text, never of a program's
FEW_WORDS = 6  # longer texts are not keywords
SMALL_TALK_WORDS = 12
REQUEST_WORDS = 16
LONGEST_NAME = 4  # words in the name of a platform or an audience
FRAMES = 2  # this many places in code make a text a stack trace

GREETINGS = TABLES.words("greetings")
FILLERS = TABLES.words("fillers")
TALK = frozenset(TABLES.phrases("talk"))

LISTING = TABLES.words("listing")
REQUESTING = LISTING | TABLES.words("requesting")
FOR_SOMEBODY = REQUESTING | TABLES.words("for somebody")
ROLE_WORDS = TABLES.words("role words")
OBLIGATION = TABLES.words("obligation")
PROFESSIONS = [line.split(", ") for line in TABLES.lines("professions")]


class Kind(Record):
    """The kind of a text, and the text to search for instead of it."""

    name: str
    text: str  # what is searched for
    value: str = ""  # the platform or audience, as the commons spells it
    strong: tuple[str, ...] = ()  # words with more weight: a command's program and sub-commands


class Known(Record):
    """The platforms and audiences of a commons, in the spelling in which filters are compared."""

    is_platform: Callable[[str], bool]
    audiences: Callable[[], Sequence[str]]


def kind_of(text: str, known: Known) -> Kind:
    """Return the kind of a text."""
    words = _words(text)
    for recognise in (_small_talk, _overview, _command, _failure):
        kind = recognise(text, words, known)
        if kind:
            return kind
    return Kind(name=_phrasing(text, words), text=text)


# --- a person's words ------------------------------------------------------------------------------------------------


def _phrasing(text: str, words: Sequence[str]) -> str:
    if text.rstrip().endswith("?") or (words and words[0] in QUESTION_WORDS):
        return QUESTION
    grammar = sum(word in STOP_WORDS for word in words)
    return KEYWORDS if len(words) <= FEW_WORDS and grammar <= 1 else STATEMENT


def _words(text: str) -> list[str]:
    """Return the folded words at the beginning of a text, without punctuation at their ends."""
    stripped = (word.strip(".,;:!?()[]{}\"'`…*_-~") for word in fold(text[:1_000].replace("\u2019", "'")).split())
    return [word.replace("'", "") for word in stripped if word]


def _small_talk(text: str, words: Sequence[str], _: Known) -> Kind | None:
    if not 0 < len(words) <= SMALL_TALK_WORDS:
        return None
    rest = [word for word in words if word not in GREETINGS]
    talk = " ".join(words) in TALK or (len(rest) < len(words) and all(word in FILLERS for word in rest))
    return Kind(name=CONVERSATIONAL, text=text) if talk else None


# --- overviews -------------------------------------------------------------------------------------------------------


def _overview(text: str, words: Sequence[str], known: Known) -> Kind | None:
    if not 1 < len(words) <= REQUEST_WORDS:
        return None
    return _platform(text, words, known) or _audience(text, words, known)


def _platform(text: str, words: Sequence[str], known: Known) -> Kind | None:
    for start, end in _spans(len(words)):
        name, rest = " ".join(words[start:end]), [*words[:start], *words[end:]]
        if LISTING.intersection(rest) and REQUESTING.issuperset(rest) and known.is_platform(name):
            return Kind(name=PLATFORM, text=text, value=name)
    return None


def _audience(text: str, words: Sequence[str], known: Known) -> Kind | None:
    for start, end in _spans(len(words)):
        rest = [*words[:start], *words[end:]]
        asks = OBLIGATION.intersection(rest) and LISTING.union(OBLIGATION - {"for"}).intersection(rest)
        if asks and FOR_SOMEBODY.issuperset(rest) and (value := audience(words[start:end], known.audiences())):
            return Kind(name=AUDIENCE, text=text, value=value)
    return None


def _spans(count: int) -> list[tuple[int, int]]:
    """Return every position that a name can have among so many words, longest names first."""
    return [(at, at + size) for size in range(LONGEST_NAME, 0, -1) for at in range(count - size + 1)]


def audience(words: Sequence[str], audiences: Collection[str]) -> str:
    """Return the audience of a commons that a role's name means, or ""."""
    spelled = {_role(fold(value).replace("-", " ").replace("_", " ").split()): value for value in sorted(audiences)}
    role = _role(words)
    if role in spelled:
        return spelled[role]
    names = next((names for names in PROFESSIONS if role in names), ())
    return next((spelled[name] for name in names if name in spelled), "")


def _role(words: Sequence[str]) -> str:
    """Return a role in one spelling: "DevOps Engineers" becomes "devops", "developers" becomes "developer"."""
    parts = [part for word in words for part in word.replace("-", " ").replace("_", " ").split()]
    kept = [part for part in parts if part not in ROLE_WORDS] or parts
    last = kept[-1] if kept else ""
    singular = last[:-1] if last.endswith("s") and not last.endswith(("ss", "ops")) and len(last) > 3 else last
    return " ".join([*kept[:-1], singular]) if last not in ("operations", "sales") else " ".join(kept)


# --- commands and errors ---------------------------------------------------------------------------------------------


def _command(text: str, _: Sequence[str], __: Known) -> Kind | None:
    line: Line | None = read_line(text)
    return Kind(name=COMMAND, text=line.text, strong=line.strong) if line else None


def _failure(text: str, words: Sequence[str], _: Known) -> Kind | None:
    bare = text.strip()
    failure = read_failure(bare)
    if not failure.text or not _is_failure(bare, words, failure):
        return None
    return Kind(name=ERROR, text=failure.text)


def _is_failure(bare: str, words: Sequence[str], failure: Failure) -> bool:
    """Return whether a program, and not a person, wrote a text: several lines, or one that is no question."""
    if "\n" in bare:
        return failure.score >= REPORTED or failure.frames >= FRAMES
    if bare.endswith("?") and failure.score < RAISED:
        return False
    if words and (words[0] in QUESTION_WORDS or words[0] in PERSONAL):
        return False
    return failure.score >= REPORTED or ": " in bare  # with a hint alone, a program's output also has "name: reason"
