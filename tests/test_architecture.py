"""The picture of ARCHITECTURE.md as tests: who imports whom, who may do what, and what the hook reaches."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deia
from deia.compile.compiler import compile_commons
from deia.folders import STARTER

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.no_cover  # nothing of deia runs, and reading syntax trees takes twice as long when measured

PACKAGE = Path(deia.__file__).parent
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py" and path.stat().st_size)

# Lowest first. A row imports only rows below it; names in one row are strangers to each other.
ROWS = (
    ("records",),
    ("fast_json", "firing"),
    (
        "collecting",
        "errors",
        "files",
        "globs",
        "patterns",
        "knowledge",
        "text",
        "durations",
        "suggestions",
        "typed_json",
    ),
    ("problems",),
    ("dotenv", "folders", "freshness", "git_command", "tables"),
    ("command_secrets",),
    ("redaction",),
    ("settings", "spool", "trust", "language_model"),
    ("commons", "match", "ingest", "engines"),
    ("graph",),
    ("ledger", "search", "watch"),
    ("answers",),
    ("compile",),
    ("audit",),
    ("librarian",),
    ("evaluate", "scan", "telemetry"),
    ("learn",),
    ("serve", "frameworks"),
    ("__main__",),
)
ROW_OF = {name: number for number, row in enumerate(ROWS) for name in row}

# Base names of two places that hold one thing: what people write, and what it is compiled to.
SAME_THING = {"catalog", "clauses", "triggers"}
# What one event of a host may import besides deia's own cheap half and what a bare interpreter holds already.
HOOK_LIBRARY = frozenset(("__future__", "_json", "_signal", "_sre", "gc", "itertools", "math", "mmap"))
HOOK_SIDE = ("deia.serve.hook", "deia.serve.hosts", "deia.serve.startup.importer")
HOOK_OURS = (
    "watch",
    "spool",
    "redaction",
    "command_secrets",
    "tables",
    "text",
    "settings",
    "folders",
    "records",
    "firing",
    "errors",
    "problems",
    "files",
    "globs",
    "fast_json",
    "freshness",
)
# What is looked at only when the gate has let an `act` or `meaning` clause through.
HOOK_ACTS = "deia.watch.prose.acts"


def name_of(path: Path) -> str:
    return ".".join(("deia", *path.relative_to(PACKAGE).with_suffix("").parts))


def unit_of(module: str) -> str:
    return module.split(".")[1]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_in(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, ast.stmt]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            base = node.module or ""
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                is_module = base.startswith("deia") and (PACKAGE.parent / inner.replace(".", "/")).exists()
                is_file = base.startswith("deia") and (PACKAGE.parent / f"{inner.replace('.', '/')}.py").exists()
                yield (inner if is_module or is_file else base), node


def is_checker_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def walk_real(node: ast.AST) -> Iterator[ast.AST]:
    """Give every node, without what only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if is_checker_only(child):
            for other in child.orelse if isinstance(child, ast.If) else ():
                yield other
                yield from walk_real(other)
        else:
            yield child
            yield from walk_real(child)


@functools.cache
def imported(path: Path) -> set[str]:
    """Give the modules that a file imports, at any level, those for the type checker left out."""
    return {module for module, _ in imports_in(walk_real(tree_of(path)))}


@functools.cache
def called_in(path: Path) -> set[str]:
    """Give the plain names that a file calls."""
    calls = (node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_down_and_units_of_a_row_are_strangers(path: Path) -> None:
    own = unit_of(name_of(path))
    assert own in ROW_OF, f"{own} has no row in the picture"
    for module, _ in imports_in(ast.walk(tree_of(path))):  # types included: even a name for the checker ties units
        if module.startswith("deia.") and unit_of(module) != own:
            assert ROW_OF[unit_of(module)] < ROW_OF[own], f"{name_of(path)} imports {module}"


def test_no_file_and_no_folder_imports_what_imports_it() -> None:
    """Of the files and folders in a folder, none imports another that imports it, types included."""
    siblings: dict[str, dict[str, set[str]]] = {}
    for path in SOURCES:
        importer = name_of(path)
        for module, _ in imports_in(ast.walk(tree_of(path))):
            if module.startswith("deia."):
                folder, one, other = where_they_part(importer, module)
                siblings.setdefault(folder, {}).setdefault(one, set()).add(other)
    for folder, graph in siblings.items():
        for start in graph:
            assert_no_circle(graph, start, (), folder)


def where_they_part(importer: str, module: str) -> tuple[str, str, str]:
    """Return the folder that holds both modules, and what in it holds the one and the other."""
    ones, others = importer.split("."), module.split(".")
    depth = next((at for at, (one, other) in enumerate(zip(ones, others, strict=False)) if one != other), len(ones))
    return ".".join(ones[:depth]), ".".join(ones[depth:][:1]), ".".join(others[depth:][:1])


def assert_no_circle(graph: dict[str, set[str]], name: str, above: tuple[str, ...], folder: str) -> None:
    assert name not in above, f"in {folder}: {' -> '.join((*above, name))}"
    for other in sorted(graph.get(name, set()) - {name}):
        assert_no_circle(graph, other, (*above, name), folder)


def test_no_base_name_stands_for_two_things() -> None:
    """A command's file has the name of the command, which may be that of the room it leads to."""
    rooms = [path for path in PACKAGE.rglob("*") if path.is_dir() and any(path.glob("*.py"))]
    modules = [path for path in SOURCES if path.stem != "__init__"]
    names = [path.stem for path in (*rooms, *modules) if path.parent.name != "commands"]
    twice = {name for name in names if names.count(name) > 1}
    assert twice <= SAME_THING


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("yaml", ("commons", "compile", "search", "ingest", "graph")),  # search: one rendering is YAML; ingest: cuts it
        ("ruamel", ("commons", "compile")),
        ("duckdb", ("ledger",)),
        ("click", ("serve",)),
        ("argparse", ("serve",)),
        ("mcp", ("serve",)),
    ],
)
def test_only_some_units_import_a_library(library: str, allowed: tuple[str, ...]) -> None:
    using = {unit_of(name_of(path)) for path in SOURCES if any(one.split(".")[0] == library for one in imported(path))}
    assert using <= set(allowed)


