from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read
from tests.ingest.readers.office_files import WORD, archive, paragraph, presentation, shape

MIXED = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def text_of(body: str, styles: str | None = None) -> str:
    """Return the text of a document of some XML."""
    parts = {"word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'}
    if styles is not None:
        parts["word/styles.xml"] = f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>'
    return read("a.docx", archive(parts)).text


def cell(*inside: str) -> str:
    return f"<w:tc>{''.join(inside)}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def control(inside: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{inside}</w:sdtContent></w:sdt>"


def either(choice: str, fallback: str) -> str:
    inside = f'<mc:Choice Requires="wps">{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>'
    return f"<mc:AlternateContent {MIXED}>{inside}</mc:AlternateContent>"


def box(*paragraphs: str) -> str:
    return f"<w:pict><w:txbxContent>{''.join(paragraphs)}</w:txbxContent></w:pict>"


def style(name: str, *, key: str, inside: str = "") -> str:
    return f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/>{inside}</w:style>'


def test_cells_and_rows_in_content_controls_are_read() -> None:
    a, b, c = (cell(paragraph(word)) for word in "abc")
    assert text_of(f"<w:tbl><w:tr>{control(a)}{b}</w:tr>{control(f'<w:tr>{c}</w:tr>')}</w:tbl>") == "| a | b |\n| c |"


def test_the_text_of_a_table_in_a_table_stands_once() -> None:
    inner = table(cell(paragraph("b")) + cell(paragraph("c")))
    assert text_of(table(cell(paragraph("a")) + cell(inner, paragraph("d")))) == "| a | b c d |"


def test_a_text_box_is_read_once_and_its_paragraphs_are_their_own() -> None:
    boxes = either(box(paragraph("one"), paragraph("two")), box(paragraph("one"), paragraph("two")))
    assert text_of(f"<w:p><w:r>{boxes}</w:r><w:r><w:t>beside</w:t></w:r></w:p>") == "beside\n\none\n\ntwo"


@pytest.mark.parametrize(("choice", "fallback"), [("", "one"), ("one", "")])
def test_of_two_forms_the_one_with_text_is_read(choice: str, fallback: str) -> None:
    assert text_of(either(paragraph(choice), paragraph(fallback))) == "one"
    slide = presentation(either(shape(choice), shape(fallback)))
    assert read("a.pptx", slide).text == "one"


def test_of_two_forms_with_text_the_chosen_one_is_read() -> None:
    assert text_of(either(paragraph("one"), paragraph("two"))) == "one"
    assert read("a.pptx", presentation(either(shape("one"), shape("two")))).text == "one"


def test_what_was_moved_or_deleted_is_read_where_it_is_now() -> None:
    gone = (
        "<w:moveFrom><w:r><w:t>one</w:t></w:r></w:moveFrom><w:del><w:r><w:tab/><w:delText>x</w:delText></w:r></w:del>"
    )
    assert text_of(f"<w:p>{gone}</w:p><w:p><w:moveTo><w:r><w:t>one</w:t></w:r></w:moveTo></w:p>") == "one"


def test_a_hyphen_that_breaks_no_line_and_a_return_are_kept() -> None:
    assert (
        text_of("<w:p><w:r><w:t>e</w:t><w:noBreakHyphen/><w:t>mail</w:t><w:cr/><w:t>x</w:t></w:r></w:p>") == "e-mail\nx"
    )


def test_a_style_that_is_based_on_a_heading_or_has_an_outline_level_is_one() -> None:
    styles = (
        style("Own", key="Own", inside='<w:basedOn w:val="berschrift2"/>')
        + style("heading 2", key="berschrift2")
        + style("Third", key="Third", inside='<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style(
            "TOC Heading", key="Contents", inside='<w:basedOn w:val="Own"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'
        )
        + style("Round", key="Round", inside='<w:basedOn w:val="Round"/>')
        + '<w:style w:styleId="Bare"/>'
    )
    names = ("Own", "Third", "Contents", "Round", "Bare")
    text = text_of("".join(paragraph(name, style=name) for name in names), styles)
    assert text == "## Own\n\n### Third\n\nContents\n\nRound\n\nBare"


def test_the_usual_names_of_headings_count_without_styles() -> None:
    assert text_of(paragraph("One", style="Heading1") + paragraph("Two", style="Body")) == "# One\n\nTwo"


@pytest.mark.parametrize("piece", ["<w:sdt>", f"<mc:AlternateContent {MIXED}><mc:Choice>", "<w:txbxContent><w:p>"])
def test_elements_that_are_nested_thousands_of_times_cost_no_more_than_others(piece: str) -> None:
    names = [part.split()[0] for part in piece.replace("<", " <").replace(">", " ").split() if part.startswith("<")]
    ends = "".join(f"</{name[1:]}>" for name in reversed(names))
    began = time.process_time()
    text_of(f"<w:p>{piece * 5000}<w:r><w:t>core</w:t></w:r>{ends * 5000}</w:p>")
    assert time.process_time() - began < 3


KINDS = ["table", "box", "control", "either"]
LEAVES = st.sampled_from(["one", "two", "three"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(st.sampled_from(KINDS), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=12,
)


@given(st.lists(TREES, min_size=1, max_size=4))
def test_every_word_is_read_once_however_tables_boxes_and_controls_are_nested(trees: list[object]) -> None:
    words: list[str] = []

    def xml(tree: object) -> str:
        if isinstance(tree, str):
            words.append(tree)
            return paragraph(tree)
        assert isinstance(tree, tuple)
        inside = "".join(map(xml, tree[1]))
        if tree[0] == "either":
            return either(inside, inside)
        return {
            "table": table(control(cell(inside))),
            "box": f"<w:p><w:r>{box(inside)}</w:r></w:p>",
            "control": control(inside),
        }[str(tree[0])]

    text = text_of("".join(map(xml, trees)))
    assert sorted(text.replace("|", " ").split()) == sorted(words)


@given(st.lists(st.tuples(st.text("ab<&\"'", max_size=3), st.text("ab ", max_size=3), st.integers(-1, 12)), max_size=6))
def test_any_styles_are_read(rows: list[tuple[str, str, int]]) -> None:
    styles = "".join(
        f'<w:style w:styleId="{own}"><w:name w:val="heading {level}"/><w:basedOn w:val="{base}"/></w:style>'
        for own, base, level in rows
    )
    parts = {"word/document.xml": f'<w:document xmlns:w="{WORD}">{paragraph("x", style="a")}</w:document>'}
    assert read("a.docx", archive({**parts, "word/styles.xml": styles})).text.lstrip("# ") == "x"
