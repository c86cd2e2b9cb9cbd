"""The layers of a commons in a search: the project's own documents, those of its packs, and those of the starter.

A layer is known by the beginning of a path. Of documents that fit about equally well, those of a higher layer come
first; beside an answer of the project's own, the starter shows only what answers the question too. Nothing that an
untrusted commons contains is preferred.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.folders import STARTER_PREFIX
from deia.match.keyword import ALSO, NOT
from deia.records import TYPE_CHECKING
from deia.search.catalog import Catalog
from deia.search.ranking.rank import NEAR_BEST, Ranked, falling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.match.keyword import Filters

OWN, PACKS, STARTER = "own", "packs", "starter"
LIBRARY = "library"  # has a catalog of its own; in that of the commons it is empty
LAYERS = (OWN, PACKS, STARTER, LIBRARY)
# Values of the filter `path` that all documents of a layer have; the project's own have neither.
PLACES: Mapping[str, str] = {PACKS: "packs", STARTER: f"{STARTER_PREFIX}bok"}
# Scores that differ by less than this fit about equally well. (On 20 notes over the starter, a note with the very
# subject of a question was .11 below the starter's document about it, and .5 below if it was about something else.)
ADVANTAGE: Mapping[str, float] = {OWN: 0.15, PACKS: 0.075, STARTER: 0.0}
FAINT = 0.45  # of the best score: documents below are not shown (of 300 labelled questions, none lost a right one)


def layer_filters(layers: Sequence[str]) -> Filters:
    """Return the filters that leave only documents of some layers; raise QueryError for a layer that does not exist."""
    unknown = [layer for layer in layers if layer not in LAYERS]
    if unknown:
        raise QueryError(f"there is no layer {unknown[0]!r}.", fix=f"Layers are: {', '.join(LAYERS)}.")
    if not layers:
        return {}
    if OWN not in layers:
        return {f"{ALSO}path": tuple(PLACES[layer] for layer in layers if layer != LIBRARY)}
    others = tuple(place for layer, place in PLACES.items() if layer not in layers)
    return {f"{NOT}{ALSO}path": others} if others else {}


def layer_of(path: str) -> str:
    """Return the layer of a document by its path."""
    return next((layer for layer, place in PLACES.items() if path.startswith(f"{place}/")), OWN)


def higher_first(catalog: Catalog, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return documents with those of higher layers before others that fit as well, with scores that never increase."""
    layers = layers_of(catalog, ranked)
    return falling(
        sorted(ranked, key=lambda document: -document.score - ADVANTAGE[layers.get(document.number, STARTER)])
    )


def layers_of(catalog: Catalog, ranked: Iterable[Ranked]) -> Mapping[int, str]:
    """Return the layers of documents by their numbers; empty if there is one layer, or the commons is not trusted."""
    if not _has_layers(catalog):
        return {}
    return {document.number: layer_of(catalog.path(document.number)) for document in ranked}


def _has_layers(catalog: Catalog) -> bool:
    """Return whether a trusted commons has documents of others beside its own."""
    own_first = bool(catalog.header.get("own_first"))
    return own_first and any(catalog.keyword.has("path", place) for place in PLACES.values())


def own_among_more(catalog: Catalog) -> Filters:
    """Return the filter that leaves a project's own documents, if they are the smaller part of its commons, else {}."""
    own = layer_filters((OWN,)) if _has_layers(catalog) else {}
    return own if own and 0 < 2 * catalog.keyword.count(filters=own) < len(catalog) else {}


def fitting(catalog: Catalog, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return documents, the best one first, without those that fit much worse."""
    if not ranked:
        return []
    layers, best = layers_of(catalog, ranked), ranked[0].score
    answered = layers.get(higher_first(catalog, ranked)[0].number, STARTER) != STARTER
    least = {STARTER: NEAR_BEST if answered else FAINT}
    return [
        document for document in ranked if document.score >= best * least.get(layers.get(document.number, OWN), FAINT)
    ]
