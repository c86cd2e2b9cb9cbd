"""Find the SQL that a turn is about to send to a database.

It may be in the arguments and the standard input of database clients, in string literals of code on an interpreter's
command line, and in the query fields of other tools, unless a tool's name says that it only searches or reads. SQL in
an `echo`, a file or a search is data.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.clauses.sql import holds_sql
from deia.watch.prose.code_in_prose import stance_of_code
from deia.watch.shell.nodes import Command, Spoken, unescape
from deia.watch.shell.parse import parse_commands
from deia.watch.turn.tool_call import MOST_DEPTH, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deia.watch.turn.parsed_turn import Reading

TABLES = Tables(__file__)
CLIENTS = TABLES.words("clients")
INTERPRETERS = TABLES.words("interpreters")
COMMITTING = frozenset(("mysql", "mariadb", "mycli", "sqlplus"))  # changing a table commits the transaction
FIELDS = frozenset(("query", "queries", "statement", "statements", "q"))  # and every field whose name says sql
SCRIPTS = frozenset(("command", "script"))  # fields of a tool whose name says sql
# Options whose value is SQL: of clients, and of any program.
CLIENT_OPTIONS = frozenset(("-c", "-e", "-q", "--command", "--execute", "--query", "-query"))
SQL_OPTIONS = frozenset(("--sql", "--query-string", "--sql-statement", "--sql-statements", "--sqls"))
TITLES = frozenset(("--name", "--message", "--description", "--title", "--label", "--comment"))
READERS = TABLES.words("readers")
LOOKING = TABLES.listed("looking")
READING = TABLES.words("reading")
ONLY_CHECKING = TABLES.words("only checking")
DOING = frozenset("execute exec run apply write".split())
DATABASES = TABLES.listed("databases")
LANGUAGES = TABLES.words("languages")
MOST_LITERALS = 200


def sql_texts(reading: Reading) -> Iterator[tuple[str, Spoken | None]]:
    """Yield each SQL text that a turn runs or mentions as code, and the command that it belongs to, or None."""
    turn = reading.turn
    if turn.role == "tool_call" and not is_shell(turn):
        for text in _of_tool(turn.tool, turn.tool_input or {}):
            if holds_sql(text, named=True):
                yield text, None
    for spoken in reading.commands:
        for text, named in _of_command(spoken.command):
            if holds_sql(text, named=named):
                yield text, spoken
    if reading.is_prose:
        yield from _shown(reading)


def _shown(reading: Reading) -> Iterator[tuple[str, Spoken]]:
    """Yield the SQL in code spans and blocks of prose, with the stance of the words around it."""
    for code in reading.prose.codes:
        if not code.block or code.language in LANGUAGES:
            text = reading.prose.text[code.start : code.end].strip("`")
            if holds_sql(text, named=code.block):
                yield text, Spoken(command=Command("", text=text), stance=stance_of_code(reading.prose, code))


def commits_by_itself(spoken: Spoken | None) -> bool:
    """Return whether a command's database commits changes of tables, so that a rollback does not undo them."""
    return spoken is not None and spoken.command.program.lower() in COMMITTING


