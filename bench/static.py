"""Measure how good and how fast the static word vectors are.

    python bench/static.py [--teacher MODEL] [FOLDER…]

Prints the file's size, what a cold and a warm encoding cost, and how well the pairs of `static_pairs.tsv` (a text and
its paraphrase per line, on one topic) are distinguished from texts on other topics. `--teacher` needs
sentence-transformers and adds the rank correlation with its similarities over the sentences of the starter commons,
none of which the vectors were trained on. A FOLDER (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`) adds nDCG@10 of the
vectors alone, by the best chunk of 180 words.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from timing import PYTHON, percentile, time_calls

from deia.match.static_vectors import FILE, Static, open_static, similarities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Vectors = Sequence[Sequence[float]]
    Encode = Callable[[str], Sequence[float]]

HERE = Path(__file__).parent
STARTER = HERE.parent / "bok"
CHUNK_WORDS = 180
EXEMPLARS = 500
ROUNDS = 40
TURN = (
    "I'll drop the staging database now and recreate it from the latest migration, then push the branch with force so "
    "that the deployment picks it up; the old backups in the bucket can be deleted too, I think."
)
COLD = """
import time
begun = time.perf_counter_ns()
import sys
sys.path.insert(0, {root!r})
from deia.match.static_vectors import open_static, similarities
static = open_static()
vector = static.encode({turn!r})
similarities(vector, open({codes!r}, 'rb').read(), static.dimensions)
assert 'numpy' not in sys.modules and 're' not in sys.modules
print((time.perf_counter_ns() - begun) / 1e6)
"""


class Pair(NamedTuple):
    """A topic, and the vectors of a text and of its paraphrase."""

    topic: str
    text: Sequence[float]
    other: Sequence[float]


def encoded(encode: Encode) -> list[Pair]:
    """Read the paraphrases and encode them."""
    lines = [line.split("\t") for line in (HERE / "static_pairs.tsv").read_text("utf-8").splitlines()]
    return [Pair(topic, encode(text), encode(other)) for topic, text, other in lines]


def stored(static: Static, vector: Sequence[float]) -> bytes:
    """Return a vector as a catalog keeps it."""
    import numpy as np  # noqa: PLC0415 - the cold measure must not inherit it

    from deia.compile.catalog.vectors import stored_bytes  # noqa: PLC0415 - imports numpy

    return stored_bytes(static, np.array([vector], "f4"))


def similarity(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the cosine of two unit vectors."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def topic_auc(encode: Encode) -> float:
    """Return the probability that a paraphrase is closer to its text than a text of another topic is."""
    known = encoded(encode)
    same = [similarity(pair.text, pair.other) for pair in known]
    apart = [
        similarity(one.text, foreign)
        for one, two in itertools.permutations(known, 2)
        if one.topic != two.topic
        for foreign in (two.text, two.other)
    ]
    return sum((a > b) + 0.5 * (a == b) for a in same for b in apart) / (len(same) * len(apart))


def first_found(encode: Encode) -> float:
    """Return the share of paraphrases that are closest to their own text, or another of its topic."""
    known = encoded(encode)
    nearest = [max(known, key=lambda each: similarity(pair.other, each.text)) for pair in known]
    return sum(one.topic == two.topic for one, two in zip(known, nearest, strict=True)) / len(known)


def starter_sentences() -> list[str]:
    """Return the sentences of the starter documents."""
    found = dict[str, None]()
    for path in sorted(STARTER.rglob("*.md")):
        for line in path.read_text("utf-8").split("\n---\n", 1)[-1].splitlines():
            for sentence in line.replace("`", "").strip("#-*| ").split(". "):
                if len(sentence.split()) >= 4:
                    found[sentence] = None
    return list(found)


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal values are so rare here that their order does not matter."""
    placed = [0.0] * len(values)
    for rank, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        placed[at] = float(rank)
    return placed


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Return Spearman's rank correlation."""
    one, two = ranks(left), ranks(right)
    middle = (len(one) - 1) / 2
    return sum((a - middle) * (b - middle) for a, b in zip(one, two, strict=True)) / sum((a - middle) ** 2 for a in one)


