"""Whether the graph of the standard library is right, and what it costs.

    python bench/graph.py --python [--kept FOLDER] [--seconds 10] [--wrong 0]

`--python` compares the imports with those that `ast` finds, and the calls with those that happen when the standard
library's own tests run. A pair is a function of the library that calls another; recall is the part of the pairs seen
that the graph has. Precision is the part of its pairs that were seen, of those whose call stands on a line on which
their caller called anything while the tests ran. Left out on both sides are functions that are entered by whoever
advances them (generators, coroutines), `__del__`, what is made by `exec`, and `unittest` as a caller, which runs the
tests. Recall is of all pairs, and of those that came about by a call that is written in the caller, through a function
of C, or by anything else: an operator, an import, a property. What was tuned was tuned on the modules of one half;
the other was held out. `--kept` keeps what was traced from one run to the next; `--wrong` prints so many pairs of the
tuned half that are wrong or missing.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from functions import LEFT_OUT, half_of

from deia.graph.graph_store import Graph
from deia.graph.python_facts import python_facts
from deia.graph.python_modules import module_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from deia.graph.facts import Facts

TESTS = """
abc argparse ast asyncio.test_events asyncio.test_tasks asyncio.test_streams base64 bdb bisect calendar
cmd code codecs codeop collections colorsys compileall concurrent_futures configparser contextlib copy
csv ctypes dataclasses datetime dbm_dumb decimal difflib dis doctest email enum filecmp fileinput fnmatch
fractions ftplib functools getopt gettext glob graphlib gzip heapq html htmlparser http_cookiejar
http_cookies httplib httpservers imaplib importlib inspect io ipaddress json linecache locale logging
lzma mailbox mimetypes minidom modulefinder netrc nntplib ntpath numeric_tower optparse ordered_dict os
pathlib pdb pickle pickletools pkgutil platform plistlib poplib posixpath pprint profile pstats pyclbr
pydoc queue quopri random re reprlib sax sched selectors shelve shlex shutil smtpd smtplib socketserver
sqlite3 statistics string stringprep subprocess symtable tabnanny tarfile telnetlib tempfile textwrap
threading timeit tokenize trace traceback types typing unicodedata urllib urllib2 urlparse uuid venv
warnings wave weakref weakset wsgiref xdrlib xml_etree xmlrpc zipapp zipfile zipimport
""".split()
CERTAINTY = {0: "resolved", 1: "by name", 2: "mentioned"}
HARNESS = "unittest."  # runs the tests, and calls whatever they give it
COLLECTED = ".__del__"  # entered when memory is freed, whatever runs then
SEED = 7
CHANGED = 20

Pair = tuple[str, str]


class Traced(NamedTuple):
    """What was seen while the tests ran, by qualified names."""

    pairs: dict[Pair, set[str]]  # with how they came about
    lines: set[tuple[str, int]]  # of a caller, on which it called anything


class Library(NamedTuple):
    """The standard library without its tests: the text of each file, and the name of its module."""

    texts: dict[str, str]
    modules: dict[str, str]


def library() -> Library:
    """Read the standard library."""
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in root.rglob("*.py") if not LEFT_OUT & set(path.relative_to(root).parts))
    texts = {path.relative_to(root).as_posix(): path.read_bytes().decode("utf-8", errors="replace") for path in paths}
    return Library(texts, dict.fromkeys(texts, "") | module_names(texts))


# --- imports ---


def imported(path: str, text: str, module: str) -> set[str]:
    """Return what a module imports, as `ast` gives it: modules, and `module:name` of what is taken from them."""
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            origin = importlib.util.resolve_name(name, package) if node.level else name
            found |= {origin} | {f"{origin}:{each.name}" for each in node.names if each.name != "*"}
    return found


def check_imports(library: Library, facts: dict[str, Facts], graph: Graph) -> None:
    """Print whether every import is a reference, and leads to its module where the library has that."""
    wanted, have = set(), set()
    for path, text in library.texts.items():
        wanted |= {(path, name) for name in imported(path, text, library.modules[path])}
        have |= {(path, each.target) for each in facts[path].references if each.type == "IMPORTS"}
    print(f"imports: {len(wanted):,}, recall {part(wanted & have, wanted)}, precision {part(wanted & have, have)}")
    own = set(library.modules.values())
    led = set(graph.database.execute(
        "select documents.name, entities.name from relations join refs on refs.id = ref join documents on"
        " documents.id = refs.document join entities on entities.id = relations.target where refs.type = 'IMPORTS'"
    ))  # fmt: skip
    inside = {(path, name.replace(":", ".")) for path, name in wanted}
    inside = {(path, name) for path, name in inside if name in own and name != library.modules[path]}
    print(f"  of other modules in the library: {len(inside):,}, led to {part(inside & led, inside)}")


# --- calls ---


def trace(kept: Path, seconds: int) -> Iterator[list[Any]]:
    """Run the tests that were not run yet, and yield what each of them called."""
    for test in TESTS:
        output = kept / f"{test}.json"
        if not output.exists():
            name = f"test.{test}" if test.startswith("asyncio.") else f"test.test_{test}"
            name = name.replace("test.asyncio.", "test.test_asyncio.")
            with tempfile.TemporaryDirectory() as folder:
                environment = {"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder}
                command = [sys.executable, "-X", "frozen_modules=off", f"{Path(__file__).parent}/graph_traced.py"]
                try:
                    subprocess.run(
                        [*command, name, str(seconds), str(output)], cwd=folder, env=environment, check=False,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                        timeout=3 * seconds + 30,
                    )  # fmt: skip
                except subprocess.TimeoutExpired:
                    print(f"  {name} did not end")
        if output.exists():
            yield json.loads(output.read_text())


def named(where: str, qualified: str, modules: dict[str, str]) -> str:
    """Return the name of the innermost named function, "" if it is not of the library."""
    root = sysconfig.get_path("stdlib") + "/"
    frozen = where.removeprefix("<frozen ").removesuffix(">")
    module = modules.get(where.removeprefix(root), frozen if frozen != where else "")
    parts = qualified.split(".")
    while parts and parts[-1].startswith("<"):
        parts.pop()
    return ".".join((module, *(each for each in parts if each != "<locals>"))) if module and parts else ""


def traced(library: Library, kept: Path, seconds: int) -> Traced:
    """Return the pairs that were seen, and the lines."""
    found = Traced({}, set())
    for rows in trace(kept, seconds):
        for caller, line, callee, how in rows:
            where, qualified, is_function, _ = caller
            source = named(where, qualified, library.modules) if is_function else ""
            if not source or source.startswith(HARNESS):
                continue
            found.lines.add((source, line))
            if callee and callee[2] and not callee[3] and not callee[1].endswith(">"):
                target = named(callee[0], callee[1], library.modules)
                if target and not target.endswith(COLLECTED):
                    found.pairs.setdefault((source, target), set()).add(how)
    return found


def observable(library: Library) -> set[str]:
    """Return the functions of the library that can be seen when they are called."""
    found: set[str] = set()

    def visit(node: ast.AST, name: str) -> bool:
        """Return whether there is a `yield` in a node, outside the functions within it."""
        yields = isinstance(node, ast.Yield | ast.YieldFrom)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own = f"{name}.{child.name}"
                if not visit(child, own) and isinstance(child, ast.FunctionDef):
                    found.add(own)
            elif not isinstance(child, ast.Lambda):
                yields |= visit(child, name)
        return yields

    for path, text in library.texts.items():
        try:
            visit(ast.parse(text), library.modules[path])
        except (SyntaxError, ValueError):
            continue
    return found


def check_calls(library: Library, graph: Graph, seen: Traced, wrong: int) -> None:
    """Print recall and precision of the calls, of both halves, and by certainty."""
    rows = graph.database.execute(
        "select a.name, b.name, min(relations.certainty), group_concat(line) from relations"
        " join refs on refs.id = ref join entities a on a.id = relations.source"
        " join entities b on b.id = relations.target where relations.type = 'CALLS' group by a.name, b.name"
    ).fetchall()
    can_be_seen = observable(library)
    halves = {name: half_of(path) for path, name in library.modules.items() if name}
    have = {(source, target): certainty for source, target, certainty, _ in rows}
    judged = {
        (source, target)
        for source, target, _, lines in rows
        if target in can_be_seen and any((source, int(line)) in seen.lines for line in lines.split(","))
    }
    modules = {source: module_in(source, halves) for source, _ in judged | seen.pairs.keys()}
    for half in ("tuned", "held", "both"):
        pairs = {pair for pair in seen.pairs if half in (halves.get(modules[pair[0]]), "both")}
        told = {pair for pair in judged if half in (halves.get(modules[pair[0]]), "both")}
        print(f"calls, {half}: recall {part(pairs & have.keys(), pairs)}, precision {part(told & pairs, told)}")
        for how in ("written", "through C", "implicit"):
            of = {pair for pair in pairs if how in seen.pairs[pair]}
            print(f"  {how}: recall {part(of & have.keys(), of)}")
        for level in sorted({have[pair] for pair in told}):
            of = {pair for pair in told if have[pair] == level}
            found = {pair for pair in pairs if have.get(pair) == level}
            print(f"  {CERTAINTY[level]}: recall {part(found, pairs)}, precision {part(of & pairs, of)}")
        if half == "tuned" and wrong:
            chosen = random.Random(SEED)
            show("wrong", chosen.sample(sorted(told - pairs), wrong))
            written = {pair for pair in pairs if "written" in seen.pairs[pair]}
            show("missing", chosen.sample(sorted(written - have.keys()), wrong))


def module_in(name: str, modules: Iterable[str]) -> str:
    """Return the module of a qualified name."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def show(label: str, pairs: Iterable[Pair]) -> None:
    """Print pairs."""
    for source, target in pairs:
        print(f"    {label}: {source} -> {target}")


