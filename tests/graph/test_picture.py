"""A neighbourhood as SVG: well formed, without anything that runs, and no two labels on each other."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.drawing import neighbourhood
from deia.graph.picture import CHAR, SMALL, picture, wide
from tests.graph.test_drawing import FLOW, flow, ident

SVG = "{http://www.w3.org/2000/svg}"


class Area(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def areas(root: ET.Element) -> list[Area]:
    """Return where boxes and the names of lines are."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        found.append(Area(x, y, x + width, y + height))
    for label in root.iter(f"{SVG}text"):
        if label.get("class") == "label":
            x, y, width = float(label.get("x", "0")), float(label.get("y", "0")), wide(label.text or "") * SMALL
            left = x if label.get("text-anchor") == "start" else x - width
            found.append(Area(left, y - 9, left + width, y + 1))
    return found


def drawn(relations: list[str], around: str, *, depth: int) -> ET.Element:
    with tempfile.TemporaryDirectory() as folder, flow(Path(folder), *relations) as graph:
        return ET.fromstring(picture(neighbourhood(graph, ident(graph, around), depth=depth)))  # noqa: S314 - our own


def assert_clear(root: ET.Element) -> None:
    listed = areas(root)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for number, one in enumerate(listed):
        assert one.left >= 0
        assert one.top >= 0
        assert one.right <= width
        assert one.bottom <= height
        assert not [other for other in listed[number + 1 :] if one.overlaps(other)]


@pytest.mark.parametrize("seed", range(5))
def test_labels_and_boxes_do_not_overlap(seed: int) -> None:
    chosen = random.Random(seed)  # noqa: S311 - to draw, not to hide
    types = ["USES", "CALLS", "PRODUCES", "CONSUMES", "DEPENDS_ON"]
    names = [f"service-{number:0{chosen.randint(1, 20)}}" for number in range(39)]
    relations = [f"{name} {chosen.choice(types)} hub" for name in names]
    relations += [f"{chosen.choice(names)} {chosen.choice(types)} {chosen.choice(names)}" for _ in range(30)]
    assert_clear(drawn(relations, "hub", depth=1))
    assert_clear(drawn(relations, names[0], depth=2))


def test_every_entity_and_relation_is_drawn_with_its_evidence() -> None:
    root = drawn(list(FLOW), "Kafka", depth=2)
    assert len(list(root.iter(f"{SVG}rect"))) == 4
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert "PRODUCES: flow.md:1" in titles
    assert len([line for line in root.iter(f"{SVG}path") if line.get("marker-end")]) == 4


NAMES = st.text(st.characters(blacklist_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=50).filter(
    lambda name: len(name.split()) == 1
)


@settings(max_examples=40, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=6))
def test_whatever_names_are_nothing_but_text_comes_of_them(names: list[str]) -> None:
    root = drawn([f"{name} USES hub" for name in names], "hub", depth=1)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "style", "defs", "marker", "path", "g", "rect", "text"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]


def test_markup_in_names_stays_text() -> None:
    name = '</text><script>alert("1")</script>&amp;'
    root = drawn([f"{name} USES hub"], "hub", depth=1)
    assert name[:20] in "".join(root.itertext())
    assert root.find(f".//{SVG}script") is None
    assert CHAR > SMALL
