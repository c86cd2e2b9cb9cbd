from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deia.graph.facts import Alias, Entity, Reference
from deia.graph.page_facts import markdown_places, page_facts

PAGE = "library:py/library/json.html"


def test_an_anchor_that_is_a_qualified_name_defines_it_and_any_other_is_a_section_of_its_page() -> None:
    facts = page_facts(PAGE, [("json.dumps", 160), ("module-json", 1), ("basic-usage", 124)], [])
    assert facts.entities == (
        Entity(f"{PAGE}#basic-usage", "SECTION", 124, 124),
        Entity(f"{PAGE}#module-json", "DEFINITION", 1, 1),
        Entity(f"{PAGE}#json.dumps", "DEFINITION", 160, 160),
    )
    assert set(facts.aliases) == {Alias("json.dumps", f"{PAGE}#json.dumps"), Alias("json", f"{PAGE}#module-json")}


def test_links_lead_to_addresses_of_other_pages_and_the_sign_beside_a_heading_to_nothing() -> None:
    links = [("#json.dumps", 160), ("stdtypes.html#str", 130), ("stdtypes.html#str", 130), ("../a%20b.html", 7)]
    facts = page_facts(PAGE, [("json.dumps", 160)], links)
    assert facts.references == (
        Reference("LINKS_TO", "library:py/library/stdtypes.html#str", 130),
        Reference("LINKS_TO", "library:py/a b.html", 7),
    )


def test_headings_and_links_of_markdown_are_found_outside_of_code() -> None:
    text = (
        "# A b: c!\n[x](y.md#z) [[Wiki page#Some part|shown]] [w](https://x.test)\n"
        "```\n# no\n[no](no.md)\n```\n## A_b-c\n"
    )
    anchors, links = markdown_places(text)
    assert anchors == [("a-b-c", 1), ("a_b-c", 7)]
    assert links == [("y.md#z", 2), ("Wiki page.md#some-part", 2)]


@given(st.text(alphabet="[](){}#`~<>| \n\tab.:/é", max_size=300))
def test_no_text_raises_and_places_are_lines_of_it(text: str) -> None:
    for places in markdown_places(text):
        assert all(0 < line <= text.count("\n") + 1 for _, line in places)
