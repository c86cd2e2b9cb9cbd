"""What the anchors and links of pages say: where a name is defined, and which pages refer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from deia.graph.facts import Alias, Entity, Facts, Reference
from deia.graph.import_paths import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ANCHOR, LINKS_TO = "ANCHOR", "LINKS_TO"
MODULE_ANCHOR = "module-"  # before the name of a module, in pages that Sphinx makes


def page_facts(document: str, anchors: Sequence[tuple[str, int]], links: Sequence[tuple[str, int]]) -> Facts:
    """Return the anchors of a page as entities, and its links as references from the line on which they stand.

    An anchor that is a qualified name (`json.dumps`) defines that name. The address of any other, and of a whole page,
    is the name of the document with the anchor behind it.
    """
    lines = dict(anchors)
    names = {anchor: _name(document, anchor) for anchor in lines}
    entities = tuple(Entity(names[anchor], ANCHOR, line, line) for anchor, line in lines.items())
    aliases = [Alias(f"{document}#{anchor}", name) for anchor, name in names.items() if name[-1:] and "#" not in name]
    seen: dict[tuple[str, int], Reference] = {}
    for address, line in links:
        path, anchor = urldefrag(address)
        if not path and lines.get(anchor) == line:
            continue  # the sign beside a heading that links to the heading
        path = place_of(document, "").beside(unquote(path)) if path else document
        target = f"{path}#{anchor}" if anchor else path
        seen.setdefault((target, line), Reference(LINKS_TO, target, line))
    return Facts(entities=entities, references=tuple(seen.values()), aliases=tuple(aliases))


def _name(document: str, anchor: str) -> str:
    bare = anchor.removeprefix(MODULE_ANCHOR)
    is_name = bare != anchor or "." in anchor
    return bare if is_name and all(part.isidentifier() for part in bare.split(".")) else f"{document}#{anchor}"
