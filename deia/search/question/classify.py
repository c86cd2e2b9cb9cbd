"""What kind of text somebody typed: a question, keywords, an error, a command, a request for an overview, small talk.

The kind follows from the form of the text and from the platforms and audiences of the commons. Anything that is not
clearly something else is a question, a statement or keywords, which are all searched alike. A text is small talk only
if every word of it is, so that no announcement of an action is mistaken for it.
"""

from __future__ import annotations

from deia.match.tokeniser import STOP_WORDS, fold
from deia.records import TYPE_CHECKING, Record
from deia.search.question.command_text import Line, read_line
from deia.search.question.error_text import RAISED, REPORTED, read_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from deia.search.question.error_text import Failure

QUESTION, STATEMENT, KEYWORDS = "question", "statement", "keywords"
ERROR, COMMAND, PLATFORM, AUDIENCE, CONVERSATIONAL = "error", "command", "platform", "audience", "conversational"
KINDS = (QUESTION, STATEMENT, KEYWORDS, ERROR, COMMAND, PLATFORM, AUDIENCE, CONVERSATIONAL)
QUESTION_WORDS = frozenset(
    """
    how what why when where which who whom whose can could should shall would will is are am was were do does did has
    have had may might must whats hows wheres whos anyone anybody isnt arent doesnt didnt
    """.split()
)
PERSONAL = ("i", "my", "we", "our", "a", "after", "fix", "how")  # first words of a person's text, never of a program's
FEW_WORDS = 6  # longer texts are not keywords
SMALL_TALK_WORDS = 12
REQUEST_WORDS = 16
LONGEST_NAME = 4  # words in the name of a platform or an audience
FRAMES = 2  # this many places in code make a text a stack trace

# Small talk: at least one of GREETINGS, and nothing else but FILLERS. No verb that names an action is listed here.
GREETINGS = frozenset(
    """
    thanks thank thx ty tysm hi hello hey hiya howdy yo greetings morning afternoon evening night bye goodbye ciao cya
    cheers ok okay okey kk cool great nice perfect awesome excellent wonderful fantastic amazing brilliant lovely lol
    haha hahaha yes yeah yep yup no nope nah sure right alright fine good welcome please sorry wow lgtm gotcha np
    understood agreed noted correct exactly absolutely definitely danke merci gracias hola hallo bonjour salut obrigado
    grazie tschuss adios appreciated bravo congrats congratulations hmm hm oh ah aha super sweet neat 👍 🙏 👋 ❤ 😀 🎉
    """.split()
)
FILLERS = frozenset(
    """
    so very much a lot the for your you u that this it its is was all again there everyone everybody team folks guys
    friend mate man claude deia assistant helpful help and to me i im we really just too very day have has nice one well
    done job work worked works working now then got how are doing today goodbye later see soon of bit my bad on with
    any anyway by way answer answers quick speedy everything who what vielen dank mille moltes muchas tante beaucoup
    sounds looks that's thats it's what's whats up no worries problem never mind nevermind ever every
    """.split()
)
TALK = frozenset(
    (
        "who are you", "how are you", "whats up", "what is up", "who is this", "are you there", "never mind",
        "nevermind", "sounds good", "looks good", "that worked", "it works", "it worked", "got it", "well done",
        "good job", "no worries", "no problem", "see you", "see you later", "see you soon", "my bad", "i see",
        "have a nice day", "have a good one", "that helped", "that helps", "you too", "makes sense",
    )
)  # fmt: skip

# Requests for an overview consist of a name, one word of LISTING, and otherwise only of REQUESTING.
LISTING = frozenset(
    """
    all every everything anything list show overview docs doc documentation documents document pages lessons notes
    knowledge entries guides runbooks articles material materials resources gotchas playbooks catalog catalogue index
    browse know read learn
    """.split()
)
REQUESTING = LISTING | frozenset(
    """
    me us you we i our your us their the a an of for about on in regarding concerning related relevant to from with that
    is are there what whats which do does have has had give get find display see view want need would like please can
    could tell should must ought shall any some available stuff things thing content information info tips tip
    this commons here it and platform topic know be by now everyone
    """.split()
)
FOR_SOMEBODY = REQUESTING | frozenset(
    """
    engineer engineers people person team teams folks staff role roles new newly starting start begin first important
    understand familiar remember aware watch out best good most someone somebody who works working as join joins joining
    onboarding onboard beginning reading member members every each
    """.split()
)
ROLE_WORDS = frozenset("engineer engineers people person team teams folks staff role roles member members".split())
OBLIGATION = frozenset("should must ought know learn read understand onboarding onboard for".split())
# Names of the same profession: a request by one finds documents for another.
PROFESSIONS = (
    ("devops", "sre", "operator", "operations", "ops", "site reliability", "infrastructure", "infra", "platform",
     "sysadmin", "system administrator", "administrator", "admin", "cloud"),
    ("developer", "dev", "programmer", "coder", "software", "software developer", "backend", "backend developer",
     "frontend", "frontend developer", "fullstack", "full stack", "web developer"),
    ("security", "secops", "appsec", "infosec", "application security", "devsecops"),
    ("data", "data scientist", "analyst", "data analyst", "machine learning", "ml"),
    ("dba", "database administrator", "database admin", "database"),
    ("manager", "lead", "team lead", "tech lead", "engineering manager", "product manager", "product owner"),
    ("tester", "qa", "quality assurance", "test"),
    ("agent", "ai agent", "ai", "assistant", "llm", "coding agent", "bot"),
    ("newcomer", "beginner", "new hire", "junior", "junior developer", "everyone"),
    ("author", "writer", "technical writer", "contributor", "maintainer"),
    ("designer", "ux", "ui", "ux designer"),
)  # fmt: skip


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
