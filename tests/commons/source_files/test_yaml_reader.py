"""Any text is parsed into values or problems, and never raises, explodes or creates foreign objects."""

from __future__ import annotations

import json
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.source_files import yaml_reader
from deia.commons.source_files.yaml_reader import DEPTH, Items, Map, plain, read_yaml

YAMLISH = st.text(alphabet=st.sampled_from("ab:-?[]{}&*!|>'\"#%@,\n\t <~0.\x00\ud800é"), max_size=60)


def codes(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in read_yaml(text, path="f.yaml").problems]


def test_every_item_knows_its_line() -> None:
    read = read_yaml("a: 1\nb:\n  - x\n\n  - y: 2\n    z: 3\n", path="f.yaml").value
    assert isinstance(read, Map)
    assert isinstance(read["b"], Items)
    assert isinstance(read["b"][1], Map)
    assert (read.at("a"), read.at("b"), read["b"].lines, read["b"][1].at("z")) == (1, 2, [3, 5], 6)
    assert plain(read) == {"a": 1, "b": ["x", {"y": 2, "z": 3}]}


def test_lines_count_from_where_the_text_begins() -> None:
    assert read_yaml("a: [", path="f.md", first_line=2).problems[0].line == 2
    assert read_yaml("x: 1\nx: 2", path="f.md", first_line=10).problems[0].line == 11


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.0", 1.0), ("3.10", "3.10"), ("0755", "0755"), ("no", "no"), ("on", "on"), ("12", 12), ("-3", -3),
        ("1e5", "1e5"),
        ("2026-11-20", "2026-11-20"), ("2026-99-99", "2026-99-99"), ("1:30", "1:30"), ("true", True),
        ("False", False),
        ("~", None), ("null", None), ("", None), ("'12'", "12"), ("!!str 12", "12"), ("!!int x", "x"), ("20+", "20+"),
        ("9" * 5000, "9" * 5000), (".nan", ".nan"), ("-0", "-0"), ("0x1f", "0x1f"),
    ],
)  # fmt: skip
def test_a_scalar_becomes_a_number_only_if_it_is_written_the_same_again(written: str, value: object) -> None:
    read = read_yaml(f"a: {written}\n", path="f.yaml")
    assert not read.problems
    assert isinstance(read.value, Map)
    assert read.value["a"] == value
    assert type(read.value["a"]) is type(value)


def test_line_ends_that_no_editor_shows_do_not_move_the_lines() -> None:
    read = read_yaml("a: x\u2028y\nb: x\x85y\nc: 1\n", path="f.yaml")
    assert isinstance(read.value, Map)
    assert (read.value.at("c"), read.value["a"]) == (3, "x y")


def test_all_duplicate_keys_are_reported_and_the_first_counts() -> None:
    read = read_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", path="f.yaml")
    assert [(p.line, p.code) for p in read.problems] == [(4, "duplicate-key"), (5, "duplicate-key")]
    assert plain(read.value) == {"a": 1, "b": {"c": 1}}
    assert "line 1" in read.problems[1].found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: [1, 2\nb: 3\n", (2, "yaml-syntax")),
        ("a:\n\t- x\n", (2, "yaml-syntax")),
        ("ok: 1\nbad: \x00\n", (2, "yaml-character")),
        ("bad: \ud800\n", (1, "yaml-character")),
        ("a: 1\n---\nb: 2\n", (2, "yaml-documents")),
        ("a: *nowhere\n", (1, "yaml-alias")),
        ("a: &x [*x]\n", (1, "yaml-alias")),
        ("a: !!python/object/apply:os.system ['true']\n", (1, "yaml-tag")),
        ("a: 1\nb: !secret x\n", (2, "yaml-tag")),
        ("? [a, b]\n: 1\n", (1, "yaml-key")),
        ("- " * (DEPTH + 1) + "x", (1, "yaml-depth")),
        ("[" * 50_000, (1, "yaml-depth")),
    ],
)
def test_what_is_no_plain_yaml_is_one_problem_with_its_line(text: str, found: tuple[int, str]) -> None:
    assert codes(text) == [found]


def test_aliases_and_merges_work_within_bounds() -> None:
    text = "base: &b {x: 1, y: 2}\nother:\n  <<: *b\n  y: 3\nlist: [*b, *b]\nmore: {<<: [*b, {z: 9}]}\n"
    read = read_yaml(text, path="f.yaml")
    assert not read.problems
    assert isinstance(read.value, Map)
    assert plain(read.value["other"]) == {"y": 3, "x": 1}
    assert plain(read.value["more"]) == {"x": 1, "y": 2, "z": 9}
    assert plain(read.value["list"]) == [{"x": 1, "y": 2}] * 2


def test_a_billion_laughs_is_refused_quickly() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    began = time.process_time()
    assert [code for _, code in codes("\n".join(lines))] == ["yaml-alias"]
    assert time.process_time() - began < 1


def test_a_chain_of_aliases_cannot_nest_without_end() -> None:
    lines = ["- &a0 [x]", *(f"- &a{n} [*a{n - 1}]" for n in range(1, 2000))]
    assert [code for _, code in codes("\n".join(lines))] == ["yaml-alias"]


@given(YAMLISH)
@settings(max_examples=100, deadline=None)
def test_no_text_raises(text: str) -> None:
    read = read_yaml(text, path="f.yaml")
    json.dumps(plain(read.value))
    assert read.value is not None or read.problems or not text.strip() or not plain(read.value)


@given(YAMLISH)
@settings(max_examples=60, deadline=None)
def test_no_text_raises_with_the_parser_in_pure_python(text: str) -> None:
    fast, yaml_reader.LOADER = yaml_reader.LOADER, yaml.SafeLoader
    try:
        json.dumps(plain(read_yaml(text, path="f.yaml").value)).encode()
    finally:
        yaml_reader.LOADER = fast


@given(st.recursive(st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
                    max_leaves=12))  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_what_another_writer_wrote_safely_is_read_as_it_was(value: object) -> None:
    text = yaml.safe_dump({"value": value}, allow_unicode=False)
    read = read_yaml(text, path="f.yaml")
    expected = {"value": value}
    if "!!binary" in text or "? " in text:
        return
    assert not read.problems
    assert plain(read.value) == expected
