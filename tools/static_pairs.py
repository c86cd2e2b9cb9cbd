"""Pairs for training the static vectors: what somebody looks for, and the passage that says it.

Of documentation they are headings with the sections below them, and words of a sentence with the sentences around it;
of Debian's list, the line that describes a package with its paragraphs; of WordNet, synonyms with their meaning, and
examples with both. Nothing of the texts is shipped, only vectors of words.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tools import static_texts

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Pair = tuple[str, str]

FROM_EACH = 900  # pairs of each kind, of a package
FROM_LISTS = {"debian-descriptions": 25_000, "wordnet-base": 20_000}
MOST_WORDS = 160  # of a passage
FEWEST_WORDS = 8
MOST_SAME = 3  # sections with the same heading, which says nothing then
AROUND = 3  # sentences before and after the one that is looked for
FEWEST_LOOKED_FOR, MOST_LOOKED_FOR = 4, 16  # words of it
TOGETHER = 64  # pairs of one kind that stand in a row, so that a batch has passages of one subject to tell apart


def blocks_of_pairs(texts: Path, chance: random.Random) -> tuple[dict[str, int], list[list[Pair]]]:
    """Return how many pairs each package gave, and the pairs of each kind and package."""
    counts: dict[str, int] = {}
    blocks = []
    for folder in sorted(path for path in texts.iterdir() if path.is_dir()):
        package, _ = static_texts.package_of(folder.name)
        most = FROM_LISTS.get(package, FROM_EACH)
        for pairs in _kinds(folder, chance):
            listed = list(dict.fromkeys(pairs))
            chosen = chance.sample(listed, min(most, len(listed)))
            counts[package] = counts.get(package, 0) + len(chosen)
            blocks.append(chosen)
    return counts, [block for block in blocks if block]


def _kinds(folder: Path, chance: random.Random) -> Iterator[Iterable[Pair]]:
    """Yield the pairs of a package, kind by kind."""
    paths = static_texts.pages(folder)
    if lists := [path for path in paths if path.name == static_texts.DESCRIPTIONS]:
        yield (pair for path in lists for pair in _described(path.read_text("utf-8", "replace")))
    elif lists := [path for path in paths if path.name in static_texts.WORDNET]:
        yield (pair for path in lists for pair in _meant(path.read_text("utf-8", "replace")))
    else:
        yield _headed(path for path in paths if path.name.endswith(static_texts.PAGES))
        yield (pair for path in paths for block in static_texts.blocks(path) for pair in _surrounded(block, chance))


def _described(text: str) -> Iterator[Pair]:
    for line, rest in static_texts.descriptions(text):
        words = [word for word in rest.split() if word != "."]
        if len(words) >= FEWEST_WORDS:
            yield line, " ".join(words[:MOST_WORDS])


def _meant(text: str) -> Iterator[Pair]:
    for names, meaning, examples in static_texts.synsets(text):
        yield names, meaning
        yield from ((example, f"{names}: {meaning}") for example in examples)


def _headed(paths: Iterable[Path]) -> list[Pair]:
    """Return headings that few sections have, each with the beginning of its section."""
    found = [(heading, section.split()) for heading, section in static_texts.sections(paths)]
    times = Counter(heading for heading, _ in found)
    return [
        (heading, " ".join(words[:MOST_WORDS]))
        for heading, words in found
        if times[heading] <= MOST_SAME and len(words) >= FEWEST_WORDS
    ]


def _surrounded(block: str, chance: random.Random) -> Iterator[Pair]:
    """Yield words of a sentence with the sentences around it, if a paragraph has three or more."""
    sentences = list(static_texts.cut(block))
    if len(sentences) < AROUND:
        return
    at = chance.randrange(len(sentences))
    words, length = sentences[at].split(), chance.randint(FEWEST_LOOKED_FOR, MOST_LOOKED_FOR)
    start = chance.randrange(max(1, len(words) - length + 1))
    around = [*sentences[max(0, at - AROUND) : at], *sentences[at + 1 : at + 1 + AROUND]]
    yield " ".join(words[start : start + length]), " ".join(around)


def batches(blocks: Iterable[list[int]], size: int, chance: random.Random) -> Iterator[list[int]]:
    """Yield the numbers of pairs in batches for ever, some of one kind together."""
    every = [list(block) for block in blocks]
    while True:
        runs = []
        for block in every:
            mixed = chance.sample(block, len(block))
            runs += [mixed[at : at + TOGETHER] for at in range(0, len(mixed), TOGETHER)]
        mixed = [number for run in chance.sample(runs, len(runs)) for number in run]
        yield from (mixed[at : at + size] for at in range(0, len(mixed) - size, size))
