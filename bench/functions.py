"""How well a sentence about a function finds it: docstrings of the standard library, asked of code without docstrings.

    python bench/functions.py [--questions 500] [--half tuned|held|both] [--tier static|compact] [--kept FOLDER]

The standard library without its tests is copied with every docstring taken out, and taken in by `deia ingest` like any
other folder; for the tier `compact` all of it is then encoded. A question is the first paragraph of a docstring; what
is asked is what `Librarian.query` answers. A question counts as met if one of the first ten passages is the function,
or has all of it. What was tuned was tuned on the packages of the one half; the other half was held out. `bm25` asks
SQLite's FTS5 the same, over the same functions with three fields: name, signature and body. `--kept` keeps the library
from one run to the next.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deia.librarian import Librarian
from deia.match.tokeniser import STOP_WORDS, distinct, question_words, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEPTH = 10
LEAST_WORDS = 4  # of a question that are no stop words; shorter ones fit dozens of functions
LEFT_OUT = frozenset(("test", "tests", "idle_test", "site-packages", "lib2to3", "__pycache__", "ensurepip"))
SEED = 7
DEFINED = ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function in the code without docstrings."""

    path: str
    first: int
    last: int
    name: str
    signature: str
    body: str
    question: str  # "" if it has no docstring worth asking


def half_of(path: str) -> str:
    """Return the half to which a file's package belongs."""
    return "tuned" if hashlib.blake2b(path.split("/", maxsplit=1)[0].encode()).digest()[0] % 2 else "held"


def without_docstrings(source: str) -> tuple[str, list[str]]:
    """Return code without docstrings, and the docstring of each function in order of their lines ("" for none)."""
    tree, lines = ast.parse(source), source.encode().split(b"\n")
    docstrings: list[str] = []
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, DEFINED))]
    for node in sorted(nodes, key=lambda one: getattr(one, "lineno", 0), reverse=True):
        if isinstance(node, DEFINED):
            docstrings.append(ast.get_docstring(node) or "")
        if ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            head, tail = lines[said.lineno - 1][: said.col_offset], lines[(said.end_lineno or 0) - 1]
            lines[said.lineno - 1 : said.end_lineno] = [head + b'""' + tail[said.end_col_offset :]]
    return b"\n".join(lines).decode(), docstrings[::-1]


def question_of(docstring: str) -> str:
    """Return the first paragraph of a docstring, or "" if it says too little."""
    paragraph = " ".join(re.split(r"\n\s*\n", docstring.strip())[0].split())
    said = {word[0] for word in question_words(paragraph)} - STOP_WORDS
    return paragraph if len(said) >= LEAST_WORDS else ""


def copied(target: Path) -> Iterator[Function]:
    """Copy the standard library without docstrings, and yield its functions."""
    top = Path(os.__file__).parent
    for path in sorted(top.rglob("*.py")):
        place = path.relative_to(top)
        if not LEFT_OUT.isdisjoint(place.parts):
            continue
        try:
            source, docstrings = without_docstrings(path.read_text("utf-8"))
        except (SyntaxError, ValueError):  # a file that shows what no parser takes, or is in another encoding
            continue
        yield from functions_of(source, docstrings, str(place), target)


def functions_of(source: str, docstrings: Sequence[str], place: str, target: Path) -> list[Function]:
    """Write the code of a file, out of which its docstrings were taken, into a folder, and return its functions."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINED)]
    nodes.sort(key=lambda one: one.lineno)
    (target / place).parent.mkdir(parents=True, exist_ok=True)
    (target / place).write_text(source, "utf-8")
    lines = source.split("\n")
    return [_function(node, docstring, place, lines) for node, docstring in zip(nodes, docstrings, strict=True)]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, docstring: str, place: str, lines: list[str]) -> Function:
    first, last = min(part.lineno for part in (node, *node.decorator_list)), node.end_lineno or 0
    begins = node.body[0].lineno
    head, body = lines[first - 1 : max(first, begins - 1)], lines[begins - 1 : last]
    return Function(place, first, last, node.name, "\n".join(head), "\n".join(body), question_of(docstring))


def chosen(functions: Sequence[Function], most: int) -> list[Function]:
    """Return the functions whose docstrings are asked: at random, those with a docstring of their own."""
    asked: dict[str, list[Function]] = {}
    for function in functions:
        if function.question:
            asked.setdefault(function.question, []).append(function)
    own = [found[0] for found in asked.values() if len(found) == 1]
    return random.Random(SEED).sample(own, min(most, len(own)))


def bm25(functions: Sequence[Function], asked: Sequence[Function]) -> list[bool]:
    """Return which questions SQLite's FTS5 meets, over functions with fields, names split into their words."""
    met = []
    with sqlite3.connect(":memory:") as base:
        base.execute("create virtual table f using fts5(name, signature, body, tokenize='porter unicode61')")
        base.executemany(
            "insert into f (rowid, name, signature, body) values (?, ?, ?, ?)",
            (
                (number, *(" ".join(terms(text)) for text in (one.name, one.signature, one.body)))
                for number, one in enumerate(functions)
            ),
        )
        for function in asked:
            said = " OR ".join(f'"{word}"' for word in distinct(question_words(function.question)))
            told = "select rowid from f where f match ? order by bm25(f, 3.0, 2.0, 1.0) limit ?"
            found = [functions[number] for (number,) in base.execute(told, (said, DEPTH))]
            met.append(function in found)
    return met


