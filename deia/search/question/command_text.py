"""Command lines typed instead of a question: the program, its sub-commands, and the arguments worth searching for.

Common programs are known by name. Lines are not parsed as a shell would: what matters is what the line is about, and
values that occur in this one line only (hashes, addresses, long numbers) are left out.
"""

from __future__ import annotations

from deia.match.tokeniser import STOP_WORDS
from deia.records import Record
from deia.search.question.error_text import cleaned, varies
from deia.tables import Tables

LONGEST = 2_000  # characters of a command line
MOST_WORDS = 60
MARKS = ("|", "&&", "||", ";", ">", "<", ">>", "2>&1", "\\", "&")
TABLES = Tables(__file__)
BEFORE = TABLES.words("before")
PROGRAMS = TABLES.words("programs")
SUB_COMMANDS = TABLES.words("sub commands")
PROSE = STOP_WORDS | TABLES.words("prose")
MOST_ARGUMENTS = 2  # bare words after a sub-command, in a line without options, paths or shell operators


class Line(Record):
    """A command line in the form in which it is searched for."""

    text: str
    strong: tuple[str, ...]  # the program and its sub-commands, folded


def read_line(text: str) -> Line | None:
    """Parse a command line; return None if the text is not one."""
    bare = text.strip()
    if not bare or len(bare) > LONGEST or "\n" in bare.replace("\\\n", " "):
        return None
    prompted = bare.startswith(("$ ", "# ", "% ", "> "))
    words = bare.replace("\\\n", " ")[2 * prompted :].split()
    at = _program(words)
    if at is None or bare.endswith("?"):
        return None
    program, rest = words[at], words[at + 1 :]
    if not (prompted or at > 0 or _runs(rest)) or not _is_named(program, rest):
        return None
    strong = [_file_name(program), *_sub_commands(rest)]
    kept = [_file_name(program), *(word for word in cleaned(" ".join(rest)).split()[:MOST_WORDS] if not varies(word))]
    return Line(text=" ".join(kept), strong=tuple(dict.fromkeys(word.casefold() for word in strong)))


def _program(words: list[str]) -> int | None:
    """Return the position of the program, after `sudo` and environment settings."""
    for at, word in enumerate(words):
        known = _file_name(word).casefold() in PROGRAMS or word.startswith("./")
        if known and not (word in BEFORE and words[at + 1 :]):
            return at
        if word not in BEFORE and not ("=" in word and word.split("=")[0].isidentifier()):
            return None
    return None


def _file_name(program: str) -> str:
    return program.rpartition("/")[2]


def _runs(rest: list[str]) -> bool:
    """Return whether the words after a program's name look as if typed into a shell."""
    if any(word.casefold() in PROSE and not word.startswith("-") for word in rest[:1]):
        return False
    signs = sum(_is_sign(word) for word in rest)
    prose_words = sum(word.casefold().strip(".,!") in PROSE for word in rest)
    if signs:
        return prose_words <= 1 + signs
    begins = bool(rest) and rest[0].casefold() in SUB_COMMANDS
    return begins and not prose_words and len(rest) <= 1 + MOST_ARGUMENTS


def _is_sign(word: str) -> bool:
    option = word.startswith("-") and len(word) > 1 and not word[1:2].isspace() and word.strip("-") != ""
    placed = word.startswith(("/", "./", "../", "~/", "$", "s3://", "http://", "https://", "*.")) or word in (".", "..")
    return option or placed or word in MARKS or word.endswith(";") or ("=" in word and len(word) > 2)


def _is_named(program: str, rest: list[str]) -> bool:
    """Return whether a name means the program and not the English word: make, go, find, next, sort, watch."""
    english = program in ENGLISH
    return not english or any(_is_sign(word) for word in rest) or (bool(rest) and rest[0] in SUB_COMMANDS)


ENGLISH = TABLES.words("english")


def _sub_commands(rest: list[str]) -> list[str]:
    sub_commands = []
    for word in rest:
        if word.startswith("-"):
            break
        if word.casefold() not in SUB_COMMANDS:
            break
        sub_commands.append(word)
    return sub_commands
