"""The lines of `ast` are the law; where the fast way is not sure, it says so and a parser does the work."""

from __future__ import annotations

import ast
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunkers import definitions as by_parser
from deia.ingest.chunkers.definitions import definitions
from deia.ingest.chunkers.python_code import python_definitions
from deia.ingest.reading import Reading
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from deia.ingest.chunkers.pieces import Definition, Node

STANDARD_LIBRARY = Path(os.__file__).parent
KINDS = {ast.FunctionDef: "function", ast.AsyncFunctionDef: "function", ast.ClassDef: "class"}
# Lines that begin with a bar lose it and are not indented with the others.
STATEMENTS = [
    ["x: int = 1  # note:"],
    ["# def f():"],
    ["|# at the margin:"],
    ["", "pass  # class A: '''"],
    ['x = """a', "|def f():", "|  # b '''", '|""" + \'"\''],
    ["'''", "|@x", "| def f(): (", "y'''"],
    ["x = (", "|1,", "|)"],
    ["x = [1, {", "|def_: ')',", "|    2: '#'", "}] and '''}'''"],
    ["x = 1 + \\", "|  2"],
    [r"x = 'it\'s # no comment', '\\', r'\\', r'\''", "class_ = defined = asynchronous = 1"],
    ['x = "" "" "\'\'\'" \'"""\' ""'],
    ["if x: y = 1; z = a[1:2]"],
    [r'x = """a ""\"" b"""', r"y = '\'\'\'a\'\'\'' + '\''"],
    ["class A(B): x = '''", "|def g():", "|'''"],
    ["@a", "async def g(a='):', b=(1, 2)) -> int: return 1"],
    ["def f(  # one:", "|  x=lambda: 1,", ") -> 'str': pass"],
]
HEADS = [
    ["def f(a, b=')'):"],
    ["async  def g(", "|    a: int = 1,  # b):", "|) -> 'str': # c"],
    ["class A(B, c=1) :  # d"],
    ["class C:", "|# below", "", "|        # deeper"],
    ["@a", "@b.c('''", "|def x():", "|''')", "|# between", "", "def h():"],
    ["if x:"],
    ["async with a as b, \\", "|  c:"],
    ["while (", "|x", "|):  # d:"],
]


def block(head: list[str], indent: int, body: list[list[str]]) -> list[str]:
    inner = [line for statement in [*body, ["pass"]] for line in statement]
    return [*head, *(line if line.startswith("|") else " " * indent + line for line in inner)]


def sources() -> SearchStrategy[str]:
    statement: SearchStrategy[list[str]] = st.recursive(
        st.sampled_from(STATEMENTS),
        lambda inner: st.builds(block, st.sampled_from(HEADS), st.integers(1, 9), st.lists(inner, max_size=4)),
        max_leaves=20,
    )
    lines = st.lists(statement, max_size=6).map(lambda body: [line for lines in body for line in lines])
    return lines.map(lambda rows: "\n".join(line.removeprefix("|") for line in rows))


def fast(text: str) -> list[Definition] | None:
    return python_definitions(text.encode("utf-8", "replace"), text.split("\n"))


def as_lines(parsed: list[Definition]) -> list[tuple[int, int, str, str]]:
    return sorted((part.first + 1, part.last + 1, part.kind, part.name) for part in parsed)


def by_ast(text: str) -> list[tuple[int, int, str, str]]:
    lines = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min(part.lineno for part in (node, *node.decorator_list))
            lines.append((first, node.end_lineno or 0, KINDS[type(node)], node.name))
    return sorted(lines)


def flat(nodes: list[Node]) -> list[tuple[int, int, str, str, str]]:
    return [
        entry
        for node in nodes
        for entry in ((node.start, node.end, node.kind, node.symbol, node.heading), *flat(list(node.parts)))
    ]


@given(sources())
def test_definitions_have_the_lines_that_python_gives_them(text: str) -> None:
    parsed = fast(text)
    assert parsed is not None
    assert as_lines(parsed) == by_ast(text)
    assert [part.first for part in parsed] == sorted(part.first for part in parsed)


