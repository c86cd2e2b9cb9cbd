"""Read and cut damaged files: none may hang, break its reader, or make it grow beyond its limits.

    python bench/fuzz_readers.py FOLDER [--files 100000] [--seed N] [--keep FOLDER]

FOLDER holds whole files of any kinds. Each round takes one, damages it (bytes changed, cut, repeated, spliced with
another file) and has it read and cut by the process that `deia ingest` uses. A reader that dies has met what no reader
expected: the file is counted as broken and kept.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from deia.ingest.detect import detect_type
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import STRATEGIES, ChunkerConfig, ReadingError

SECONDS = 10.0
LARGEST = 300_000  # bytes of a file that is damaged
SEEDS = 40  # files of each kind


def damaged(content: bytes, other: bytes, dice: random.Random) -> bytes:
    """Return a file with a few things wrong."""
    data = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        at, size = dice.randrange(len(data) + 1), dice.randrange(1, 200)
        way = dice.randrange(6)
        if way < 2 and data:
            data[at % len(data)] = dice.randrange(256)
        elif way == 2:
            del data[at : at + size]
        elif way == 3:
            data[at:at] = data[at : at + size] * dice.randrange(1, 50)
        elif way == 4:
            start = dice.randrange(len(other) + 1)
            data[at:at] = other[start : start + size]
        else:
            data[at : at + 8] = dice.choice(
                (b"\0" * 8, b"\xff" * 8, b"<!ENTITY", b"((((((((", b"\n\n# \n```\n", b"9" * 40)
            )
    return bytes(data[: dice.randrange(len(data) + 1)] if dice.random() < 0.1 else data)


def seeds(folder: Path, dice: random.Random) -> dict[str, list[Path]]:
    """Return some files of each kind."""
    found: dict[str, list[Path]] = {}
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < LARGEST)
    dice.shuffle(paths)
    for path in paths:
        some = found.setdefault(path.suffix.lower(), [])
        if len(some) < SEEDS and detect_type(path.name, path.read_bytes()):
            some.append(path)
    return {suffix: some for suffix, some in found.items() if some}


def main() -> int:
    """Damage and read files, and print what came of them; exit with 1 if any broke its reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("broken_files"))
    options = parser.parse_args()
    dice = random.Random(options.seed)
    kinds = seeds(options.folder, dice)
    contents = {path: path.read_bytes() for some in kinds.values() for path in some}
    counts: Counter[str] = Counter()
    slowest, began = 0.0, time.monotonic()
    with ReaderProcess(seconds=SECONDS) as process:
        for number in range(options.files):
            path = dice.choice(kinds[dice.choice(sorted(kinds))])
            content = damaged(contents[path], contents[dice.choice(list(contents))], dice)
            config = ChunkerConfig(strategy=dice.choice(("", *STRATEGIES)), max_chars=dice.choice((0, 0, 60, 500)))
            start = time.monotonic()
            try:
                counts["chunks"] += len(process.chunk(process.read(path.name, content), id="x", config=config))
                counts["read"] += 1
            except ReadingError as error:
                is_broken = "stopped" in error.message
                counts["broken" if is_broken else "refused"] += 1
                if is_broken:
                    options.keep.mkdir(exist_ok=True)
                    (options.keep / f"{number}-{config.strategy}-{config.max_chars}-{path.name}").write_bytes(content)
                    print(f"{path.name}: {error}", flush=True)
            slowest = max(slowest, time.monotonic() - start)
    print(f"{options.files:,} files of {len(kinds)} kinds in {time.monotonic() - began:,.0f} s: {dict(counts)}")
    print(f"the slowest took {slowest:.1f} s")
    return counts["broken"] > 0


if __name__ == "__main__":
    sys.exit(main())
