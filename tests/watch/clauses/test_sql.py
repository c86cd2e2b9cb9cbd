"""SQL statements: what each would do, and where they run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.clause_language import TemplateError, parse_sql
from deia.compile.triggers.lower_clause import LOWER
from deia.records import Turn
from deia.text import words
from deia.watch.clauses.confirm import confirm
from deia.watch.clauses.sql import matches_statement, statements
from deia.watch.clauses.sql_sources import sql_texts
from deia.watch.prose.stance_names import ANNOUNCED, DRY_RUN
from deia.watch.turn.parsed_turn import Reading

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
        ("drop /* y */ table x", ["drop table"]),
        ("/*!40000 DROP TABLE x */;", ["drop table"]),
        ("\\set ON_ERROR_STOP on\n  \\timing\ndrop table x;", ["drop table"]),
        ("select 1 \\g\ndrop table x", ["drop table"]),
        ("use shop\nGO\ndrop table x\nGO", ["drop table"]),
        ("begin transaction\ndrop table x\ncommit", ["drop table"]),
        ("begin drop table x; end", ["drop table"]),
        ("do $$ begin drop table x; end $$;", ["drop table"]),
        ("do $$ begin if old then delete from x; end if; end $$ language plpgsql", ["delete without where"]),
        ("do $$ begin execute format('drop table %I', name); end $$", ["drop table"]),
        ("begin; do $$ begin truncate x; end $$; commit", ["truncate"]),
        ("begin; delete from x; savepoint a; rollback to a; commit", ["delete without where"]),
        ("begin; rollback; delete from x", ["delete without where"]),
        ("EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users", ["delete without where"]),
        ("start transaction; delete from x; rollback and chain; delete from x; commit", ["delete without where"]),
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
        "EXPLAIN (COSTS OFF) DELETE FROM users",
        "begin transaction\ndelete from x\nrollback",
        "begin; do $$ begin truncate x; end $$; rollback",
        "begin; savepoint a; delete from x; rollback to savepoint a; commit",
        "set autocommit = 0; delete from x; rollback",
        "begin; delete from x; abort",
        "do $$ begin raise notice 'drop table x'; end $$",
        "select 'a \\g', 'drop table x'",
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
        'psql -c "$(cat <<E\nDROP TABLE a\nE\n)"',
        "psql <<< \"$(echo 'DROP TABLE a')\"",
        "psql < <(echo 'DROP TABLE a')",
        "rails runner 'ActiveRecord::Base.connection.execute(\"DROP TABLE a\")'",
        "python manage.py shell -c \"c.execute('DROP TABLE a')\"",
        "php bin/console dbal:run-sql 'DROP TABLE a'",
        "aws redshift-data execute-statement --sql 'DROP TABLE a'",
        "gcloud spanner databases execute-sql shop --sql='DROP TABLE a'",
    ],
)
def test_sql_that_a_command_runs_is_found(command: str) -> None:
    assert [text.strip() for text in run(command)] == ["DROP TABLE a"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('psql -c "begin; drop table ledger; commit"', ["drop table"]),
        ("psql <<E\nBEGIN;\nDELETE FROM x;\nCOMMIT;\nE", ["delete without where"]),
        ('mysql -e "BEGIN; TRUNCATE x; COMMIT"', ["truncate"]),
        ("psql -c '/* c */ drop table x'", ["drop table"]),
        ("psql -c '/* c */ drop /* y */ table x'", ["drop table"]),
        ("psql <<E\n-- c\n\n-- d\ndrop table x;\nE", ["drop table"]),
        ("sqlite3 a.db 'pragma foreign_keys=off; drop table x'", ["drop table"]),
        ("psql -c 'lock table x; drop table x'", ["drop table"]),
        ("psql -c 'call x(); drop table x'", ["drop table"]),
        ("psql -c 'commit; drop table x'", ["drop table"]),
        ("psql <<'E'\n\\set ON_ERROR_STOP on\ndrop table x;\nE", ["drop table"]),
        ("psql -c 'do $$ begin drop table x; end $$'", ["drop table"]),
        ("python -c 'c.executescript(\"begin;\\ndrop table x;\\ncommit\")'", ["drop table"]),
        ("psql -c truncate", ["truncate"]),  # an option names it, whatever it is
        ("psql -c 'BEGIN; DELETE FROM x; ROLLBACK'", []),
        ("psql -c BEGIN -c 'DELETE FROM x' -c ROLLBACK", []),
    ],
)
def test_sql_is_found_behind_whatever_its_text_begins_with(command: str, expected: list[str]) -> None:
    assert [template for text in run(command) for template in caught(text)] == expected


def test_sql_of_powershell_is_found() -> None:
    line = 'Invoke-Sqlcmd -Query "DROP TABLE x" -ServerInstance db'
    call = Turn(role="tool_call", text=line, tool="PowerShell", tool_input={"command": line})
    assert [text for text, _ in sql_texts(Reading(call))] == ["DROP TABLE x"]


@pytest.mark.parametrize(
    "command",
    [
        'echo "DROP TABLE a;"',
        "prisma migrate dev --name 'drop table a'",
        "fly deploy --message 'drop table a'",
        "python find.py 'drop table a'",
        "psql -v note='drop table a' -c 'select 1'",
        "grep -r 'DROP TABLE' sql",
        "rg sql-migrations 'drop table a'",
        "psql -c \"insert into log values ('x; drop table a')\"",
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


def tool(name: str, given: dict[str, object]) -> list[str]:
    call = Turn(role="tool_call", text="", tool=name, tool_input=given)
    return [text for text, _ in sql_texts(Reading(call))]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("mcp__supabase__execute_sql", "query"),
        ("mcp__supabase__apply_migration", "query"),
        ("mcp__postgres__query", "sql"),
        ("mcp__postgres__query", "query"),
        ("mcp__bigquery__execute_sql", "query"),
        ("mcp__bigquery__execute-query", "query"),
        ("mcp__snowflake__run_snowflake_query", "statement"),
        ("mcp__snowflake__run_query", "query"),
        ("mcp__snowflake__write_query", "query"),
        ("mcp__Neon__run_sql", "sql"),
        ("mcp__Neon__run_sql_transaction", "sqlStatements"),
        ("mcp__planetscale__execute_write_query", "query"),
        ("mcp__dbhub__execute_sql", "sql"),
        ("mcp__mindsdb__query", "query"),
        ("mcp__clickhouse__run_select_query", "query"),
        ("mcp__mysql__mysql_query", "sql"),
        ("mcp__mssql__execute_sql", "query"),
        ("mcp__sqlite__write_query", "query"),
        ("mcp__motherduck__query", "query"),
        ("mcp__redshift__execute_query", "sql"),
        ("mcp__turso__execute_query", "query"),
        ("mcp__d1__d1_database_query", "sql"),
        ("mcp__toolbox__query_database", "query"),
        ("mcp__acme__search_and_fetch", "sql"),
        ("executeSql", "q"),
        ("query", "query"),
    ],
)
def test_a_tool_that_runs_sql_is_told_by_its_name_or_its_field(name: str, field: str) -> None:
    assert tool(name, {field: "drop table a"}) == ["drop table a"]
    assert tool(name, {"params": {field: ["begin; drop table a; commit"]}}) == ["begin; drop table a; commit"]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("WebSearch", "query"),
        ("WebFetch", "query"),
        ("Grep", "query"),
        ("codebase_search", "query"),
        ("ToolSearch", "query"),
        ("mcp__context7__search", "query"),
        ("mcp__context7__query-docs", "query"),
        ("mcp__context7__get-library-docs", "query"),
        ("mcp__github__search_code", "query"),
        ("mcp__github__search_issues", "q"),
        ("mcp__github__list_issues", "query"),
        ("mcp__supabase__search_docs", "query"),
        ("mcp__Neon__list_docs_resources", "query"),
        ("mcp__exa__web_search_exa", "query"),
        ("mcp__exa__get_code_context_exa", "query"),
        ("mcp__brave-search__brave_web_search", "query"),
        ("mcp__tavily__tavily-search", "query"),
        ("mcp__perplexity__perplexity_ask", "query"),
        ("mcp__fetch__query", "query"),
        ("mcp__sourcegraph__run_search_query", "query"),
        ("mcp__slack__conversations_search_messages", "query"),
        ("mcp__notion__notion-search", "query"),
        ("mcp__atlassian__searchJiraIssuesUsingJql", "query"),
        ("mcp__microsoft-docs__microsoft_docs_search", "query"),
        ("mcp__aws-knowledge__read_documentation", "query"),
        ("mcp__memory__search_nodes", "query"),
        ("mcp__ragdocs__query", "query"),
        ("mcp__postgres__explain_query", "sql"),
        ("mcp__sqlfluff__lint_sql", "sql"),
    ],
)
def test_a_tool_that_searches_or_reads_runs_no_sql(name: str, field: str) -> None:
    assert tool(name, {field: "drop table a"}) == []


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("set foreign_key_checks", "SET foreign_key_checks = 0"),
        ("set foreign_key_checks", "set @@foreign_key_checks=0"),
        ("update … set password_hash", "update users set password_hash = 'x'"),
        ("vacuum full", "VACUUM FULL orders"),
        ("vacuum", "VACUUM"),
        ("reindex", "REINDEX TABLE orders"),
        ("reset", "RESET ALL"),
        ("purge", "PURGE BINARY LOGS BEFORE NOW()"),
        ("reassign owned", "REASSIGN OWNED BY a TO b"),
        ("set", "SET x = 1"),
        ("call", "CALL x()"),
        ("lock", "LOCK TABLE x"),
        ("grant all", "GRANT ALL ON x TO y"),
        ("revoke", "REVOKE ALL ON x FROM y"),
        ("rename", "RENAME TABLE x TO y"),
        ("flush", "FLUSH TABLES WITH READ LOCK"),
        ("kill", "KILL 42"),
    ],
)
def test_any_word_may_begin_a_statement_and_words_may_be_joined_by_underscores(template: str, text: str) -> None:
    texts = run(f'psql -c "{text}"')
    assert texts == [text]
    assert matches_statement(parse_sql(template), statements(texts[0])[0])


@pytest.mark.parametrize("template", ["", "_", "without where", "… table", "drop {table|view}", "drop-table", "a.b"])
def test_a_template_that_is_not_how_a_statement_begins_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        parse_sql(template)


def test_the_words_of_a_name_with_underscores_pass_the_gate() -> None:
    lowered = LOWER["sql"](["set foreign_key_checks"])
    text = set(words("SET foreign_key_checks=0"))
    assert all(text & group for row in lowered.rows for group in row)


@pytest.mark.parametrize(("program", "expected"), [("mysql -e", ANNOUNCED), ("psql -c", DRY_RUN)])
def test_a_rollback_undoes_no_drop_where_every_drop_commits(program: str, expected: str) -> None:
    line = f"{program} 'BEGIN; DROP TABLE x; ROLLBACK'"
    reading = Reading(Turn(role="tool_call", text=line, tool="Bash", tool_input={"command": line}))
    clause = LOWER["sql"](["drop table"]).clause
    assert [match.stance for match in confirm(clause, reading)] == [expected]


@settings(max_examples=100)
@given(st.text(alphabet="dropelt wh'\"`$;(-/*)[]#\\\n1=\0\ud800", max_size=300))
def test_no_text_raises_and_every_statement_has_words(text: str) -> None:
    assert all(statement.words or statement.undone or statement.text for statement in statements(text))


@pytest.mark.parametrize("count", [1_999, 2_001, 3_000, 20_000])
def test_of_too_many_statements_the_first_and_the_last_are_read(count: int) -> None:
    filler = "insert into b values (1);\n" * count
    found = statements(f"drop table a;\n{filler}drop table c")
    assert (found[0].text, found[-1].text) == ("drop table a", "drop table c")
    assert len(found) == 2_000


def test_a_rollback_behind_too_many_statements_undoes_none_of_the_first() -> None:
    filler = "insert into b values (1);\n"
    found = statements("begin; drop table a; commit;\n" + filler * 5_000 + "begin; drop table c; rollback;")
    assert not any(one.undone for one in found[:10])
    assert [one.text for one in found if one.undone][:2] == ["begin", "drop table c"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("create temp table t as select 1; drop table t", True),
        ("create temporary table if not exists t as select 1; drop table if exists t cascade", True),
        ("create table t (x int); truncate table t", True),
        ("create table if not exists t (x int); drop table t", False),
        ("create table t (x int); drop table t, orders", False),
        ("drop table t; create table t (x int)", False),
        ("create table t (x int); drop table", False),
        ("drop database if exists app_test", True),
        ("drop schema pytest_7 cascade", True),
        ("drop database app", False),
        ("drop table test_results", False),
    ],
)
def test_what_takes_away_only_tables_of_its_own_is_told(text: str, *, own: bool) -> None:
    assert any(one.own for one in statements(text)) is own
