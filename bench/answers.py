"""Whether answers rest on all the evidence that there is, and say so when there is none.

    python bench/answers.py [--docs FOLDER] [--sets FOLDER…] [--questions 500] [--seed 11] [--kept FOLDER]
                            [--learn SEED] [--size 100000]

Questions of two steps are made of the links of a documentation in HTML, such as `library/` of CPython's, as
bench/links.py makes them: half are sentences without the name that they refer to, half are names with the description
of what their entries refer to. A folder of `--sets` is in HippoRAG's format (a file of passages, `*corpus.json`, with
title and text, and one of questions, whose paragraphs say `is_supporting`, or whose `supporting_facts` name titles), or
has `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.

Each question is asked with and without following links and names: recall among the first five documents, and how often
all evidence is there. Then half of them are asked with their evidence taken out: the area under the curve of the
confidence is how often an answerable question gets a higher one than an unanswerable one. Every quotation is looked up
on its lines. `--learn` prints the weights of the confidence, from questions of another seed and all sets; what was
learned from is not to be reported.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from links import Asked as Documentation
from links import described_questions, reference_questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.answers.gathering import Evidence
    from deia.answers.synthesis import Cited
    from deia.search.catalog import Catalog

    Question = tuple[str, frozenset[str]]
    Found = tuple[Evidence, list[Cited], float]

DEPTH = 5
SETS = 0.1  # how much a set counts for the confidence, beside the questions of links


def made_of(docs: Documentation, count: int, seed: int) -> list[Question]:
    """Return questions of both kinds, half of each."""
    kinds = (reference_questions, described_questions)
    halves = ((kind(docs, random.Random(seed)), count - count // 2 * at) for at, kind in enumerate(kinds))
    made = [[one for one, _ in zip(questions, range(count // 2), strict=False)] for questions, _ in halves]
    return [one for half in made for one in half]


def set_in(folder: Path) -> tuple[dict[str, tuple[str, str]], list[Question]]:
    """Return the passages of a set by id, each with title and text, and its questions with their evidence."""
    if (folder / "corpus.jsonl").exists():
        passages = {row["_id"]: (row.get("title", ""), row["text"]) for row in rows(folder / "corpus.jsonl")}
        wanted: dict[str, set[str]] = {}
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            query, document, grade = line.split("\t")[-3:]
            wanted.setdefault(query, set()).update([document] if int(grade) > 0 else [])
        asked = [(row["text"], frozenset(wanted.get(row["_id"], ()))) for row in rows(folder / "queries.jsonl")]
        return passages, [(text, ids) for text, ids in asked if ids]
    corpus = next(folder.glob("*corpus.json"))
    passages = {}
    for at, row in enumerate(json.loads(corpus.read_text(encoding="utf-8"))):
        passages[f"{at}"] = (row["title"], row["text"])
    by_place = {place: ident for ident, place in passages.items()}
    by_title: dict[str, str] = {}
    for ident, (title, _) in passages.items():
        by_title.setdefault(title, ident)
    questions = []
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")) if path != corpus else ():
            supporting = [one for one in row.get("paragraphs", ()) if one.get("is_supporting")]
            places = [by_place.get((one["title"], one.get("paragraph_text") or one.get("text"))) for one in supporting]
            places += [by_title.get(title) for title, *_ in row.get("supporting_facts", ())]
            questions.append((row["question"], frozenset(filter(None, places))))
    return passages, [(text, ids) for text, ids in questions if ids]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def catalog_of(passages: dict[str, tuple[str, str]], folder: Path) -> Catalog:
    """Return a catalog of the passages of a set."""
    from deia.compile.catalog.build_catalog import build_catalog  # noqa: PLC0415 - after HOME is set
    from deia.compile.catalog.effort import Effort  # noqa: PLC0415 - likewise
    from deia.knowledge import Document, Entry  # noqa: PLC0415 - likewise
    from deia.search.catalog import open_catalog  # noqa: PLC0415 - likewise

    documents = [Document(path=name, title=title, text=text) for name, (title, text) in passages.items()]
    entries = [Entry(id=each.path, path=each.path, title=each.title) for each in documents]
    if folder.exists():
        return open_catalog(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    build_catalog(entries, documents, [], [], str(folder), tiers=("static",), effort=Effort())
    return open_catalog(str(folder))


class Bench:
    """A catalog that is asked, with the ids of its documents."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self.ids = catalog, catalog.ids()

    def ask(self, text: str, *, without: Iterable[str] = (), depth: int = 2) -> Found:
        """Return the evidence, the sentences, and how many milliseconds they took."""
        from deia.answers.evidence import understood  # noqa: PLC0415 - likewise
        from deia.answers.gathering import Limits, gather  # noqa: PLC0415 - after HOME is set
        from deia.answers.synthesis import cited  # noqa: PLC0415 - likewise
        from deia.knowledge import Query  # noqa: PLC0415 - likewise

        began = time.perf_counter()
        asked = understood(self.catalog, Query(text=text), ("static",))
        if taken := frozenset(self.ids[name] for name in without):
            asked = asked.but(filters={**asked.filters, "-document": taken})
        evidence = gather([asked], Limits(depth=depth), clock=time.monotonic)
        sentences = cited(evidence)
        return evidence, sentences, (time.perf_counter() - began) * 1000


def documents(evidence: Evidence) -> set[str]:
    """Return the first five documents of some evidence."""
    return set(list(dict.fromkeys(passage.document.entry.id for passage in evidence.passages))[:DEPTH])


