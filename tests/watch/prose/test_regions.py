"""The regions of a text: prose, code and quotations, and where each word stands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.text import words
from deia.watch.prose.regions import BREAK, cut, sentence, unwrapped

MARKED = st.text(
    alphabet=st.sampled_from("ab `~\"'\n\r>-#.1\u201c\u201d\u2018\u2019\u00ab\u00bb\u2028\x0bé\ud800"), max_size=80
)


def said(text: str) -> list[str]:
    return [word for word, _, _ in cut(text).tokens if word != BREAK]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("one two", "one two"),
        ("one `two three` four", "one four"),
        ("one ``two `x` three`` four", "one four"),
        ("one `two` three", "one two three"),
        ('one "two three" four', "one four"),
        ('one "two" three', "one two three"),
        ("one \u201ctwo three\u201d four", "one four"),
        ("one \u00abtwo three\u00bb four", "one four"),
        ("one 'two three' four", "one four"),
        ("one \u2018two three\u2019 four", "one four"),
        ("don't say 'it isn't two' four", "don t say four"),
        ("it's Bob's and the dogs' bowl", "it s bob s and the dogs bowl"),
        ("one ` two three", "one two three"),
        ('one " two three', "one two three"),
        ("one ' two three", "one two three"),
        ("one\n```\ntwo\n```\nthree", "one three"),
        ("one\n~~~python\ntwo\n```\n~~~\nthree", "one three"),
        ("one\n   ```\n two\n   ```\nthree", "one three"),
        ("one\n```\ntwo", "one"),
        ("one\n> two\nthree", "one three"),
        ('a="b c" d', "a b c d"),
        ("", ""),
        ("```", ""),
    ],
)
def test_code_and_quotations_are_not_said(text: str, left: str) -> None:
    assert said(text) == left.split()


@pytest.mark.parametrize(
    ("text", "code", "language", "block"),
    [
        ("run `git push` now", "`git push`", "", False),
        ("a\n```bash\ngit push\n```\n", "git push\n", "bash", True),
        ("a\n~~~ Python title\nx\n~~~", "x\n", "python title", True),
        ("a\n```\nx\ny", "x\ny", "", True),
    ],
)
def test_code_is_cut_out_with_its_language(text: str, code: str, language: str, *, block: bool) -> None:
    (found,) = cut(text).codes
    assert (text[found.start : found.end], found.language, found.block) == (code, language, block)


@pytest.mark.parametrize(
    "text", ["a\n\nb", "a\n- b", "a\n* b", "a\n1. b", "a\n2) b", "a\n# b", "a\n> q\nb", "a\n```\n```\nb"]
)
def test_a_block_ends_where_the_next_begins(text: str) -> None:
    tokens = [word for word, _, _ in cut(text).tokens]
    assert tokens[0] == "a"
    assert tokens[-1] == "b"
    assert BREAK in tokens


@pytest.mark.parametrize("text", ["a\nb", "a 1. b", "a\n2 b", "a - b"])
def test_a_line_end_or_a_number_alone_breaks_nothing(text: str) -> None:
    assert BREAK not in [word for word, _, _ in cut(text).tokens]


@settings(max_examples=100, deadline=None)
@given(MARKED)
def test_the_mask_has_the_length_of_the_text_and_every_word_lies_where_it_says(text: str) -> None:
    prose = cut(text)
    assert len(prose.masked) == len(text)
    assert all(shown in (" ", char) for shown, char in zip(prose.masked, text, strict=True))
    last = 0
    for word, start, end in prose.tokens:
        assert start >= last
        assert word == BREAK or [word] == words(prose.masked[start:end]) == words(text[start:end])
        last = end
    for begin, end in [*prose.quotes, *((code.start, code.end) for code in prose.codes)]:
        assert 0 <= begin <= end <= len(text)
        assert not prose.masked[begin:end].strip()


@settings(max_examples=100, deadline=None)
@given(MARKED, st.integers(0, 80), st.integers(0, 80))
def test_a_sentence_holds_what_it_is_the_sentence_of(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    first, last = sentence(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)


@pytest.mark.parametrize(
    ("text", "act", "whole"),
    [
        ("One. Two act. Three.", "act", "Two act."),
        ("Use v1.2 and act here", "act", "Use v1.2 and act here"),
        ("What? act! Three", "act", "act!"),
        ("one\nact\ntwo", "act", "act"),
        ("\u4e00\u3002act\u3002\u4e8c", "act", "act\u3002"),
    ],
)
def test_a_sentence_ends_at_its_mark_or_its_line(text: str, act: str, whole: str) -> None:
    at = text.index(act)
    first, last = sentence(text, at, at + len(act))
    assert text[first:last].strip() == whole


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["`", "` a", "'a ", " 'a'a", '"', "```\n", "\u2018a ", "> \n", "(", "a\n\n"])
def test_no_text_takes_long_to_cut(piece: str) -> None:
    began = time.process_time()
    cut(piece * (100_000 // len(piece)))
    assert time.process_time() - began < 5


@given(st.text(alphabet="ab .!?;\n\u3002\uff1f", max_size=60), st.integers(0, 60), st.integers(0, 10))
def test_a_sentence_ends_at_the_nearest_mark_on_either_side(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))

    def ends(at: int) -> bool:
        spaced = at + 1 >= len(text) or text[at + 1].isspace()
        return text[at] in "\n\u3002\uff1f" or (text[at] in ".!?;" and spaced)

    first = next((at + 1 for at in range(start - 1, -1, -1) if ends(at)), 0)
    last = next((at for at in range(end, len(text)) if ends(at)), len(text))
    assert sentence(text, start, end) == (first, min(last + 1, len(text)))


def test_a_sentence_is_looked_for_no_further_than_400_characters() -> None:
    assert sentence("a" * 5000, 2000, 2010) == (1600, 2411)


@given(MARKED)
def test_a_prompt_that_a_command_line_wraps_comes_back_as_it_was(text: str) -> None:
    prompt = f"one {text.replace(chr(92), '')} two"
    assert unwrapped('"' + prompt.replace('"', '\\"') + '"') == prompt


@given(MARKED)
def test_taking_marks_off_adds_nothing_and_ends(text: str) -> None:
    assert unwrapped(text) == text or len(unwrapped(text)) <= len(text) - 2