def test_only_serve_prints() -> None:
    for path in SOURCES:
        assert "print" not in called_in(path) or unit_of(name_of(path)) == "serve", name_of(path)


def test_everything_is_caught_only_at_the_rim_of_the_hook() -> None:
    found = set()
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                if not caught or caught.split(".")[-1] in {"Exception", "BaseException"}:
                    found.add(name_of(path))
    assert found == {
        "deia.serve.hook", "deia.serve.startup.boot", "deia.serve.startup.importer", "deia.serve.hooks.place",
        "deia.serve.hooks.run",
    }  # fmt: skip


def test_only_compile_writes_derived_files() -> None:
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        writes = "files.replace(" in source and "derived_folder" in source
        assert not writes or unit_of(name_of(path)) == "compile", name_of(path)


# Rooms that open paths which a project names. They do so through the one door: `safe_files`, or `files` in cheap code.
DOORED = ("commons", "compile", "learn", "ledger", "evaluate", "search", "scan", "serve.cli", "ingest.source_kinds")
OPENING = {
    "open", "io.open", "os.open", "gzip.open", "mmap.mmap", "os.replace", "os.rename", "os.unlink", "os.remove",
    "os.link", "os.symlink", "os.truncate", "shutil.rmtree", "shutil.copyfile", "shutil.copy", "shutil.move",
}  # fmt: skip
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "open", "unlink", "rename", "touch", "hardlink_to"}
DERIVED = "compiled files, in a folder that only deia writes"
SHIPPED = "a file of deia itself"
PERSONS = "a file that the person names on the command line"
DOORS = {
    "deia.commons.source_files.safe_files": "the door",
    "deia.commons.source_files.write_lock": "removes its own lock",
    "deia.commons.layers.pack_install": "moves and removes whole packs, after refusing links",
    "deia.commons.write.trash": "renames a folder of the trash, after the door has checked what is in it",
    "deia.compile.abandoned": DERIVED,
    "deia.compile.catalog.build_catalog": DERIVED,
    "deia.compile.catalog.carry_over": DERIVED,
    "deia.compile.catalog.document_store": DERIVED,
    "deia.compile.catalog.embeddings": DERIVED,
    "deia.compile.catalog.ivf_lists": DERIVED,
    "deia.compile.catalog.vectors": DERIVED,
    "deia.compile.catalog.writers": DERIVED,
    "deia.compile.catalog_folder": DERIVED,
    "deia.compile.compiler": DERIVED,
    "deia.compile.library_catalog": DERIVED,
    "deia.compile.replicas.publish": DERIVED,
    "deia.compile.replicas.pull": DERIVED,
    "deia.compile.replicas.seal": "the key, in the person's own folder",
    "deia.compile.sources": "opens a folder to list it; the contents are read through the door",
    "deia.compile.triggers.word_forms": SHIPPED,
    "deia.learn.trials.index_trial": "a temporary folder",
    "deia.learn.trials.recorded_turns": PERSONS,
    "deia.learn.trials.trigger_trial": "a temporary folder",
    "deia.ledger.compaction": "files of a real folder, of which links are no part",
    "deia.ledger.segments": "regular files of a ledger, to see whether they are Parquet",
    "deia.ledger.warehouse": "a temporary folder, and a file of the system",
    "deia.ingest.source_kinds.folder_door": "the door to sources: each part of a path is opened within the last",
    "deia.evaluate.replay_files": PERSONS,
    "deia.search.catalog": DERIVED,
    "deia.search.stored_document": DERIVED,
    "deia.search.ranking.weights": SHIPPED,
    "deia.serve.cli.commands.check": PERSONS,
    "deia.serve.cli.commands.eval": PERSONS,
    "deia.serve.cli.commands.mute": "the off switch, in the person's own folder",
}


