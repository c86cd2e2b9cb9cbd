"""Match clauses against a turn that the gate let through: one function for each kind of clause.

Whether a match counts (stance, context, memory) is for the judge.
"""

from __future__ import annotations

from deia.globs import matches_glob, matches_path
from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.text import spans, words
from deia.watch.compiled_trigger import DELETION, INCOMING, MEANING, OUTPUT, PACKAGE, WIDE
from deia.watch.prose.phrases import Words, find_phrase
from deia.watch.prose.stance_names import ANNOUNCED, DENIALS, DRY_RUN
from deia.watch.shell.templates import matches_command
from deia.watch.turn.regex import find_all, is_in
from deia.watch.turn.tool_call import WRITE_TOOLS, command_of, is_shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deia.records import Turn
    from deia.watch.compiled_trigger import CompiledClause, Slot
    from deia.watch.shell.nodes import Command, Spoken
    from deia.watch.turn.parsed_turn import Reading

TABLES = Tables(__file__)
MOST_MATCHES = 20  # of one clause in one turn
ERROR_WORDS = TABLES.words("error words")
ERROR_ENDINGS = ("error", "exception")  # OSError, UnicodeEncodeError, NullPointerException
POINTING = frozenset(("this", "that", "these", "those", "it"))
GOING_ON = TABLES.words("going on")
OUTPUT_ROLES = frozenset(("tool_result", "user"))  # a person may paste what a program printed
READING_TOOLS = TABLES.words("reading tools")
FED_CODE = frozenset(("mongosh", "mongo", "cypher-shell", "influx"))  # they run their standard input
READING_PROGRAMS = frozenset(("cat", "grep", "rg", "head", "tail", "less", "sed", "awk", "bat", "find", "ls", "git"))


class Match(Record):
    """A place where a clause matched, and its stance."""

    kind: str
    source: str  # the clause as written
    excerpt: str
    stance: str
    around: str  # the sentence or command line, for `unless`
    command: Command | None = None
    stands_for: str = ""  # what a pronoun in it must stand for, by its name in the conversation's memory
    told: str = ""  # a remark on the file, for the explanation


