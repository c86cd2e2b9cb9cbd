"""Where SQL runs: the statements that a tool call is about to send to a database.

Found in the arguments and the standard input of database clients, in string literals of code that an interpreter is
given on its command line, and in the query fields of other tools, unless a tool's name says that it only searches or
reads. SQL in an `echo`, a file or a search is data.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.clauses.sql import holds_sql
from deia.watch.prose.code_in_prose import stance_of_code
from deia.watch.shell.nodes import Command, Spoken, unescape
from deia.watch.shell.parse import parse_commands
from deia.watch.turn.tool_call import MOST_DEPTH, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from deia.watch.turn.parsed_turn import Reading

CLIENTS = frozenset(
    "psql pgcli mysql mariadb mycli sqlite3 sqlite sqlcmd duckdb clickhouse clickhouse-client cockroach cqlsh snowsql"
    " bq usql trino presto beeline hive wrangler turso supabase neonctl planetscale pscale dolt mssql-cli litecli isql"
    " sqlplus prisma heroku flyctl fly railway rails dbt athena spark-sql invoke-sqlcmd invoke-dbaquery".split()
)
INTERPRETERS = frozenset(
    "python py pypy ipython node deno bun ruby rails irb perl php tsx elixir iex mix rscript julia lua".split()
)
COMMITTING = frozenset(("mysql", "mariadb", "mycli", "sqlplus"))  # in which a statement on tables commits by itself
FIELDS = frozenset(("query", "queries", "statement", "statements", "q"))  # and every field whose name says sql
SCRIPTS = frozenset(("command", "script"))  # fields of a tool whose name says sql
# Options whose value is SQL: of clients, and of any program.
GIVEN = frozenset(("-c", "-e", "-q", "--command", "--execute", "--query", "-query"))
SQL_OPTIONS = frozenset(("--sql", "--query-string", "--sql-statement", "--sql-statements", "--sqls"))
TITLES = frozenset(("--name", "--message", "--description", "--title", "--label", "--comment"))
READERS = frozenset("grep egrep rg ag ack git cat ls find echo printf cd gh sed awk".split())
# Parts of a tool's name. Of the first ones a name holds them somewhere, `websearch`, `sqlQuery`; of the rest whole.
LOOKING = ("search", "fetch", "browse", "grep", "docs", "documentation", "context", "knowledge", "crawl", "scrape")
READING = frozenset(
    "web find list read get lookup ask doc help wiki memory recall notes rag resolve navigate visit open view show"
    " describe deia".split()
)
ONLY_CHECKING = frozenset("explain validate format lint parse generate analyze beautify".split())
DOING = frozenset("execute exec run apply write".split())
DATABASES = (
    "sql", "postgres", "mariadb", "duckdb", "motherduck", "snowflake", "bigquery", "redshift", "clickhouse", "supabase",
    "neon", "planetscale", "turso", "mindsdb", "cockroach", "databricks", "spanner", "athena", "oracle", "trino",
    "database",
)  # fmt: skip
LANGUAGES = frozenset(("sql", "postgresql", "postgres", "psql", "mysql", "plsql", "tsql", "sqlite"))  # of a block
MOST_LITERALS = 200


def sql_texts(reading: Reading) -> Iterator[tuple[str, Spoken | None]]:
    """Give each text of SQL that a turn runs or mentions as code, and the command it belongs to, if one."""
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
    """Give the code in prose that is SQL by itself, with what the words around it make of it."""
    for code in reading.prose.codes:
        if not code.block or code.language in LANGUAGES:
            text = reading.prose.text[code.start : code.end].strip("`")
            if holds_sql(text, named=code.block):
                yield text, Spoken(command=Command("", text=text), stance=stance_of_code(reading.prose, code))


def commits_by_itself(spoken: Spoken | None) -> bool:
    """Say whether a command's database keeps what was done to tables, whatever is rolled back."""
    return spoken is not None and spoken.command.program.lower() in COMMITTING


# --- other tools ---


