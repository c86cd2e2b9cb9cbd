"""How well the graph finds the imports of languages other than Python, on repositories that are made up.

    python bench/graph_imports.py [--files 60] [--repositories 3] [--seed 7] [--errors 5]

Each repository has files with random names in random folders. Every file imports some of the others, and packages from
elsewhere, in all forms that its language has; comments and strings contain imports that are none. It is known what
each form leads to, so nothing is labelled by hand. The command fails below .95 for any language.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import random
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from deia.graph.code_facts import code_facts
from deia.graph.facts import joined
from deia.graph.graph_store import Graph
from deia.graph.package_facts import package_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Edge = tuple[str, str]

WANTED = 0.95
SOURCE = "made:"
SYLLABLES = "ba ce di fo gu ha ki lo me nu pa ri so ta ve wi xo zu tre pli".split()
RELATIONS = """select documents.name, entities.type, entities.name, other.name from relations
    join refs on refs.id = ref join documents on documents.id = refs.document
    join entities on entities.id = relations.target
    left join places on places.entity = relations.target and entities.type != 'PACKAGE'
    left join documents other on other.id = places.document where relations.type = 'IMPORTS'"""


class Repository(NamedTuple):
    """The files of a made repository, and what each of them imports: a file, or a package behind `package `."""

    files: dict[str, str]
    imports: set[Edge]


class Maker:
    """Random names, and the tree of a repository."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self._taken: set[str] = set()
        folders = [""] + [self.word() for _ in range(4)]
        folders += [f"{posixpath.join(folder, self.word())}" for folder in folders[1:] for _ in range(2)]
        self.places = [(self.random.choice(folders), self.word()) for _ in range(count)]

    def word(self) -> str:
        """Return a name that was not given before."""
        while True:
            word = "".join(self.random.choices(SYLLABLES, k=3))
            if word not in self._taken:
                self._taken.add(word)
                return word

    def others(self, place: Edge, places: Sequence[Edge], most: int = 5) -> list[Edge]:
        """Return some places other than one."""
        return self.random.sample([each for each in places if each != place], self.random.randint(1, most))


def relative(target: str, folder: str) -> str:
    """Return a path as it is written from a folder, always with a dot in front."""
    path = posixpath.relpath(target, folder or ".")
    return path if path.startswith("../") else f"./{path}"


def script(maker: Maker, ending: str) -> Repository:
    """Return a repository of JavaScript or TypeScript."""
    typed = ending == "ts"
    paths = {place: posixpath.join(*place) + (f"/index.{ending}" if number % 9 == 0 else f".{ending}")
             for number, place in enumerate(maker.places)}  # fmt: skip
    packages = [maker.word(), f"@{maker.word()}/{maker.word()}", "react", "lodash"]
    forms = ['import {n} from "{p}";', "import * as {n} from '{p}';", 'import {{ {n}, x as y{n} }} from "{p}";',
             'import "{p}";', 'export * from "{p}";', 'export {{ {n} }} from "{p}";', 'const {n} = require("{p}");',
             'const {{ {n} }} = require("{p}");', 'const {n} = () => import("{p}");',
             'import {n}, {{\n  a{n},\n  b{n},\n}} from "{p}";', "if (x) {{ require('{p}'); }}"]  # fmt: skip
    if typed:
        forms += ['import type {{ {n} }} from "{p}";', 'import {n} = require("{p}");']
    decoy = (
        '// import {n} from "./{n}";\n/* require("./{n}")\n import "./{n}" */\nconst s{n} = "import x from \'./{n}\'";'
    )
    files, edges = {}, set()
    for place, path in paths.items():
        lines = []
        for other in maker.others(place, maker.places):
            written = relative(posixpath.join(*other), posixpath.dirname(path))
            form = maker.random.choice(forms)
            suffix = maker.random.choice(["", "", f".{ending}" if not paths[other].endswith(f"index.{ending}") else ""])
            lines.append(form.format(n=maker.word(), p=written + suffix.replace("ts", "js")))
            edges.add((path, paths[other]))
        for package in maker.random.sample(packages, 2):
            inner = maker.random.choice(["", f"/{maker.word()}"])
            lines.append(maker.random.choice(forms).format(n=maker.word(), p=package + inner))
            edges.add((path, f"package {package}"))
        lines += [decoy.format(n=maker.places[0][1]), f"export function {maker.word()}() {{\n  return 1;\n}}"]
        files[path] = "\n".join(lines) + "\n"
    return Repository(files, edges)