@given(st.lists(st.sampled_from([*"\n\t\\\"'#([{}]):@=x é\f", "    ", '"""', "'''", "def f", "class A", "async "])))
def test_no_text_raises(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        wanted = by_ast(text)
    except (SyntaxError, ValueError):
        wanted = None
    parsed = fast(text)
    assert wanted is None or parsed is None or as_lines(parsed) == wanted


@pytest.mark.parametrize(
    "text", ["".join(f"{' ' * level}def f():\n" for level in range(120))[:-1] + " pass", "\\\ndef f():\n    pass\n"]
)
def test_what_is_nested_too_deeply_or_begins_with_a_backslash_is_left_to_the_parser(text: str) -> None:
    assert fast(text) is None


@given(st.text())
def test_no_letters_raise(text: str) -> None:
    fast(text)


@pytest.mark.parametrize(
    "piece",
    [
        *"\"'\\()#\n @:é",
        *("\\\n", '"""\n', "(\n", "\"'", '"(', '"""\'', "[{(", "'''\"\"\"", "x: (\n)\n", "@a\n", "if x:\n x\n"),
        *(
            "def ",
            "def f(",
            "def f():\n",
            "def f(): x\n",
            'def f("',
            'def f((((("":',
            "def f(a, \n",
            "async ",
            "class A:\n",
        ),
    ],
)
def test_two_megabytes_of_anything_take_a_moment(piece: str) -> None:
    text = (piece * 2_000_000)[:2_000_000]
    began = time.process_time()
    fast(text)
    fast(f"def f({text}): x")
    fast(f"def f(a={text!r}): x")
    assert time.process_time() - began < 20  # a second or two; what is not linear takes hours


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n\tpass\n",
        "def f():\n    x\n  y\n",
        "x\n  y\n",
        "x = '''\n",
        "x = (\n",
        "x = 1)\ny = (1\n",
        'x = "a\n',
        "x = 'a\\\nb'\n",
        "x = 1 + \\",
        "def f():\r\n    pass\r\n",
        "x = '\0'\n",
        "\ufeffdef f(): pass\n",
        "\fdef f(): pass\n",
        "def f():\n",
        "def f(): # x\n",
        "def f() -> lambda: x: pass\n",
        "def f \\\n (): pass\n",
        "@a\nx = 1\n",
        "def f(): x \\\n# y\n",
        "".join(" " * n + f"def f{n}():\n" for n in range(102)) + " " * 102 + "pass",
    ],
)
def test_what_is_not_clean_is_left_to_the_parser(text: str) -> None:
    assert fast(text) is None


def test_a_signature_ends_where_the_body_begins_and_has_at_most_160_bytes() -> None:
    text = 'def f(  # one\n    a,\n) -> int:  # two\n    # three\n    """Says."""\n\nclass Ä(B): x = 1\n'
    text += f"def g({'ä' * 99}): x\n"
    shown = [part.signature for part in fast(text) or []]
    assert shown == ["def f( # one a, ) -> int: # two # three", "class Ä(B)", f"def g({'ä' * 77}"]


def test_most_of_the_standard_library_is_read_without_a_parser_and_as_a_parser_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("tree_sitter_language_pack")
    paths = sorted(path for path in STANDARD_LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    texts = [path.read_bytes().decode("utf-8", "replace") for path in random.Random(7).sample(paths, 100)]  # noqa: S311
    clean = {text: parsed for text in texts if "\r" not in text and (parsed := fast(text)) is not None}
    assert len(clean) > 90
    readings = [Reading(type="code", title="", text=text, language="python") for text in clean]
    nodes = [flat(definitions(reading, 0)) for reading in readings]
    assert [as_lines(parsed) for parsed in clean.values()] == [by_ast(text) for text in clean]
    monkeypatch.setattr(by_parser, "python_definitions", lambda _source, _rows: None)
    assert nodes == [flat(definitions(reading, 0)) for reading in readings]
