"""Where SQL runs: the statements that a tool call is about to send to a database.

Found in the arguments and the standard input of database clients, in string literals of code that an interpreter is
given on its command line, and in the query fields of other tools. SQL in an `echo`, a file or a search is data.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.gate import is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.watch.reading import Reading, Spoken

CLIENTS = frozenset(
    "psql pgcli mysql mariadb mycli sqlite3 sqlite sqlcmd duckdb clickhouse clickhouse-client cockroach cqlsh snowsql"
    " bq usql trino presto beeline hive wrangler turso supabase neonctl planetscale pscale dolt mssql-cli litecli isql"
    " sqlplus prisma heroku flyctl fly railway rails dbt athena spark-sql".split()
)
INTERPRETERS = frozenset(("python", "python3", "py", "node", "deno", "bun", "ruby", "perl", "php", "tsx"))
FIELDS = ("sql", "query", "statement", "statements", "queries", "sql_query", "q")
VERBS = frozenset(
    "drop truncate delete update alter insert create with begin start grant revoke merge replace explain select set"
    " use".split()
)
MOST_LITERALS = 200


def sql_texts(reading: Reading) -> Iterator[tuple[str, Spoken | None]]:
    """Give each text of SQL that a turn runs or mentions as code, and the command it belongs to, if one."""
    turn = reading.turn
    if turn.role == "tool_call" and not is_shell(turn):
        given = turn.tool_input or {}
        for name in FIELDS:
            for text in strings(given.get(name)):
                if begins_as_sql(text):
                    yield text, None
    for spoken in reading.commands:
        program = spoken.command.program.lower()
        if program in CLIENTS:
            texts = (*map(_value, spoken.command.arguments), spoken.command.stdin)
        elif program.rstrip("0123456789.") in INTERPRETERS:
            texts = tuple(
                literal for one in (*spoken.command.arguments, spoken.command.stdin) for literal in _literals(one)
            )
        else:
            continue
        for text in texts:
            if begins_as_sql(text):
                yield text, spoken


def begins_as_sql(text: str) -> bool:
    """Say whether a text begins with a word that begins SQL statements, comments aside."""
    bare = text.lstrip(" \t\r\n(;")
    while bare.startswith("--"):
        bare = bare.partition("\n")[2].lstrip()
    first = bare[:20].split(maxsplit=1)
    return len(first) == 2 and first[0].lower() in VERBS  # a lone word is a name


def _value(argument: str) -> str:
    """Give the value of `--command=…`, or the argument as it is."""
    return argument.partition("=")[2] if argument.startswith("--") and "=" in argument else argument


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
        if end < 0:
            return
        yield code[start + len(quote) : end]
        at = end + len(quote)