def java(maker: Maker) -> Repository:
    """Return a repository of Java."""
    root = ("org", maker.word())
    classes = {place: (".".join((*root, *place[0].split("/"))).strip("."), place[1].title()) for place in maker.places}
    paths = {
        place: f"src/main/java/{package.replace('.', '/')}/{name}.java" for place, (package, name) in classes.items()
    }
    files, edges = {}, set()
    for place, (package, name) in classes.items():
        path, lines = paths[place], []
        for other in maker.others(place, maker.places):
            above, called = classes[other]
            kind = maker.random.randrange(5)
            form = ["import {a}.{c};", "import static {a}.{c}.MAX;", "import static {a}.{c}.*;",
                    "import {a}.{c}.Inner;", "import {a}.*;"][kind]  # fmt: skip
            lines.append(form.format(a=above, c=called))
            edges.add((path, f"package {above}" if kind == 4 else paths[other]))
        lines += ["import java.util.List;", "import static org.junit.Assert.assertEquals;", "import java.io.*;"]
        edges |= {(path, f"package {each}") for each in ("java.util", "org.junit", "java.io")}
        decoy = classes[maker.places[0]]
        lines.append(f"// import {decoy[0]}.{decoy[1]};\n/* import {decoy[0]}.{decoy[1]}; */")
        body = (
            f'  static final int MAX = 1;\n  String s = "import {decoy[0]}.{decoy[1]};";\n  static class Inner {{\n  }}'
        )
        files[path] = f"package {package};\n\n" + "\n".join(lines) + f"\n\npublic class {name} {{\n{body}\n}}\n"
    return Repository(files, edges)


def golang(maker: Maker) -> Repository:
    """Return a repository of Go, whose module is in a folder of its own."""
    root, module = maker.random.choice([("", "example.org/made"), ("backend", "github.com/x/made")])
    paths = {place: posixpath.join(root, place[0], f"{place[1]}.go") for place in maker.places}
    folders = sorted({place[0] for place in maker.places if place[0]})
    outside = ["fmt", "net/http", "github.com/pkg/errors", f"github.com/y/{folders[0].split('/')[-1]}"]
    forms = ['import "{p}"', 'import {n} "{p}"', 'import _ "{p}"', 'import . "{p}"', "import `{p}`",
             'import (\n\t"{p}" // {n}\n)', 'import (\n\t{n} "{p}"\n)']  # fmt: skip
    files, edges = {posixpath.join(root, "go.mod"): f"module {module}\n\ngo 1.22\n"}, set()
    for place, path in paths.items():
        lines = []
        for folder in maker.random.sample([each for each in folders if each != place[0]], 2):
            lines.append(maker.random.choice(forms).format(n=maker.word(), p=f"{module}/{folder}"))
            edges.add((path, f"package {SOURCE}{posixpath.join(root, folder)}"))
        for package in maker.random.sample(outside, 2):
            lines.append(maker.random.choice(forms).format(n=maker.word(), p=package))
            edges.add((path, f"package {package}"))
        name = posixpath.basename(place[0]) or "main"
        decoy = f'// import "{module}/{folders[0]}"\nvar s{maker.word()} = `import "{module}/{folders[0]}"`'
        files[path] = f"package {name}\n\n" + "\n".join(lines) + f"\n\n{decoy}\n\nfunc {place[1].title()}() {{\n}}\n"
    return Repository(files, edges)


