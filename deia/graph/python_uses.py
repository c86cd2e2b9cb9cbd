"""What becomes of the uses that were seen in a module of Python, once all of the module is known."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from deia.graph.facts import BY_NAME, RESOLVED, Alias, Entity, Reference
from deia.graph.python_paths import HOLE
from deia.graph.resolving import ITEM, METHOD, MOST_ITEMS

CALLS, REFERENCES = "CALLS", "REFERENCES"
MOST_GUESSES = 2_000  # relations of a module by references that may each lead to many things
UNTOLD = 10  # things assumed to be in a container if the module puts none into it
MOST_PATTERNS = 100  # of names that are made in a module
Uses = dict[tuple[str, str], int]  # the line of each use, by what uses something and the path of that


def values_used(
    values: Uses, entities: Iterable[Entity], properties: Collection[str], module: str
) -> Iterator[Reference]:
    """Yield references to what is used as a value; to use a property is to call it."""
    own, inside = {entity.name for entity in entities}, f"{module}."
    for (source, target), line in values.items():
        if target.rpartition(".")[2] in properties:
            yield Reference(CALLS, target, line, source, certainty=BY_NAME if target[0] == "." else RESOLVED)
        elif target in own or not (target.startswith((inside, ".")) or ITEM in target):
            yield Reference(REFERENCES, target, line, source)


def methods_implied(implied: Uses, known: Collection[str], module: str) -> Iterator[Reference]:
    """Yield references to the methods that operators and such call, if what they are called on may be known."""
    inside = f"{module}."
    for (source, target), line in implied.items():
        head = target.rpartition(".")[0]
        if head[-1] == ")" or head in known or not head.startswith(inside):
            yield Reference(CALLS, target, line, source)


def with_guesses(
    references: Iterable[Reference], entities: Iterable[Entity], aliases: Iterable[Alias]
) -> Iterator[Reference]:
    """Yield references; of those that may lead to many things, only up to `MOST_GUESSES` such relations.

    A reference to a name that is made at run time becomes one for each method that may have that name.
    """
    methods = {entity.name.rpartition(".")[2] for entity in entities if entity.type == METHOD}
    fitting: dict[str, list[str]] = {}
    left = MOST_GUESSES
    contents = Counter(alias.name for alias in aliases if alias.name.endswith(ITEM))
    for reference in references:
        if HOLE not in reference.target and ITEM not in reference.target:
            yield reference
            continue
        head, _, pattern = reference.target.rpartition(".")
        container, item, _ = reference.target.partition(ITEM)
        weight = min(contents[f"{container}{ITEM}"] or UNTOLD, MOST_ITEMS) if item else 1
        if HOLE in pattern and HOLE not in head and (pattern in fitting or len(fitting) < MOST_PATTERNS):
            if pattern not in fitting:
                fitting[pattern] = sorted(fnmatch.filter(methods, pattern))
            names = fitting[pattern][: left // weight]
            yield from (reference._replace(target=f"{head}.{name}", certainty=BY_NAME) for name in names)
            left -= len(names) * weight
        elif HOLE not in reference.target and left >= weight:
            left -= weight
            yield reference
