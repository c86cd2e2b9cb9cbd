from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deia.ingest.read import read
from deia.ingest.readers.html_page import DEEPEST, read_html
from deia.ingest.readers.page_parts import NO_CONTENT

pytest.importorskip("selectolax")

from tests.ingest.readers.slow_html_page import read_slowly

TAGS = "p div b table tr td th ul li pre h1 h2 br img svg template main script style form select math a span".split()
PIECES = st.one_of(
    st.sampled_from(
        [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS] + ["<!--", "-->", "&amp;", "<![CDATA["]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=8),
)

ELEMENTS = (
    "a href=x|a href=y#z|a href=http://w|span|b|x-y id=v|p|p id=Content|div|div id=content|div role=main|"
    "main id=content|main id=Content|article|article id=Content|ul|li|table|tr|td|pre|h1|h4|code|blockquote|nav|form|"
    "ol|ol start=3|ol reversed|li value=7|svg|title|html lang=de|frameset"
).split("|")
LEAVES = "text|long text|# hash|- dash| |&nbsp;|<br>|<img alt=z>|<p>|</p>|</div>|<td>|<li>|<b>|</a>|<!---->".split("|")
TREES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.builds(
        lambda element, parts: f"<{element}>{''.join(parts)}</{element.split()[0]}>",
        st.sampled_from(ELEMENTS),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=25,
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
    assert text_of("<p><b>a</b> <i>b</i>\n<u>c</u></p>") == "a b c"
    assert text_of("<pre>```\nx</pre>").startswith("````\n")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ol><li>first<li>second</ol>", "1. first\n2. second"),
        ("<ol><li><p>first</p><li><div><p>second</p></div></ol>", "1. first\n2. second"),
        ("<ol start=9><li>nine<li>ten<li value=20>twenty<li>more</ol>", "9. nine\n10. ten\n20. twenty\n21. more"),
        ("<ol start=x><li value=-1>one<li value>two<li value='9999999'>three", "1. one\n2. two\n3. three"),
        ("<ol><li>a<ol><li>x<li>y</ol><li>b</ol>", "1. a\n   1. x\n   2. y\n2. b"),
        ("<ol><li>a<ul><li>x</ul><li>b</ol>", "1. a\n- x\n2. b"),
        ("<ul><li>a<ol><li>x</ol><li>b</ul>", "- a\n1. x\n- b"),
        ("<ol><li>a<p>more</p>still<li>b</ol><p>after", "1. a\n\nmore\n\nstill\n\n2. b\n\nafter"),
        ("<ol><li><pre>x</pre><li></ol><p>after", "```\nx\n```\n\nafter"),
        ("<ol><li><h3>Head</h3>words<li># b</ol>", "### Head\n\n1. words\n2. # b"),
        ("<ol reversed><li>last<li>first</ol>", "- last\n- first"),
    ],
)
def test_items_of_an_ordered_list_have_their_numbers(page: str, text: str) -> None:
    assert text_of(page) == text


def test_lists_in_lists_are_not_indented_without_end() -> None:
    assert max(map(len, text_of("<ol><li>a" * 100).split("\n"))) < 30


@pytest.mark.parametrize("tag", ["b", "span", "a", "font", "em", "x-y", "span><b"])
def test_a_line_break_in_an_inline_element_joins_no_words(tag: str) -> None:
    ends = "".join(f"</{name}>" for name in reversed(tag.split("><")))
    assert text_of(f"<p>on <{tag}>Mon<br>Tue{ends} or Wed") == "on Mon Tue or Wed"


def test_a_line_break_in_a_heading_a_cell_and_code_joins_nothing() -> None:
    assert text_of("<h2>Head<br>line</h2>") == "## Head line"
    assert text_of("<table><tr><td><b>a<br>b</b><th>c</table>") == "| a b | c |"
    assert text_of("<pre>a = 1<br>b = 2</pre>") == "```\na = 1\nb = 2\n```"


@pytest.mark.parametrize("tag", ["a href=x", "b", "span", "h2", "td", "font"])
def test_the_alternative_text_of_a_picture_is_kept_in_any_element(tag: str) -> None:
    page = f"<table><tr><{tag}>" if tag == "td" else f"<p><{tag}>"
    assert text_of(f"{page}see<img src=a alt='the diagram'>here").strip("#| ") == "see the diagram here"


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


@example("<!doctype html>", ["<article id=Content>tiny</article><div id=content>long words here</div><p>after it"])
@settings(max_examples=600)
@given(st.sampled_from(["", "<!doctype html>", "<meta name=description content=d>"]), st.lists(TREES, max_size=4))
def test_any_page_reads_as_it_does_the_slow_way(start: str, trees: list[str]) -> None:
    page = start + "".join(trees)
    assert read_html("x.html", page.encode()) == read_slowly(page)


@pytest.mark.parametrize("count", [DEEPEST - 2, DEEPEST - 1, DEEPEST, DEEPEST + 1])
def test_elements_at_the_greatest_depth_read_as_they_do_the_slow_way(count: int) -> None:
    page = f"<div>a{'<x-y>' * count}b<div id=i>c<a href=d>e</a></div>f"
    assert read_html("x.html", page.encode()) == read_slowly(page)


def test_nested_elements_are_searched_for_blocks_once() -> None:
    def seconds(depth: int) -> float:
        page = f"{'<x-y>' * depth}{'a<i>t</i>' * 10_000}<p>x".encode()
        began = time.process_time()
        read_html("x.html", page)
        return time.process_time() - began

    assert min(seconds(DEEPEST - 10) for _ in range(3)) < 5 * min(seconds(2) for _ in range(3))


@pytest.mark.parametrize("tag", NO_CONTENT)
def test_what_is_no_content_may_be_nested_thousands_of_times(tag: str) -> None:
    page = f"<p>before</p>{f'<{tag}><nav><form>' * 3000}<main>within</main><title>t"
    assert read_html("x.html", page.encode()) == read_slowly(page)


def test_a_link_in_a_block_belongs_to_no_paragraph_before_it() -> None:
    links = read("x.html", b"before <x-y><p><a href=a.html>within</a></p></x-y>").metadata["links"]
    assert links == [["a.html", 3]]


def test_a_main_element_in_what_is_no_content_is_not_the_main_part() -> None:
    assert text_of("<nav><main>menu</main></nav><p>words</p><main>main words</main>") == "main words"


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


def test_links_of_nested_elements_keep_their_order() -> None:
    page = b"<p><span><b><i>x</i><a href=1>1</a></b><a href=2><u>2</u></a><i><a href=3>3</a></i></span><a href=4>4</a>"
    assert read("x.html", page).metadata["links"] == [[str(number), 1] for number in range(1, 5)]