def is_met(function: Function, path: str, lines: tuple[int, int]) -> bool:
    """Return whether a passage is the function or a part of it, or has all of it."""
    first, last = lines
    within = function.first <= first and last <= function.last
    return path == function.path and (within or (first <= function.first and function.last <= last))


def places_of(librarian: Librarian, function: Function, tier: str) -> list[int]:
    """Return where among the passages of an answer the function stands, from 1."""
    answer = librarian.query(function.question, layer="library", limit=DEPTH, tier=tier)
    found = [(one.path.partition("/")[2], one.lines) for one in answer.documents]
    return [place for place, (path, lines) in enumerate(found, 1) if is_met(function, path, lines)]


def ask(librarian: Librarian, asked: Sequence[Function], tier: str) -> list[int]:
    """Return for each question the place at which its function is found, or 0."""
    return [next(iter(places_of(librarian, function, tier)), 0) for function in asked]


def main() -> None:
    """Take the code in, ask, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--half", choices=("tuned", "held", "both"), default="both")
    parser.add_argument("--tier", default="static")
    parser.add_argument("--kept", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with contextlib.ExitStack() as stack:
        place = options.kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        functions = list(copied(place / "library"))
        asked = chosen(functions, options.questions)
        take_in(place, options.tier)
        librarian = Librarian(place / "commons", ledger=False)
        began = time.process_time()
        found = ask(librarian, asked, options.tier)
        seconds = time.process_time() - began
        report(functions, asked, found, options.half)
        print(f"{seconds / len(asked) * 1e3:.1f} ms of work a question")


def take_in(place: Path, tier: str) -> None:
    """Take the code into the library of an empty commons, as a person would, and encode it if that tier is asked."""
    own = {"DEIA_STATE": f"{place}/state", "DEIA_CACHE": f"{place}/cache", "DEIA_TRUST": "*", "DEIA_STARTER": "false"}
    os.environ.update(own)
    (place / "commons").mkdir(exist_ok=True)
    (place / "commons" / "deia.toml").touch()
    command = [str(Path(sys.executable).with_name("deia")), "--commons", f"{place}/commons"]
    steps = [["ingest", f"{place}/library"], *([["compile", "--tier", tier]] if tier == "compact" else [])]
    for step in steps:
        print(subprocess.run([*command, *step], capture_output=True, text=True, check=True).stdout.strip(), flush=True)


def report(functions: Sequence[Function], asked: Sequence[Function], found: Sequence[int], half: str) -> None:
    """Print what was met."""
    print(f"{len(functions):,} functions, {len(asked)} questions")
    plain = bm25(functions, asked)
    for name in ("tuned", "held", "both"):
        if half in (name, "both"):
            some = [at for at, function in enumerate(asked) if name in ("both", half_of(function.path))]
            first, ten, theirs = (
                sum(values) / max(1, len(some))
                for values in (
                    [found[at] == 1 for at in some],
                    [found[at] > 0 for at in some],
                    [plain[at] for at in some],
                )
            )
            print(f"{name:6} {len(some)} questions: hit@1 {first:.3f}  hit@10 {ten:.3f}  BM25 with fields {theirs:.3f}")


if __name__ == "__main__":
    main()