def _phrase(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    if not reading.is_prose:
        return
    yield from _phrase_matches(clause, clause.slots, reading)
    if clause.pronoun_slots:
        yield from _phrase_matches(clause, clause.pronoun_slots, reading, stands_for=clause.stands_for)


def _phrase_matches(
    clause: CompiledClause, slots: Sequence[Slot], reading: Reading, *, stands_for: str = ""
) -> Iterator[Match]:
    tokens = reading.words.tokens
    for first, after in find_phrase(slots, reading.words):
        start, end = tokens[first][1], tokens[after - 1][2]
        if _in_name(reading.prose.text, start, end) or (stands_for and _points(reading, first, after)):
            continue
        # A denial inside the phrase ("sudo without a password") does not deny the act.
        act_end = end if {*DENIALS, "t"}.isdisjoint(words(clause.source)) else tokens[first][2]
        stance, around = reading.stance_at(start, tokens[first][2], act_end)
        yield Match(
            kind="phrase", source=clause.source, excerpt=reading.prose.text[start:end], stance=stance, around=around,
            stands_for=stands_for,
        )  # fmt: skip


def _points(reading: Reading, first: int, after: int) -> bool:
    """Return whether a possible pronoun points at a noun after it: `this file`, `that one`, `it's cache`."""
    tokens, text = reading.words.tokens, reading.prose.text
    for at in range(first, after):
        if tokens[at][0] in POINTING and at + 1 < len(tokens):
            following, between = tokens[at + 1][0], text[tokens[at][2] : tokens[at + 1][1]]
            if following not in GOING_ON and between.strip("'\u2019") in {"", " "}:
                return True
    return False


def _in_name(text: str, start: int, end: int) -> bool:
    """Return whether a phrase is part of a longer name or path: `backup_and_force_push`, `no-force-push.md`."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if before[-1:] in {"_", "/"} or after[:1] == "_" or ("_" in text[start:end] and " " not in text[start:end]):
        return True
    return (before[-1:] == "-" and before[:1].isalnum()) or (after[:1] in "-." and after[1:].isalnum())


def _words(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    """Yield matches of the master index's old form: all the words, anywhere in the prose."""
    if not reading.is_prose:
        return
    for option in clause.alternatives:
        places = [next((at for form in alike for at in reading.words.places.get(form, ())), -1) for alike in option]
        if places and min(places) >= 0:
            _, start, end = reading.words.tokens[min(places)]
            stance, around = reading.stance_at(start, end)
            excerpt = reading.prose.text[start : reading.words.tokens[max(places)][2]]
            yield Match(kind="words", source=clause.source, excerpt=excerpt, stance=stance, around=around)


def _command(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    for spoken in reading.running.about(clause.templates):
        if any(matches_command(template, spoken.command) for template in clause.templates):
            yield _command_match(clause, spoken, spoken.command.text)


def _command_match(clause: CompiledClause, spoken: Spoken, text: str) -> Match:
    return Match(
        kind=clause.kind, source=clause.source, excerpt=text, stance=spoken.stance, around=text, command=spoken.command
    )


def _pattern(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    pattern = clause.pattern
    for spoken in reading.commands:
        text = command_text(spoken.command)
        if spoken.command.program in FED_CODE:
            text = f"{text} {spoken.command.stdin}".rstrip()
        if is_in(pattern, text):
            yield _command_match(clause, spoken, text)
    for start, end in find_all(pattern, reading.prose.masked) if reading.is_prose else ():
        stance, around = reading.stance_at(start, end)
        excerpt = reading.prose.text[start:end]
        yield Match(kind="pattern", source=clause.source, excerpt=excerpt, stance=stance, around=around)


def command_text(command: Command) -> str:
    """Return the program and arguments of a command, without arguments that are only data."""
    return " ".join((command.program, *(word for at, word in enumerate(command.arguments) if at not in command.data)))


def _sql(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    from deia.watch.clauses.sql import COMMITTED, matches_statement, statements  # noqa: PLC0415 - as below
    from deia.watch.clauses.sql_sources import commits_by_itself, sql_texts  # noqa: PLC0415 - few turns have a statement's words

    for text, spoken in sql_texts(reading):
        for statement in statements(text):
            if any(matches_statement(template, statement) for template in clause.templates):
                undone = statement.undone and not (commits_by_itself(spoken) and statement.words[0] in COMMITTED)
                stance = DRY_RUN if undone or statement.own else (spoken.stance if spoken else ANNOUNCED)
                excerpt = statement.text
                yield Match(kind="sql", source=clause.source, excerpt=excerpt, stance=stance, around=excerpt)


def _error(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    turn = reading.turn
    if turn.role == "tool_result" and not turn.failed and _only_reads(reading):
        return
    tokens = reading.words.tokens if turn.role != "user" else spans(turn.text)
    places = reading.words if turn.role != "user" else Words(tokens)
    for first, after in find_phrase(clause.slots, places, strict=True):
        start, end = tokens[first][1], tokens[after - 1][2]
        around = turn.text[max(0, start - 300) : end + 300]
        if turn.failed or any(word in ERROR_WORDS or word.endswith(ERROR_ENDINGS) for word in words(around)):
            yield Match(
                kind="error", source=clause.source, excerpt=turn.text[start:end], stance=ANNOUNCED, around=around
            )


def _output(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    turn = reading.turn
    if turn.role not in OUTPUT_ROLES or (turn.role == "tool_result" and _only_reads(reading)):
        return
    pattern = clause.written(OUTPUT)
    for start, end in find_all(pattern, turn.text) if pattern is not None else ():
        around = turn.text[max(0, start - 300) : end + 300]
        excerpt = turn.text[start:end].strip("\n") + turn.text[end : end + 100].partition("\n")[0]
        yield Match(kind=OUTPUT, source=clause.source, excerpt=excerpt.strip(), stance=ANNOUNCED, around=around)


def _only_reads(reading: Reading) -> bool:
    """Return whether a tool result only shows a file or a search; an error message in it did not happen now."""
    if reading.only_shows is None:
        reading.only_shows = _shows(reading.turn)
    return reading.only_shows


def _shows(turn: Turn) -> bool:
    if turn.tool.lower() in READING_TOOLS or turn.tool.lower() in WRITE_TOOLS:  # both answer with the file's text
        return True
    if not (turn.tool and is_shell(turn) and turn.tool_input):
        return False
    from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - the grammar, only for turns with a command

    commands = parse_commands(command_of(turn))
    return bool(commands) and all(command.program in READING_PROGRAMS for command in commands)


def _write(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    if clause.written("adds") or clause.written("drops"):
        yield from _changed(clause, reading)
        return
    if clause.asked.get("deletes"):
        from deia.watch.clauses.removals import deleted_paths  # noqa: PLC0415 - few turns may delete what a clause names

        paths = deleted_paths(reading)
    else:
        paths = written_paths(reading)
    for path in dict.fromkeys(paths):
        if any(matches_path(glob, path) for glob in clause.globs):
            yield Match(kind="write", source=clause.source, excerpt=path, stance=ANNOUNCED, around=path)


def _changed(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    from deia.watch.turn.file_changes import changed  # noqa: PLC0415 - few turns write what a clause looks for

    if reading.turn.role != "tool_call":
        return
    for lines, around in changed(clause, reading.changes):
        yield Match(kind="write", source=clause.source, excerpt=lines, stance=ANNOUNCED, around=around)


def written_paths(reading: Reading) -> Iterator[str]:
    """Yield the paths that a tool call is about to write, edit or delete."""
    turn = reading.turn
    if turn.role != "tool_call":
        return
    from deia.watch.shell.file_writes import written_by  # noqa: PLC0415 - only for turns that call a tool
    from deia.watch.turn.edits import PATCH_HEADS, field_paths, patched_paths  # noqa: PLC0415 - as above

    if turn.tool.lower() in WRITE_TOOLS:
        yield from field_paths(turn)
        yield from patched_paths(turn, *PATCH_HEADS)
    for spoken in reading.commands:
        yield from written_by(spoken.command)


def _tool(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    turn, globs = reading.turn, clause.tool["input"]
    if turn.role != "tool_call" or not matches_glob(clause.tool["name"].lower(), turn.tool.lower()):
        return
    tool_input = turn.tool_input or {}
    values = {name: tool_input.get(name) for name in globs}
    if all(value is not None and matches_glob(globs[name], str(value)) for name, value in values.items()):
        shown = " ".join((turn.tool, *(f"{name}={value}" for name, value in values.items())))
        yield Match(kind="tool", source=clause.source, excerpt=shown, stance=ANNOUNCED, around=shown)


def _act(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    if not reading.is_prose:
        return
    from deia.watch.prose.acts import unmet  # noqa: PLC0415 - few turns have the words of an act

    acts = clause.acts
    for frame in reading.frames(clause.vocabulary):
        source = next((source for source, act in acts if not unmet(act, frame)), "")
        if source:
            stance, around = reading.stance_at(frame.start, frame.verb_end, frame.end)
            excerpt = reading.prose.text[frame.start : frame.end]
            yield Match(kind=clause.kind, source=source, excerpt=excerpt, stance=stance, around=around)


def _deletion(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    """Yield the commands that delete something remote, by whatever client; see `deia.watch.clauses.deletions`."""
    from deia.watch.clauses.deletions import deletion, is_wide  # noqa: PLC0415 - few turns delete anything

    for spoken in reading.running.commands:
        if deletion(spoken.command) and is_wide(spoken.command) == (clause.source == WIDE):
            yield _command_match(clause, spoken, spoken.command.text)


def _incoming(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    """Yield orders to the agent in what a tool shows, with the place; see `deia.watch.turn.material`."""
    from deia.watch.turn.material import orders, place_of  # noqa: PLC0415 - few results have words of an order

    place, text = place_of(reading.turn), reading.turn.text
    for start, end in orders(clause, reading.turn) if place else ():
        excerpt, around = text[start:end], text[max(0, start - 300) : end + 300]
        remark = f"it stands in {place}"
        yield Match(kind=INCOMING, source=clause.source, excerpt=excerpt, stance=ANNOUNCED, around=around, told=remark)


def _package(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    """Yield packages that a command installs and whose names are nearly those of popular ones."""
    from deia.watch.shell.package_names import mistyped  # noqa: PLC0415 - few turns install anything

    for spoken in reading.running.commands:
        for name, popular in mistyped(spoken.command):
            match = _command_match(clause, spoken, spoken.command.text)
            yield match.but(excerpt=name, told=f"the popular package is {popular}")


KINDS: dict[str, Callable[[CompiledClause, Reading], Iterator[Match]]] = {
    DELETION: _deletion,
    PACKAGE: _package,
    "phrase": _phrase,
    "words": _words,
    "command": _command,
    "pattern": _pattern,
    "error": _error,
    OUTPUT: _output,
    INCOMING: _incoming,
    "sql": _sql,
    "write": _write,
    "tool": _tool,
    "act": _act,
    MEANING: _act,
}


def confirm(clause: CompiledClause, reading: Reading) -> Iterator[Match]:
    """Yield the matches of a clause in a turn, at most `MOST_MATCHES`."""
    for number, match in enumerate(KINDS[clause.kind](clause, reading)):
        if number >= MOST_MATCHES:
            return
        yield match
