"""A first chunker for an unknown format, drafted from samples by statistics, and figures that judge chunks.

Files of records repeat themselves: the first lines of records begin alike. Every way in which lines begin is a
candidate. The best one leaves little text before its first line, and makes parts of a good and even length. Lines in
braces count the less the deeper they are: the parts of a record are no records.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from deia import files
from deia.ingest.chunkers.pieces import Node
from deia.ingest.custom.declared import LIMIT, RECORD, Declared, Level, parts
from deia.ingest.reading import Reading
from deia.knowledge import Chunk
from deia.patterns.safe_pattern import SEGMENT
from deia.text import counted

FEWEST, MOST_WAYS, MOST_LINES = 3, 200, 5_000  # lines that have to begin alike; what is looked at
SHORT, SMALL = 120, 200  # characters: a part is too short; from the typical part's length on, neighbours share a chunk
LEAST_SCORE = 0.1  # of a candidate that is worth a level
KINDS = (RECORD, "part", "detail")  # of the levels
TOKEN = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Za-z]+|[^\w\s]+|[^\S\n]+")
SHAPES = {"isdigit": r"\d{1,20}", "isupper": r"[A-Z]{1,40}", "isalpha": r"[A-Za-z]{1,40}", "isspace": r"\s{1,80}"}
RULE = re.compile(r"([^\w\s])\1{2,}\s*$")


def figures(reading: Reading, chunks: Sequence[Chunk]) -> str:
    """Return the figures of a text's chunks: how many, how long, and how much of it they cover and repeat."""
    at = {chunk.ordinal: chunk.lines for chunk in chunks}
    # Those that contain another.
    outer = {chunk.parent for chunk in chunks if chunk.parent in at and chunk.lines[1] <= at[chunk.parent][1]}
    lines = {line for chunk in chunks for line in range(chunk.lines[0], chunk.lines[1] + 1)}
    letters = [len("".join(line.split())) for line in reading.text.split("\n")]  # without blanks
    whole, covered = max(1, sum(letters)), sum(letters[line - 1] for line in lines)
    within = sum(len("".join(chunk.text.split())) for chunk in chunks if chunk.ordinal not in outer)
    sizes = [len(chunk.text) for chunk in chunks]
    lengths = f"{min(sizes)} to {max(sizes)} characters, {statistics.median(sizes):.0f} in the middle"
    shares = f"{covered / whole:.1%} of the text covered, {max(0, within - covered) / whole:.1%} repeated"
    return f"{counted(len(chunks), 'chunk')} of {lengths}; {shares}"


def drafted(samples: Sequence[Reading], *, globs: Sequence[str] = ()) -> Declared:
    """Return a declared chunker for files like these."""
    declared = _best([reading.text for reading in samples], rules=True) or Declared(separator=r"\s*$")
    while len(declared.kinds) < len(KINDS) and (inner := _best(_long_parts(declared, samples), rules=False)):
        declared = declared.but(levels=(*declared.levels, inner.levels[0].but(kind=KINDS[len(declared.kinds)])))
    lengths = [node.end - node.start for reading in samples for node in _innermost(parts(declared, reading))]
    return declared.but(share=statistics.median(lengths or [LIMIT]) < SMALL, files=tuple(globs))


def component_source(declared: Declared, language: str) -> str:
    """Return the source of a component that does the same, for a person to build on."""
    folder = os.path.dirname(__file__)
    text = (files.read(f"{folder}/component_{language}.txt") or b"").decode().replace("@WIT@", f"{folder}/chunker.wit")
    begins = json.dumps([level.begins for level in declared.levels], ensure_ascii=False)
    return text.replace("@BEGINS@", begins).replace("@SEPARATOR@", json.dumps(declared.separator, ensure_ascii=False))


def _long_parts(declared: Declared, samples: Sequence[Reading]) -> list[str]:
    """Return the texts of the innermost parts that are too long for a chunk, without the line that begins them."""
    inner = ((reading, node) for reading in samples for node in _innermost(parts(declared, reading)))
    return [
        reading.text[node.start : node.end].partition("\n")[2]
        for reading, node in inner
        if node.end - node.start > LIMIT
    ]


def _innermost(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield from _innermost(node.parts) if node.parts else (node,)


def _best(texts: Sequence[str], *, rules: bool) -> Declared | None:
    """Return the best candidate; among equals, one of few, exact words. With `rules`, it may be a line of one mark."""
    lines = (line for text in texts for line in text.split("\n")[:MOST_LINES] if line.strip())
    ways = Counter(way for line in lines for way in {*_ways(line)} if rules or not way.separator)
    common = [way for way, count in ways.most_common(MOST_WAYS) if count >= FEWEST]
    depths = [_depths(text.split("\n")[:MOST_LINES]) for text in texts]
    ranks = {way: (round(_score(texts, depths, way), 3), "[A-Z" not in str(way), -len(str(way))) for way in common}
    best = max(common, key=ranks.__getitem__, default=None)
    return best if best and ranks[best][0] > LEAST_SCORE else None


def _ways(line: str) -> Iterator[Declared]:
    """Yield candidates of how a line begins: its first tokens, as they are and by their kind."""
    if rule := RULE.match(line):
        yield Declared(separator=re.escape(rule[1] * 3))
        return
    exact = kind = ""
    for token in TOKEN.findall(line[:80])[:4]:
        shape = next(
            (shape for test, shape in SHAPES.items() if token.isascii() and getattr(token, test)()), re.escape(token)
        )
        exact, kind = (
            exact + (token if token.isspace() else re.escape(token) if token.isalpha() else shape),
            kind + shape,
        )
        if not token.isspace():
            yield from (Declared(levels=(Level(begins=way),)) for way in (exact, kind))


def _depths(lines: Sequence[str]) -> list[int]:
    """Return in how many braces each line begins."""
    changes = (line.count("{") - line.count("}") for line in lines)
    return [*itertools.accumulate(changes, lambda depth, change: max(0, depth + change), initial=0)]


def _score(texts: Sequence[str], depths: Sequence[Sequence[int]], candidate: Declared) -> float:
    """Return how well a candidate cuts some texts: how much it covers, in how even, long and separate parts."""
    pattern = re.compile(candidate.separator or candidate.levels[0].begins)
    sizes: list[int] = []
    apart = deep = 0  # parts that begin after an empty line or closed braces, or come first; the braces around them
    for text, depth in zip(texts, depths, strict=True):
        lines = text.split("\n")[:MOST_LINES]
        starts = [*itertools.accumulate((len(line) + 1 for line in lines), initial=0)]
        first_lines = [number for number, line in enumerate(lines) if pattern.match(line[:SEGMENT])]
        deep += sum(depth[number] for number in first_lines)
        apart += sum(
            not number or not lines[number - 1].strip() or depth[number - 1] > depth[number] for number in first_lines
        )
        marks = [0] * bool(first_lines and candidate.separator) + [starts[number] for number in first_lines]
        sizes += [end - start for start, end in itertools.pairwise([*marks, starts[-1]])]
    if len(sizes) < FEWEST:
        return 0.0
    middle, mean = max(1.0, statistics.median(sizes)), max(1.0, statistics.fmean(sizes))
    fit = min(1.0, middle / SHORT, LIMIT / middle) / (1 + statistics.pstdev(sizes) / mean)
    return sum(sizes) / max(1, sum(map(len, texts))) * fit * (1 + apart / len(sizes)) / (1 + deep / len(sizes)) ** 2
