from __future__ import annotations

from deia.graph.facts import Alias, Entity, Reference
from deia.graph.page_facts import page_facts

PAGE = "library:py/library/json.html"


def test_an_anchor_that_is_a_qualified_name_defines_it_and_any_other_is_part_of_its_page() -> None:
    facts = page_facts(PAGE, [("json.dumps", 160), ("module-json", 1), ("basic-usage", 124)], [])
    assert facts.entities == (
        Entity("json.dumps", "ANCHOR", 160, 160),
        Entity("json", "ANCHOR", 1, 1),
        Entity(f"{PAGE}#basic-usage", "ANCHOR", 124, 124),
    )
    assert facts.aliases == (Alias(f"{PAGE}#json.dumps", "json.dumps"), Alias(f"{PAGE}#module-json", "json"))


def test_links_lead_to_addresses_of_other_pages_and_the_sign_beside_a_heading_to_nothing() -> None:
    links = [("#json.dumps", 160), ("stdtypes.html#str", 130), ("stdtypes.html#str", 130), ("../a%20b.html", 7)]
    facts = page_facts(PAGE, [("json.dumps", 160)], links)
    assert facts.references == (
        Reference("LINKS_TO", "library:py/library/stdtypes.html#str", 130),
        Reference("LINKS_TO", "library:py/a b.html", 7),
    )
