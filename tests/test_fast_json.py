"""JSON without importing `json`: it reads and writes what the standard library does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.fast_json import dumps, loads

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(alphabet='{}[]",:0123456789.eE+- \\u\ntrfalsn', max_size=30),
    VALUES.map(lambda value: json.dumps(value)[:-1]),
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    written = dumps(value)
    assert written.isascii()
    assert loads(written) == json.loads(written) == value


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_it_reads_what_the_standard_library_reads_and_refuses_the_rest(text: str) -> None:
    try:
        wanted = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - the message is the scanner's own
            loads(text)
    else:
        assert repr(loads(text)) == repr(wanted)


@pytest.mark.parametrize(
    "text", ["", " ", "{", "[1,", '"a', "nul", "1 2", "{}x", "[" * 100_000, '{"a":' * 100_000, "\ufeff{}"]
)
def test_broken_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the scanner's own
        loads(text)


def test_control_characters_inside_strings_are_what_terminals_emit() -> None:
    assert loads('"a\x1b\n\tb"') == "a\x1b\n\tb"


def test_what_json_cannot_hold_becomes_text_or_null() -> None:
    assert dumps([float("nan"), float("inf"), {1}, (2,), b"x", {3: None}]) == '[null,null,[1],[2],"b\'x\'",{"3":null}]'


def test_lone_surrogates_survive() -> None:
    assert loads(dumps("\ud800x\udc00")) == "\ud800x\udc00"


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from deia.fast_json import loads, dumps; loads(dumps({'a': [1.5, 'x']}))\n"
        "try: loads('[1')\nexcept ValueError: pass\n"
        "print(*{'json', 're', 'json.decoder'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=root())
    assert ran.stdout.strip() == ""


def root() -> str:
    from deia.folders import PACKAGE  # noqa: PLC0415 - a path for this test alone

    return PACKAGE.rpartition("/")[0]
