from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read

pytest.importorskip("selectolax")

TAGS = "p div b table tr td th ul li pre h1 h2 br img svg template main script style form select math a span".split()
PIECES = st.one_of(
    st.sampled_from(
        [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS] + ["<!--", "-->", "&amp;", "<![CDATA["]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=8),
)


def text_of(page: str) -> str:
    return read("page.html", page.encode("utf-8", "replace")).text


def test_the_main_text_is_kept_without_what_surrounds_it() -> None:
    page = (
        "<nav>Home</nav><main><h1>Install</h1><p>Run <b>this</b>.</p></main><footer>2026</footer><script>x()</script>"
    )
    assert text_of(page) == "# Install\n\nRun this."


def test_a_main_element_that_holds_next_to_nothing_is_not_the_main_part() -> None:
    assert "long" in text_of("<main>x</main><div>" + "long text " * 20 + "</div>")


def test_tables_are_rows_lists_are_items_and_code_keeps_its_lines() -> None:
    assert text_of("<table><tr><th>a<th>b<tr><td>1<td><p>2</table>") == "| a | b |\n| 1 | 2 |"
    assert text_of("<ul><li>one<li>two</ul>") == "- one\n- two"
    assert text_of("<pre>if a:\n    b</pre>") == "```\nif a:\n    b\n```"
    assert text_of("<pre>```\nx</pre>").startswith("````\n")


def test_a_table_that_only_lays_out_is_no_row() -> None:
    assert text_of("<table><tr><td><h1>Head</h1><p>Words</table>") == "# Head\n\nWords"


def test_title_language_description_and_alternative_texts_are_kept() -> None:
    page = b'<html lang=de><title> A  page </title><meta name=description content="About"><p>See <img alt="a cat">'
    reading = read("page.html", page)
    assert (reading.title, reading.metadata) == ("A page", {"lang": "de", "description": "About"})
    assert reading.text == "See a cat"


@pytest.mark.parametrize("piece", ["<div>", "<b>", "<table><tr><td>", "<a><div>", "<ul><li>", "<p>", "<svg><p>"])
def test_deep_nesting_is_read(piece: str) -> None:
    assert text_of(piece * 5000 + "core").strip("- ").endswith("core")


@given(st.lists(PIECES, max_size=60))
def test_any_page_is_read(pieces: list[str]) -> None:
    assert isinstance(text_of("".join(pieces)), str)


def test_anchors_and_links_of_a_page_are_kept_with_the_lines_on_which_they_are() -> None:
    page = (
        "<body><main><section id='top'><h1>Pumps</h1><p>See <a href='valves.html#v1'><code>valves</code></a> and"
        " <a href='https://x.test/'>elsewhere</a>.</p><dl><dt id='pump.start'>start()<a href='#pump.start'>¶</a></dt>"
        "<dd><p>Opens.</p></dd></dl></section><p id='last'></p></main></body>"
    )
    reading = read("pumps.html", page.encode())
    lines = reading.text.split("\n")
    found: Any = reading.metadata
    places = {name: {text: lines[at - 1] for text, at in found[name]} for name in ("anchors", "links")}
    assert places["anchors"] == {"top": "# Pumps", "pump.start": "start()¶"}
    assert places["links"] == {"valves.html#v1": "See valves and elsewhere.", "#pump.start": "start()¶"}
