"""The trees of office documents, with each text once and where it is read.

Office programs write some parts of a document twice, for newer and for older programs, keep what was moved or deleted
beside what is there now, and put text boxes into the paragraphs to which they are fixed. Each step here takes time in
proportion to the tree, however its elements are nested, and hardly any if there is nothing to do.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
FORMS = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
TEXTS = (f"{WORD}t", f"{DRAWING}t")
GONE = (f"{WORD}moveFrom", f"{WORD}del")
PARAGRAPH = f"{WORD}p"
BOX = f"{WORD}txbxContent"


def read_once(root: Element | None) -> Element | None:
    """Return a tree in which every text that is to be read stands once, none in the middle of another."""
    root = in_one_form(root)
    if root is not None:
        if any(_holds(root, tag) for tag in GONE):
            _take_away(root)
        if _holds(root, BOX):
            _place_boxes(root)
    return root


def in_one_form(root: Element | None) -> Element | None:
    """Return a tree with one of the forms in which a part is written."""
    if root is not None and _holds(root, FORMS):
        _choose_forms(root)
    return root


def _holds(root: Element, tag: str) -> bool:
    return next(root.iter(tag), None) is not None


def _take_away(root: Element) -> None:
    for parent in list(root.iter()):
        if any(child.tag in GONE for child in parent):
            parent[:] = [child for child in parent if child.tag not in GONE]


def _choose_forms(root: Element) -> None:
    """Leave one of the forms in which a part is written: the first one that has text, or else the first."""
    said: set[Element] = set()  # elements with text in them; inner ones come before outer ones
    for element in reversed(list(root.iter())):
        if element.tag == FORMS:
            chosen = next((form for form in element if form in said), None)
            element[:] = [*(element[:1] if chosen is None else [chosen])]
        if (element.tag in TEXTS and (element.text or "").strip()) or any(child in said for child in element):
            said.add(element)


def _place_boxes(root: Element) -> None:
    """Put the text boxes of a paragraph behind it."""
    waiting: dict[Element, list[Element]] = {}  # for the end of a paragraph, by the outermost element around them
    for parent in reversed(list(root.iter())):
        placed: list[Element] = []
        boxes: list[Element] = []
        for child in parent:
            inner = waiting.pop(child, [])
            if child.tag == PARAGRAPH:
                placed += [child, *inner]
            elif child.tag == BOX:
                boxes += [child, *inner]
            else:
                placed.append(child)
                boxes += inner
        if boxes:
            waiting[parent] = boxes
        if placed != list(parent):
            parent[:] = placed
    root.extend(waiting.get(root, []))
