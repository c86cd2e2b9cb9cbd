"""Commons of any size for the benchmarks: seeded, so that two runs measure the same thing."""

from __future__ import annotations

import json
import random
from pathlib import Path

VERBS = (
    "delete remove drop destroy reset wipe push publish deploy restart rename migrate rotate disable truncate".split()
)
OBJECTS = (
    "site database table branch bucket cluster volume index queue topic release cache secret domain account".split()
)
SYLLABLES = "ba co di fu ga he jo ki lu ma ne po qua ri su ta vo wi xe yo za bri cro dra fle gri plo sta tri".split()


def names(count: int, seed: int) -> list[str]:
    """Return invented product names, all different."""
    random_ = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random_.choice(SYLLABLES) for _ in range(random_.randint(2, 4)))] = None
    return list(found)


def make_commons(folder: Path, *, triggers: int, documents: int = 20, seed: int = 7) -> Path:
    """Write a commons with so many triggers and documents; JSON is YAML, and quicker to write."""
    random_ = random.Random(seed)
    products = names(max(triggers // 4, 25), seed)
    for part in ("bok", "triggers"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    entries = []
    for number in range(documents):
        path = f"bok/lesson-{number}.md"
        words = " ".join(random_.choices(products + VERBS + OBJECTS, k=150))
        (folder / path).write_text(f"# Lesson {number}\n\n{words}\n", encoding="utf-8")
        entries.append({"id": f"lesson-{number}", "path": path, "title": f"Lesson {number}", "summary": words[:80],
                        "keywords": words.split()[:6]})  # fmt: skip
    index = {"version": "1.0", "clusters": {"all": {"description": "Everything", "documents": entries}}}
    (folder / "commons_index.yaml").write_text(json.dumps(index), encoding="utf-8")
    written = [_trigger(number, random_, products, documents) for number in range(triggers)]
    for start in range(0, triggers, 200):
        text = json.dumps(written[start : start + 200], ensure_ascii=False)
        (folder / "triggers" / f"topic-{start // 200}.yaml").write_text(text, encoding="utf-8")
    return folder


def _trigger(number: int, random_: random.Random, products: list[str], documents: int) -> dict[str, object]:
    product = random_.choice(products)
    verb, other = random_.sample(VERBS, 2)
    thing, second = random_.sample(OBJECTS, 2)
    clauses: list[dict[str, str | list[str]]] = [
        {"phrase": f"{{{verb}|{other}}} … {{{thing}|{second}}} … {product}"},
        {"command": f"{product} {thing} {verb}"},
    ]
    if number % 10 == 0:
        clauses.append({"pattern": rf"\b{product} {verb} (now|all)\b"})
    if number % 25 == 0:
        clauses.append({"error": f"{product} … {thing} not found"})
    if number % 20 == 0:
        clauses.append(
            {"meaning": [f"{verb} the {thing} of {product} for good", f"{verb} every {thing} and start over"]}
        )
    return {
        "id": f"trigger-{number}", "title": f"{verb} the {thing} of {product}", "urgency": "high", "action": "warn",
        "message": f"{verb} of a {thing} cannot be undone.",
        "documents": [{"id": f"lesson-{number % documents}", "mode": "full_context"}], "when": {"any": clauses},
        **({"context": [random_.choice(products)]} if number % 5 == 0 else {}),
    }  # fmt: skip