def area(answerable: Sequence[float], others: Sequence[float]) -> float:
    """Return how often a value of the first is above one of the second, ties counted half."""
    pairs = ((a > b) + (a == b) / 2 for a in answerable for b in others)
    return sum(pairs) / (len(answerable) * len(others) or 1)


def share(values: Iterable[bool]) -> float:
    """Return how many of some values are true."""
    return statistics.mean(map(float, values))


def speed(size: int, folder: Path, rounds: int = 200) -> None:
    """Print how long answers of so many generated passages take."""
    from search import corpus, questions  # noqa: PLC0415 - only here

    from deia.answers.evidence import _nets  # noqa: PLC0415 - after HOME is set

    passages = {each.path: (each.title, each.text) for each in corpus(size)}
    bench = Bench(catalog_of(passages, folder / f"made-{size}"))
    for text in questions():
        bench.ask(text)
    asked = questions() * (rounds // len(questions()))
    times, own = [], []
    for text in asked:
        _nets.clear()  # questions of which it is kept what was found would cost nothing
        began = time.process_time()
        times.append(bench.ask(text)[2])
        own.append((time.process_time() - began) * 1000)
    print(
        f"{size} passages: p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[len(times) * 95 // 100]:.1f} ms,"
        f" of processor time p50 {statistics.median(own):.1f} ms"
    )


def report(name: str, bench: Bench, questions: Sequence[Question]) -> None:
    """Print the figures of one set."""
    from deia.answers.calibration import LEAST, probability  # noqa: PLC0415 - after HOME is set
    from deia.answers.quotations import is_quoted  # noqa: PLC0415 - likewise

    for depth in (0, 2):
        found = [(bench.ask(text, depth=depth), wanted) for text, wanted in questions]
        shares = [len(wanted & documents(evidence)) / len(wanted) for (evidence, _, _), wanted in found]
        cited = [wanted <= {one.passage.document.entry.id for one in sentences} for (_, sentences, _), wanted in found]
        times = sorted(ms for (_, _, ms), _ in found)
        print(
            f"{name:10} {len(questions):4} questions, links {'on ' if depth else 'off'}:"
            f" recall@{DEPTH} {statistics.mean(shares):.3f}, all evidence {share(one == 1 for one in shares):.3f},"
            f" cited whole {share(cited):.3f}, p50 {statistics.median(times):.1f} ms,"
            f" p95 {times[len(times) * 95 // 100]:.1f} ms"
        )
    there = [probability(*one[:2]) for (one, _) in found[::2]]
    gone = [probability(*bench.ask(text, without=wanted)[:2]) for text, wanted in questions[1::2]]
    quoted = [one for (_, sentences, _), _ in found for one in sentences]
    right = sum(is_quoted(one.quotation.text, lines(one)) for one in quoted)
    print(
        f"{'':10} answerable or not: AUC {area(there, gone):.3f}; of those with evidence"
        f" {share(one >= LEAST for one in there):.3f} are answered, of those without"
        f" {share(one >= LEAST for one in gone):.3f}; {right} of {len(quoted)} quotations are on their lines"
    )


def lines(one: Cited) -> list[str]:
    """Return the lines that a quotation names, from the whole text of its document."""
    document = one.passage.document
    text = one.passage.asked.catalog.text(document).split("\n")
    first = document.first_line
    return text[one.quotation.first - first : one.quotation.last - first + 1]


def learn(sets: Sequence[tuple[Bench, Sequence[Question]]]) -> None:
    """Print weights for `calibration`, with the cosine (the third value) and without; questions of links count most."""
    import numpy as np  # noqa: PLC0415 - only here

    from deia.answers.calibration import observed  # noqa: PLC0415 - after HOME is set

    asked = [(bench, text, without, len(questions)) for bench, questions in sets for text, ids in questions
             for without in ((), ids)]  # fmt: skip
    data = np.array([observed(*bench.ask(text, without=without)[:2]) for bench, text, without, _ in asked])
    right = np.array([not without for _, _, without, _ in asked], float)
    counts = np.array([(1 if bench is sets[0][0] else SETS) / size for bench, *_, size in asked])
    counts *= len(asked) / counts.sum()
    for columns in ([0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 6, 7]):
        inputs = np.c_[np.ones(len(data)), data[:, columns]]
        weights, ridge = np.zeros(inputs.shape[1]), np.diag([0.0, *[0.5] * len(columns)])
        for _ in range(40):
            guess = 1 / (1 + np.exp(-inputs @ weights))
            slope = inputs.T @ (counts * (guess - right)) + ridge @ weights
            weights -= np.linalg.solve((inputs * (counts * guess * (1 - guess))[:, None]).T @ inputs + ridge, slope)
        print(tuple(round(float(one), 2) for one in weights))


def main() -> int:
    """Print the figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--sets", type=Path, nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--learn", type=int, default=0)
    parser.add_argument("--size", type=int, default=0)
    options = parser.parse_args()
    kept = options.kept or Path(tempfile.mkdtemp())
    seed = options.learn or options.seed
    sets: list[tuple[str, Bench, list[Question]]] = []
    if options.docs:
        docs = Documentation(kept, options.docs, None)
        sets.append(("links", Bench(docs.catalog), made_of(docs, options.questions, seed)))
    for folder in options.sets:
        passages, questions = set_in(folder)
        chosen = random.Random(seed).sample(questions, min(len(questions), options.questions))
        sets.append((folder.name[:10], Bench(catalog_of(passages, kept / folder.name)), chosen))
    if options.size:
        speed(options.size, kept)
    if options.learn:
        learn([(bench, questions) for _, bench, questions in sets])
    else:
        for one in sets:
            report(*one)
    return 0


if __name__ == "__main__":
    sys.exit(main())
