"""Items of lists that an assistant writes: steps of a plan, or descriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.watch.prose.list_items import is_described

PLANNED = ["I'll clean up:", "Here's the plan:", "## Next steps", "So I need to update these tests to either:"]
DESCRIBED = ["`reset` does this:", "## How it works", "When the session is inactive:"]


@pytest.mark.parametrize("introduction", PLANNED)
@pytest.mark.parametrize("mark", ["- ", "2. ", "* [ ] ", "- **"])
def test_an_item_under_a_plan_is_a_step_of_it(introduction: str, mark: str) -> None:
    text = f"{introduction}\n\n- Stop the server\n{mark}Delete the branch"
    assert not is_described(text, text.index("Delete"))


@pytest.mark.parametrize("introduction", DESCRIBED)
@pytest.mark.parametrize("mark", ["- ", "2. ", "// ", "- **"])
def test_an_item_under_anything_else_only_describes(introduction: str, mark: str) -> None:
    text = f"{introduction}\n\n- Stop the server\n{mark}Delete the branch"
    assert is_described(text, text.index("Delete"))


@pytest.mark.parametrize("text", ["Delete it", "- I'll Delete it", "so:\nDelete it", "-d: Delete it"])
def test_what_is_no_bare_item_is_not_judged(text: str) -> None:
    assert not is_described(text, text.index("Delete"))


@given(st.text(alphabet="ab-*1. \n/[]x", max_size=80), st.integers(0, 80))
def test_no_text_raises(text: str, verb: int) -> None:
    assert is_described(text, min(verb, len(text))) in {True, False}