def rust(maker: Maker) -> Repository:
    """Return a workspace of two crates of Rust."""
    crates = {name: f"crates/{name.replace('_', '-')}" for name in (maker.word(), f"{maker.word()}_{maker.word()}")}
    homes = {place: list(crates)[number % 2] for number, place in enumerate(maker.places)}
    modules = {place: [*filter(None, place[0].split("/")), place[1]] for place in maker.places}
    paths = {place: f"{crates[homes[place]]}/src/{'/'.join(module)}" + ("/mod.rs" if "o" in place[1] else ".rs")
             for place, module in modules.items()}  # fmt: skip
    types = {place: place[1].title() for place in maker.places}
    files = {
        f"{folder}/Cargo.toml": f'[package]\nname = "{name.replace("_", "-")}"\n' for name, folder in crates.items()
    }
    files |= {f"{folder}/src/lib.rs": "" for folder in crates.values()}
    edges = set()
    for place in modules:
        path, lines, here = paths[place], [], homes[place]
        for other in maker.others(place, maker.places):
            root = "crate" if homes[other] == here else homes[other]
            name = "::".join((root, *modules[other]))
            form = maker.random.choice([
                "use {m}::{t};", "use {m}::{{self, {t}}};", "use {m};", "use {m} as {n};", "use {m}::{t} as {n};",
                "pub use {m}::*;", "use {m}::{{\n    {t}, // first\n    work as {n},\n}};", "use {m}::work;",
                "use {m}::LIMIT;", "use {m}::Kind::{{Small, Large}};", "pub(crate) use {m}::{t};"])  # fmt: skip
            lines.append(form.format(m=name, t=types[other], n=maker.word()))
            edges.add((path, paths[other]))
        beside = [each for each in maker.places if each[0] == place[0] and each != place and homes[each] == here]
        if beside and place[0]:
            lines.append(f"use super::{beside[0][1]}::work as {maker.word()};")
            edges.add((path, paths[beside[0]]))
        lines += ["use std::collections::{HashMap, BTreeMap};", "use serde::{de::{self, Visitor}, Serialize};"]
        edges |= {(path, "package std"), (path, "package serde")}
        child = maker.word()
        folder = path.removesuffix("/mod.rs").removesuffix(".rs")
        lines.append(f"mod {child};")
        files[f"{folder}/{child}.rs"] = "pub fn small() {\n}\n"
        edges.add((path, f"{folder}/{child}.rs"))
        decoy = "::".join(("crate", *modules[maker.places[0]]))
        body = (f"// use {decoy}::X;\n/* use {decoy}; mod {child}x; */\npub const LIMIT: u8 = 1;\n"
                f"pub enum Kind {{\n    Small,\n    Large,\n}}\npub struct {types[place]} {{\n    a: u8,\n}}\n"
                f'pub fn work() {{\n    let s = "use {decoy};";\n}}\n'
                "mod tests {\n    use super::*;\n}\n")  # fmt: skip
        files[path] = "\n".join(lines) + "\n" + body
    return Repository(files, edges)


def c(maker: Maker, ending: str) -> Repository:
    """Return a repository of C or C++: headers under include/ and beside the sources."""
    header = "h" if ending == "c" else "hpp"
    public = {place: number % 2 == 0 for number, place in enumerate(maker.places)}
    headers = {place: posixpath.join("include/made" if public[place] else "src", *place) + f".{header}"
               for place in maker.places}  # fmt: skip
    sources = {place: posixpath.join("src", *place) + f".{ending}" for place in maker.places}
    system = ["stdio.h", "string.h"] if ending == "c" else ["vector", "map"]
    files, edges = {}, set()
    for path, place in [*((path, place) for place, path in headers.items()), *((p, q) for q, p in sources.items())]:
        lines = []
        for other in maker.others(place, maker.places):
            target = headers[other]
            if public[other]:
                written = maker.random.choice(["<{}>", '"{}"']).format(target.removeprefix("include/"))
            else:
                near = posixpath.relpath(target, posixpath.dirname(path))
                written = f'"{maker.random.choice([near, target.removeprefix("src/")])}"'
            lines.append(
                maker.random.choice(["#include {}", "#  include {}", "#include {} // x", "#include\t{}"]).format(
                    written
                )
            )
            edges.add((path, target))
        lines += [f"#include <{maker.random.choice(system)}>", "#include <boost/asio.hpp>"]
        edges |= {(path, "package boost"), (path, f"package {lines[-2][10:-1]}")}
        decoy = f'"{headers[maker.places[0]].removeprefix("src/").removeprefix("include/")}"'
        quoted = decoy.strip('"')
        lines.append(f'// #include {decoy}\n/*\n#include {decoy}\n*/\nconst char *s = "#include <{quoted}>";')
        files[path] = "\n".join(lines) + f"\nint {maker.word()}() {{\n  return 0;\n}}\n"
    return Repository(files, edges)


def csharp(maker: Maker) -> Repository:
    """Return a repository of C#, whose imports are of namespaces."""
    spaces = {place: ".".join(("Made", *place[0].title().split("/"))).strip(".") for place in maker.places}
    files, edges = {}, set()
    for place, space in spaces.items():
        path, lines = posixpath.join(*place) + ".cs", []
        for other in maker.others(place, maker.places):
            name = f"{spaces[other]}.{other[1].title()}"
            form = maker.random.randrange(4)
            lines.append(("using {s};", "global using {s};", "using static {n};", "using {a} = {n};")[form].format(
                s=spaces[other], n=name, a=maker.word().title()))  # fmt: skip
            edges.add((path, f"package {spaces[other]}" if form < 2 else posixpath.join(*other) + ".cs"))
        lines.append("using System.Linq;")
        edges.add((path, "package System.Linq"))
        open_, close = maker.random.choice([(";", ""), ("\n{", "}")])
        body = f'class {place[1].title()}\n{{\n  string s = "using Made;";\n}}\n// using Made;'
        files[path] = "\n".join(lines) + f"\n\nnamespace {space}{open_}\n{body}\n{close}\n"
    return Repository(files, edges)


