"""Compiling triggers: what is stored, what gates, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.clause_language import (
    MOST_COMMANDS,
    MOST_SLOTS,
    TemplateError,
    clause_problems,
    parse_command,
    parse_phrase,
    split_template,
)
from deia.compile.triggers.build_artefact import Payload, compile_triggers
from deia.compile.triggers.word_forms import forms
from deia.firing import Reference
from deia.knowledge import Clause, Trigger
from deia.watch.compiled_trigger import Unless
from deia.watch.gate.artefact import Artefact
from deia.watch.gate.word_gate import A_CHANGE, A_FIELD, A_LINE, A_PART, A_TOOL, EVERYBODY, SAID


def trigger(*clauses: tuple[str, Any], **fields: Any) -> Trigger:
    given: dict[str, Any] = {
        "id": "t", "title": "T", "urgency": "high", "message": "M", "documents": (), "who": ("user",),
        "any": tuple(Clause(kind=kind, value=value) for kind, value in clauses),
    }  # fmt: skip
    return Trigger(**{**given, **fields})


def compiled(*triggers: Trigger, **documents: Payload) -> tuple[Artefact, tuple[str, ...]]:
    data, ungated = compile_triggers(triggers, documents, settings={"hold": True}, identity={"digest": "d"})
    return Artefact(data), ungated


def gates(*clauses: tuple[str, Any], **fields: Any) -> list[list[list[str]]]:
    """Return the rows of a trigger, each a list of groups, each a list of words."""
    artefact, _ = compiled(trigger(*clauses, **fields))
    groups: dict[bytes, list[str]] = {}
    for number in range(artefact.count(0)):
        for line in artefact.item(0, number).decode().split("\n"):
            word, tab, names = line.partition("\t")
            for group in names.split(",") if tab else ():
                groups.setdefault(group.encode(), []).append(word)
    every = range(artefact.count(2))
    return [sorted(sorted(groups[group]) for group in artefact.row(row)[2]) for row in every]


def test_a_trigger_is_stored_with_all_it_needs() -> None:
    lesson = Payload(id="a", path="bok/a.md", title="A", summary="S", text="T")
    reference = Reference(id="a", mode="full_context", reason="R")
    gone = Reference(id="gone", mode="full_context")
    artefact, ungated = compiled(
        trigger(("phrase", "sell shop"), documents=(reference, gone), unless=("--help", "dry run")), a=lesson
    )
    stored = artefact.trigger(0)
    assert [tuple(document) for document in stored.documents] == [(0, "full_context", "R")]
    unless = list(stored.unless)
    assert unless[0] == Unless(source="--help", flag="--help")
    assert "runs" in unless[1].words[1]
    assert artefact.document(0) == lesson.values()
    assert artefact.meta.settings == {"hold": True}
    assert artefact.meta.digest == "d"
    assert ungated == ()


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("triggers/a.yaml", "starter"),
        ("packs/team/triggers/a.yaml", "pack team"),
        ("starter:triggers/a.yaml", "starter"),
    ],
)
def test_whose_a_trigger_is_stands_in_it(path: str, origin: str) -> None:
    one = trigger(("phrase", "sell shop"), path=path)
    data, _ = compile_triggers([one], {}, settings={}, identity={}, own="starter")
    assert Artefact(data).trigger(0).origin == origin
    assert compiled(one)[0].trigger(0).origin == origin.replace("starter", "project" if ":" not in path else "starter")


def test_deprecated_triggers_are_left_out_and_the_others_sorted() -> None:
    artefact, _ = compiled(*(trigger(("phrase", "sell"), id=one, status=status) for one, status in
                             (("c", "stable"), ("a", "test"), ("b", "deprecated"))))  # fmt: skip
    assert [artefact.trigger(number).id for number in range(artefact.meta.triggers)] == ["a", "c"]


def test_no_trigger_at_all_compiles() -> None:
    artefact, ungated = compiled()
    assert artefact.meta.triggers == 0
    assert artefact.groups_of("anything") == ()
    assert ungated == ()


@pytest.mark.parametrize(
    ("clause", "rows"),
    [
        (("error", "no space left"), [[["no"], ["space"], ["left"]]]),
        (("error", "{disk|volume} full"), [[["disk", "volume"], ["full"]]]),
        (("command", "git push --force"), [[["git"], ["push"], ["fo", "forc", "force"]]]),
        (("command", "rm -rf"), [[["rm"]]]),
        (("command", "a {b|c}"), [[["a"], ["b"]], [["a"], ["c"]]]),
        (("command", "dropdb … *prod*"), [[["dropdb"]]]),
        (("command", "db *.prod.net"), [[["db"], ["net"], ["prod"]]]),
        (("pattern", r"\bnuclear\b"), [[["nuclear"]]]),
        (("write", [".env*"]), [[["\x01write"]]]),
        (("write", ["**/migrations/*"]), [[["\x01write"], ["migrations"]]]),
        (
            ("tool", {"name": "mcp__*__drop_table"}),
            [[[A_TOOL], ["drop"], ["mcp"], ["table"], [A_PART + "__drop_table"], [A_PART + "mcp__"]]],
        ),
        (("tool", {"name": "*Edit*", "input": {"path": "*"}}), [[[A_TOOL], [A_PART + "edit"], [A_FIELD + "path"]]]),
        (
            ("tool", {"name": "scale", "input": {"replicas": "0"}}),
            [[[A_TOOL], ["scale"], [A_PART + "scale"], [A_FIELD + "replicas"]]],
        ),
        (("write", {"adds": r"\bverify=False\b", "paths": ["*.py"]}), [[[A_CHANGE], ["false"], ["verify"]]]),
        (("tool", {"name": "[*]drop"}), [[[A_TOOL], ["drop"]]]),
        (("phrase", "{|now} sell"), [[[SAID], sorted(forms("sell"))]]),
    ],
)
def test_the_gate_needs_the_words_that_are_sure(clause: tuple[str, Any], rows: list[list[list[str]]]) -> None:
    own = [[group for group in row if group != [A_LINE]] for row in gates(clause)]
    assert [sorted(row) for row in own] == [sorted(row) for row in rows]


def test_a_phrase_is_gated_by_all_forms_of_the_rarest_word_of_each_place() -> None:
    ((_, first, second),) = (sorted(row) for row in gates(("phrase", "{delete|tear down} {|every} … shop")))
    assert {"delete", "deleted", "tearing", "tore"} <= set(first)
    assert "shops" in second


def test_a_trigger_that_no_word_gates_is_named() -> None:
    _, ungated = compiled(trigger(("pattern", r"\d{3}"), id="slow"), trigger(("phrase", "sell"), id="quick"))
    assert ungated == ("slow",)


def test_a_context_without_a_word_names_nobody() -> None:
    artefact, ungated = compiled(trigger(("phrase", "sell"), context=("…", "netlify")))
    assert artefact.meta.contexts == "netlify"
    assert ungated == ()


def test_all_and_any_multiply_until_it_is_too_much() -> None:
    many = "{" + "|".join(f"w{number}" for number in range(30)) + "}"
    assert len(gates(("command", f"a {many}"), all=(Clause(kind="command", value="b"),))) == 30
    rows = gates(("command", f"a {many}"), all=(Clause(kind="command", value=f"b {many}"),))
    assert len(rows) == 30


def test_a_pasted_error_counts_for_a_trigger_of_errors_alone() -> None:
    artefact, _ = compiled(trigger(("error", "no space"), who=("tool_result",)))
    assert artefact.trigger(0).who == 8 | 1
    artefact, _ = compiled(trigger(("error", "no space"), ("phrase", "sell"), who=("tool_result",)))
    assert artefact.trigger(0).who == 8
    assert EVERYBODY == 15


# --- the language of clauses ---


@pytest.mark.parametrize(
    ("template", "places"),
    [
        ("a b", [["a"], ["b"]]),
        ("a … b", [["a"], ["…"], ["b"]]),
        ("a ... b", [["a"], ["…"], ["b"]]),
        ("{a|b c} d", [["a", "b c"], ["d"]]),
        ("{|a} b", [["", "a"], ["b"]]),
        (r"a \{b\|c\} \\d", [["a"], ["{b|c}"], ["\\d"]]),
        (r"{a\|b|c}", [["a|b", "c"]]),
        ("", []),
    ],
)
def test_a_template_is_cut_into_its_places(template: str, places: list[list[str]]) -> None:
    assert split_template(template) == places


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{a", "never closed"),
        ("{a {b} c}", "another is inside"),
        ("a} b", "no { before it"),
        ("x{a|b}", "needs a space before"),
        ("{a|b}x", "needs a space after"),
        ("… a", "gap at the beginning"),
        ("a …", "gap at the end"),
        ("a {,|.} b", "has no word"),
        ("{|a} {|b}", "no required word"),
        ("", "no required word"),
        (" ".join("abcdefghijklmnop"), f"at most {MOST_SLOTS}"),
    ],
)
def test_a_phrase_that_cannot_be_meant_is_refused_with_the_reason(template: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        parse_phrase(template)
    assert says in clause_problems(Clause(kind="phrase", value=template))[0]


@pytest.mark.parametrize(
    ("template", "says"),
    [("", "begins with its program"), ("--force", "begins with its program"), ("… push", "begins with its program"),
     ("git " + "{a|b|c} " * 6, f"more than {MOST_COMMANDS}")],
)  # fmt: skip
def test_a_command_that_cannot_be_meant_is_refused_with_the_reason(template: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        parse_command(template)


@pytest.mark.parametrize(
    "clause",
    [("write", ()), ("write", ("*",)), ("write", (7,)), ("tool", {}), ("tool", {"name": 7}), ("tool", "x"),
     ("tool", {"name": "x", "input": {"a": 1}}), ("tool", {"name": "x", "other": 1})],
)  # fmt: skip
def test_a_list_of_globs_must_name_something(clause: tuple[str, Any]) -> None:
    assert clause_problems(Clause(kind=clause[0], value=clause[1]))


def test_alternatives_of_a_command_are_written_out_once() -> None:
    assert parse_command("git {push|push} {-f|}") == (("git", "push", "-f"), ("git", "push"))


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(alphabet="ab{}|\\…. -*", max_size=20), st.text(max_size=12)))
def test_every_template_is_read_or_refused(template: str) -> None:
    for kind in ("phrase", "error", "command"):
        problems = clause_problems(Clause(kind=kind, value=template))
        assert all(problems)
        if not problems:
            artefact, _ = compiled(trigger((kind, template)))
            assert artefact.trigger(0).any[0].kind == kind
