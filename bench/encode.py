"""How fast passages are encoded: by numpy, by onnxruntime, and for one question over a library that is not encoded.

    python bench/encode.py [--passages 32] [--rounds 5]

The passages are 180 words each of the starter's documents. Rounds are interleaved, and each figure is the median of
passages per second, elapsed and of processor time, of which a busy machine changes the latter less. The agreement is
the least cosine of a passage's two vectors. Then a folder of these passages is taken into a library: how long a
question that names the model takes before they are encoded, how far the first estimate of the time left was off, and
how long encoding all takes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from compact import STARTER, chunks

from deia.compile.compiler import compile_commons
from deia.compile.encoding_progress import read_encoding
from deia.compile.library_encoding import encode_library
from deia.compile.take_in import take_in
from deia.folders import derived_folder
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.match.encoding import THREADS, encoded_by
from deia.match.minilm import open_compact
from deia.match.tiers import open_tier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.match.numerics import Floats

QUESTION = "what must be saved before a site is deleted"


def passages(count: int) -> list[str]:
    """Return passages of the starter's documents, the same text no twice."""
    parts = [part for path in sorted(STARTER.rglob("*.md")) for part in chunks(path.read_text("utf-8"))]
    full = [part for part in parts if len(part.split()) > 170]
    return [f"{number} {full[number % len(full)]}" if number >= len(full) else full[number] for number in range(count)]


def rates(encode: Callable[[], Floats], count: int) -> tuple[float, float]:
    """Return how many passages a second are encoded, of elapsed and of processor time."""
    began, used = time.perf_counter(), time.process_time()
    encode()
    return count / (time.perf_counter() - began), count / (time.process_time() - used)


def compared(texts: Sequence[str], rounds: int) -> None:
    """Print both rates and their ratios."""
    tier, model = open_tier("compact"), open_compact()
    ways: dict[str, Callable[[], Floats]] = {
        "numpy": lambda: model.encode(texts, threads=THREADS),
        "onnxruntime": lambda: encoded_by(tier, texts),
    }
    agreement = float((ways["numpy"]() * ways["onnxruntime"]()).sum(1).min())
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, encode in ways.items():
            measured[name].append(rates(encode, len(texts)))
    middle = {
        name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in measured.items()
    }
    for name, (elapsed, used) in middle.items():
        ratio = " / ".join(f"{value / base:.2f}" for value, base in zip((elapsed, used), middle["numpy"], strict=True))
        print(f"{name:12} {elapsed:6.1f} a second, {used:6.1f} of processor time    {ratio} × numpy", flush=True)
    print(f"agreement    {agreement:.6f}")


def library(texts: Sequence[str], place: Path) -> None:
    """Print what a question costs before a library is encoded, and how good the estimates were."""
    os.environ.update(DEIA_STATE=f"{place}/state", DEIA_CACHE=f"{place}/cache", DEIA_TRUST="*", DEIA_TELEMETRY="off")
    root, manuals = place / "commons", place / "manuals"
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text("starter = false\n")
    (root / "bok" / "lesson.md").write_text("# Valves\n\nClose the red valve first.\n")
    manuals.mkdir()
    for number, text in enumerate(texts):
        (manuals / f"{number}.md").write_text(f"# Manual {number}\n\n{text}\n")
    compile_commons(str(root), environ=os.environ, requested=True)
    taken = take_in(str(root), [described(FolderSource(path=str(manuals)))], os.environ)
    librarian = Librarian(str(root))
    for tier in ("static", "compact", "compact"):
        began = time.perf_counter()
        answer = librarian.query(QUESTION, tier=tier, layer="library")
        print(f"a question, {tier:8} {time.perf_counter() - began:6.2f} s  {answer.audit.warnings}", flush=True)
    told: list[tuple[float, float]] = []
    folder, began = f"{derived_folder(str(root), os.environ)}/library", time.perf_counter()

    def tell(_sentence: str) -> None:
        told.append((time.perf_counter() - began, read_encoding(folder).left))

    encode_library(str(root), os.environ, tell=tell)
    seconds = time.perf_counter() - began
    guesses = ", ".join(f"{at + left:.0f} s after {at:.0f}" for at, left in told[1:4] if left)
    print(f"{taken.chunks} passages encoded and compiled in {seconds:.1f} s; told beforehand: {guesses}")
    answer = librarian.query(QUESTION, layer="library")
    print(f"then: {answer.audit.tier} {answer.audit.warnings}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--library", type=int, default=300, help="passages of the library; 0 leaves it out")
    given = parser.parse_args()
    compared(passages(given.passages), given.rounds)
    if given.library:
        with tempfile.TemporaryDirectory() as place:
            library(passages(given.library), Path(place))


if __name__ == "__main__":
    main()
