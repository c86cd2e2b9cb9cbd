"""The finder of phrases is compared with a slow one that follows the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.text import words
from deia.watch.prose.phrases import BETWEEN, MOST_BETWEEN, MOST_GAP, Words, find_phrase
from deia.watch.prose.regions import BREAK, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.prose.phrases import Option, Slot
    from tests.watch.conftest import Fires, Make

ALPHABET = ("a", "b", "c", "the", "my", BREAK)


def tokens_of(text_words: list[str]) -> list[tuple[str, int, int]]:
    return [(word, at, at + 1) for at, word in enumerate(text_words)]


# --- the obvious finder: every way to place every slot, by definition ---


def ways(slots: Sequence[Slot], text_words: list[str], at: int, *, strict: bool) -> Iterator[int]:
    """Yield every position where the slots may end when they begin at `at`."""
    if not slots:
        yield at
        return
    (gap, singles, longer, optional), rest = slots[0], slots[1:]
    if optional:
        yield from ways(rest, text_words, at, strict=strict)
    most = MOST_GAP if gap else 0 if strict else MOST_BETWEEN
    for skipped in range(most + 1):
        between = text_words[at : at + skipped]
        if at + skipped >= len(text_words) or BREAK in between or not (gap or set(between) <= BETWEEN):
            continue
        for end in option_ends(singles, longer, text_words, at + skipped):
            yield from ways(rest, text_words, end, strict=strict)


def option_ends(singles: Sequence[str], longer: Sequence[Option], text_words: list[str], at: int) -> Iterator[int]:
    if text_words[at] in singles:
        yield at + 1
    for option in longer:
        end = at
        for number, forms in enumerate(option):
            if number and end < len(text_words) and text_words[end] in BETWEEN and text_words[end] not in forms:
                end += 1
            if end >= len(text_words) or text_words[end] not in forms:
                break
            end += 1
        else:
            yield end


def found_slowly(slots: Sequence[Slot], text_words: list[str], *, strict: bool) -> set[tuple[int, int]]:
    found = set()
    _, singles, longer, _ = slots[0]
    for start in range(len(text_words)):
        for after in set(option_ends(singles, longer, text_words, start)):
            ends = list(ways(slots[1:], text_words, after, strict=strict))
            if ends:
                found.add((start, min(ends)))
    return found


singles = st.lists(st.sampled_from("abc"), min_size=1, max_size=2)
longer = st.lists(st.lists(singles, min_size=2, max_size=3), max_size=2)
slot = st.tuples(st.integers(0, 1), singles, longer, st.integers(0, 1))
first = st.tuples(st.just(0), singles, longer, st.just(0))


@settings(max_examples=100, deadline=None)
@given(first, st.lists(slot, max_size=3), st.lists(st.sampled_from(ALPHABET), max_size=16), st.booleans())
def test_the_finder_agrees_with_the_definition(  # the last argument comes by position from the strategy
    start: Slot,
    rest: list[Slot],
    text_words: list[str],
    strict: bool,  # noqa: FBT001
) -> None:
    slots = [start, *rest]
    assert set(find_phrase(slots, Words(tokens_of(text_words)), strict=strict)) == found_slowly(
        slots, text_words, strict=strict
    )


@pytest.mark.no_cover
def test_a_phrase_of_many_alike_places_stays_quick() -> None:
    slots: list[Slot] = [(0, ["a"], [], 0), *([(1, ["a", "b"], [], 0)] * 10), (0, ["z"], [], 0)]
    assert list(find_phrase(slots, Words(tokens_of(["a", "b"] * 5_000)))) == []


@pytest.mark.parametrize(("between", "found"), [(0, True), (1, True), (8, True), (9, False)])
def test_a_gap_holds_at_most_eight_words(make: Make, fires: Fires, between: int, found: bool) -> None:  # noqa: FBT001
    assert fires(make(("phrase", "delete … shop")), f"delete {'x ' * between}shop") is found


@pytest.mark.parametrize(
    ("text_words", "found"),
    [
        ("delete shop", True),
        ("delete the shop", True),
        ("delete all of the shop", True),
        ("delete this whole old shop", True),
        ("delete the the the the shop", False),
        ("delete red shop", False),
        ("DELETE The Shop", True),
        ("we are deleting our shop", True),
        ("please delete-shop", True),
        ("delete\n\nshop", False),
        ("please delete\nthe shop", True),
        ("- delete\n- shop", False),
        ("1. delete\n2. shop", False),
        ("# delete\nshop", True),
        ("delete\n2 shop", False),  # a number is a word like another
        ("```\ndelete the shop\n```", False),
        ("> delete the shop", False),
        ('he wrote "delete the shop"', False),
        ('delete the "shop"', True),
        ("`delete` the `shop`", True),
    ],
)
def test_small_words_may_stand_between_and_breaks_may_not(
    make: Make, fires: Fires, text_words: str, *, found: bool
) -> None:
    assert fires(make(("phrase", "delete shop")), text_words) is found


@pytest.mark.parametrize(
    ("template", "text_words", "found"),
    [
        ("{delete|wipe out} … {shop|web site}", "wiping out the old blue web site", True),
        ("{delete|wipe out} … {shop|web site}", "wipe the old blue web site", False),
        ("drop {|every} table", "drop tables", True),
        ("drop {|every} table", "drop every table", True),
        ("drop {|every} table", "drop no table", False),
        ("re-create shop", "recreate the shop", False),
        ("re-create shop", "re-create the shop", True),
        ("undo it", "undoing it", True),
    ],
)
def test_alternatives_and_optional_places_are_read(
    make: Make, fires: Fires, template: str, text_words: str, *, found: bool
) -> None:
    assert fires(make(("phrase", template)), text_words) is found


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab `\"'\n>-.1é\U0001f600"), max_size=60))
def test_every_token_lies_where_it_says(text: str) -> None:
    for word, start, end in cut(text).tokens:
        assert word == BREAK or [word] == words(text[start:end])