def ruby(maker: Maker) -> Repository:
    """Return a repository of Ruby."""
    paths = {place: posixpath.join("lib", *place) + ".rb" for place in maker.places}
    files, edges = {}, set()
    for place, path in paths.items():
        lines = ["require 'json'", "require 'active_support/core_ext'"]
        edges |= {(path, "package json"), (path, "package active_support")}
        for other in maker.others(place, maker.places):
            near = posixpath.relpath(paths[other], posixpath.dirname(path)).removesuffix(".rb")
            far = posixpath.join(*other)
            lines.append(
                maker.random.choice([f"require_relative '{near}'", f'require "{far}"', f"require_relative('{near}')"])
            )
            edges.add((path, paths[other]))
        decoy = posixpath.join(*maker.places[0])
        files[path] = (
            "\n".join(lines) + f"\n# require '{decoy}'\nX = \"require '{decoy}'\"\nclass {place[1].title()}\nend\n"
        )
    return Repository(files, edges)


def php(maker: Maker) -> Repository:
    """Return a repository of PHP."""
    names = {place: "\\".join(("Made", *filter(None, place[0].title().split("/")))) for place in maker.places}
    paths = {place: posixpath.join("src", *place) + ".php" for place in maker.places}
    files, edges = {}, set()
    for place, path in paths.items():
        lines = ["use Psr\\Log\\LoggerInterface;"]
        edges.add((path, "package Psr.Log"))
        for other in maker.others(place, maker.places):
            near = posixpath.relpath(paths[other], posixpath.dirname(path))
            name = f"{names[other]}\\{other[1].title()}"
            lines.append(maker.random.choice([
                f"use {name};", f"use {name} as X{maker.word()};", f"use {names[other]}\\{{{other[1].title()}}};",
                f"require_once __DIR__ . '/{near}';", f"include '{near}';"]))  # fmt: skip
            edges.add((path, paths[other]))
        decoy = f"// use {names[maker.places[0]]}\\Q;\n$s = 'use Made\\Q;';\n"
        files[path] = (
            f"<?php\nnamespace {names[place]};\n" + "\n".join(lines) + f"\n{decoy}class {place[1].title()}\n{{\n}}\n"
        )
    return Repository(files, edges)


MAKERS: dict[str, tuple[str, Callable[[Maker], Repository]]] = {
    "JavaScript": ("javascript", lambda maker: script(maker, "js")),
    "TypeScript": ("typescript", lambda maker: script(maker, "ts")),
    "Java": ("java", java),
    "Go": ("go", golang),
    "Rust": ("rust", rust),
    "C": ("c", lambda maker: c(maker, "c")),
    "C++": ("cpp", lambda maker: c(maker, "cpp")),
    "C#": ("csharp", csharp),
    "Ruby": ("ruby", ruby),
    "PHP": ("php", php),
}


def found_in(repository: Repository, language: str, folder: str) -> set[Edge]:
    """Return what the graph says that each file imports."""
    with Graph(folder) as graph:
        with graph.transaction():
            for path, text in repository.files.items():
                name = SOURCE + path
                facts = joined(code_facts(name, text, language), package_facts(name, text))
                graph.put(name, "", facts)
        rows = graph.database.execute(RELATIONS).fetchall()
    return {
        (document.removeprefix(SOURCE), f"package {name}" if kind == "PACKAGE" else str(other).removeprefix(SOURCE))
        for document, kind, name, other in rows
    }


def main() -> None:
    """Print recall and precision of each language."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--repositories", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--errors", type=int, default=0, help="show so many of what is missing or too much")
    options = parser.parse_args()
    failed = False
    for title, (language, make) in MAKERS.items():
        right = wanted = got = 0
        for number in range(options.repositories):
            repository = make(Maker(options.seed + number, options.files))
            with tempfile.TemporaryDirectory() as folder:
                found = found_in(repository, language, os.path.join(folder, "graph"))
            right, wanted, got = (
                right + len(found & repository.imports),
                wanted + len(repository.imports),
                got + len(found),
            )
            for sign, edges in (("-", repository.imports - found), ("+", found - repository.imports)):
                for source, target in sorted(edges)[: options.errors]:
                    print(f"  {sign} {source} -> {target}")
        recall, precision = right / wanted, right / max(got, 1)
        failed |= min(recall, precision) < WANTED
        print(f"{title:12} {wanted:5} imports   recall {recall:.3f}   precision {precision:.3f}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
