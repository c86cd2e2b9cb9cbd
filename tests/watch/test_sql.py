"""SQL read far enough to know what it would do, where it runs, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.clauses import parse_sql
from deia.records import Turn
from deia.watch.databases import sql_texts
from deia.watch.reading import Reading
from deia.watch.sql import matches_statement, statements

TEMPLATES = ("drop table", "truncate", "delete without where", "update without where", "alter table … drop column")


def caught(text: str) -> list[str]:
    return [
        template
        for template in TEMPLATES
        for statement in statements(text)
        if not statement.undone and matches_statement(parse_sql(template), statement)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DROP TABLE IF EXISTS users;", ["drop table"]),
        ("truncate users cascade", ["truncate"]),
        ("delete from users", ["delete without where"]),
        ("select 1; DELETE\nFROM users -- all of them\n;", ["delete without where"]),
        ("UPDATE users SET name = 'where'", ["update without where"]),
        ("update a set b = (select c from d where e = 1)", ["update without where"]),
        ("DELETE FROM users WHERE 1=1", ["delete without where"]),
        ("delete from t where true", ["delete without where"]),
        ("WITH old AS (SELECT 1) DELETE FROM users", ["delete without where"]),
        ("ALTER TABLE users ADD x int, DROP COLUMN y", ["alter table … drop column"]),
        ("EXPLAIN ANALYZE DELETE FROM users", ["delete without where"]),
        ("BEGIN; DELETE FROM users; COMMIT;", ["delete without where"]),
    ],
)
def test_what_reaches_every_row_or_drops_something_is_seen(text: str, expected: list[str]) -> None:
    assert caught(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM users WHERE id = 1",
        "delete from users order by id limit 10",
        "-- DROP TABLE users\nselect 1",
        "/* truncate users */ select 1",
        "select 'drop table users'",
        'select "drop table users" from t',
        "insert into log values ('it''s; drop table users')",
        "CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM x; $$ LANGUAGE sql",
        "CREATE FUNCTION f() AS $body$ DROP TABLE x $body$ LANGUAGE sql",
        "BEGIN; DELETE FROM users; ROLLBACK;",
        "EXPLAIN DELETE FROM users",
        "DROP TEMPORARY TABLE scratch",
        "DROP INDEX i",
        "show tables",
        "",
    ],
)
def test_what_is_bounded_undone_quoted_or_a_comment_is_not(text: str) -> None:
    assert caught(text) == []


def run(command: str) -> list[str]:
    reading = Reading(Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command}))
    return [text for text, _ in sql_texts(reading)]


@pytest.mark.parametrize(
    "command",
    [
        'psql -c "DROP TABLE a"',
        "psql --command='DROP TABLE a' \"$DATABASE_URL\"",
        'echo "DROP TABLE a" | psql',
        "psql <<EOF\nDROP TABLE a\nEOF",
        'docker exec -it db mysql -uroot -e "DROP TABLE a"',
        "ssh host \"psql -c 'DROP TABLE a'\"",
        "sqlite3 app.db 'DROP TABLE a'",
        "python -c \"import sqlite3; c.execute('DROP TABLE a')\"",
    ],
)
def test_sql_that_a_command_runs_is_found(command: str) -> None:
    assert [text.strip() for text in run(command)] == ["DROP TABLE a"]


@pytest.mark.parametrize(
    "command",
    [
        'echo "DROP TABLE a;"',
        "cat > m.sql <<EOF\nDROP TABLE a;\nEOF",
        'git commit -m "drop table a"',
        "grep -r 'DROP TABLE' migrations",
        "psql -f migration.sql",
        "psql -h drop -d truncate",
    ],
)
def test_sql_that_is_only_mentioned_is_not(command: str) -> None:
    assert [text for text in run(command) if caught(text)] == []


def test_the_query_fields_of_other_tools_are_sql_and_their_prose_is_not() -> None:
    call = Turn(
        role="tool_call", text="", tool="mcp__db__query", tool_input={"sql": "drop table a", "note": "drop table b"}
    )
    assert [text for text, _ in sql_texts(Reading(call))] == ["drop table a"]


@settings(max_examples=100)
@given(st.text(alphabet="dropelt wh'\"`$;(-/*)[]#\\\n1=\0\ud800", max_size=300))
def test_no_text_raises_and_every_statement_has_words(text: str) -> None:
    assert all(statement.words or statement.undone or statement.text for statement in statements(text))
