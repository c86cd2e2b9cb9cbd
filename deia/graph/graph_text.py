"""Answers of the graph as text, for people and models alike; every relation with the line that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.graph.facts import RESOLVED
from deia.graph.graph_answers import (
    DependentsAnswer,
    EntitiesAnswer,
    PathAnswer,
    RelationsAnswer,
    StatsAnswer,
    TraceAnswer,
)
from deia.text import counted, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from deia.graph.graph_answers import Chain, GraphAnswer, Node, Relation

MOST_NAME, MOST_DESCRIPTION = 200, 120  # characters
MOST_CHAINS = 50
ARROW = " → "
CUT = "There is more: of what has very many relations, or beyond a limit, only a part is shown."


def text_of(answer: GraphAnswer) -> str:
    """Return an answer as text."""
    lines = [answer.note] if answer.note else []
    lines += [f"  {_described(choice, choice.typed)}" for choice in answer.choices]
    if not answer.choices:
        lines += LINES[type(answer)](answer)
        lines += [CUT] if answer.is_cut else []
    return "\n".join(map(_on_one_line, lines))


def _on_one_line(line: str) -> str:
    """Return a line without what would break it, its indentation kept."""
    bare = line.lstrip(" ")
    return " " * (len(line) - len(bare)) + one_line(bare)


def _name(node: Node) -> str:
    return shorten(one_line(node.name), MOST_NAME)


def _described(node: Node, label: str) -> str:
    place = f" ({node.places[0]}{', …' if node.documents > 1 else ''})" if node.places else ""
    about = f": {shorten(one_line(node.description), MOST_DESCRIPTION)}" if node.description else ""
    return f"{label}{place}{about}"


def _related(relation: Relation) -> str:
    unsure = "" if relation.certainty == RESOLVED else f", {relation.certainty}"
    ways = f"{_name(relation.source)} {relation.arrow(relation.source)} {_name(relation.target)}"
    return f"{ways} ({shorten(str(relation.evidence), MOST_DESCRIPTION)}{unsure})"


def _entities(answer: EntitiesAnswer) -> Iterator[str]:
    if not answer.entities:
        yield "The graph has no entities yet."
    for node in answer.entities:
        yield _described(node, f"{node.type} {_name(node)}")
    if len(answer.entities) < answer.total:
        yield f"{len(answer.entities)} of {answer.total}"


def _relations(answer: RelationsAnswer) -> Iterator[str]:
    if answer.entity:
        yield _described(answer.entity, f"{answer.entity.type} {_name(answer.entity)}")
    yield from (f"  {_related(relation)}" for relation in answer.relations)
    if not answer.relations:
        yield "  No relations are known."


def _trace(answer: TraceAnswer) -> Iterator[str]:
    if answer.entity and not answer.chains:
        yield f"Nothing is known {answer.direction} of {_name(answer.entity)}."
        return
    yield from map(_chain, answer.chains[:MOST_CHAINS])
    if len(answer.chains) > MOST_CHAINS:
        yield f"and {len(answer.chains) - MOST_CHAINS} more chains"
    yield "because"
    yield from (f"  {_related(relation)}" for relation in answer.relations)


def _chain(chain: Chain) -> str:
    return ARROW.join(map(_name, chain.entities))


def _path(answer: PathAnswer) -> Iterator[str]:
    if not answer.entities:
        start, end = answer.asked
        yield f"No path between {start!r} and {end!r} has {counted(answer.max_depth, 'step')} or fewer."
        return
    steps = zip(answer.relations, answer.entities, answer.entities[1:], strict=False)
    parts = [f" {relation.arrow(one)} {_name(other)}" for relation, one, other in steps]
    yield "".join([_name(answer.entities[0]), *parts])
    yield from (f"  {_related(relation)}" for relation in answer.relations)


def _dependents(answer: DependentsAnswer) -> Iterator[str]:
    name = _name(answer.entity) if answer.entity else ""
    if not answer.total:
        yield f"Nothing is known to depend on {name}."
        return
    how = f"{answer.direct} directly: {_counts(answer.by_relation)}"
    yield f"{counted(answer.total, 'thing')} may break if {name} changes ({_counts(answer.types)}), {how}"
    yield from (f"  {_related(relation)}" for relation in answer.relations)
    if len(answer.relations) < answer.total:
        yield f"  and {answer.total - len(answer.relations)} more"


def _stats(answer: StatsAnswer) -> Iterator[str]:
    names = ("documents", "chunks", "entities", "relations", "vectors")
    yield ", ".join(f"{name.capitalize()}: {getattr(answer, name)}" for name in names)
    for what, types in (("Entities", answer.entity_types), ("Relations", answer.relation_types)):
        if types:
            yield f"{what} by type: {_counts(types)}"


def _counts(types: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in types.items())


LINES: Mapping[type[GraphAnswer], Callable[..., Iterator[str]]] = {
    EntitiesAnswer: _entities, RelationsAnswer: _relations, TraceAnswer: _trace, PathAnswer: _path,
    DependentsAnswer: _dependents, StatsAnswer: _stats,
}  # fmt: skip
