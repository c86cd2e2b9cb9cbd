"""Confirming what the gate let through: one function a kind of clause, over one turn read as far as somebody asks.

Pure: a clause and a turn in, matches out. Whether a match counts (stance, context, memory) is for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import spans, words
from deia.watch.clauses.exemplar_words import meaning_of, worded
from deia.watch.prose.phrases import Words, find_phrase
from deia.watch.prose.stance_names import ANNOUNCED, DENIALS, DRY_RUN
from deia.watch.shell.globs import matches_glob, matches_path
from deia.watch.shell.templates import matches_command
from deia.watch.turn.regex import find_all
from deia.watch.turn.tool_call import PATH_FIELDS, WRITE_TOOLS, command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from deia.records import Turn
    from deia.watch.shell.nodes import Command, Spoken
    from deia.watch.turn.parsed_turn import Reading

MOST_MATCHES = 20  # of one clause in one turn
ERROR_WORDS = frozenset(
    "error errors err fatal failed failure fail exception traceback denied refused cannot unable invalid rejected"
    " missing unknown panic aborted timeout crash crashed crashloopbackoff oomkilled killed conflict warning".split()
)
ERROR_ENDINGS = ("error", "exception")  # OSError, UnicodeEncodeError, NullPointerException
POINTING = frozenset(("this", "that", "these", "those", "it"))
GOING_ON = frozenset(  # what may stand after a pronoun, and hardly ever begins what it points at
    "and then now please again first before so but or for from with to on in at completely entirely all too as right if"
    " when once today immediately by via anyway instead just afterwards later after using".split()
)
READING_TOOLS = frozenset(
    ("read", "grep", "glob", "ls", "webfetch", "websearch", "read_file", "view", "search", "codebase_search")
)
FED_CODE = frozenset(("mongosh", "mongo", "cypher-shell", "influx"))  # what stands on their standard input is run
READING_PROGRAMS = frozenset(("cat", "grep", "rg", "head", "tail", "less", "sed", "awk", "bat", "find", "ls", "git"))


class Match(Record):
    """Where a clause matched, and the stance of what matched."""

    kind: str
    source: str  # the clause as written
    excerpt: str
    stance: str
    around: str  # the sentence or command line, for `unless`
    command: Any = None  # the parsed command, where there is one
    stands_for: str = ""  # what a pronoun in it must stand for, as the conversation's memory keeps it
    told: str = ""  # what else is to be said of it


# --- one function a kind of clause ---


def _phrase(value: Any, reading: Reading) -> Iterator[Match]:
    if not reading.is_prose:
        return
    yield from _spoken(value, value["v"], reading)
    if "it" in value:
        yield from _spoken(value, value["it"], reading, stands_for=value["said"])


def _spoken(value: Any, places: Any, reading: Reading, *, stands_for: str = "") -> Iterator[Match]:
    tokens = reading.words.tokens
    for first, after in find_phrase(places, reading.words):
        start, end = tokens[first][1], tokens[after - 1][2]
        if _in_name(reading.prose.text, start, end) or (stands_for and _points(reading, first, after)):
            continue
        # A denial that the phrase itself has ("sudo without a password") denies nothing.
        told = end if {*DENIALS, "t"}.isdisjoint(words(value["s"])) else tokens[first][2]
        stance, around = reading.stance_at(start, tokens[first][2], told)
        excerpt = reading.prose.text[start:end]
        yield Match(
            kind="phrase", source=value["s"], excerpt=excerpt, stance=stance, around=around, stands_for=stands_for
        )


def _points(reading: Reading, first: int, after: int) -> bool:
    """Say whether a word that may be a pronoun points at a noun after it: `this file`, `that one`, `it's cache`."""
    tokens, text = reading.words.tokens, reading.prose.text
    for at in range(first, after):
        if tokens[at][0] in POINTING and at + 1 < len(tokens):
            following, between = tokens[at + 1][0], text[tokens[at][2] : tokens[at + 1][1]]
            if following not in GOING_ON and between.strip("'\u2019") in {"", " "}:
                return True
    return False


def _in_name(text: str, start: int, end: int) -> bool:
    """Say whether a phrase is part of a longer name or path: `backup_and_force_push`, `no-force-push.md`."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if before[-1:] in {"_", "/"} or after[:1] == "_" or ("_" in text[start:end] and " " not in text[start:end]):
        return True
    return (before[-1:] == "-" and before[:1].isalnum()) or (after[:1] in "-." and after[1:].isalnum())


