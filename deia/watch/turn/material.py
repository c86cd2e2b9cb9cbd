"""Orders to the agent in what a tool shows: a fetched page, an issue, a file, the answer of a connected server.

The patterns of a clause say what an order is; this module says where one counts. Text of the agent, the person or the
project itself is none: instruction files, prompts, tests, searches, records of conversations, a sub-agent's answer,
what the call itself sent. Nor is what only mentions an order: quotations, code, block quotes, tables, and in source
files everything but comments.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.tables import Tables
from deia.text import one_line, shorten
from deia.watch.compiled_trigger import INCOMING, THEN
from deia.watch.prose.regions import cut
from deia.watch.turn.regex import find
from deia.watch.turn.tool_call import (
    FILE_READERS,
    OVERLAP,
    PATH_FIELDS,
    WRITE_TOOLS,
    command_of,
    is_shell,
    segments,
    strings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.watch.compiled_trigger import CompiledClause

TABLES = Tables(__file__)
OWN_TOOLS = TABLES.words("own tools") | WRITE_TOOLS
OWN_PROGRAMS = TABLES.words("own programs")
SHOWING = TABLES.words("showing programs")
FOREIGN = TABLES.words("foreign folders")
OWN_FOLDERS = TABLES.words("own folders")
OWN_FILES = TABLES.words("own files")
OWN_ENDINGS = TABLES.listed("own endings")
CODE_ENDINGS = TABLES.listed("code endings")
COMMENT_MARKS = TABLES.listed("comment marks")
TABLE_ENDINGS = (".csv", ".tsv")  # of files whose cells may be texts
ADDRESS = "://"
REACH = 240  # characters after the first pattern in which the second one must match
LEAST_OWN = 24  # characters of an order that the call itself contains, if it is the agent's own text
MOST_PLACE = 100
VALUE = '":'  # stands often in JSON


def place_of(turn: Turn) -> str:
    """Return where a result comes from, in words; "" if it is text of the agent, the person or the project."""
    tool = turn.tool.lower()
    if turn.role != "tool_result" or tool in OWN_TOOLS:
        return ""
    names = _names(turn)
    if any(_is_own(name) for name in names):
        return ""
    shown = next((name for name in names if ADDRESS in name), names[0] if names and tool in FILE_READERS else "")
    return shorten(one_line(shown or _command(turn) or turn.tool or "a tool's result"), MOST_PLACE)


def _command(turn: Turn) -> str:
    return command_of(turn.but(text="")) if is_shell(turn) else ""


def _names(turn: Turn) -> list[str]:
    """Return the addresses and paths that a call names; of a shell call its programs and their arguments."""
    command = _command(turn)
    if command:
        from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - the grammar, only for an order

        commands = parse_commands(command)
        return [word for command in commands for word in (command.program, *command.arguments) if word[:1] != "-"]
    tool_input = turn.tool_input or {}
    return [value for name in ("url", *PATH_FIELDS) if isinstance(value := tool_input.get(name), str)]


def _is_own(name: str) -> bool:
    """Return whether a program or path shows text of the project itself that may instruct or quote."""
    if ADDRESS in name:
        return False
    *folders, file = name.lower().replace("\\", "/").split("/")
    if not FOREIGN.isdisjoint(folders):
        return False
    is_named = file in OWN_FILES or file in OWN_PROGRAMS or file.endswith(OWN_ENDINGS) or file.startswith("test_")
    return is_named or not OWN_FOLDERS.isdisjoint((*folders, file))


def orders(clause: CompiledClause, turn: Turn) -> Iterator[tuple[int, int]]:
    """Yield where a clause matches in a result and is neither quoted nor the call's own text."""
    text = unescaped(turn.text)
    if any(name.endswith(TABLE_ENDINGS) for name in map(str.lower, _names(turn))):
        text = text.replace('"', "\n")  # a cell in quotation marks is a text of its own
    is_code = _is_code(turn)
    sent = "\n".join(strings(turn.tool_input or {}))
    prose = ""
    for start, end in matches(clause, text):
        prose = prose or cut(text).masked
        begin = next((at for at in range(start, end) if text[at].isalnum()), start)
        is_written = text[begin : begin + LEAST_OWN] in sent
        if prose[begin] == text[begin] and not is_written and (not is_code or _is_comment(text, begin)):
            yield begin, end


def matches(clause: CompiledClause, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the first pattern matches and the second follows, both in one of the segments that the gate reads."""
    first, then = clause.written(INCOMING), clause.written(THEN)
    at = last = 0
    for segment in segments(text):
        for start, end in find(first, segment) if first is not None else ():
            following = next(find(then, segment[end : end + REACH]), None) if then is not None else (0, 0)
            if following is not None and at + start >= last:
                last = at + end + following[1]
                yield at + start, last
        at += len(segment) - OVERLAP


def unescaped(text: str) -> str:
    """Return a result at the same length, its escapes as what they stand for and, in JSON, values as lines."""
    if "\\" in text:
        text = text.replace("\\n", " \n").replace('\\"', " \x01")
    if text.count(VALUE) > 1 and 2 * text.count(VALUE) > text.count("\n"):
        text = text.replace('"', "\n")
    return text.replace("\x01", '"')


def _is_code(turn: Turn) -> bool:
    """Return whether a result is the text of a source file."""
    names = [name.lower() for name in _names(turn) if ADDRESS not in name]
    is_file = turn.tool.lower() in FILE_READERS or not SHOWING.isdisjoint(names)
    return is_file and any(name.endswith(CODE_ENDINGS) for name in names)


def _is_comment(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip(" \t0123456789→|:")
    return line.startswith("*") or any(mark in line for mark in COMMENT_MARKS)
