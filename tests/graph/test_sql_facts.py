from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.facts import Facts
from deia.graph.sql_facts import sql_facts


def told(text: str) -> set[str]:
    return {f"{each.source}:{each.type}:{each.target}:{each.line}" for each in sql_facts("a", text).references}


def test_tables_and_views_are_entities_with_the_lines_of_their_statement() -> None:
    text = 'create table if not exists public."users" (\n  id int\n);\nCREATE OR REPLACE VIEW active AS SELECT 1;\n'
    found = [(each.name, each.type, each.first, each.last, each.shared) for each in sql_facts("a", text).entities]
    assert found == [("users", "TABLE", 1, 3, True), ("active", "TABLE", 4, 4, True)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("create table a (b int references c(id) on delete cascade on update set null);", "a:REFERENCES:c:1"),
        ("alter table only a add foreign key (b) references [dbo].[D] (id);", ":ALTERS:a:1 a:REFERENCES:D:1"),
        ("create view v as select * from a x, b as y\njoin `s`.`c` using (id);",
         "v:READS:a:1 v:READS:b:1 v:READS:s.c:2"),
        ("insert into a (x) select 1 from f(1); update b set x = 1 from c; delete from d;",
         ":WRITES:a:1 :WRITES:b:1 :READS:c:1 :WRITES:d:1"),
        ("with x as (select 1 from a), y (k) as (select 2) select * from x join y on true", ":READS:a:1"),
        ("select extract(year from a), 'from b' -- from c\n/* from d */ from e where f is distinct from g for update",
         ":READS:e:2"),
        ("create function f() as $$ select 1 from a; insert into b values (1); $$; select 1 from c",
         "f:READS:a:1 f:WRITES:b:1 :READS:c:1"),
    ],
)  # fmt: skip
def test_statements_read_write_and_refer_to_tables(text: str, wanted: str) -> None:
    assert told(text) == set(wanted.split())


@pytest.mark.parametrize(
    "piece", ["'", "/*", "create table ", "from a,", "with x as ", "extract(", '"', "from a ", "a.", "(", "\n#"]
)
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    sql_facts("a", piece * 50_000)
    assert time.process_time() - began < 2


@given(
    st.text()
    | st.lists(st.sampled_from(["create ", "table ", "a", ".", '"', "from ", ",", "$$", ";", "'", "(", " as "])).map(
        "".join
    )
)
def test_no_text_is_too_broken(text: str) -> None:
    assert isinstance(sql_facts("a", text), Facts)
