"""Count how often each word occurs in descriptions of software, so that a search can recognise a commons' topics.

    python tools/usual_words.py TRANSLATION [--out FOLDER] [--source NAME]

TRANSLATION is Debian's list of descriptions of the packages of `main` (`Translation-en`, as text: `apt-get update -o
Acquire::Languages=en`, then `/usr/lib/apt/apt-helper cat-file` of the list). Each has a line and some paragraphs. A
word's level is the mean of two negative logarithms: of the share of lines, and of whole descriptions, that contain its
stem. A repeated line or paragraph does not count again. Writes `usual_words.txt`, which `word_usage` reads, and its
provenance beside it. It contains nothing of the texts but single words, and none that fewer than FEWEST descriptions
contain. Text that is not a description is skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from math import log, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from deia.match.keyword import analyser
from deia.match.tokeniser import terms
from deia.search.ranking.weights import LEVELS, SEPARATOR, USUAL_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIELD = "Description-en: "
FEWEST = 3  # 1, 2, 3 and 5 measured alike
UNSEEN = 0.5  # of a description: what a word counts that none has
MOST_SHARE = 0.5
LONGEST = 30  # characters: what is longer is no word


def descriptions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each description's line, and with it the paragraphs, without repetitions; "" if nothing is new."""
    seen: set[str] = set()
    for stanza in text.split("\n\n"):
        _, found, body = stanza.partition(FIELD)
        line, _, rest = body.partition("\n")
        every = [" ".join(each.split()) for each in (line, *rest.split("\n .\n"))] if found else []
        new = [each for each in dict.fromkeys(every) if each and each not in seen]
        if new:
            seen.update(new)
            yield (every[0] if every[0] == new[0] else ""), " ".join(new)


def counted(texts: Iterable[str]) -> tuple[int, Counter[str]]:
    """Count the texts, and for each stem those that contain it."""
    stemmer, held, every = analyser(), Counter[str](), 0
    for text in filter(None, texts):
        every += 1
        held.update(set(stemmer.analyze(" ".join(terms(text)))))
    return every, held


def mean_bytes(texts: Iterable[str]) -> float:
    """Return the mean length of the texts that are not empty."""
    lengths = [len(text.encode()) for text in texts if text]
    return sum(lengths) / len(lengths)


def nats(count: int, every: int) -> float:
    """Return the information of a word that so many of all texts contain."""
    return -log(min(MOST_SHARE, (count + UNSEEN) / (every + 1)))


def main() -> None:
    """Count, write, and print how much it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translation", type=Path)
    parser.add_argument("--out", type=Path, default=Path("deia/models"))
    parser.add_argument("--source", default="Debian 12, main")
    options = parser.parse_args()
    found = list(descriptions(options.translation.read_text("utf-8")))
    lines, in_lines = counted(line for line, _ in found)
    wholes, in_wholes = counted(whole for _, whole in found)

    length = sqrt(mean_bytes(line for line, _ in found) * mean_bytes(whole for _, whole in found))  # of a level's texts

    def level(stem: str) -> int:
        return round(LEVELS * (nats(in_lines[stem], lines) + nats(in_wholes[stem], wholes)) / 2)

    kept = sorted(
        stem
        for stem, count in in_wholes.items()
        if count >= FEWEST and stem.isascii() and len(stem) <= LONGEST and any(map(str.isalpha, stem))
    )
    rows = [f"{stem}{SEPARATOR}{level(stem)}\n" for stem in ["", *kept]]  # the first row is of all others
    data = "".join(rows).encode("ascii")
    (options.out / USUAL_WORDS).write_bytes(data)
    about = {
        "made_by": "tools/usual_words.py", "words": len(kept), "sha256": hashlib.sha256(data).hexdigest(),
        "source": options.source, "lines": lines, "descriptions": wholes, "bytes": round(length),
        "licence": "counts of single words; the descriptions stand under their packages' licences, all of them free",
    }  # fmt: skip
    (options.out / USUAL_WORDS).with_suffix(".provenance.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    print(f"{options.out / USUAL_WORDS}: {len(data):,} bytes, {len(kept):,} words of {wholes:,} descriptions")


if __name__ == "__main__":
    main()