def _words(value: Any, reading: Reading) -> Iterator[Match]:
    """The old form of the master index: all the words, anywhere in the prose."""
    if not reading.is_prose:
        return
    for option in value["v"]:
        places = [next((at for form in alike for at in reading.words.places.get(form, ())), -1) for alike in option]
        if places and min(places) >= 0:
            _, start, end = reading.words.tokens[min(places)]
            stance, around = reading.stance_at(start, end)
            excerpt = reading.prose.text[start : reading.words.tokens[max(places)][2]]
            yield Match(kind="words", source=value["s"], excerpt=excerpt, stance=stance, around=around)


def _command(value: Any, reading: Reading) -> Iterator[Match]:
    for spoken in reading.running.about(value["v"]):
        if any(matches_command(wanted, spoken.command) for wanted in value["v"]):
            yield _of_command("command", value, spoken, spoken.command.text)


def _of_command(kind: str, value: Any, spoken: Spoken, shown: str) -> Match:
    return Match(
        kind=kind, source=value["s"], excerpt=shown, stance=spoken.stance, around=shown, command=spoken.command
    )


def _pattern(value: Any, reading: Reading) -> Iterator[Match]:
    for spoken in reading.commands:
        shown = command_text(spoken.command)
        if spoken.command.program in FED_CODE:
            shown = f"{shown} {spoken.command.stdin}".rstrip()
        if any(True for _ in find_all(value, shown)):
            yield _of_command("pattern", value, spoken, shown)
    for start, end in find_all(value, reading.prose.masked) if reading.is_prose else ():
        stance, around = reading.stance_at(start, end)
        excerpt = reading.prose.text[start:end]
        yield Match(kind="pattern", source=value["s"], excerpt=excerpt, stance=stance, around=around)


def command_text(command: Command) -> str:
    """Give a command without what is only data for it."""
    return " ".join((command.program, *(one for at, one in enumerate(command.arguments) if at not in command.data)))


def _sql(value: Any, reading: Reading) -> Iterator[Match]:
    from deia.watch.clauses.sql import COMMITTED, matches_statement, statements  # noqa: PLC0415 - as above
    from deia.watch.clauses.sql_sources import commits_by_itself, sql_texts  # noqa: PLC0415 - few turns hold a statement's words

    for text, spoken in sql_texts(reading):
        for statement in statements(text):
            if any(matches_statement(wanted, statement) for wanted in value["v"]):
                undone = statement.undone and not (commits_by_itself(spoken) and statement.words[0] in COMMITTED)
                stance = DRY_RUN if undone or statement.own else (spoken.stance if spoken else ANNOUNCED)
                shown = statement.text
                yield Match(kind="sql", source=value["s"], excerpt=shown, stance=stance, around=shown)


def _error(value: Any, reading: Reading) -> Iterator[Match]:
    turn = reading.turn
    if turn.role == "tool_result" and not turn.failed and _only_reads(turn):
        return
    tokens = reading.words.tokens if turn.role != "user" else spans(turn.text)
    places = reading.words if turn.role != "user" else Words(tokens)
    for first, after in find_phrase(value["v"], places, strict=True):
        start, end = tokens[first][1], tokens[after - 1][2]
        around = turn.text[max(0, start - 300) : end + 300]
        if turn.failed or any(word in ERROR_WORDS or word.endswith(ERROR_ENDINGS) for word in words(around)):
            yield Match(kind="error", source=value["s"], excerpt=turn.text[start:end], stance=ANNOUNCED, around=around)