def part(some: set[object] | set[Pair], of: set[object] | set[Pair]) -> str:
    """Return how large a part is, with its numbers."""
    return f"{len(some) / (len(of) or 1):.3f} ({len(some):,} of {len(of):,})"


# --- cost ---


def build(library: Library, folder: str) -> tuple[Graph, dict[str, Facts]]:
    """Make the graph, and print what that cost."""
    start = time.process_time()
    facts = {path: python_facts(path, text, library.modules[path]) for path, text in library.texts.items()}
    read = time.process_time()
    graph = Graph(folder)
    with graph.transaction():
        for path, each in facts.items():
            graph.put(path, "1", each)
        written = time.process_time()
    end = time.process_time()
    lines = sum(text.count("\n") for text in library.texts.values())
    print(f"{len(facts):,} files, {lines:,} lines: {end - start:.2f} CPU-seconds (facts {read - start:.2f},"
          f" writing {written - read:.2f}, resolving {end - written:.2f})")  # fmt: skip
    (entities,), (relations,) = (graph.database.execute(f"select count(*) from {table}").fetchone()  # noqa: S608
                                 for table in ("entities", "relations"))  # fmt: skip
    print(f"{entities:,} entities, {relations:,} relations")
    return graph, facts


def change(library: Library, graph: Graph, facts: dict[str, Facts]) -> None:
    """Print how long it takes to put one changed file, with facts and commit: as it was, and with one function more."""
    chosen = random.Random(SEED).sample(sorted(path for path in facts if facts[path].entities), CHANGED)
    for label, more in (("other text", "\n# a line more\n"), ("a function more", "\ndef one_more_function(): pass\n")):
        times, puts = [], []
        for path in chosen:
            start = time.perf_counter()
            each = python_facts(path, library.texts[path] + more, library.modules[path])
            read = time.perf_counter()
            with graph.transaction():
                graph.put(path, label, each)
            puts.append(time.perf_counter() - read)
            times.append(time.perf_counter() - start)
        median, longest = sorted(puts)[CHANGED // 2] * 1e3, max(puts) * 1e3
        print(f"one changed file, {label}: {median:.1f} ms (longest {longest:.1f}; with reading it"
              f" {sorted(times)[CHANGED // 2] * 1e3:.1f})")  # fmt: skip


def python(arguments: argparse.Namespace) -> None:
    """Print what is true of the graph of Python code."""
    warnings.simplefilter("ignore")  # of the library's own invalid escapes
    of = library()
    with tempfile.TemporaryDirectory() as folder:
        graph, facts = build(of, f"{folder}/graph")
        with graph:
            check_imports(of, facts, graph)
            kept = Path(arguments.kept or folder)
            kept.mkdir(parents=True, exist_ok=True)
            check_calls(of, graph, traced(of, kept, arguments.seconds), arguments.wrong)
            change(of, graph, facts)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--kept", default="")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--wrong", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.python:
        python(arguments)


if __name__ == "__main__":
    main()
