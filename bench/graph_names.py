"""Whether names that are typed otherwise lead to the right entities of a graph, and none silently to a wrong one.

    python bench/graph_names.py [--names 300] [--seed 1] [--half tuned|held]

The entities are the modules, classes and functions of the standard library without its tests. Each name is changed in
one of five ways: a letter left out, doubled, exchanged or put in another's place (misspelt); initials or vowels left
out (abbreviated); a plural; other case and other signs between words (spelt otherwise); a part of what it belongs to
before it (qualified). Right is an answer that has the entity; it is ambiguous if it has others, and then may name eight
at most, besides those that have the very same name. Silently wrong is one that has other entities only, and does not
say that it guessed. The constants in `graph/names.py` were chosen on the half `tuned`.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from functions import LEFT_OUT, half_of

from deia.graph.facts import Entity, Facts
from deia.graph.graph_store import Graph
from deia.graph.names import WORDS, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_NAMED = 8
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(tree: ast.AST, module: str) -> Iterator[Entity]:
    """Yield the classes and functions of a module, those in classes too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, DEFINED):
            kind = "CLASS" if isinstance(node, ast.ClassDef) else "FUNCTION"
            yield Entity(f"{module}.{node.name}", kind, node.lineno, node.end_lineno or 0)
            if kind == "CLASS":
                yield from definitions(node, f"{module}.{node.name}")


def misspelt(name: str, chosen: random.Random) -> str:
    """Return a name with one letter wrong."""
    at = chosen.randrange(1, len(name) - 1)
    how = chosen.randrange(4)
    if how == 0:
        return name[:at] + name[at + 1 :]
    if how == 1:
        return name[:at] + name[at] + name[at:]
    if how == 2:
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return name[:at] + chosen.choice(LETTERS) + name[at + 1 :]


def abbreviated(name: str, _chosen: random.Random) -> str:
    """Return the initials of a name of several words, or a single word without its vowels."""
    words = WORDS.findall(name)
    if len(words) > 2:
        return "".join(word[0] for word in words)
    return name[0] + "".join(letter for letter in name[1:] if letter.lower() not in "aeiou")


def plural(name: str, _chosen: random.Random) -> str:
    """Return the plural of a name."""
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def otherwise(name: str, chosen: random.Random) -> str:
    """Return a name with other case, and other signs between its words."""
    words = [word.lower() for word in WORDS.findall(name)]
    ways = ("_".join(words), "-".join(words), " ".join(words), "".join(map(str.title, words)), name.upper())
    return chosen.choice([way for way in ways if way != name] or [name.upper()])


def qualified(name: str, chosen: random.Random, owner: str = "") -> str:
    """Return a name in another case behind what it belongs to."""
    return f"{owner}{chosen.choice(('.', '::', '#'))}{name}".lower()


WAYS: dict[str, Callable[..., str]] = {
    "misspelt": misspelt, "abbreviated": abbreviated, "plural": plural, "otherwise": otherwise, "qualified": qualified,
}  # fmt: skip


def graph_of(folder: str, half: str) -> tuple[Graph, list[Entity]]:
    """Return a graph of the standard library, and the entities of a half of it that can be asked for."""
    root = Path(ast.__file__).parent
    graph, asked = Graph(folder), []
    with graph.transaction():
        for path in sorted(root.rglob("*.py")):
            relative = path.relative_to(root)
            if LEFT_OUT & set(relative.parts):
                continue
            module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
            entities = tuple(definitions(ast.parse(path.read_bytes()), module))
            graph.put(f"library:std/{relative}", "", Facts(module=module, entities=entities))
            if half_of(str(relative)) == half:
                asked += [entity for entity in entities if len(entity.name.rpartition(".")[2].strip("_")) > 5]
    return graph, asked


def main() -> int:
    """Print what came of each way; return 1 if a name was silently taken for another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=("tuned", "held"), default="tuned")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        graph, asked = graph_of(folder, options.half)
        with graph:
            came: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
            began = time.process_time()
            for way, entity, typed in changed(graph, asked, chosen, options.names):
                outcome = outcome_of(graph, entity, typed)
                came[way][outcome] += 1
                if options.show and outcome not in ("right", "ambiguous"):
                    print(outcome, way, entity.name, "<-", typed)
            seconds = time.process_time() - began
    total = sum(came.values(), Counter())
    for way, counts in [*came.items(), ("all", total)]:
        count = sum(counts.values())
        good = (counts["right"] + counts["ambiguous"]) / max(1, count)
        print(f"{way:12} {count:4}  right or rightly ambiguous {good:.3f}  {dict(counts)}")
    print(f"{seconds * 1000 / options.names:.1f} ms a name, among {len(asked)} of this half")
    return 1 if total["silently wrong"] else 0


def changed(graph: Graph, asked: list[Entity], chosen: random.Random, count: int) -> Iterator[tuple[str, Entity, str]]:
    """Yield ways, entities and names that are none of anything else."""
    there = {last for (last,) in graph.database.execute("select distinct last from entities")}
    done = 0
    for entity in chosen.sample(asked, len(asked)):
        way = list(WAYS)[done % len(WAYS)]
        owner, _, name = entity.name.rpartition(".")
        more = (owner.rpartition(".")[2],) if way == "qualified" else ()
        typed = WAYS[way](name, chosen, *more)
        if typed.casefold() not in there - {name.casefold()}:
            done += 1
            yield way, entity, typed
        if done == count:
            return


def outcome_of(graph: Graph, entity: Entity, typed: str) -> str:
    """Return what came of a name."""
    found = find(graph.database, typed)
    by_id = "select name from entities where id = ?"
    names = [name for one in found.entities for (name,) in graph.database.execute(by_id, (one,))]
    if entity.name not in names:
        return "nothing" if not names else "wrong, told" if found.is_guess or len(names) > 1 else "silently wrong"
    if len(names) == 1:
        return "right"
    last = entity.name.rpartition(".")[2].casefold()
    others = {name.rpartition(".")[2].casefold() for name in names} - {last}
    return "ambiguous" if len(others) < MOST_NAMED else "too many"


if __name__ == "__main__":
    sys.exit(main())
