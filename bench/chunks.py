"""How code is cut: definitions beside those that `ast` finds in the standard library, whole functions, speed.

`--beside PYTHON` names an interpreter that has chonkie and semantic-text-splitter, which cut the same files to the same
length in a process of their own. A function counts as whole if one chunk has all its lines.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import json
import os
import random
import subprocess
import sys
import time
import tomllib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from deia.ingest.chunk import chunk
from deia.ingest.chunkers.definitions import definitions
from deia.ingest.chunkers.pieces import Node, line_starts
from deia.ingest.read import read
from deia.ingest.reading import CodeChunkerConfig, Reading, ReadingError

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 2000
SAMPLES = Path(__file__).parents[1] / "tests" / "ingest" / "chunkers" / "samples.toml"
OTHERS = """
import json, sys, time
texts, limit, name = json.load(sys.stdin), 2000, sys.argv[1]
if name == "chonkie":
    from chonkie import CodeChunker
    chunker = CodeChunker(language="python", tokenizer="character", chunk_size=limit)
    def cut(text): return [each.text for each in chunker.chunk(text)]
else:
    from semantic_text_splitter import CodeSplitter
    import tree_sitter_python
    splitter = CodeSplitter(tree_sitter_python.language(), limit)
    def cut(text): return splitter.chunks(text)
sizes = seconds = 0
chunks = {}
for path, text in texts.items():
    began = time.process_time()
    try:
        chunks[path] = list(cut(text))
    except Exception:
        continue
    seconds += time.process_time() - began
    sizes += len(text)
print(json.dumps([sizes, seconds, chunks]))
"""


def all_of(nodes: list[Node]) -> list[Node]:
    """Return definitions and those in them."""
    return [one for node in nodes for one in (node, *all_of(list(node.parts)))]


def functions(tree: ast.AST) -> list[tuple[int, int, bool]]:
    """Return the first and last line of each definition, and whether it is a function."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [
        (
            min(part.lineno for part in (node, *node.decorator_list)),
            node.end_lineno or 0,
            not isinstance(node, ast.ClassDef),
        )
        for node in nodes
    ]


def whole_share(text: str, wanted: list[tuple[int, int, bool]], chunks: list[str]) -> tuple[int, int]:
    """Return how many functions that fit are whole in one of the chunks, and how many fit."""
    lines = text.split("\n")
    fitting = ["\n".join(lines[first - 1 : last]).strip() for first, last, is_function in wanted if is_function]
    fitting = [source for source in fitting if len(source) <= LIMIT]
    return sum(any(source in each for each in chunks) for source in fitting), len(fitting)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=400, help="files of the standard library (default: %(default)s)")
    parser.add_argument("--beside", default="", metavar="PYTHON", help="an interpreter that has the others")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = sorted(path for path in Path(os.__file__).parent.rglob("*.py") if "site-packages" not in path.parts)
    random.Random(1).shuffle(found)
    wanted: dict[str, list[tuple[int, int, bool]]] = {}
    readings: dict[str, Reading] = {}
    for path in found:
        try:
            reading = read(str(path), path.read_bytes())
            wanted[str(path)] = functions(ast.parse(reading.text))
        except (ReadingError, SyntaxError, ValueError):
            continue
        readings[str(path)] = reading
        if len(readings) == options.files:
            break
    compare(readings, wanted)
    for name in ("chonkie", "semantic-text-splitter") if options.beside else ():
        beside(options.beside, name, readings, wanted)
    languages()


def compare(readings: dict[str, Reading], wanted: dict[str, list[tuple[int, int, bool]]]) -> None:
    """Print deia's figures."""
    same = total = whole = fitting = count = 0
    seconds, size = 0.0, sum(len(reading.text) for reading in readings.values())
    for path, reading in readings.items():
        starts = line_starts(reading.text)
        nodes = all_of(definitions(reading, LIMIT))
        lines = {(bisect.bisect_right(starts, node.start), bisect.bisect_left(starts, node.end)) for node in nodes}
        same, total = same + sum(one[:2] in lines for one in wanted[path]), total + len(wanted[path])
        began = time.process_time()
        chunks = chunk(reading, id="x", config=CodeChunkerConfig(max_chunk_size=LIMIT))
        seconds += time.process_time() - began
        kept, fit = whole_share(reading.text, wanted[path], [each.text for each in chunks])
        whole, fitting, count = whole + kept, fitting + fit, count + len(chunks)
    print(f"{len(readings)} files, {size / 1e6:.1f} MB, {total:,} functions and classes")
    print(f"deia: same lines as ast {same / total:.4%}; whole {whole / fitting:.2%} of {fitting:,} functions that fit")
    print(f"deia: {count:,} chunks; {size / 1e6 / seconds:.1f} MB/s")


def beside(
    python: str, name: str, readings: dict[str, Reading], wanted: dict[str, list[tuple[int, int, bool]]]
) -> None:
    """Print the figures of another library."""
    texts = json.dumps({path: reading.text for path, reading in readings.items()})
    ran = subprocess.run([python, "-c", OTHERS, name], input=texts, capture_output=True, text=True, check=False)
    if ran.returncode:
        print(f"{name}: does not run here: {ran.stderr.strip().splitlines()[-1]}")
        return
    size, seconds, chunks = json.loads(ran.stdout.splitlines()[-1])
    shares = [whole_share(readings[path].text, wanted[path], some) for path, some in chunks.items()]
    whole, fitting = (sum(column) for column in zip(*shares, strict=True))
    count = sum(map(len, chunks.values()))
    print(f"{name}: whole {whole / fitting:.2%} of {fitting:,}; {count:,} chunks; {size / 1e6 / seconds:.1f} MB/s")


def languages() -> None:
    """Print how many languages parse their sample."""
    from tree_sitter_language_pack import get_parser  # noqa: PLC0415 - an extra

    samples = tomllib.loads(SAMPLES.read_text(encoding="utf-8"))
    parser: Callable[[Any], Any] = get_parser
    sources = {name: sample["source"].encode() for name, sample in samples.items()}
    clean = [name for name, source in sources.items() if not parser(name).parse(source).root_node.has_error]
    print(f"{len(clean)} of {len(samples)} languages parse their sample clean")


if __name__ == "__main__":
    main()
