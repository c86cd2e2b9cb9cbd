"""`earlier` and the long form of `write` are read in their short and long forms, and every error is reported."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.layers.shadowing import without_location
from deia.commons.triggers.read_triggers import load_triggers
from deia.knowledge import Clause, Earlier, Trigger

if TYPE_CHECKING:
    from tests.commons.conftest import Write

HEAD = """\
- id: t
  title: T
  urgency: high
  message: M
  documents: [a]
  when:
    any: [{command: fly deploy}]
"""


def test_a_list_is_what_must_have_been_said(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", HEAD + "    earlier: [{phrase: code freeze}, {command: freeze begin}]\n")
    (trigger,) = load_triggers(str(tmp_path)).triggers
    assert trigger.earlier is not None
    assert [(one.kind, one.value, one.line) for one in trigger.earlier.any] == [
        ("phrase", "code freeze", 8), ("command", "freeze begin", 8),
    ]  # fmt: skip
    assert (trigger.earlier.until, trigger.earlier.within) == ((), 0)


def test_the_long_form_also_tells_what_takes_it_back_and_for_how_long(tmp_path: Path, write: Write) -> None:
    write("triggers/a.yaml", HEAD + "    earlier: {any: [{phrase: a b}], until: [{phrase: c d}], within: 20}\n")
    (trigger,) = load_triggers(str(tmp_path)).triggers
    assert trigger.earlier is not None
    assert [one.value for one in trigger.earlier.until] == ["c d"]
    assert trigger.earlier.within == 20


@pytest.mark.parametrize(
    ("written", "earlier"),
    [
        ("failing", Earlier(mark="failing")),
        ("{mark: production, within: 9}", Earlier(mark="production", within=9)),
        ("{mark: failing, otherwise: note}", Earlier(mark="failing", otherwise="note")),
    ],
)
def test_what_deia_notices_by_itself_is_named(tmp_path: Path, write: Write, written: str, earlier: Earlier) -> None:
    write("triggers/a.yaml", f"{HEAD}    earlier: {written}\n")
    (trigger,) = load_triggers(str(tmp_path)).triggers
    assert trigger.earlier == earlier


@pytest.mark.parametrize(
    ("earlier", "code"),
    [
        ("code freeze", "bad-earlier"),
        ("{mark: broken}", "bad-mark"),
        ("{mark: failing, any: [{phrase: a}]}", "bad-earlier"),
        ("{mark: failing, until: [{phrase: a}]}", "bad-earlier"),
        ("{mark: failing, otherwise: hold}", "bad-otherwise"),
        ("[]", "wrong-type"),
        ("{}", "bad-earlier"),
        ("{until: [{phrase: a}]}", "bad-earlier"),
        ("{any: [{phrase: a}], within: soon}", "bad-earlier"),
        ("{any: [{phrase: a}], within: 0}", "bad-earlier"),
        ("{any: [{phrase: a}], since: 3}", "unknown-field"),
        ("[{phrse: a}]", "unknown-clause"),
        ("[{phrase: '…'}]", "bad-clause"),
        ("[{phrase: 'delete <it>'}]", "bad-clause"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, write: Write, earlier: str, code: str) -> None:
    write("triggers/a.yaml", f"{HEAD}    earlier: {earlier}\n")
    loaded = load_triggers(str(tmp_path))
    assert loaded.triggers == ()
    assert code in [problem.code for problem in loaded.problems]
    assert {problem.line for problem in loaded.problems} == {8}


def test_what_a_file_must_be_is_read(tmp_path: Path, write: Write) -> None:
    text = HEAD.replace(
        "{command: fly deploy}", "{write: {paths: [a.md], unread: true}}, {write: {paths: b, like: yes}}"
    )
    write("triggers/a.yaml", text)
    (trigger,) = load_triggers(str(tmp_path)).triggers
    assert [clause.value for clause in trigger.any] == [
        {"paths": ("a.md",), "unread": True, "exists": True}, {"paths": ("b",), "like": True, "exists": False},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    ["{paths: []}", "{exists: true}", '{paths: ["*"]}', "{paths: [a], exists: maybe}", "{paths: [a], there: true}",
     "{paths: [a], exists: false, unread: true}", "{}", "{paths: {a: b}}", "{paths: [a], deletes: true, adds: b}",
     "{paths: [a], subject_gone: false}", "{adds: b, subject_gone: true}", "{deletes: true}"],
)  # fmt: skip
def test_what_no_file_can_be_is_a_problem(tmp_path: Path, write: Write, value: str) -> None:
    write("triggers/a.yaml", HEAD.replace("command: fly deploy", f"write: {value}"))
    loaded = load_triggers(str(tmp_path))
    assert loaded.triggers == ()
    assert {problem.line for problem in loaded.problems} == {7}


def test_a_pack_whose_lines_moved_has_not_changed() -> None:
    earlier = Earlier(
        any=(Clause(kind="phrase", value="a", line=3),), until=(Clause(kind="phrase", value="b", line=4),)
    )
    moved = Earlier(any=(Clause(kind="phrase", value="a", line=9),), until=(Clause(kind="phrase", value="b", line=9),))
    trigger = Trigger(id="t", title="T", urgency="low", message="M", documents=(), who=("user",))
    assert without_location(trigger.but(earlier=earlier)) == without_location(trigger.but(earlier=moved))
    assert without_location(trigger).earlier is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["{a|<it>} b", "code freeze"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["any", "until", "within", "phrase", "command", "write", "paths", "exists", "unread", "like",
                         "mark", "otherwise", "deletes", "subject_gone", "output"]),
        inner, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, st.sampled_from(["earlier", "any"]))
@settings(max_examples=80, deadline=None)
def test_anything_written_there_is_read_or_a_problem(value: object, name: str) -> None:
    trigger = {
        "id": "t", "title": "T", "urgency": "high", "message": "M", "documents": ["a"],
        "when": {"any": [{"command": "fly deploy"}], name: value},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "triggers", "a.yaml")
        path.parent.mkdir()
        path.write_text(json.dumps([trigger]), encoding="utf-8")
        loaded = load_triggers(folder)
    assert loaded.triggers or any(problem.severity == "error" for problem in loaded.problems)
