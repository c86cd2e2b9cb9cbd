from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.facts import Alias, Facts
from deia.graph.prose_facts import prose_facts

TEXT = """\
---
title: x
---
# The Doc

## Setup
**Broker**: what forwards. It raises `ValueError`.
- **Cache** \u2014 keeps things

### Linux v1.2
Run `git rebase -i` and `foo`. OrderService uses
Kafka; HTTP 503, ENOENT and ORA-00942 are errors, EVERY is none.

```bash
# A comment uses nothing
$ sudo apt-get install x
FOO=1 kubectl get pods
```

## Other
Term
: what it is
"""


def test_sections_contain_sections_and_have_the_names_of_those_around_them() -> None:
    facts = prose_facts("a.md", TEXT)
    sections = [each[:4] for each in facts.entities if each.type == "SECTION"]
    assert sections == [
        ("a.md.The Doc", "SECTION", 4, 23),
        ("a.md.Setup", "SECTION", 6, 19),
        ("a.md.Setup.Linux v1\u00b72", "SECTION", 10, 19),
        ("a.md.Other", "SECTION", 20, 23),
    ]
    contained = {(each.source, each.target) for each in facts.references if each.type == "CONTAINS"}
    assert ("a.md.Setup", "a.md.Setup.Linux v1\u00b72") in contained
    assert Alias("a.md#linux-v12", "a.md.Setup.Linux v1\u00b72") in facts.aliases


def test_definitions_are_what_is_spoken_of_with_their_description() -> None:
    found = {
        each.name: (each.first, each.description) for each in prose_facts("a", TEXT).entities if each.type == "CONCEPT"
    }
    assert found["Broker"] == (7, "what forwards. It raises ValueError.")
    assert found["Cache"] == (8, "keeps things")
    assert found["Term"] == (21, "what it is")


def test_commands_and_errors_are_mentioned_where_they_stand() -> None:
    found = [each for each in prose_facts("a", TEXT).references if each.type == "MENTIONS"]
    assert {(each.target_type, each.target, each.line) for each in found} == {
        ("ERROR", "ValueError", 7), ("ERROR", "HTTP 503", 12), ("ERROR", "ENOENT", 12), ("ERROR", "ORA-00942", 12),
        ("COMMAND", "git rebase", 11), ("COMMAND", "apt-get install", 16), ("COMMAND", "kubectl get", 17),
    }  # fmt: skip
    assert {each.source for each in found if each.line > 9} == {"a.Setup.Linux v1\u00b72"}


def test_what_sentences_say_has_the_line_of_its_verb() -> None:
    (found,) = [each for each in prose_facts("a", TEXT).references if each.type == "USES"]
    assert (found.source, found.target, found.line, found.certainty) == ("OrderService", "Kafka", 11, "by name")
    assert found.description == "OrderService uses Kafka;"


def test_restructured_text_has_headings_and_directives() -> None:
    text = "Title\n=====\n\nSub\n---\n\n.. py:function:: json.dumps(obj)\n\n   text\n\n| a | b |\n|---|---|\n"
    found = [each[:4] for each in prose_facts("a", text).entities]
    assert found == [
        ("a.Title", "SECTION", 1, 13), ("a.Sub", "SECTION", 4, 13), ("json.dumps", "FUNCTION", 7, 7),
    ]  # fmt: skip


PIECES = [
    "#",
    "**",
    "`",
    ".. ",
    "\n: a",
    "# a\n",
    "a\n===\n",
    "\n```\n",
    "$ ",
    "aError",
    "**a" * 600 + "\n",
    "a." * 900 + "\n",
]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    prose_facts("a", piece * (200_000 // len(piece)))
    assert time.process_time() - began < 3


@given(
    st.text() | st.lists(st.sampled_from([*"#*`:=-\n >|$.", "a", "Foo", "```", ".. py:class:: ", "\n\n"])).map("".join)
)
def test_no_text_is_too_broken(text: str) -> None:
    assert isinstance(prose_facts("a", text), Facts)
