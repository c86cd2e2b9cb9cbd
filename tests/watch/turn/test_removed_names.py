"""The names that a call removes from a project, and the test files that it creates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.turn.removed_names import GONE, MADE, MOST_NAMES, is_of_tests, removed_names, subject_of


def call(tool: str, **fields: Any) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input=fields)


def edit(old: str, new: str = "", path: str = "src/cart.ts") -> Turn:
    return call("Edit", file_path=path, old_string=old, new_string=new)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("def total(cart):\n    return 41\n", "", ["total"]),
        ("    async def total(self):\n", "", ["total"]),
        ("export default async function total() {", "", ["total"]),
        ("func (c *Cart) Total() int {", "", ["Total"]),
        ("func Total(c Cart) int {\n", "func Sum(c Cart) int {\n", ["Total"]),
        ("pub fn total() -> u32 {", "", ["total"]),
        ("export interface CartLine {\n  id: string\n}", "", ["CartLine"]),
        ("class Cart(Base):", "class Basket(Base):", ["Cart"]),
        ("export const LIMIT_OF_CART = 4", "", ["LIMIT_OF_CART"]),
        ("    const result = total()", "", []),
        ("def total(cart):", "def total(cart, tax):", []),
        ("def total(cart):\n    pass", "from sums import total", []),
        ("def run():", "", []),
        ("total", "sum_of_lines", ["total"]),
        ("return total(cart)", "return 42", []),
        ("# def", "", []),
        ("func (", "", []),
    ],
)
def test_what_an_edit_no_longer_defines_is_gone(old: str, new: str, names: list[str]) -> None:
    assert removed_names(edit(old, new)) == [GONE + name for name in names]


def test_tests_and_their_helpers_are_no_subject() -> None:
    assert removed_names(edit("def check_cart():", path="tests/helpers.py")) == []
    assert removed_names(edit("def test_total():", path="test_cart.py")) == []


@pytest.mark.parametrize(
    ("turn", "names"),
    [
        (call("Bash", command="rm cart/start.go cart/start_test.go"), ["start."]),
        (Turn(role="tool_call", text="git rm -rq src/checkout && ls src/other", tool="Bash"), ["checkout."]),
        (call("apply_patch", input="*** Begin Patch\n*** Delete File: src/checkout.ts\n*** End Patch"), ["checkout."]),
        (call("delete_file", target_file="src/checkout.ts"), ["checkout."]),
        (Turn(role="tool_call", text="cat src/checkout.ts", tool="Bash"), []),
    ],
)  # fmt: skip
def test_deleted_files_are_gone(turn: Turn, names: list[str]) -> None:
    assert removed_names(turn) == [GONE + name for name in names]


@pytest.mark.parametrize(
    ("turn", "names"),
    [
        (call("Write", file_path="tests/test_try.py", content="x"), ["test_try.py"]),
        (call("Write", file_path="src/cart.py", content="x"), []),
        (Turn(role="tool_call", text="cat > /tmp/try_test.go <<'E'\nx\nE", tool="Bash"), ["try_test.go"]),
        (call("apply_patch", input="*** Add File: src/try.test.ts\n+x\n*** End Patch"), ["try.test.ts"]),
    ],
)  # fmt: skip
def test_test_files_that_the_conversation_creates_are_known(turn: Turn, names: list[str]) -> None:
    assert removed_names(turn) == [MADE + name for name in names]


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("cart/start_test.go", "start"), ("tests/test_start.py", "start"), ("src/Start.test.tsx", "Start"),
        ("spec/start_spec.rb", "start"), ("src/test/java/StartTest.java", "Start"), ("start.spec.ts", "start"),
    ],
)  # fmt: skip
def test_a_test_file_is_about_the_file_of_its_name(path: str, subject: str) -> None:
    assert is_of_tests(path)
    assert subject_of(path) == subject


@pytest.mark.parametrize("path", ["src/latest.ts", "src/contest/page.tsx", "attestation.go", ""])
def test_names_that_only_contain_test_are_no_tests(path: str) -> None:
    assert not is_of_tests(path)


@given(st.text(max_size=200), st.text(max_size=100), st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read(old: str, new: str, path: str) -> None:
    for turn in (edit(old, new, path), Turn(role="tool_call", text=f"rm {old} > {path}", tool="Bash"), call("Write")):
        assert len(removed_names(turn)) <= 2 * MOST_NAMES
