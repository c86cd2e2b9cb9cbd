"""Orders to the agent in what a tool shows: a fetched page, an issue, a file, the answer of a connected server.

A pattern says what an order is; this module says where one counts. Text of the agent, the person or the project itself
is none: instruction files, prompts, tests, searches, records of conversations, a sub-agent's answer, what the call wrote
down. Nor is what only mentions an order: quotations, code, block quotes, tables, and in source files all but comments.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.tables import Tables
from deia.text import one_line, shorten
from deia.watch.prose.regions import cut
from deia.watch.turn.regex import find_all
from deia.watch.turn.tool_call import FILE_READERS, PATH_FIELDS, WRITE_TOOLS, command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.watch.compiled_trigger import CompiledPattern

TABLES = Tables(__file__)
OWN_TOOLS = TABLES.words("own tools") | WRITE_TOOLS
OWN_PROGRAMS = TABLES.words("own programs")
FOREIGN = TABLES.words("foreign folders")
OWN_FOLDERS = TABLES.words("own folders")
OWN_FILES = TABLES.words("own files")
OWN_ENDINGS = TABLES.listed("own endings")
CODE_ENDINGS = TABLES.listed("code endings")
COMMENT_MARKS = TABLES.listed("comment marks")
ADDRESS = "://"
BEFORE, AFTER = 3000, 400  # characters around an order in which quotation marks and fences are looked for
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
    return shorten(one_line(shown or command_of(turn) or turn.tool or "a tool's result"), MOST_PLACE)


def _names(turn: Turn) -> list[str]:
    """Return the addresses and paths that a call names; of a shell call its programs and their arguments."""
    if is_shell(turn) and turn.tool_input:
        from deia.watch.shell.parse import parse_commands  # noqa: PLC0415 - the grammar, only for an order

        commands = parse_commands(command_of(turn))
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


def orders(pattern: CompiledPattern, turn: Turn) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches in a result and is neither quoted nor the call's own text."""
    text = unescaped(turn.text)
    is_code = any(name.lower().endswith(CODE_ENDINGS) for name in _names(turn) if ADDRESS not in name)
    sent = "\n".join(strings(turn.tool_input or {}))
    for start, end in find_all(pattern, text):
        begin = next((at for at in range(start, end) if text[at].isalnum()), start)
        is_written = text[begin : begin + LEAST_OWN] in sent
        if not (is_written or _is_quoted(text, begin) or (is_code and not _is_comment(text, begin))):
            yield begin, end


def unescaped(text: str) -> str:
    """Return a result at the same length, its escapes as what they stand for and, in JSON, values as lines."""
    if "\\" in text:
        text = text.replace("\\n", " \n").replace('\\"', " \x01")
    if text.count(VALUE) > 1 and 2 * text.count(VALUE) > text.count("\n"):
        text = text.replace('"', "\n")
    return text.replace("\x01", '"')


def _is_quoted(text: str, at: int) -> bool:
    first = text.rfind("\n", 0, max(at - BEFORE, 0)) + 1
    masked = cut(text[first : at + AFTER]).masked
    return not masked[at - first : at - first + 1].strip()


def _is_comment(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip(" \t0123456789→|:")
    return line.startswith("*") or any(mark in line for mark in COMMENT_MARKS)