def _only_reads(turn: Turn) -> bool:
    """Say whether a result is a file or a search shown: an error's text in it is not an error that happened."""
    if turn.tool.lower() in READING_TOOLS or turn.tool.lower() in WRITE_TOOLS:  # both answer with the file's text
        return True
    if not (turn.tool and is_shell(turn)):
        return False
    if not turn.tool_input:
        return False
    from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - the grammar, which what is only said does not need

    called = parse_commands(command_of(turn))
    return bool(called) and all(one.program in READING_PROGRAMS for one in called)


def _write(value: Any, reading: Reading) -> Iterator[Match]:
    if "adds" in value or "drops" in value:
        yield from _changed(value, reading)
        return
    for path in dict.fromkeys(written_paths(reading)):
        if any(matches_path(glob, path) for glob in value["v"]):
            yield Match(kind="write", source=value["s"], excerpt=path, stance=ANNOUNCED, around=path)


def _changed(value: Any, reading: Reading) -> Iterator[Match]:
    from deia.watch.turn.file_changes import changed  # noqa: PLC0415 - few turns write what a clause asks for

    if reading.turn.role != "tool_call":
        return
    for shown, around in changed(value, reading.changes):
        yield Match(kind="write", source=value["s"], excerpt=shown, stance=ANNOUNCED, around=around)


def written_paths(reading: Reading) -> Iterator[str]:
    """Give the paths that a tool call is about to write, edit or delete."""
    turn = reading.turn
    if turn.role != "tool_call":
        return
    from deia.watch.shell.file_writes import PATCH_HEADS, written_by  # noqa: PLC0415 - what is only said writes nothing

    if turn.tool.lower() in WRITE_TOOLS:
        given = turn.tool_input or {}
        fields = (given.get(name) for name in PATH_FIELDS)
        yield from (path for path in fields if isinstance(path, str))
        for text in strings(given):
            for line in text.splitlines() if "*** " in text else ():
                yield from (line.removeprefix(mark).strip() for mark in PATCH_HEADS if line.startswith(mark))
    for spoken in reading.commands:
        yield from written_by(spoken.command)


def _tool(value: Any, reading: Reading) -> Iterator[Match]:
    turn, wanted = reading.turn, value["v"]
    if turn.role != "tool_call" or not matches_glob(wanted["name"].lower(), turn.tool.lower()):
        return
    given: Any = turn.tool_input or {}
    fields = {name: given.get(name) for name in wanted["input"]}
    if all(field is not None and matches_glob(wanted["input"][name], str(field)) for name, field in fields.items()):
        shown = " ".join((turn.tool, *(f"{name}={field}" for name, field in fields.items())))
        yield Match(kind="tool", source=value["s"], excerpt=shown, stance=ANNOUNCED, around=shown)


def _meaning(value: Any, reading: Reading) -> Iterator[Match]:
    if not reading.is_prose or not worded(meaning_of(value), reading.words.places):
        return
    from deia.watch.clauses.similarity import places, stance_of  # noqa: PLC0415 - vectors, which few turns need

    text = reading.prose.text
    for place in places(value, reading):
        if not _in_name(text, *place.verb):
            stance, around = stance_of(place, reading)
            excerpt = text[place.first : place.last]
            yield Match(kind="meaning", source=place.exemplar, excerpt=excerpt, stance=stance, around=around)


KINDS: dict[str, Callable[[Any, Reading], Iterator[Match]]] = {
    "phrase": _phrase,
    "words": _words,
    "command": _command,
    "pattern": _pattern,
    "error": _error,
    "sql": _sql,
    "write": _write,
    "tool": _tool,
    "meaning": _meaning,
}


def confirm(clause: Any, reading: Reading) -> Iterator[Match]:
    """Give the matches of a compiled clause in a turn, a bounded number of them."""
    for number, match in enumerate(KINDS[clause["k"]](clause, reading)):
        if number >= MOST_MATCHES:
            return
        yield match
