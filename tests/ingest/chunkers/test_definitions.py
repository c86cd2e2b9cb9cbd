from __future__ import annotations

import ast
import inspect
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.reading import ChunkerConfig, CodeChunkerConfig, Reading
from deia.knowledge import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("tree_sitter_language_pack")

SAMPLES = tomllib.loads(Path(__file__).with_name("samples.toml").read_text(encoding="utf-8"))
STANDARD_LIBRARY = Path(os.__file__).parent


def chunks_of(text: str, language: str = "python", config: ChunkerConfig | None = None) -> list[Chunk]:
    reading = Reading(type="code", title="m", path="src/m.x", text=text, language=language)
    return chunk(reading, id="m", config=config or ChunkerConfig())


def symbols(chunks: list[Chunk]) -> Iterator[tuple[str, str, tuple[int, int]]]:
    for each in chunks:
        if each.kind != "module" or each.symbol != "m":
            yield each.kind, each.symbol, each.lines
        inner = each.metadata.get("defines", [])
        assert isinstance(inner, list)
        for part in inner:
            assert isinstance(part, dict)
            lines = part["lines"]
            assert isinstance(lines, list)
            yield str(part["kind"]), str(part["symbol"]), (int(str(lines[0])), int(str(lines[1])))


@pytest.mark.parametrize("language", SAMPLES)
def test_each_language_parses_its_sample_and_finds_what_it_defines(language: str) -> None:
    from tree_sitter_language_pack import get_parser  # noqa: PLC0415 - an extra

    sample = SAMPLES[language]
    assert not get_parser(language).parse(sample["source"].encode()).root_node.has_error  # type: ignore[arg-type]
    found = chunks_of(sample["source"], language, ChunkerConfig(strategy="hierarchical", max_chars=40))
    names = {name for one in sample["defines"] for name in one.split(" ")[1:]}
    assert names <= {part for _, symbol, _ in symbols(found) for part in symbol.split(" … ")}


def test_a_class_that_fits_is_whole_and_tells_what_is_in_it() -> None:
    (whole,) = chunks_of("class A:\n    x = 1\n\n    def b(self):\n        return 1\n")
    assert (whole.kind, whole.symbol, whole.heading, whole.lines) == ("class", "A", "class A", (1, 5))
    assert list(symbols([whole]))[1] == ("method", "A.b", (4, 5))


def test_a_class_that_does_not_fit_is_its_head_and_its_methods_below_it() -> None:
    body = "".join(f"\n    def m{n}(self, x: int) -> int:\n        {'return x' + ' + 1' * 50}\n" for n in range(20))
    head, first, *_ = chunks_of(f'class A:\n    """Says A."""\n{body}')
    assert (head.kind, head.symbol, head.text) == ("class", "A", 'class A:\n    """Says A."""')
    assert head.metadata["whole"] == [1, 62]
    assert (first.kind, first.symbol, first.parent, first.level) == ("method", "A.m0", 0, 1)
    assert first.heading == "A > def m0(self, x: int) -> int"


def test_a_function_that_does_not_fit_is_cut_between_lines_and_each_part_names_it() -> None:
    text = "def long():\n" + "".join(f"    step({n})\n" for n in range(400))
    parts = chunks_of(text, config=CodeChunkerConfig(max_chunk_size=1000))
    assert len(parts) > 4
    assert {part.symbol for part in parts} == {"long"}
    assert [part.parent for part in parts[:3]] == [-1, 0, 0]
    assert all(len(part.text) <= 1000 and part.text.endswith(")") for part in parts[1:])


def test_a_comment_above_a_definition_belongs_to_it_and_a_decorator_does() -> None:
    assert chunks_of("int x;\n\n/* Says f. */\nint f() { return 1; }\n", "c")[-1].lines == (3, 4)
    assert chunks_of("import a\n\n@a.b\ndef c():\n    pass\n")[-1].lines == (3, 5)


def test_tables_tell_what_they_refer_to() -> None:
    (table,) = chunks_of("CREATE TABLE orders (\n  id int,\n  customer int REFERENCES customers (id)\n);\n", "sql")
    assert table.metadata["references"] == ["customers"]


def test_messages_tell_what_they_refer_to() -> None:
    text = 'syntax = "proto3";\nmessage A {\n  B b = 1;\n  int32 n = 2;\n}\nservice S {\n  rpc Get(A) returns (C);\n}\n'
    references = {each.symbol: each.metadata.get("references") for each in chunks_of(text, "proto")}
    assert references["A"] == ["B"]
    assert references["S"] == ["A", "C"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("message A { B b = 1; repeated C.D c = 2; int32 n = 3; }", ["B", "C.D"]),
        ("message A { oneof x { B b = 1; E e = 2; } map<string, F> f = 4; }", ["B", "E", "F"]),
        ("message A {\n  optional B b = 1; C c = 2;\n}", ["B", "C"]),
    ],
)
def test_messages_on_one_line_tell_what_they_refer_to(text: str, names: list[str]) -> None:
    (message,) = chunks_of(f'syntax = "proto3";\n{text}\n', "proto")[-1:]
    assert message.metadata["references"] == names


def test_code_of_an_unknown_language_is_cut_between_lines() -> None:
    assert len(chunks_of("x = 1\n" * 1000, "nothing")) > 1


@pytest.mark.parametrize("module", ["argparse", "ast", "dataclasses", "decimal", "typing", "unittest/mock"])
def test_every_definition_that_python_finds_is_found_with_the_same_lines(module: str) -> None:
    text = (STANDARD_LIBRARY / f"{module}.py").read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    wanted = {(min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno) for node in nodes}
    chunks = chunks_of(text)
    wholes = {tuple(whole) for each in chunks if isinstance(whole := each.metadata.get("whole"), list)}
    assert wanted <= {lines for _, _, lines in symbols(chunks)} | wholes


@given(
    st.lists(st.sampled_from(["def f():", "class A:", "  def g(self):", "    x", '"""', "{", "}", "@d", "#", "é", ""]))
)
def test_no_line_of_any_source_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "".join(each.text for each in chunks_of(text))
    assert [letter for letter in kept if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_broken_source_is_cut_all_the_same(language: str, data: st.DataObject) -> None:
    source = SAMPLES[language]["source"]
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(source)), st.integers(0, len(source)))))
    text = (source[:start] + data.draw(st.text(max_size=5)) + source[end:]).replace("\r", "")
    assert chunks_of(text, language, CodeChunkerConfig(max_chunk_size=40))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("d", "int a() { return 1; }\nclass B `\u89df\U000d56c7{} }"),
        ("d", "int a()\U000c65f7g< {} }"),
        ("bash", "a() {\U0002eb75\U000fe4a9{\U00100f1d\u8b72c { d; }"),
    ],
)
def test_characters_that_crash_a_grammar_are_kept_from_it(language: str, text: str) -> None:
    kept = "".join(part.text for part in chunks_of(text, language))
    assert "".join(kept.split()) == "".join(text.split())


def test_deep_nesting_is_cut() -> None:
    assert chunks_of("".join(" " * n + f"def f{n}():\n" for n in range(900)) + " " * 901 + "pass")
    assert chunks_of("{" * 20_000 + "}" * 20_000, "c")
    assert inspect.isfunction(chunks_of)