def _of_tool(tool: str, tool_input: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts of a tool's input that may be SQL by the names of the tool and its fields."""
    server, _, own = tool.replace("__", "\0").rpartition("\0")
    parts = _parts(own)
    if ONLY_CHECKING.intersection(parts) and not DOING.intersection(parts):
        return
    is_database = _has_any(parts, DATABASES)
    queries = is_database or not _only_reads(parts)
    if queries and not is_database and not DOING.intersection(parts):
        server_parts = _parts(server)
        queries = _has_any(server_parts, DATABASES) or not _only_reads(server_parts)
    if _has_any(parts, LOOKING):
        queries = is_database = False
    for field, text in _fields(tool_input):
        name = field.lower()
        if "sql" in name or (queries and name in FIELDS) or (is_database and name in SCRIPTS):
            yield text


def _only_reads(parts: list[str]) -> bool:
    """Return whether the parts of a tool's name say that it searches or reads, and none that it runs anything."""
    return _has_any(parts, LOOKING) or (not READING.isdisjoint(parts) and DOING.isdisjoint(parts))


def _has_any(parts: list[str], wanted: tuple[str, ...]) -> bool:
    return any(word in part for part in parts for word in wanted)


def _parts(name: str) -> list[str]:
    """Return the words of a name such as `searchCode` or `run_sql`, in lower case."""
    spaced = "".join(
        f" {char}" if char.isupper() and name[at - 1 : at].islower() else char if char.isalnum() else " "
        for at, char in enumerate(name)
    )
    return spaced.lower().split()


def _fields(tool_input: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each string in a tool's input with the name of its field."""
    if not hasattr(tool_input, "items"):
        return
    for name, value in tool_input.items():
        if hasattr(value, "items") and depth < MOST_DEPTH:
            yield from _fields(value, depth + 1)
        else:
            yield from ((str(name), text) for text in strings(value))


def _of_command(command: Command) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a command that may be SQL, and whether an option or the input says that they are."""
    program = command.program.lower()
    inputs = [command.stdin, *(_printed(target) for operator, target in command.redirects if operator == "<")]
    if program.rstrip("0123456789.") in INTERPRETERS:
        for code in (*command.arguments, *inputs):
            yield from ((literal, False) for literal in _literals(code))
    if program in CLIENTS:
        yield from _client_arguments(command)
        yield from ((_printed(text) or text, True) for text in inputs)
    elif program not in READERS:
        yield from _sql_arguments(command)


def _client_arguments(command: Command) -> Iterator[tuple[str, bool]]:
    before = ""
    statements = []  # by options, which are one text: `psql -c BEGIN -c "DROP TABLE a" -c ROLLBACK`
    for argument in command.arguments:
        name, value = _option(argument)
        option = name or before
        if option in CLIENT_OPTIONS | SQL_OPTIONS:
            statements.append(_printed(value) or value)
        elif option not in TITLES:
            yield _printed(value) or value, False
        before = argument.lower()
    if statements:
        yield ";\n".join(statements), True


def _sql_arguments(command: Command) -> Iterator[tuple[str, bool]]:
    """Yield the arguments of any other program after `--sql` or a subcommand such as `dbal:run-sql`."""
    before = ""
    is_sql = False
    for at, argument in enumerate(command.arguments):
        name, value = _option(argument)
        if is_sql or (name or before) in SQL_OPTIONS:
            yield _printed(value) or value, not is_sql
        is_sql = is_sql or (at < 2 and argument[:1] != "-" and "sql" in argument.replace(":", "-").split("-"))
        before = argument.lower()


def _option(argument: str) -> tuple[str, str]:
    """Return the name and the value of `--command=…`; for any other argument "" and the argument."""
    name, equals, value = argument.partition("=")
    return (name.lower(), value) if equals and argument.startswith("--") else ("", argument)


def _printed(text: str) -> str:
    """Return what a substitution such as `$(cat <<E …)` or `<(echo …)` prints, as far as the text shows it."""
    text = text.strip()
    if text[:2] not in {"$(", "<("} or text[-1] != ")":
        return ""
    printed = []
    for command in parse_commands(text[2:-1]):
        if command.program == "cat":
            printed.append(command.stdin)
        elif command.program in {"echo", "printf"}:
            printed.append(" ".join(argument for argument in command.arguments if argument[:1] != "-"))
    return "\n".join(printed)


def _literals(code: str) -> Iterator[str]:
    """Yield the string literals of some code, roughly: the text between a quote and the next of its kind."""
    at = 0
    for _ in range(MOST_LITERALS):
        places = [place for quote in "'\"`" if (place := code.find(quote, at)) >= 0]
        if not places:
            return
        start = min(places)
        quote = code[start] * 3 if code.startswith(code[start] * 3, start) else code[start]
        end = code.find(quote, start + len(quote))
        while end > 0 and code[end - 1] == "\\" and code[end - 2] != "\\":
            end = code.find(quote, end + 1)
        if end < 0:
            return
        yield unescape(code[start + len(quote) : end])
        at = end + len(quote)
