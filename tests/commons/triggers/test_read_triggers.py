"""Trigger files are checked completely: every problem is reported with file and line, and sound triggers are loaded."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.read_triggers import FIELDS, load_triggers
from deia.firing import Reference

if TYPE_CHECKING:
    from tests.commons.conftest import Write

GOOD = """\
- id: netlify-delete
  title: Deleting a site
  status: stable
  urgency: critical
  timing: pre-action
  action: hold
  message: Deleting a site drops its settings.
  action_required: Go through the checklist.
  documents:
    - {id: checklist, mode: full_context, reason: Prevents loss}
    - {id: story, mode: summary_only}
  when:
    who: [user, tool_call]
    any:
      - phrase: "{delete|remove} … site"
      - command: "netlify {sites:delete|site delete}"
      - pattern: '\\bnuclear option\\b '
      - write: [".env*", "**/migrations/*"]
      - tool: {name: "mcp__*__delete_*", input: {site: "prod*"}}
      - meaning: [wipe the site]
    all:
      - error: "Site not found"
  context: [netlify]
  unless: [--dry-run]
  stance: [announced, negated]
  repeat: {after: 30m}
  references: [https://docs.netlify.com]
  since: 2026-11-20
"""
CASES = """\
netlify-delete:
  fires:
    - delete the site
    - turns:
        - {role: user, text: The deploy is stuck}
        - {role: tool_call, tool: Bash, tool_input: {command: "netlify sites:delete"}}
        - {role: tool_result, text: "Error: no", failed: true}
      cwd_files: [netlify.toml]
  silent:
    - don't delete the site
"""


def problems(root: Path) -> list[tuple[str, int, str]]:
    return [(p.path.removeprefix("triggers/"), p.line, p.code) for p in load_triggers(str(root)).problems]


def test_a_whole_trigger_is_read(tmp_path: Path, write: Write) -> None:
    write("triggers/netlify.yaml", GOOD)
    write("triggers/netlify.cases.yaml", CASES)
    loaded = load_triggers(str(tmp_path))
    (trigger,) = loaded.triggers
    assert loaded.problems == ()
    assert (trigger.action, trigger.repeat, trigger.who, trigger.stance) == (
        "hold", 1800.0, ("user", "tool_call"), ("announced", "negated"),
    )  # fmt: skip
    assert trigger.documents[1] == Reference(id="story", mode="summary_only")
    assert [(clause.kind, clause.line) for clause in trigger.any] == [
        ("phrase", 15), ("command", 16), ("pattern", 17), ("write", 18), ("tool", 19), ("meaning", 20),
    ]  # fmt: skip
    assert trigger.any[2].value == r"\bnuclear option\b "
    assert trigger.any[3].value == (".env*", "**/migrations/*")
    assert trigger.any[4].value == {"name": "mcp__*__delete_*", "input": {"site": "prod*"}}
    assert (trigger.path, trigger.line, trigger.since) == ("triggers/netlify.yaml", 1, "2026-11-20")


def test_cases_are_conversations_with_tool_calls_as_text(tmp_path: Path, write: Write) -> None:
    write("triggers/netlify.yaml", GOOD)
    write("triggers/netlify.cases.yaml", CASES)
    fires, talk, silent = load_triggers(str(tmp_path)).cases
    assert (fires.turns[0].role, fires.turns[0].text, fires.fires, fires.line) == ("user", "delete the site", True, 3)
    assert [(turn.role, turn.text, turn.index, turn.failed) for turn in talk.turns] == [
        ("user", "The deploy is stuck", 1, False),
        ("tool_call", "netlify sites:delete", 2, False),
        ("tool_result", "Error: no", 3, True),
    ]
    assert (talk.turns[1].tool, talk.turns[1].tool_input) == ("Bash", {"command": "netlify sites:delete"})
    assert (talk.cwd_files, silent.fires) == (("netlify.toml",), False)


def test_defaults_are_filled_in(tmp_path: Path, write: Write) -> None:
    write(
        "triggers/a.yaml",
        """\
        - {id: a, title: A, urgency: low, message: m, documents: [x], when: {any: [{phrase: delete site}]}}
        - {id: b, title: B, urgency: low, message: m, documents: [x], repeat: every_time,
           when: {any: [{error: not found}]}}
        """,
    )
    first, second = load_triggers(str(tmp_path)).triggers
    assert (first.status, first.timing, first.action, first.repeat) == ("experimental", "pre-action", "note", -1.0)
    assert (first.who, first.stance) == (("user", "assistant", "tool_call"), ("announced", "requested"))
    assert (second.who, second.repeat) == (("tool_result",), 0.0)


def test_all_problems_of_a_trigger_come_at_once_and_the_next_one_loads(tmp_path: Path, write: Write) -> None:
    write(
        "triggers/bad.yaml",
        """\
        - id: Bad Id
          titel: A
          urgency: sever
          action: shout
          timing: later
          status: done
          documents: []
          when:
            who: [users]
            any:
              - phrase: "{a|b … c"
              - pattern: "(a+)+$"
              - comand: ls
              - {phrase: a, command: b}
              - tool: {input: {x: y}}
          stance: [angry]
          repeat: {after: soon}
          urgency: low
        - {id: good, title: G, urgency: low, message: m, documents: [x], when: {any: [{phrase: delete site}]}}
        - just text
        """,
    )
    assert sorted(problems(tmp_path)) == sorted(
        ("bad.yaml", line, code)
        for line, code in [
            (18, "duplicate-key"), (1, "bad-id"), (2, "unknown-field"), (1, "missing-field"), (1, "missing-field"),
            (3, "bad-urgency"), (4, "bad-action"), (5, "bad-timing"), (6, "bad-status"), (7, "missing-field"),
            (9, "bad-who"), (11, "bad-clause"), (12, "unsafe-pattern"), (13, "unknown-clause"), (14, "bad-clause"),
            (15, "missing-field"), (16, "bad-stance"), (17, "bad-repeat"), (20, "wrong-type"),
        ]
    )  # fmt: skip
    loaded = load_triggers(str(tmp_path))
    assert [trigger.id for trigger in loaded.triggers] == ["good"]
    assert loaded.broken == ("Bad Id",)
    fixes = {problem.code: problem.fix for problem in loaded.problems}
    assert "command" in fixes["unknown-clause"]
    assert "title" in fixes["unknown-field"]


INCOMING = """
- id: a
  title: A
  urgency: low
  message: m
  documents: [x]
  when: {NAME: [{incoming: WRITTEN}]}
"""


@pytest.mark.parametrize(
    ("name", "written", "clauses", "found"),
    [
        ("any", "{first: a b, then: [c, d]}", 2, []),
        ("all", "{first: a b, then: c}", 1, []),
        ("any", "'a b'", 1, []),
        ("all", "{first: a b, then: [c, d]}", 0, ["bad-clause"]),
        ("any", "{first: a b}", 0, ["bad-clause"]),
        ("any", "{first: a, then: b, after: c}", 0, ["unknown-field"]),
        ("any", "{first: (a+)+$, then: b}", 0, ["unsafe-pattern"]),
    ],
)
def test_what_comes_in_is_a_pattern_or_pairs(
    tmp_path: Path, write: Write, name: str, written: str, clauses: int, found: list[str]
) -> None:
    write("triggers/a.yaml", INCOMING.replace("NAME", name).replace("WRITTEN", written))
    assert [code for _, _, code in problems(tmp_path)] == found
    loaded = load_triggers(str(tmp_path)).triggers
    assert [len([*trigger.any, *trigger.all]) for trigger in loaded] == ([clauses] if clauses else [])
    assert all(trigger.who == ("tool_result",) for trigger in loaded)


def test_a_comma_that_cut_a_text_short_is_named(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", GOOD.replace("reason: Prevents loss", "reason: Before, and after"))
    (problem,) = [p for p in load_triggers(str(tmp_path)).problems if p.code == "unknown-field"]
    assert "quote the whole text" in problem.fix


def test_an_id_counts_once_in_the_whole_commons(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", GOOD.replace("stable", "test"))
    write("triggers/b.yaml", GOOD.replace("stable", "test"))
    loaded = load_triggers(str(tmp_path))
    (problem,) = [p for p in loaded.problems if p.severity == "error"]
    assert (problem.path, problem.line, problem.code) == ("triggers/b.yaml", 1, "duplicate-id")
    assert "triggers/a.yaml:1" in problem.found
    assert [trigger.path for trigger in loaded.triggers] == ["triggers/a.yaml"]


@pytest.mark.parametrize("lacking", ["fires", "silent"])
def test_stable_needs_cases_of_both_kinds(tmp_path: Path, write: Write, lacking: str) -> None:
    write("triggers/netlify.yaml", GOOD)
    write("triggers/netlify.cases.yaml", CASES.replace(f"{lacking}:\n", f"{lacking}: []\n  x{lacking}:\n"))
    found = [p for p in load_triggers(str(tmp_path)).problems if p.code == "unproven-trigger"]
    assert [(p.path, p.line) for p in found] == [("triggers/netlify.yaml", 1)]
    assert lacking in found[0].found


def test_broken_cases_are_reported_with_lines(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", GOOD.replace("stable", "test"))
    write(
        "triggers/a.cases.yaml",
        """\
        netlify-delte:
          fires: [x]
        netlify-delete:
          fires:
            - {turn: [{role: user, text: x}]}
            - turns: [{role: robot, text: x}, {text: y}]
            - [a]
            - fine
          silent: no list
          never: []
        """,
    )
    found = [(line, code) for path, line, code in problems(tmp_path) if path == "a.cases.yaml"]
    assert found == [
        (1, "unknown-trigger"), (10, "unknown-field"), (5, "unknown-field"), (6, "bad-role"), (6, "missing-field"),
        (7, "bad-case"), (9, "wrong-type"),
    ]  # fmt: skip
    assert [case.turns[0].text for case in load_triggers(str(tmp_path)).cases] == ["x", "fine"]


def test_cases_of_a_broken_trigger_are_not_called_unknown(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", GOOD.replace("critical", "sever"))
    write("triggers/a.cases.yaml", CASES)
    assert "unknown-trigger" not in {code for _, _, code in problems(tmp_path)}


def test_exemplars_are_sentences_and_not_too_many(tmp_path: Path, write: Write) -> None:
    head = "- {id: a, title: A, urgency: low, message: m, documents: [x], when: "
    write("triggers/a.yaml", head + "{any: [{meaning: [wipe]}]}}\n")
    write("triggers/b.yaml", head.replace("id: a", "id: b") + f"{{any: [{{meaning: {['wipe the site'] * 21}}}]}}}}\n")
    write("triggers/c.yaml", head.replace("id: a", "id: c") + "{any: [{meaning: [wipe the site]}]}}\n")
    loaded = load_triggers(str(tmp_path))
    assert [trigger.id for trigger in loaded.triggers] == ["c"]
    assert [(p.path, p.code) for p in loaded.problems if p.severity == "error"] == [
        ("triggers/a.yaml", "bad-clause"), ("triggers/b.yaml", "bad-clause"),
    ]  # fmt: skip


def test_a_mapping_instead_of_a_list_is_a_problem(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", "id: a\n")
    assert problems(tmp_path) == [("a.yaml", 1, "wrong-type")]


SCALARS = st.sampled_from(["a", "user", "low", "hold", "", None, 3, True, "(a+)+", "{a|b", "delete site", "30m"])
KEYS = st.sampled_from([*FIELDS, "any", "all", "phrase", "pattern", "command", "tool", "write", "error", "name",
                        "input", "turns",
                        "role", "fires", "silent", "after", "mode", "a"])  # fmt: skip
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


@given(st.lists(st.dictionaries(KEYS, ANYTHING, max_size=8), max_size=2) | ANYTHING, ANYTHING)
@settings(max_examples=100, deadline=None)
def test_no_trigger_or_case_raises(triggers: object, cases: object) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "triggers")
        folder.mkdir()
        (folder / "a.yaml").write_text(json.dumps(triggers), encoding="utf-8")
        (folder / "a.cases.yaml").write_text(json.dumps(cases), encoding="utf-8")
        loaded = load_triggers(root)
        assert all(problem.path.startswith("triggers/") for problem in loaded.problems)


@given(st.binary(max_size=60))
@settings(max_examples=40, deadline=None)
def test_no_bytes_raise(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "triggers")
        folder.mkdir()
        (folder / "a.yaml").write_bytes(data)
        (folder / "a.cases.yaml").write_bytes(data)
        load_triggers(root)


def test_cases_beside_a_file_that_does_not_parse_are_not_called_unknown(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", GOOD + "\n  - [")
    write("triggers/a.cases.yaml", CASES)
    write("triggers/b.cases.yaml", CASES)
    found = [(path, code) for path, _, code in problems(tmp_path)]
    assert [path for path, code in found if code == "unknown-trigger"] == ["b.cases.yaml"]
    assert any(path == "a.yaml" for path, _ in found)