def teacher_agreement(static: Static, model: str) -> None:
    """Print how the vectors rank pairs of sentences compared with the transformer, and how it does itself."""
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415 - heavy, on demand

    teacher = SentenceTransformer(model, device="cpu")

    def taught(text: str) -> list[float]:
        vector: list[float] = teacher.encode(text, normalize_embeddings=True).tolist()
        return vector

    texts = starter_sentences()
    chosen = random.Random(1).sample(texts, min(len(texts), 400))
    ours = [static.encode(text) for text in chosen]
    theirs = [taught(text) for text in chosen]
    found = [[similarity(one, two) for one, two in itertools.combinations(vectors, 2)] for vectors in (ours, theirs)]
    print(f"rank correlation with the transformer    {correlation(*found):.3f}  ({len(found[0]):,} pairs, starter)")
    print(f"the transformer itself: topic AUC {topic_auc(taught):.3f}, nearest of its topic {first_found(taught):.3f}")


def cold(static: Static) -> None:
    """Print what importing, opening, encoding one turn and comparing it cost a fresh interpreter."""
    codes = b"".join(stored(static, vector) for pair in encoded(static.encode) for vector in (pair.text, pair.other))
    place = HERE / f".exemplars.{os.getpid()}"
    place.write_bytes((codes * EXEMPLARS)[: EXEMPLARS * static.dimensions])
    try:
        script = COLD.format(root=str(HERE.parent), turn=TURN, codes=str(place))
        command = (PYTHON, "-I", "-S", "-c", script)
        taken = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(ROUNDS)]
    finally:
        place.unlink()
    print(
        f"cold: import, open, encode {len(TURN)} characters, compare with {EXEMPLARS}    "
        f"p50 {median(taken):.2f} ms, p95 {percentile(taken, 0.95):.2f} ms on top of the interpreter"
    )


def warm(static: Static) -> None:
    """Print what an encoding and a comparison cost once the vectors are open."""
    vector = static.encode(TURN)
    codes = stored(static, vector) * EXEMPLARS
    for name, call in {
        f"encode {len(TURN)} characters": lambda _: static.encode(TURN),
        "encode 2,000 characters": lambda _: static.encode(TURN * 11),
        f"compare with {EXEMPLARS}": lambda _: similarities(vector, codes, static.dimensions),
    }.items():
        print(f"warm: {name:40} p50 {median(time_calls(call, rounds=200)):.0f} µs")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (folder / name).read_text("utf-8").split("\n") if line.strip()]


def retrieval(static: Static, folder: Path) -> float:
    """Return nDCG@10 of the vectors alone."""
    import numpy as np  # noqa: PLC0415 - the cold measure must not inherit it

    documents, vectors = [], []
    for row in rows(folder, "corpus.jsonl"):
        words = f"{row['title']} {row['text']}".split()
        for start in range(0, max(1, len(words)), CHUNK_WORDS):
            documents.append(row["_id"])
            vectors.append(static.encode(" ".join(words[start : start + CHUNK_WORDS])))
    matrix = np.array(vectors, dtype="f4")
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        judged.setdefault(query, {})[document] = int(grade)
    scores = []
    for asked in rows(folder, "queries.jsonl"):
        if relevant := judged.get(asked["_id"]):
            order = np.argsort(-(matrix @ np.array(static.encode(asked["text"]), dtype="f4")))
            found = list(dict.fromkeys(documents[at] for at in order[:400]))[:10]
            scores.append(_gain([relevant.get(one, 0) for one in found]) / _gain(sorted(relevant.values())[:-11:-1]))
    return sum(scores) / len(scores)


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--teacher", default="")
    parser.add_argument("--static", default="", help="another file than the one that came with deia")
    options = parser.parse_args()
    static = open_static(options.static)
    size = (Path(options.static) if options.static else HERE.parent / "deia" / "models" / FILE).stat().st_size
    print(f"{static.name}: {static.dimensions} dimensions, {size / 1e6:.2f} MB, digest {static.digest[:12]}")
    if not options.static:
        cold(static)
    warm(static)
    print(f"topic AUC {topic_auc(static.encode):.3f}, nearest of its topic {first_found(static.encode):.3f}")
    if options.teacher:
        teacher_agreement(static, options.teacher)
    for folder in options.folders:
        begun = time.perf_counter()
        print(f"{folder.name:18} nDCG@10 alone {retrieval(static, folder):.3f}  ({time.perf_counter() - begun:.1f} s)")


if __name__ == "__main__":
    main()
