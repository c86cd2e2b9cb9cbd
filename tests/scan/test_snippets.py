"""What a file would run is found with its line, whatever else the file holds."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.scan.snippets import READERS, TABLES, UnreadableFileError, kind_by_first_line, kind_by_name, snippets

KINDS = sorted(TABLES.lists("kinds"))
STEP = "shopctl site:delete --yes"
WORKFLOW = f"""\
jobs:
  clean:
    steps:
      - name: not a command, {STEP}
      - run: |
          set -e
          {STEP}
      - run: {STEP}
      - pwsh: {STEP}
      - script:
          - echo
          - {STEP}
---
deploy: {{script: ["{STEP}"]}}
"""
DOCKERFILE = """\
FROM debian
LABEL x="RUN nothing"
RUN --mount=type=cache,target=/x apt-get update \\
 && STEP
RUN <<EOF
set -e
STEP
EOF
CMD ["sh", "-c", "STEP"]
""".replace("STEP", STEP)
MAKEFILE = f"NAME := shop\nall: wipe\n\twipe-it\n\nwipe:\n\t@cd $(NAME); echo $$HOME\n\t-{STEP}\n"
PACKAGE = json.dumps({"name": "x", "scripts": {"build": "tsc", "wipe": STEP}}, indent=1)
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": [f"!{STEP}\n"]},
            {"cell_type": "code", "source": ["import os\n", f"!{STEP}\n"]},
            {"cell_type": "code", "source": f"%%bash\n{STEP}\n"},
        ]
    },
    indent=1,
)


def lines_of(kind: str, text: str) -> list[int]:
    """Return the lines on which the step is found."""
    return [
        snippet.line - snippet.shift + at
        for snippet in snippets(kind, text)
        for at, line in enumerate(snippet.text.splitlines())
        if STEP in line
    ]


@pytest.mark.parametrize(
    ("kind", "text", "lines"),
    [
        ("shell", f"#!/bin/sh\n\n{STEP}\n", [3]),
        ("workflow", WORKFLOW, [7, 8, 9, 12, 14]),
        ("dockerfile", DOCKERFILE, [4, 7, 9]),
        ("makefile", MAKEFILE, [7]),
        ("package", PACKAGE, [5]),
        ("sql", f"SELECT 1;\n-- {STEP}\n", [2]),
    ],
)
def test_a_command_is_found_on_its_line(kind: str, text: str, lines: list[int]) -> None:
    assert lines_of(kind, text) == lines
    assert all(STEP in text.splitlines()[line - 1] for line in lines)


def test_a_notebooks_cells_are_found_near_their_line() -> None:
    found = [snippet.line for snippet in snippets("notebook", NOTEBOOK) if STEP in snippet.text]
    starts = [at for at, line in enumerate(NOTEBOOK.splitlines(), 1) if "import os" in line or "%%bash" in line]
    assert found == [starts[0] + 1, starts[1] + 1]


def test_makes_variables_become_the_shells() -> None:
    recipe = snippets("makefile", MAKEFILE)[1]
    assert recipe.text.startswith("cd ${NAME}; echo $HOME\n")


def test_powershell_steps_are_read_as_powershell() -> None:
    assert [snippet.tool for snippet in snippets("workflow", WORKFLOW) if snippet.line == 9] == ["PowerShell"]


@pytest.mark.parametrize(("kind", "text"), [("workflow", "a: [\n"), ("package", "{"), ("notebook", "[]")])
def test_what_cannot_be_parsed_is_said(kind: str, text: str) -> None:
    with pytest.raises(UnreadableFileError):
        snippets(kind, text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["RUN ", "CMD ", "- run: ", "", "a:\n\t", '{"scripts": '])
def test_what_is_nested_too_deep_ends_nothing(kind: str, start: str) -> None:
    with contextlib.suppress(UnreadableFileError):
        snippets(kind, start + "[" * 100_000)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".github/workflows/ci.yml", "workflow"), ("x/.github/workflows/ci.yaml", "workflow"), ("docs/ci.yml", ""),
        ("deploy.sh", "shell"), ("Dockerfile", "dockerfile"), ("Dockerfile.dev", "dockerfile"),
        ("Makefile", "makefile"),
        ("web/package.json", "package"), ("tsconfig.json", ""), ("db/1.sql", "sql"),
        ("scripts/x.py", "python3"), ("a/scripts/b/x.py", "python3"), ("src/x.py", ""), (".husky/pre-push", "shell"),
    ],
)  # fmt: skip
def test_a_name_tells_the_kind(path: str, kind: str) -> None:
    assert kind_by_name(f"/home/me/{path}") == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("#!/bin/sh", "shell"), ("#!/usr/bin/env bash", "shell"), ("#!/usr/bin/env -S python3 -u", "python3"),
        ("#!/usr/bin/nodejs", "node"), ("#!/usr/bin/awk -f", ""), ("echo", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_first_line_tells_the_kind(line: str, kind: str) -> None:
    assert kind_by_first_line(line) == kind


@given(kind=st.sampled_from(KINDS), text=st.text(st.sampled_from("RUN\n\t -<EOF|:>[]{}\"'\\!#$()a%s\r"), max_size=200))
def test_no_text_raises_and_every_line_is_one_of_the_file(kind: str, text: str) -> None:
    try:
        found = snippets(kind, text)
    except UnreadableFileError:
        return
    assert all(1 <= snippet.line <= text.count("\n") + text.count("\r") + 2 for snippet in found)


def test_every_kind_has_a_reader() -> None:
    assert set(READERS) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("package", json.dumps({"scripts": {f"s{number}": "tsc" for number in range(15_000)}}, indent=1)),
        ("dockerfile", "".join(f"RUN <<A{number}\nA{number}\n" for number in range(15_000))),
        ("sql", f"END_OF_FILE{'_' * 1_000_000}"),
    ],
)
def test_a_large_file_does_not_cost_its_square(kind: str, text: str) -> None:
    start = time.process_time()
    snippets(kind, text)
    assert time.process_time() - start < 3


def test_a_text_that_holds_the_mark_of_its_end_gets_a_longer_mark() -> None:
    [snippet] = snippets("sql", "END_OF_FILE___\nEND_OF_FILE\n")
    assert snippet.text.startswith("psql <<'END_OF_FILE____'\n")
