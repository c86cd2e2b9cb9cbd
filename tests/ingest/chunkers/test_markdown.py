from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.ingest.chunkers.markdown import HUGE, WORDS, chunk_document
from deia.knowledge import Chunk, Document

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["", "# Head", "## Sub", "```", "~~~~", "```sh", "#", "    code", "\t", "\r", "text " * 90, "w " * 900]
        ),
        st.text(max_size=40),
    ),
    max_size=40,
)


def chunks(text: str, *, first_line: int = 1) -> list[Chunk]:
    return chunk_document(Document(path="bok/a.md", title="A", text=text, first_line=first_line), id="a")


def test_a_short_document_is_one_passage_with_its_lines() -> None:
    (chunk,) = chunks("# Title\n\nSome words.\n", first_line=7)
    assert (chunk.document, chunk.ordinal, chunk.heading, chunk.lines) == ("a", 0, "Title", (7, 9))
    assert chunk.text == "# Title\n\nSome words."


def test_an_empty_document_is_one_empty_passage() -> None:
    (chunk,) = chunks("", first_line=5)
    assert (chunk.text, chunk.lines) == ("", (5, 5))


def test_a_heading_begins_a_passage_once_the_last_can_stand_alone() -> None:
    first, second = chunks("# A\n\n" + "word " * 100 + "\n\n## B\n\n" + "other " * 100)
    assert first.heading == "A"
    assert second.heading == "A > B"
    assert second.text.startswith("## B")


def test_short_sections_are_read_together() -> None:
    assert len(chunks("\n".join(f"## S{n}\n\nfew words\n" for n in range(6)))) == 1


def test_a_sibling_heading_replaces_the_one_before() -> None:
    last = chunks("# A\n\n## B\n\n" + "w " * 100 + "\n\n## C\n\n" + "w " * 100)[-1]
    assert last.heading == "A > C"


def test_a_fenced_block_is_not_cut_and_its_comments_are_no_headings() -> None:
    fence = "```sh\n" + "\n\n".join(f"# step {n}\nrun the thing {n}" for n in range(30)) + "\n```"
    passages = chunks("intro " * 120 + "\n\n" + fence + "\n\nafter")
    (fenced,) = [chunk for chunk in passages if "```sh" in chunk.text]
    assert fence in fenced.text
    assert fenced.heading == ""


def test_a_huge_block_is_cut_between_lines() -> None:
    fence = "```\n" + "\n".join(f"line {n} of a very long listing" for n in range(400)) + "\n```"
    passages = chunks(fence)
    assert len(passages) > 5
    assert all(len(chunk.text.split()) <= HUGE for chunk in passages)


def test_a_huge_line_is_cut_between_words() -> None:
    passages = chunks("word " * 2000)
    assert all(len(chunk.text.split()) <= 2 * WORDS for chunk in passages)
    assert {chunk.lines for chunk in passages} == {(1, 1)}


def test_an_unclosed_fence_loses_nothing() -> None:
    assert "tail" in chunks("```\ncode\n\n# not a heading\n\ntail")[0].text


@given(LINES, st.integers(1, 50))
@settings(max_examples=100)
def test_no_word_is_lost_and_the_lines_are_those_of_the_file(lines: list[str], first_line: int) -> None:
    text = "\n".join(lines)
    passages = chunks(text, first_line=first_line)
    assert " ".join(chunk.text for chunk in passages).split() == text.split()
    assert [chunk.ordinal for chunk in passages] == list(range(len(passages)))
    last_line = first_line + text.count("\n")
    for chunk in passages:
        first, last = chunk.lines
        assert first_line <= first <= last <= last_line
        if chunk.text:
            assert set(chunk.text.split()) <= set(
                " ".join(text.split("\n")[first - first_line : last - first_line + 1]).split()
            )
