from __future__ import annotations

import csv
import io
import json
import string
import time
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.reading import ChunkerConfig

if TYPE_CHECKING:
    from deia.knowledge import Chunk

API = {
    "openapi": "3.1",
    "paths": {"/users": {"get": {"$ref": "#/components/schemas/User"}}, "/orders": {"get": {"x": 1}}},
    "components": {"schemas": {"User": {"type": "object"}, "Order": {"type": "object"}}},
}
VALUES = st.recursive(
    st.none() | st.integers() | st.text(string.printable, max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(string.ascii_letters, max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)
CONFIG = ChunkerConfig(max_chars=60)


def cut(path: str, text: str, config: ChunkerConfig = CONFIG) -> list[Chunk]:
    return chunk(read(path, text.encode()), id="x", config=config)


@pytest.mark.parametrize(
    ("path", "text"),
    [("api.json", json.dumps(API, indent=1)), ("api.yaml", yaml.safe_dump(API)), ("api.json", json.dumps(API))],
)
def test_the_paths_and_schemas_of_an_api_are_chunks_of_their_own_that_tell_what_they_refer_to(
    path: str, text: str
) -> None:
    chunks = {each.symbol: each for each in cut(path, text, ChunkerConfig())}
    assert {"paths./users", "paths./orders", "components.schemas.User", "components.schemas.Order"} <= set(chunks)
    assert chunks["paths./users"].metadata["references"] == ["#/components/schemas/User"]
    assert (chunks["paths./users"].kind, chunks["components.schemas.User"].kind) == ("path", "schema")
    assert chunks["paths./users"].parent == chunks["paths"].ordinal


def test_small_keys_share_a_chunk_and_large_ones_are_cut_at_their_keys() -> None:
    text = json.dumps({"a": 1, "b": 2, "big": {"c": "x" * 40, "d": "y" * 40}}, indent=2)
    assert [(each.symbol, each.lines) for each in cut("a.json", text)] == [
        ("a … b", (2, 3)), ("big", (4, 4)), ("big.c", (5, 5)), ("big.d", (6, 6)),
    ]  # fmt: skip


def test_a_record_of_json_lines_is_a_line_and_one_of_csv_may_be_several() -> None:
    assert [each.lines for each in cut("a.jsonl", '{"a": "%s"}\n{"a": 2}\n' % ("x" * 50))] == [(1, 1), (2, 2)]
    first, second = cut("a.csv", 'name,note\n"Ann","two\nlines of it, which are quite long"\nBob,2\n')
    assert (first.lines, first.heading, second.text) == ((1, 3), "name | note", "Bob,2")


def test_yaml_keeps_comments_block_texts_and_several_documents() -> None:
    chunks = cut("a.yaml", "a: |\n  long text that is\n  on several lines\n# about b\nb: [1, 2, 3, 4, 5, 6]\n")
    assert [(each.symbol, each.lines) for each in chunks] == [("a", (1, 3)), ("b", (4, 5))]
    assert [each.symbol for each in cut("k.yaml", "a: 1\n---\nb: " + "x" * 50 + "\n")] == ["0", "1"]


def test_a_record_of_a_log_keeps_the_lines_that_belong_to_it() -> None:
    log = "".join(f"2026-11-23 10:00:0{n} ERROR it failed\n  at step {n} of this\n" for n in range(3))
    assert [each.lines for each in cut("a.log", log)] == [(1, 2), (3, 4), (5, 6)]


def test_aliases_and_entities_are_not_expanded() -> None:
    laughs = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
    )
    assert len("".join(each.text for each in cut("a.yaml", laughs))) <= len(laughs)
    xml = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<l><m>&b;</m></l>'
    assert "hahaha" not in "".join(each.text for each in cut("a.xml", xml))


def test_elements_are_named_by_their_path_and_id() -> None:
    text = '<r>\n <item id="a">words of the first one, more than a few</item>\n <item id="b"/>\n</r>'
    assert [each.symbol for each in cut("a.xml", text)] == ["", "r.item[a]", "r.item[b]"]


@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.xml", "a.csv", "a.jsonl"])
@pytest.mark.parametrize(
    "text", ["", "{", '{"a"', "[" * 5000, "a: [", "<a><b>", '"', "\x01", "{}", "- - - -\n" * 50, "<a/>"]
)
def test_what_does_not_parse_is_cut_all_the_same(path: str, text: str) -> None:
    kept = "".join(each.text for each in cut(path, text))
    assert [letter for letter in kept if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


def test_deep_nesting_is_cut() -> None:
    assert cut("a.json", '{"a":' * 900 + "1" + "}" * 900)
    assert cut("a.yaml", "".join(" " * n + f"k{n}:\n" for n in range(300)))
    assert cut("a.xml", "<a>" * 5000 + "</a>" * 5000)


@given(VALUES, st.sampled_from(["json", "yaml"]), st.booleans())
def test_no_value_is_lost(value: object, form: str, wide: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    text = (
        json.dumps(value, indent=None if wide else 1)
        if form == "json"
        else yaml.safe_dump(value, default_flow_style=wide)
    )
    kept = "".join(each.text for each in cut(f"a.{form}", text))
    assert [letter for letter in kept if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


@given(st.lists(st.lists(st.text(string.printable, max_size=9), min_size=1, max_size=3), max_size=9))
def test_no_record_is_lost(rows: list[list[str]]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    text = read("a.csv", buffer.getvalue().encode()).text
    kept = "".join(each.text for each in cut("a.csv", buffer.getvalue()))
    assert [letter for letter in kept if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


@given(VALUES)
def test_no_text_of_an_element_is_lost(value: object) -> None:
    def grow(element: ET.Element, part: object) -> None:
        if isinstance(part, (list, dict)):
            for one in part:
                grow(ET.SubElement(element, "e", {"id": str(one)[:3]} if isinstance(one, str) else {}), one)
        else:
            element.text = "".join(letter for letter in str(part) if letter.isprintable())

    root = ET.Element("r")
    grow(root, value)
    text = ET.tostring(root, encoding="unicode")
    kept = "".join(each.text for each in cut("a.xml", text))
    words = [part.text for part in root.iter() if part.text]
    assert all(letter in kept for word in words for letter in word if letter.isalnum())


@given(st.sampled_from(["json", "yaml", "xml", "csv"]), st.text(alphabet='{}[]":,-<>/= ab\n#&*|', max_size=80))
def test_any_text_is_cut(form: str, text: str) -> None:
    assert cut(f"a.{form}", text)


def test_one_huge_line_takes_time_by_its_length_and_not_by_its_square() -> None:
    text = json.dumps([{"id": n, "text": "x" * 20} for n in range(100_000)])
    began = time.process_time()
    cut("a.json", text, ChunkerConfig())
    assert time.process_time() - began < 4  # it was 8, and is 1