def _of_tool(tool: str, given: Any) -> Iterator[str]:
    """Give the texts of a tool's input that are SQL, if they look it, as the names of tool and fields tell."""
    server, _, own = tool.replace("__", "\0").rpartition("\0")
    parts = _parts(own)
    if ONLY_CHECKING.intersection(parts) and not DOING.intersection(parts):
        return
    says_sql = _holds(parts, DATABASES)
    queries = says_sql or not _looks(parts)
    if queries and not says_sql and not DOING.intersection(parts):
        about = _parts(server)
        queries = _holds(about, DATABASES) or not _looks(about)
    if _holds(parts, LOOKING):
        queries = says_sql = False
    for field, text in _fields(given):
        name = field.lower()
        if "sql" in name or (queries and name in FIELDS) or (says_sql and name in SCRIPTS):
            yield text


def _looks(parts: list[str]) -> bool:
    """Say whether the parts of a name say that it searches or reads, and nothing that it does."""
    return _holds(parts, LOOKING) or (not READING.isdisjoint(parts) and DOING.isdisjoint(parts))


def _holds(parts: list[str], wanted: tuple[str, ...]) -> bool:
    return any(word in part for part in parts for word in wanted)


def _parts(name: str) -> list[str]:
    """Cut a name at what is neither letter nor digit, and at its humps: `searchCode`, `run_sql`."""
    spaced = "".join(
        f" {char}" if char.isupper() and name[at - 1 : at].islower() else char if char.isalnum() else " "
        for at, char in enumerate(name)
    )
    return spaced.lower().split()


def _fields(given: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Give each text of a tool's input with the name of its field."""
    if not hasattr(given, "items"):
        return
    for name, value in given.items():
        if hasattr(value, "items") and depth < MOST_DEPTH:
            yield from _fields(value, depth + 1)
        else:
            yield from ((str(name), text) for text in strings(value))


# --- commands ---


def _of_command(command: Command) -> Iterator[tuple[str, bool]]:
    """Give the texts of a command that are SQL, if they look it, and whether something names them as SQL."""
    program = command.program.lower()
    fed = [command.stdin, *(_printed(target) for operator, target in command.redirects if operator == "<")]
    if program.rstrip("0123456789.") in INTERPRETERS:
        for code in (*command.arguments, *fed):
            yield from ((literal, False) for literal in _literals(code))
    if program in CLIENTS:
        yield from _arguments(command)
        yield from ((_printed(text) or text, True) for text in fed)
    elif program not in READERS:
        yield from _named_sql(command)


def _arguments(command: Command) -> Iterator[tuple[str, bool]]:
    before = ""
    for argument in command.arguments:
        name, value = _named(argument)
        option = name or before
        if option not in TITLES:
            yield _printed(value) or value, option in GIVEN | SQL_OPTIONS
        before = argument.lower()


def _named_sql(command: Command) -> Iterator[tuple[str, bool]]:
    """Give what `--sql` or a subcommand such as `dbal:run-sql` of any other program names as SQL."""
    before = ""
    is_sql = False
    for at, argument in enumerate(command.arguments):
        name, value = _named(argument)
        if is_sql or (name or before) in SQL_OPTIONS:
            yield _printed(value) or value, not is_sql
        is_sql = is_sql or (at < 2 and argument[:1] != "-" and "sql" in argument.replace(":", "-").split("-"))
        before = argument.lower()


def _named(argument: str) -> tuple[str, str]:
    """Give the name and the value of `--command=…`; of any other argument no name, and all of it."""
    name, equals, value = argument.partition("=")
    return (name.lower(), value) if equals and argument.startswith("--") else ("", argument)


def _printed(text: str) -> str:
    """Give what the commands of a substitution print, as far as it stands in them: `$(cat <<E …)`, `<(echo …)`."""
    text = text.strip()
    if text[:2] not in {"$(", "<("} or text[-1] != ")":
        return ""
    printed = []
    for command in parse_commands(text[2:-1]):
        if command.program == "cat":
            printed.append(command.stdin)
        elif command.program in {"echo", "printf"}:
            printed.append(" ".join(one for one in command.arguments if one[:1] != "-"))
    return "\n".join(printed)


# --- code ---


def _literals(code: str) -> Iterator[str]:
    """Give the string literals of a piece of code, roughly: what stands between a quote and the next of its kind."""
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
