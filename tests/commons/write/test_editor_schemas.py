"""The schemas for editors say what the readers accept, and every file that deia writes finds its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deia import records
from deia.commons.index import index_parts, shapes
from deia.commons.notes import describe
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import Map, plain, read_yaml
from deia.commons.triggers import cases, clause_language, conditions, read_triggers
from deia.commons.triggers.own_act_words import PATH as OWN_ACT_WORDS
from deia.commons.write import init
from deia.commons.write.add_lesson import SCHEMAS, add_lesson, write_draft
from deia.commons.write.index_store import DERIVED, ORDER
from tests.commons.write.test_add_lesson import TODAY, drafted
from tests.paths import ROOT

LINE = "# yaml-language-server: $schema="


def schema(name: str) -> dict[str, Any]:
    path = Path(init.TEMPLATE) / f"triggers/schema/{name}.json"
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def is_valid(name: str, text: str) -> bool:
    value = plain(read_yaml(text, path=name).value)
    return jsonschema.Draft7Validator(schema(name)).is_valid(value)


def kind_of(path: Path) -> str:
    return "index" if path.parent.name != "triggers" else "cases" if ".cases." in path.name else "triggers"


FILES = [
    path
    for root in (ROOT, Path(init.TEMPLATE))
    for path in (root / "commons_index.yaml", *sorted((root / "triggers").glob("*.yaml")))
    if not path.as_posix().endswith(OWN_ACT_WORDS)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_of_the_starter_and_of_a_new_commons_is_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace(init.DAY.decode(), TODAY)
    value = plain(read_yaml(text, path=path.name).value)
    jsonschema.Draft7Validator(schema(kind_of(path))).validate(value)


def properties(name: str, *steps: str) -> set[str]:
    value: Any = schema(name)
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return set(value["properties"])


TRIGGER = ("items", "properties")
CLAUSE = ("definitions", "clause")
LONG_FORM = ("anyOf", "1")


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        (properties("triggers", "items"), read_triggers.FIELDS),
        (properties("triggers", *TRIGGER, "when"), read_triggers.WHEN_FIELDS),
        (properties("triggers", *TRIGGER, "documents", "items", *LONG_FORM), read_triggers.REFERENCE_FIELDS),
        (properties("triggers", *TRIGGER, "when", "properties", "earlier", "anyOf", "2"), conditions.EARLIER_FIELDS),
        (properties("triggers", *CLAUSE), conditions.KINDS),
        (properties("triggers", *CLAUSE, "properties", "act"), conditions.ACT_FIELDS),
        (properties("triggers", *CLAUSE, "properties", "tool", *LONG_FORM), conditions.TOOL_FIELDS),
        (properties("triggers", *CLAUSE, "properties", "write", *LONG_FORM), clause_language.WRITE_FIELDS),
        (properties("cases", "additionalProperties"), cases.VERDICTS),
        (properties("cases", "definitions", "cases", "items", *LONG_FORM), cases.CASE_FIELDS),
        (properties("cases", "definitions", "cases", "items", *LONG_FORM, "properties", "turns", "items"),
         cases.TURN_FIELDS),
        (properties("index"), {*ORDER, *DERIVED}),
        (properties("index", "definitions", "entry"), {*describe.KNOWN, "strength"}),
        (properties("index", "properties", "clusters", "additionalProperties"), shapes.CLUSTER_FIELDS),
        (properties("index", "properties", "query_patterns", "items"), index_parts.QUERY_FIELDS),
        (properties("index", "properties", "proactive_triggers", "items"), index_parts.TRIGGER_FIELDS),
    ],
)  # fmt: skip
def test_a_schema_has_the_keys_that_the_reader_knows_and_no_others(shown: set[str], read: tuple[str, ...]) -> None:
    assert shown == set(read)


def test_a_schema_offers_the_values_that_the_reader_knows() -> None:
    fields = schema("triggers")["items"]["properties"]
    for name, values in (
        ("status", records.STATUSES), ("urgency", records.URGENCIES), ("timing", records.TIMINGS),
        ("action", records.ACTIONS),
    ):  # fmt: skip
        assert fields[name]["enum"] == list(values)
    assert fields["stance"]["anyOf"][0]["enum"] == list(records.STANCES)
    assert fields["when"]["properties"]["who"]["anyOf"][0]["enum"] == list(read_triggers.WATCHED)
    assert schema("triggers")["definitions"]["mark"]["enum"] == list(conditions.MARKS)


GOOD = "- {id: a-b, title: A, urgency: low, message: M., documents: [x], when: {any: [{phrase: drop it}]}}"


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("title: A", "tittle: A"),
        ("title: A, ", ""),
        ("urgency: low", "urgency: huge"),
        ("id: a-b", "id: A b"),
        ("documents: [x]", "documents: []"),
        ("documents: [x]", "documents: x"),
        ("documents: [x]", "documents: [{id: x, mood: full_context}]"),
        ("{any: [{phrase: drop it}]}", "{}"),
        ("{any: [{phrase: drop it}]}", "{any: {phrase: drop it}}"),
        ("phrase: drop it", "phrase: drop it, command: rm"),
        ("phrase: drop it", "phrases: drop it"),
        ("phrase: drop it", "act: {what: database}"),
        ("phrase: drop it", "phrase: {english: drop it}"),
        ("phrase: drop it", "write: {path: ['*.toml']}"),
        ("phrase: drop it", "tool: {input: {command: rm}}"),
        ("any: [", "earlier: broken, any: ["),
        ("any: [", "earlier: {any: [{phrase: a freeze}], within: soon}, any: ["),
        ("any: [", "stance: [maybe], any: ["),
        ("title: A", "title: A, repeat: {after: soon}"),
    ],
)
def test_what_the_reader_refuses_an_editor_underlines(good: str, bad: str) -> None:
    for text, is_sound in ((GOOD, True), (GOOD.replace(good, bad), False)):
        findings = Findings("t")
        items = read_yaml(text, path="t").value
        assert isinstance(items, list)
        assert isinstance(items[0], Map)
        assert (read_triggers.read_trigger(items[0], findings) is not None) is is_sound
        assert is_valid("triggers", text) is is_sound


def test_every_file_that_is_written_names_a_schema_that_is_there(tmp_path: Path) -> None:
    init.create_commons(str(tmp_path), today=TODAY)
    add_lesson(str(tmp_path), title="Deleting a site", today=TODAY, draft=drafted)
    write_draft(str(tmp_path), "sites", ident="b", trigger=GOOD.replace("a-b", "b"), cases="b: {fires: [drop it]}\n")
    written = [tmp_path / "commons_index.yaml", *(tmp_path / "triggers").glob("*.yaml")]
    assert len(written) == 7
    for path in written:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(LINE), path
        target = path.parent / first.removeprefix(LINE)
        assert target.is_file()
        assert target.stem == kind_of(path)


def test_a_commons_without_schemas_gets_no_line_that_leads_nowhere(tmp_path: Path) -> None:
    write_draft(str(tmp_path), "sites", ident="a-b", trigger=GOOD, cases="a-b: {fires: [drop it]}\n")
    assert (tmp_path / "triggers/sites.yaml").read_text(encoding="utf-8").startswith("- {id: a-b")


def test_init_replaces_the_schemas_of_an_earlier_version_and_nothing_else(tmp_path: Path) -> None:
    init.create_commons(str(tmp_path), today=TODAY)
    (tmp_path / "deia.toml").write_text("# mine\n", encoding="utf-8")
    (tmp_path / SCHEMAS[0]).write_text("{}", encoding="utf-8")
    again = init.create_commons(str(tmp_path), today=TODAY)
    assert again.written == (SCHEMAS[0],)
    assert SCHEMAS[0] not in again.existed
    assert json.loads((tmp_path / SCHEMAS[0]).read_text(encoding="utf-8")) == schema("cases")
    assert (tmp_path / "deia.toml").read_text(encoding="utf-8") == "# mine\n"
