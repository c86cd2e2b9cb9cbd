from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.knowledge import Result
from deia.search.rendering.llm_quotes import FRAME, LEAST, quoted, tokens

LONG = "\n".join(f"line {n} of a long document" for n in range(1000))
TEXTS = st.text(max_size=600)


def result(name: str = "a", *, text: str = LONG, passage: str = "", title: str = "A") -> Result:
    """Return a result to quote."""
    return Result(
        id=name, path=f"bok/{name}.md", title=title, summary="", score=1.0, lines=(3, 9), text=text, passage=passage
    )


@pytest.mark.parametrize(("text", "count"), [("", 0), ("abc", 1), ("abcd", 2), ("設定", 2), ("aé", 2)])
def test_tokens_are_overestimated(text: str, count: int) -> None:
    assert tokens(text) == count


@given(
    st.lists(
        st.builds(result, st.text(max_size=20), text=TEXTS, passage=TEXTS, title=st.text(max_size=80)), max_size=5
    ),
    st.lists(st.text(st.characters(exclude_categories=["Cc", "Zl", "Zp"]), max_size=200), max_size=4),
    st.integers(LEAST, 900),
)
@settings(max_examples=100)
def test_the_budget_is_kept_and_every_line_is_quoted(results: list[Result], after: list[str], budget: int) -> None:
    output = quoted(results, head="2 documents.", after=[], budget=budget)
    assert tokens(output) <= budget
    assert tokens(quoted(results, head="x" * 2000, after=after, budget=budget)) <= budget
    for line in output.split("\n"):
        known = line in ("", FRAME, "2 documents.") or line.startswith((">", "["))
        assert known, line


def test_short_documents_are_quoted_whole_and_long_ones_around_the_passage() -> None:
    passage = "line 500 of a long document\nline 501 of a long document"
    output = quoted([result(passage=passage), result("b", text="Short.", passage="Short.")], head="h", after=[])
    assert "> Short." in output
    assert "(source: bok/b.md)" in output
    assert "(source: bok/a.md:3-9, in part)" in output
    own = [line for line in output.split("\n") if "of a long document" in line]
    assert "> line 500 of a long document" in own
    assert len(own) > 50
    numbers = [int(line.split()[2]) for line in own]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_documents_beyond_a_small_budget_are_named() -> None:
    output = quoted([result(f"d{n}", passage=LONG[:3000]) for n in range(6)], head="h", after=["Next: x."], budget=500)
    assert all(f"[d{n}]" in output for n in range(6))
    assert " […]" in quoted([result(passage="word " * 2000)], head="h", after=[], budget=500)
    assert output.endswith("Next: x.")
