from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.knowledge import Query, Result
from deia.search.answer import Answer, Audit
from deia.search.catalog import Catalog
from deia.search.pipeline import search
from deia.search.rendering.columns import columns
from deia.search.rendering.terminal_answer import STYLES, Look, table

OWN_CODES = re.compile(r"\x1b\[(?:" + "|".join([*STYLES.values(), "0"]) + r")m|\x1b\]8;;[ -~]*?\x1b\\")
ASKED = [
    Query(text=""), Query(text="sourdough"), Query(text="delete netlify"), Query(text="", platform="netlify"),
    Query(text="", audience="operator"), Query(text="", keywords=("netlify",)),
]  # fmt: skip


def result(**changes: object) -> Result:
    """Return a result with some fields changed."""
    plain = Result(id="a", path="bok/a.md", title="A", summary="About a.", score=1.0, lines=(3, 9), passage="Two.")
    return plain.but(**changes)


def answer(*primary: Result, secondary: tuple[Result, ...] = (), **changes: object) -> Answer:
    """Return an answer with these results."""
    found = Answer(query="q", matched=True, audit=Audit(), confidence="high", primary=primary, secondary=secondary)
    return found.but(**changes)


def test_a_document_is_shown_with_place_reason_best_rows_and_action() -> None:
    found = result(
        title="Deleting a site", urgency="critical", why_relevant="its title names site", action="Save the records.",
        passage="# Loss\n\nDeleting a site drops its records.", keywords_matched=("site",),
    )  # fmt: skip
    lines = table(answer(found, primary_cluster="hosting"), look=Look(width=60)).split("\n")
    assert lines == [
        "1 document · confidence high · hosting · keyword tier",
        "",
        "1  Deleting a site" + " " * 32 + " CRITICAL ",
        "   bok/a.md:3-9",
        "   its title names site",
        "   │ Deleting a site drops its records.",
        "   → Save the records.",
    ]


def test_related_documents_are_shown_in_short_and_apart() -> None:
    output = table(answer(result(), secondary=(result(id="b", title="B", action="Do it."),)))
    assert "── near it ──" in output
    assert output.index("near it") < output.index("2  B")
    assert "→ Do it." not in output


def test_an_action_is_not_repeated_as_the_next_step() -> None:
    output = table(answer(result(action="Stop."), suggested_next=("Stop.", "Read B (bok/b.md).")))
    assert output.count("Stop.") == 1
    assert "next  Read B (bok/b.md)." in output


def test_colours_mark_urgency_and_the_words_of_the_query() -> None:
    found = result(title="Deleting it", urgency="high", passage="We deleted it.", keywords_matched=("delete",))
    output = table(answer(found), look=Look(colour=True))
    assert "\x1b[1;31mhigh\x1b[0m" in output
    assert "\x1b[1;35mDeleting\x1b[0m" in output
    assert "\x1b[1;35mdeleted\x1b[0m" in output


def test_a_path_links_to_its_file() -> None:
    output = table(answer(result()), look=Look(colour=True, link=lambda path: f"file:///c/{path}"))
    assert "\x1b]8;;file:///c/bok/a.md\x1b\\\x1b[36mbok/a.md:3-9\x1b[0m\x1b]8;;\x1b\\" in output
    broken = table(answer(result()), look=Look(colour=True, link=lambda path: f"file:///\x1b\\{path}"))
    assert "\x1b]8" not in broken


def test_a_terminal_with_only_ascii_gets_only_ascii() -> None:
    output = table(
        answer(result(action="Stop.", passage="word " * 200), secondary=(result(summary="x" * 200),)),
        look=Look(symbols=False),
    )
    assert output.isascii()


@pytest.mark.parametrize("query", ASKED)
@pytest.mark.parametrize("width", [1, 40, 60, 100, 400])
def test_every_kind_of_answer_fits_the_width_with_and_without_colour(
    catalog: Catalog, query: Query, width: int
) -> None:
    found = search(catalog, query)
    output = table(found, look=Look(width=width))
    assert all(columns(line) <= min(max(width, 40), 110) for line in output.split("\n"))
    assert OWN_CODES.sub("", table(found, look=Look(width=width, colour=True))) == output


NASTY = st.text(st.sampled_from("ab \x1b[]31m;8\\\x07\n\r\u202e\x9b設e\u0301*`#|>-\t"), max_size=60)


@given(NASTY, NASTY, NASTY, st.lists(NASTY, max_size=3))
@settings(max_examples=100)
def test_only_our_own_codes_reach_a_terminal(title: str, path: str, text: str, words: list[str]) -> None:
    found = result(
        title=title, path=path, passage=text, why_relevant=text, action=title, urgency=path, summary=text,
        keywords_matched=tuple(words),
    )  # fmt: skip
    whole = answer(found, secondary=(found,), primary_cluster=title, related_queries=(text,), suggested_next=(path,))
    output = OWN_CODES.sub("", table(whole, look=Look(colour=True, width=60)))
    assert all(char.isprintable() or char == "\n" for char in output)
    assert all(columns(line) <= 62 for line in output.split("\n"))