def opening_calls(path: Path) -> Iterator[str]:
    """Yield the calls of a file that open, move or remove files without the door."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            owner, _, method = function.rpartition(".")
            by_path = owner not in {"", "os", "files", "safe_files", "tantivy.Index"} and method in METHODS
            beneath_root = owner == "files" and method in {"read", "read_end", "append", "replace", "keep"}
            argument = ast.unparse(node.args[0]) if node.args else ""
            if (
                function in OPENING
                or by_path
                or (beneath_root and ("{root}" in argument or "path.join(root," in argument))
            ):
                yield f"{function}({argument}) at line {node.lineno}"


def test_paths_that_a_project_names_are_opened_through_one_door() -> None:
    rooms = tuple(f"deia.{room}." for room in DOORED)
    calls = {name_of(path): list(opening_calls(path)) for path in SOURCES if name_of(path).startswith(rooms)}
    opening = {module: found for module, found in calls.items() if found}
    assert {module: found for module, found in opening.items() if module not in DOORS} == {}
    assert sorted(DOORS.keys() - opening.keys()) == [], "no longer needed"


def test_no_file_pickles_or_evaluates() -> None:
    for path in SOURCES:
        # The hook imports deia's modules from bytecode beside the interpreter's own, as the import system would.
        imports = name_of(path) == "deia.serve.hook" or name_of(path) in {
            f"deia.serve.startup.{name}" for name in ("boot", "importer", "bytecode")
        }
        allowed = {"marshal", "exec"} if imports else set()
        assert not ({"pickle", "shelve", "marshal"} - allowed) & imported(path), name_of(path)
        assert not ({"eval", "exec"} - allowed) & called_in(path), name_of(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_an_import_inside_a_function_gives_its_reason(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            reasoned = False  # imports one below the other share their reason
            for statement in node.body:
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    reasoned = reasoned or " - " in "".join(lines[statement.lineno - 1 : statement.end_lineno])
                    assert reasoned, f"{name_of(path)}:{statement.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_module_says_what_it_is_for_and_stays_short(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_inner_init_files_are_empty_and_no_file_is_called_utils() -> None:
    assert all(path.stat().st_size == 0 for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
    assert not [path for path in PACKAGE.rglob("*.py") if path.stem in {"utils", "helpers", "common"}]


def test_importing_deia_imports_nothing() -> None:
    code = "import sys; before = set(sys.modules); import deia; print(sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['deia']"


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(deia.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert deia.__version__ == project["version"]


# --- the hook ---

# Runs a script as a host runs the hook, and writes which modules it holds when it leaves.
SPY = """
import sys, posix
def tell():
    posix.write(2, " ".join(sorted(sys.modules)).encode())
leave = posix._exit
posix._exit = lambda code: (tell(), leave(code))
script, sys.argv = sys.argv[1], sys.argv[1:]
__file__ = script
exec(compile(open(script, "rb").read(), script, "exec"))
tell()
"""


def modules_reached(script: Path, environ: dict[str, str], given: bytes) -> tuple[set[str], bytes]:
    command = [sys.executable, "-I", "-S", "-c", SPY, str(script), "claude-code"]
    ran = subprocess.run(command, input=given, capture_output=True, env=environ, check=True)
    return set(ran.stderr.decode().split()), ran.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a person's cache with the compiled starter in it."""
    folder = str(tmp_path_factory.mktemp("cache"))
    compile_commons(STARTER, environ={"DEIA_STATE": f"{folder}/state", "DEIA_CACHE": folder, "DEIA_TRUST": "*"})
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="the spy replaces posix._exit")
@pytest.mark.parametrize(
    ("prompt", "answers", "acts"),
    [
        ("how does the nuclear physics simulation converge?", False, False),
        ("Let me use the nuclear option on Netlify", True, False),
        ("I'm going to delete the bucket", True, True),
    ],
)
def test_the_hook_reaches_only_its_own_half_and_cheap_modules(
    tmp_path: Path, cache: str, prompt: str, *, answers: bool, acts: bool
) -> None:
    environ = {"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": cache, "HOME": str(tmp_path), "DEIA_TRUST": "*"}
    (tmp_path / "nothing.py").touch()
    bare, _ = modules_reached(tmp_path / "nothing.py", environ, b"")
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": str(tmp_path), "prompt": prompt}
    reached, answer = modules_reached(PACKAGE / "serve" / "hook.py", environ, json.dumps(event).encode())
    assert bool(answer) is answers
    for module in reached - bare - HOOK_LIBRARY:
        own = module.split(".")[1:]
        on_hook_side = own in (["serve"], ["serve", "startup"]) or module.startswith(HOOK_SIDE)
        assert module.startswith("deia"), f"the hook imported {module}"
        assert on_hook_side or not own or own[0] in HOOK_OURS, f"the hook imported {module}"
    assert (HOOK_ACTS in reached) is acts
